"""What a method of a worker reports on, and how it learns that it should stop."""

from __future__ import annotations

import json
import math
from typing import Any, BinaryIO

import numpy as np

_DIGITS = 7
_AS_THEY_ARE = frozenset((str, int, bool, type(None)))


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
    """Returns a value as JSON has it: arrays as lists, numbers to 7 digits, what is no number as null."""
    if type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    return value
