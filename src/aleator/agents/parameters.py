"""The text after the colon of an agent's name: `search:cfr-d,moves=2,unsafe`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aleator.errors import AgentError, AleatorError


def whole(text: str) -> int:
    """Returns a number without a sign or a point."""
    if not text.isdecimal():
        raise ValueError
    return int(text)


def positive(text: str) -> float:
    """Returns a number above 0."""
    number = float(text)
    if not 0.0 < number < float("inf"):
        raise ValueError
    return number


def read_parameters(
    family: str,
    text: str,
    *,
    words: Mapping[str, tuple[str, Any]] | None = None,
    values: Mapping[str, Callable[[str], Any]] | None = None,
) -> dict[str, Any]:
    """Returns what a text says, by the names of parameters.

    Args:
        family: whose parameters they are.
        text: parts with commas between them: words, and `name=value`.
        words: the words allowed, with the parameter and the value that each means.
        values: the parameters allowed, with what turns their text into a value and raises ValueError if that is impossible.

    Raises:
        AgentError: a part that is neither; the message says what is allowed.
    """
    words, values = words or {}, values or {}
    found: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if part in words:
            found[words[part][0]] = words[part][1]
            continue
        if equals and name in values:
            try:
                found[name.replace("-", "_")] = values[name](value)
            except AleatorError:
                raise
            except ValueError:
                raise AgentError(f"{family}:{text}: {name} cannot be {value!r}; {_expected(values[name])}") from None
            continue
        allowed = ", ".join([*words, *(f"{name}={_kind(of)}" for name, of in values.items())])
        raise AgentError(f"{family}:{text}: unknown {part!r}; allowed: {allowed or 'nothing'}")
    return found


def _expected(of: Callable[[str], Any]) -> str:
    return "it is a number above 0" if of is positive else "it is a whole number"


def _kind(of: Callable[[str], Any]) -> str:
    kinds: dict[Callable[[str], Any], str] = {whole: "N", positive: "NUMBER"}
    return kinds.get(of, "TEXT")
