"""Ends what hangs, so that a test of it fails instead of never ending."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_TIMERS = {signal.ITIMER_PROF: signal.SIGPROF, signal.ITIMER_REAL: signal.SIGALRM}
_BUSY = 12  # how much longer it may take by the clock on the wall: the machine may be busy with something else


@contextmanager
def patience(seconds: float = 10.0) -> Iterator[None]:
    """Fails the block if it computes for longer, or waits for minutes; not to compare speeds."""

    def lost(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"it hangs: not done after {seconds:g} s")

    before = {number: signal.signal(number, lost) for number in _TIMERS.values()}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, _BUSY * seconds)
    try:
        yield
    finally:
        for timer, number in _TIMERS.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])
