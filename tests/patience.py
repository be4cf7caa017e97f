"""Ends what hangs, so that a test of it fails instead of never ending."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def patience(seconds: float = 10.0) -> Iterator[None]:
    """Fails the block if it takes longer; for what would otherwise take minutes, not to compare speeds."""

    def lost(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"it hangs: not done after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, lost)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
