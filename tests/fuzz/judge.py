"""What may come of a text that somebody typed: a result, or an error of one line; soon."""

from __future__ import annotations

import faulthandler
import signal
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

from numba.core import event

from aleator.errors import MAX_MESSAGE, AleatorError

PATIENCE = 10.0  # seconds of computing: the machine may be busy with something else; compiling kernels does not count
LONG_PATIENCE = 60.0  # where only a hang may fail, on a machine of any speed


class _TooLongError(BaseException):
    """The alarm rang."""


class _StoppedClock(event.Listener):  # type: ignore[misc]
    """Stops the clock while Numba compiles: that is done once, for all that come later, and commands say so."""

    def __init__(self) -> None:
        self._depth, self._left = 0, 0.0

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._left, _ = signal.setitimer(signal.ITIMER_PROF, 0.0)
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            signal.setitimer(signal.ITIMER_PROF, self._left)


def fault_of(call: Callable[[], object], patience: float = PATIENCE) -> str | None:
    """Returns what is wrong with a call: a traceback, a bad message or too many seconds; None if nothing is."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGPROF, ring)
    faulthandler.dump_traceback_later(60 * patience, exit=True)  # neither a kernel nor who waits hears the alarm
    signal.setitimer(signal.ITIMER_PROF, patience)
    try:
        with event.install_listener("numba:compile", _StoppedClock()):
            call()
    except AleatorError as error:
        return fault_of_message(str(error))
    except _TooLongError:
        return f"takes more than {patience:g} seconds: {''.join(traceback.format_exc(limit=-3))}"
    except Exception:
        return "".join(traceback.format_exc(limit=-4))[-1500:]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGPROF, before)
    return None


def fault_of_message(message: str) -> str | None:
    """Returns what is wrong with an error's message; None if nothing is."""
    if not message.strip():
        return "an empty message"
    if len(message) > MAX_MESSAGE:
        return f"a message of {len(message):,} characters: {message[:200]!r}"
    if not message.isprintable():
        return f"a message that is not one printable line: {message[:200]!r}"
    return None
