"""What all commands that solve share: a bar meanwhile, checkpoints, and signals, which keep the result so far."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from aleator.apps.cli.output import note, progress_bar
from aleator.apps.cli.stopping import interruptible
from aleator.errors import shown
from aleator.solvers.algorithms import find_algorithm
from aleator.solvers.limits import Limits, Progress
from aleator.solvers.solution import Solution
from aleator.solvers.solve import Problem, solve
from aleator.solvers.summary import Summary
from aleator.storage import ArrayFile, StorageError

CheckpointEvery = Annotated[
    float, typer.Option(min=0.0, help="Seconds between checkpoints, which are saved to --out and can be resumed.")
]


def solve_with_bar(
    problem: Problem,
    algorithm: str | None,
    limits: Limits | None,
    *,
    quiet: bool,
    dtype: str | None = None,
    output: Path | None = None,
    saved_with: Mapping[str, Any] | None = None,
    **settings: Any,
) -> tuple[Solution, bool]:
    """Returns the solution of a problem, and whether a signal such as Ctrl-C ended the solve.

    Args:
        problem, algorithm, limits, dtype: see `solve`.
        quiet: show nothing.
        output: where checkpoints and the solution are saved.
        saved_with: arguments of `Solution.save`.
        settings: others of `solve`.
    """
    algorithm = algorithm or problem.algorithm
    if output is not None:
        _check_nothing_is_lost(output, problem.name)
    with ExitStack() as stack:
        # a linear program is solved at once: there is nothing to keep yet when a signal comes
        interrupted = stack.enter_context(interruptible()) if not find_algorithm(algorithm).exact else lambda: False
        with progress_bar("compiling (first run only)", quiet=quiet):
            problem.prepare(algorithm, dtype or problem.dtype)
        move = stack.enter_context(progress_bar(f"{problem.name}, {algorithm}", quiet=quiet))

        def on_progress(now: Progress) -> bool:
            share = None if math.isnan(now.share_done) else now.share_done
            quality = "" if math.isnan(now.exploitability) else f", exploitability {now.exploitability:.3g}"
            move(share, f"iteration {now.iteration:,}{quality}")
            return interrupted()

        def on_checkpoint(solution: Solution) -> None:
            assert output is not None
            try:
                solution.save(output)
            except StorageError as error:  # there may be space again at the end
                note(f"{error}; the solve goes on")

        solution = solve(
            problem,
            algorithm,
            limits=limits,
            dtype=dtype,
            on_progress=on_progress,
            on_checkpoint=on_checkpoint if output else None,
            **settings,
        )
        if output:  # before anything is printed: a terminal may have gone
            solution.save(output, **(saved_with or {}))
        stopped = interrupted()
    if stopped:
        how = f"; go on with --resume {output}" if output else ""
        note(f"stopped early; this is what was found so far{how}")
    return solution, stopped


def _check_nothing_is_lost(path: Path, game: str) -> None:
    """Raises StorageError if a file holds something else than a solution of the game; a damaged one may be replaced."""
    try:
        metadata = ArrayFile(path).metadata
    except StorageError:
        return
    try:
        kept = Summary.parse(metadata["summary"]).game
    except (KeyError, ValueError):
        kept = shown(metadata.get("format", "arrays"))
    if Path(kept).name != Path(game).name:  # spots are called by their paths, which depend on where one stands
        raise StorageError(f"cannot write {path}: it holds {kept}, which would be lost; choose a new name")
