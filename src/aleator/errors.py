"""The errors that a user can cause: each names the bad value and what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AleatorError(ValueError):
    """A mistake in what was asked for; its message is one line that can be shown to the user as it is."""


class GameError(AleatorError):
    """An unknown game, impossible parameters, or rules that break the contract of `Game`."""


class TooBigError(AleatorError):
    """A game or a tree that does not fit; says how big it is and what the limit was."""


class SolveError(AleatorError):
    """An impossible solver setting."""


class SolutionError(AleatorError):
    """A file that is not a solution, is damaged, or belongs to another game."""


class AgentError(AleatorError):
    """An unknown agent, or one that cannot do what it is asked."""


class MissingExtraError(AleatorError):
    """An optional dependency that is not installed; says which extra brings it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'aleator[{extra}]'")


def one_line(error: Exception) -> str:
    """Returns what an error of another library says, in one line."""
    return " ".join(str(error).split())


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """Returns a question for an error's message, with a space behind it, if one of the allowed words is near; else nothing."""
    near = difflib.get_close_matches(word, list(allowed), n=1)
    return f"did you mean {near[0]!r}? " if near else ""
