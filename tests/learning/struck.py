"""`python -P struck.py SIGNAL EPOCHS SHARE COMMAND…`: a command that trains, and strikes itself on the way.

The signal comes so many epochs after its start, by a share of the time that an epoch and its checkpoint take: at any
moment of these, on a machine of any speed. The run does not end before.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

from aleator.apps.cli.main import main
from aleator.learning.rebel.checkpoint import RunDirectory

COMMAND = [sys.executable, "-P", __file__]


def strike_after(number: int, epochs: int, share: float) -> None:
    """Makes this process send itself a signal after so many epochs, of which there are at least two, and a share."""
    append, ends, is_struck = RunDirectory.append, list[float](), threading.Event()

    def strike() -> None:
        os.kill(os.getpid(), number)
        is_struck.set()

    def append_and_strike(run: RunDirectory, line: dict[str, Any]) -> None:
        append(run, line)
        ends.append(time.perf_counter())
        if len(ends) == epochs:
            threading.Timer(share * (ends[-1] - ends[-2]), strike).start()
        if len(ends) >= epochs and line["epoch"] > run.config().epochs - 3:
            is_struck.wait()

    RunDirectory.append = append_and_strike  # type: ignore[method-assign]


if __name__ == "__main__":
    strike_after(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
    main(sys.argv[4:])
