"""Signals that end a program: what has been found is kept, and the exit code says which signal it was.

Ctrl-C sends SIGINT; `timeout`, Slurm and `docker stop` send SIGTERM; a terminal that is closed sends SIGHUP.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_received: list[int] = []  # signals, since the outermost interruptible block began
_blocks: list[None] = []  # interruptible blocks
_cuts: list[None] = []  # blocks that a signal cuts short


class _Cut(BaseException):
    """A signal has come in a block that it cuts short."""


def stopped() -> bool:
    """Returns whether a signal has come in an interruptible block."""
    return bool(_blocks and _received)


def exit_code() -> int:
    """Returns the exit code of a program that a signal ended: 128 and its number; that of Ctrl-C if none has come."""
    return 128 + (_received[0] if _received else signal.SIGINT)


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Yields a function that says whether to stop: Ctrl-C was pressed, or the program was told to end.

    A second signal ends the program at once. What nohup protects from SIGHUP stays protected. A terminal that has been
    closed is not written to any more.
    """
    terminals = [descriptor for descriptor in (1, 2) if os.isatty(descriptor)]

    def handle(number: int, frame: FrameType | None) -> None:
        _received.append(number)
        if number == signal.SIGHUP:
            _silence(terminals)
        if len(_received) > 1:
            raise KeyboardInterrupt
        if _cuts:
            raise _Cut

    previous = {}
    _received.clear()
    try:
        for number in _SIGNALS:
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                previous[number] = signal.signal(number, handle)
    except ValueError:  # not the main thread
        yield lambda: False
        return
    _blocks.append(None)
    try:
        yield stopped
    finally:
        _blocks.pop()
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def cut_short() -> Iterator[None]:
    """Ends its block at the first signal of an interruptible block around it, whatever is computed there.

    It is for work that takes long and leaves nothing behind when it ends anywhere.
    """
    _cuts.append(None)
    try:
        yield
    except _Cut:
        pass
    finally:
        _cuts.pop()


def _silence(descriptors: list[int]) -> None:
    """Sends what is written to some files nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in descriptors:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def end(*, stopped: bool) -> None:
    """Ends the program with the exit code of the signal if it was `stopped`, after the result was kept and printed."""
    if stopped:
        sys.exit(exit_code())
