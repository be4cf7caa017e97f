"""What all commands that solve share: a bar while it goes on, and Ctrl-C, which keeps what has been found."""

from __future__ import annotations

import math
from contextlib import ExitStack
from typing import Any

from aleator.apps.cli.output import interruptible, note, progress_bar
from aleator.solvers.limits import Limits, Progress
from aleator.solvers.solution import Solution
from aleator.solvers.solve import Problem, solve


def solve_with_bar(
    problem: Problem,
    algorithm: str | None,
    limits: Limits | None,
    *,
    quiet: bool,
    dtype: str | None = None,
    **settings: Any,
) -> tuple[Solution, bool]:
    """Returns the solution of a problem and whether Ctrl-C ended the solve; `settings` are those of `solve`."""
    algorithm = algorithm or problem.algorithm
    with ExitStack() as stack:
        interrupted = stack.enter_context(interruptible())
        with progress_bar("compiling (first run only)", quiet=quiet):
            problem.prepare(algorithm, dtype or problem.dtype)
        move = stack.enter_context(progress_bar(f"{problem.name}, {algorithm}", quiet=quiet))

        def on_progress(now: Progress) -> bool:
            share = None if math.isnan(now.share_done) else now.share_done
            quality = "" if math.isnan(now.exploitability) else f", exploitability {now.exploitability:.3g}"
            move(share, f"iteration {now.iteration:,}{quality}")
            return interrupted()

        solution = solve(problem, algorithm, limits=limits, dtype=dtype, on_progress=on_progress, **settings)
        stopped = interrupted()
    if stopped:
        note("stopped early; this is what was found so far")
    return solution, stopped
