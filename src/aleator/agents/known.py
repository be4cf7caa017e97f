"""Families of agents: how their names are written, with which settings, and what they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aleator.errors import AgentError
from aleator.settings import PLACED, WORD, Setting, Words, parse_settings, usage

MAX_NUMBER = 10**9

ITERATIONS = Setting(
    name="iterations",
    kind=int,
    least=1,
    most=MAX_NUMBER,
    help="of a search; each updates both players",
)
SECONDS = Setting(
    name="seconds", kind=float, least=0.0, most=MAX_NUMBER, open_ends=True, metavar="N", unit="seconds",
    help="for a search, if fewer iterations fit in",
)  # fmt: skip
OWN_CLASS = Setting(
    name="class", key="place", form=PLACED, metavar="FILE.py:CLASS", required=True, help="where it is written"
)


def words_of(name: str, module: str, words: str, summary: str, metavar: str = "") -> Setting:
    """Returns a setting with the words that a module has by a name; it is imported when they are needed."""
    choices, metavar = Words(module, words), metavar or name.upper()
    return Setting(name=name, form=WORD, choices=choices, metavar=metavar, help=summary)


def switch(word: str, summary: str, *, key: str = "", value: bool = True) -> Setting:
    """Returns a setting that a word alone turns on, or with `value` False off."""
    return Setting(name=word, key=key, form=WORD, kind=bool, choices={word: value}, default=not value, help=summary)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFamily:
    """A family of agents.

    Attributes:
        family: its name.
        summary: what it is, in a line.
        settings: what can be typed behind the name.
    """

    family: str
    summary: str
    settings: tuple[Setting, ...] = ()

    @property
    def usage(self) -> str:
        """How its names are written."""
        return usage(self.family, self.settings)

    def values(self, text: str) -> dict[str, Any]:
        """Returns what the text after the colon says, by the names of parameters.

        Raises:
            AgentError: a part that is not allowed; the message says what is.
        """
        return parse_settings(self.family, text, self.settings, error=AgentError)

    def describe(self) -> dict[str, Any]:
        """Returns everything as a JSON value."""
        settings = [one.describe() for one in self.settings]
        return {"agent": self.family, "usage": self.usage, "summary": self.summary, "settings": settings}
