"""The text after the colon of an agent's name: `search:cfr-d,moves=2,unsafe`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aleator.errors import AgentError, shown
from aleator.parsing import parse_real, parse_whole

Reader = Callable[[str, str], Any]  # (text, what it is) -> value; raises an error of ours
MAX_NUMBER = 10**9


def whole(text: str, what: str) -> int:
    """Returns a whole number."""
    return parse_whole(text, what, most=MAX_NUMBER, error=AgentError)


def positive(text: str, what: str) -> float:
    """Returns a number above 0."""
    return parse_real(text, what, least=0.0, most=float(MAX_NUMBER), open_ends=True, error=AgentError)


def word(text: str, what: str) -> str:
    """Returns a text as it is."""
    return text


def read_parameters(
    family: str,
    text: str,
    *,
    words: Mapping[str, tuple[str, Any]] | None = None,
    values: Mapping[str, Reader] | None = None,
) -> dict[str, Any]:
    """Returns what a text says, by the names of parameters.

    Args:
        family: whose parameters they are.
        text: parts with commas between them: words, and `name=value`.
        words: the words allowed, with the parameter and the value that each means.
        values: the parameters allowed, with what turns their text into a value.

    Raises:
        AgentError: a part that is neither; the message says what is allowed.
    """
    words, values = words or {}, values or {}
    options: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if part in words:
            options[words[part][0]] = words[part][1]
            continue
        if equals and name in values:
            options[name.replace("-", "_")] = values[name](value, f"{name} of {family}")
            continue
        allowed = ", ".join([*words, *(f"{name}={_kind(of)}" for name, of in values.items())])
        raise AgentError(f"{shown(f'{family}:{text}')}: unknown {shown(part)}; allowed: {allowed or 'nothing'}")
    return options


def _kind(of: Reader) -> str:
    kinds: dict[Reader, str] = {whole: "N", positive: "NUMBER"}
    return kinds.get(of, "TEXT")
