"""The errors that a user can cause: each names the bad value and what is allowed."""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

MAX_MESSAGE = 500  # characters
_PACKAGE = str(Path(__file__).parent)
_EXTRAS = {"torch": "neural", "safetensors": "neural", "matplotlib": "plot"}  # optional packages, and what brings them


class AleatorError(ValueError):
    """A mistake in what was asked for; its message is one line that can be shown to the user as it is.

    Whatever the message quotes, it is made one line of at most `MAX_MESSAGE` printable characters.
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


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


@contextmanager
def extras_named() -> Iterator[None]:
    """Says which extra brings an optional package, if the block ends because it is not installed.

    Raises:
        MissingExtraError: it is not.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise
        raise MissingExtraError(package, _EXTRAS[package]) from missing


@contextmanager
def agent_named(name: str) -> Iterator[None]:
    """Makes of an exception in code that somebody else wrote an error that says whose it is, and where."""
    try:
        yield
    except AleatorError:
        raise
    except (Exception, SystemExit) as error:  # a script that ends itself would end the command without a word
        if not place_raised(error):
            raise
        raise AgentError(f"{name} failed: {raised(error)}") from error


def shown(value: object, most: int = 60) -> str:
    """Returns how a message shows a user's value: its `repr`, in one line, cut in the middle if it is long."""
    if isinstance(value, int) and value.bit_length() > 200:
        return f"a whole number of {value.bit_length():,} bits"
    if isinstance(value, str) and len(value) > 10 * most:
        value = f"{value[: 5 * most]}{value[-5 * most :]}"  # quoting megabytes to show a line would take a while
    try:
        text = " ".join(repr(value).splitlines())
    except (RecursionError, ValueError):  # nested too deeply, a whole number of thousands of digits
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 + 3 :]}"


def raised(error: BaseException) -> str:
    """Returns what code that somebody else wrote has raised, and where: its kind, its first line, file and line."""
    said, place = next(iter(str(error).splitlines()), "no message"), place_raised(error)
    return f"{type(error).__name__}: {said}" + (f" ({place})" if place else "")


def place_raised(error: BaseException) -> str:
    """Returns the last file and line of somebody else's code that an exception went through; empty if there is none."""
    theirs = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_PACKAGE, "<")) and "site-packages" not in frame.filename
    ]
    return f"{Path(theirs[-1].filename).name}, line {theirs[-1].lineno}" if theirs else ""


def one_line(message: object, most: int = MAX_MESSAGE) -> str:
    """Returns a text, or what an error of another library says, in one line of printable characters.

    Runs of white space become a space, characters that would move the cursor or cannot be encoded are escaped, and of a
    text that is too long the middle is left out.
    """
    text = str(message)
    if len(text) > 4 * most:
        text = f"{text[: 2 * most]}{text[-2 * most :]}"
    text = "".join(char if char.isprintable() else _escape(char) for char in " ".join(text.split()))
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - tail - 5]} ... {text[-tail:]}"


def _escape(char: str) -> str:
    return repr(char)[1:-1]


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """Returns a question for an error's message and a space, if an allowed word is near; else nothing."""
    near = difflib.get_close_matches(word[:60], list(allowed), n=1)
    return f"did you mean {near[0]!r}? " if near else ""


def check_known(word: str, allowed: Iterable[str], what: str, error: type[AleatorError] = SolveError) -> None:
    """Raises an error that lists what is allowed, unless a word is among it; `what` says what the word stands for."""
    names = list(allowed)
    if word not in names:
        raise error(f"unknown {what} {shown(word)}; {did_you_mean(str(word), names)}allowed: {', '.join(names)}")
