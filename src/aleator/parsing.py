"""Numbers and names as people type them, read alike everywhere: with limits, and errors that name what is allowed."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from math import inf
from typing import Any

from aleator.errors import AleatorError, did_you_mean, one_line, shown

MAX_NAME = 4096  # characters of the name of a game, an algorithm or an agent, which may have the path of a file in it
MAX_WHOLE = 10**15  # floats count on one by one to 9e15
MAX_SEED = 2**63 - 1
MAX_ITERATIONS = 10**12
MAX_THREADS = 1024

_WHOLE = re.compile(r"\d+(?:_\d+)*", re.ASCII)
_REAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_LONG = 40  # characters; nobody types more digits than that
_MAX_DEPTH = 16  # of tables and lists in TOML
_MAX_WORD = 100  # characters of its names and numbers
_OUTSIDE_STRINGS = re.compile(
    r""""{3}(?:[^"\\]|\\.|"(?!""))*+"{3,5} | '{3}(?:[^']|'(?!''))*+'{3,5} | (?P<long>"{3}|'{3})  # many-line strings
    | "(?:[^"\\\n]|\\.)*+" | '[^'\n]*+' | (?P<short>["']) | \#[^\n]*+                            # of one line; comments
    | (?P<word>[\w+-]++) | (?P<mark>[\[\]{}.=,\n])""",
    re.VERBOSE | re.DOTALL,
)


def parse_whole(
    text: str, what: str, *, least: int = 0, most: int = MAX_WHOLE, error: type[AleatorError] = AleatorError
) -> int:
    """Returns a whole number, written `1000`, `1_000` or `1e3`.

    Args:
        text: what was typed.
        what: the number is, for the message.
        least, most: the numbers allowed.
        error: raised for anything else.
    """
    number = None
    if len(text) <= _LONG:
        if _WHOLE.fullmatch(text):
            number = int(text)
        elif _REAL.fullmatch(text) and (real := float(text)).is_integer() and abs(real) <= MAX_WHOLE:
            number = int(real)
    if number is None or not least <= number <= most:
        raise error(f"{what} must be {whole_limits(least, most)}, not {shown(text)}")
    return number


def parse_real(
    text: str,
    what: str,
    *,
    least: float = -inf,
    most: float = inf,
    open_ends: bool = False,
    infinite: bool = False,
    error: type[AleatorError] = AleatorError,
) -> float:
    """Returns a number, written `0.5`, `5e-1` or `.5`.

    Args:
        text: what was typed.
        what: the number is, for the message.
        least, most: the numbers allowed; with `open_ends` these two are not.
        open_ends: the ends of the interval are not allowed themselves.
        infinite: `inf` and `-inf` are allowed, too.
        error: raised for anything else.
    """
    readable = len(text) <= _LONG and (_REAL.fullmatch(text) or (infinite and text in ("inf", "+inf", "-inf")))
    number = float(text) if readable else None
    if number is not None and abs(number) == inf:
        fits = infinite
    else:
        fits = number is not None and (least < number < most if open_ends else least <= number <= most)
    if number is None or not fits:
        allowed = real_limits(least, most, open_ends=open_ends, infinite=infinite)
        raise error(f"{what} must be {allowed}, not {shown(text)}")
    return number + 0.0  # -0.0 is 0


def whole_limits(least: int, most: int) -> str:
    """Returns which whole numbers are allowed, in words."""
    return f"a whole number from {least} to {most:,}"


def real_limits(least: float, most: float, *, open_ends: bool = False, infinite: bool = False) -> str:
    """Returns which numbers are allowed, in words; see `parse_real`."""
    above, below, link = ("above", "below", " and ") if open_ends else ("from", "to", " ")
    ends = [f"{above} {least:g}"] * (least > -inf) + [f"{below} {most:,g}"] * (most < inf)
    return " ".join(["a number", *filter(None, [link.join(ends), "or inf" * infinite])])


def is_number(text: str) -> bool:
    """Returns whether a text is meant as a number."""
    return _REAL.fullmatch(text) is not None


def check_name(name: str, kind: str, *, error: type[AleatorError] = AleatorError) -> None:
    """Raises an error unless a text can be a name, of a file or else: short, without control characters."""
    if len(name) > MAX_NAME:
        raise error(f"the name of {kind} has at most {MAX_NAME:,} characters, not {len(name):,}: {shown(name)}")
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise error(f"the name of {kind} has characters that cannot be encoded: {shown(name)}") from None
    if any(ord(char) < 32 for char in name):
        raise error(f"the name of {kind} has characters that cannot be printed: {shown(name)}")


def parse_options(
    text: str, allowed: Iterable[str], *, of: str, error: type[AleatorError] = AleatorError
) -> dict[str, str]:
    """Returns the options of a text such as `cap=3,ranks=4`: names and values, in the order given.

    Raises:
        AleatorError: (or `error`) a part is not NAME=VALUE, is unknown, or comes twice.
    """
    names = list(allowed)
    options: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or name not in names:
            hint = did_you_mean(name, names)
            raise error(f"{of}: unknown {shown(name)}; {hint}allowed: {', '.join(f'{known}=' for known in names)}")
        if name in options:
            raise error(f"{of}: {name} is given twice")
        options[name] = value
    return options


def parse_toml(text: str, what: str, error: type[AleatorError]) -> dict[str, Any]:
    """Returns the table of a TOML text that somebody wrote.

    Args:
        text: of any length.
        what: it is, with its article, for the message.
        error: raised for anything else, and for what would keep the parser busy or end it: nesting, endless keys and
            numbers.
    """
    _check_toml(text, what, error)
    try:
        return tomllib.loads(text)
    except ValueError as problem:  # numbers that cannot be converted raise a plain ValueError
        raise error(f"not a TOML file: {one_line(problem)}") from None


def _check_toml(text: str, what: str, error: type[AleatorError]) -> None:
    depth = parts = 0
    for match in _OUTSIDE_STRINGS.finditer(text):
        if match["long"] or match["short"]:  # a string without an end, which the parser will report
            return
        if match["word"]:
            if len(match["word"]) > _MAX_WORD:
                raise error(f"{shown(match['word'])}: names and numbers have at most {_MAX_WORD} characters")
            continue
        mark = match["mark"]
        if mark == ".":
            parts += 1
        elif mark is not None:
            parts = 0
            depth += (mark in "[{") - (mark in "]}")
        if max(depth, parts) > _MAX_DEPTH:
            raise error(f"{what}'s tables and lists are nested at most {_MAX_DEPTH} deep")
