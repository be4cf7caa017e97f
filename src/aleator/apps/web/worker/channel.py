"""What a method of a worker reports on, and how it learns that it should stop."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

import numpy as np

_DIGITS = 7


class Channel:
    """Frames to the server; see `aleator.apps.web.process`.

    Attributes:
        stopped: whether the call that runs should end soon and return what it has.
        suspended: whether it should end soon and keep what it needs to go on later.
    """

    def __init__(self, answers: BinaryIO) -> None:
        self._answers = answers
        self.stopped = self.suspended = False

    def send(self, kind: str, value: Any) -> None:
        """Sends one frame."""
        body = json.dumps(plain(value), separators=(",", ":"), allow_nan=False).encode()
        header = json.dumps({"kind": kind, "size": len(body)}).encode()
        self._answers.write(header + b"\n" + body)
        self._answers.flush()

    def report(self, **event: Any) -> None:
        """Sends an event of the call that runs."""
        self.send("event", event)


def plain(value: Any) -> Any:
    """Returns a value as JSON has it: arrays as lists, numbers to 7 digits, NaN and infinite ones as null."""
    return _FORMS.get(type(value), _other)(value)


def _number(value: float) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None


def _object(value: dict[Any, Any]) -> dict[str, Any]:
    return {str(key): _FORMS.get(type(entry), _other)(entry) for key, entry in value.items()}


def _list(value: Sequence[Any]) -> list[Any]:
    return [_FORMS.get(type(entry), _other)(entry) for entry in value]


def _other(value: Any) -> Any:
    """Returns what NumPy and derived types have become."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    for kind in (float, dict, list, tuple):
        if isinstance(value, kind):
            return _FORMS[kind](value)
    return value


_FORMS: dict[type, Callable[[Any], Any]] = {float: _number, dict: _object, list: _list, tuple: _list}
_FORMS |= dict.fromkeys((str, int, bool, type(None)), lambda value: value)
