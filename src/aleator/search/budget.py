"""How long a search may take: iterations, or seconds, whichever ends first."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from aleator.errors import SolveError

_GROWTH = 4  # the next chunk is at most so many times the last one
_STEP = 10  # iterations between two calls of `on_done`


def check_budget(iterations: int, seconds: float | None) -> None:
    """Raises SolveError unless there is something to spend."""
    if iterations < 1:
        raise SolveError(f"search needs at least 1 iteration, not {iterations}")
    if seconds is not None and not 0.0 < seconds < float("inf"):
        raise SolveError(f"a search needs a positive number of seconds, not {seconds}")


def spend(
    run: Callable[[int], object],
    iterations: int,
    seconds: float | None = None,
    on_done: Callable[[int], object] | None = None,
) -> int:
    """Returns how many iterations were run: all of them, or as many as the seconds allowed, but at least one.

    Args:
        run: runs that many more iterations.
        iterations: at most.
        seconds: after which no further iterations are begun; None for no limit.
        on_done: called with the number of iterations so far, every few of them.
    """
    if seconds is None and on_done is not None:
        for done in range(0, iterations, _STEP):
            run(min(_STEP, iterations - done))
            on_done(min(done + _STEP, iterations))
        return iterations
    if seconds is None:
        run(iterations)
        return iterations
    started, done, chunk = perf_counter(), 0, 1
    while done < iterations and (not done or perf_counter() - started < seconds):
        begun = perf_counter()
        run(chunk)
        done += chunk
        each = (perf_counter() - begun) / chunk
        left = seconds - (perf_counter() - started)
        affordable = int(left / each) if each > 0.0 else chunk * _GROWTH
        chunk = max(1, min(chunk * _GROWTH, affordable, iterations - done))
    return done
