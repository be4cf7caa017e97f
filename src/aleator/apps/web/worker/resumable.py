"""A solve that is kept in a file on the way, and goes on from there after the server has ended, one way or another."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from time import sleep

from aleator.apps.web.system import is_full
from aleator.apps.web.worker.channel import Channel
from aleator.solvers.holdem.problem import SpotProblem
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.solver import SpotSolver
from aleator.solvers.limits import CurvePoint, OnProgress, Progress, run_until
from aleator.storage import StorageError

SECONDS_BETWEEN = 2.0
SECONDS_TO_RETRY = 2.0


class ResumableSolve:
    """A solve of a spot and the file it is kept in."""

    def __init__(self, problem: SpotProblem, file: Path, channel: Channel, *, dtype: str, threads: int) -> None:
        """Makes a solver, where the file has left it if there is one of this solve."""
        self._problem, self._file, self._channel, self._dtype, self._threads = problem, file, channel, dtype, threads
        self._solver, self._curve = self._take_up() or (self._new_solver(), [])

    def _new_solver(self) -> SpotSolver:
        return self._problem.make_solver(self._problem.algorithm, dtype=self._dtype, threads=self._threads, seed=0)

    def _take_up(self) -> tuple[SpotSolver, list[CurvePoint]] | None:
        """Returns a solver and its curve as the file has them; a damaged file, or another solve's, counts as none."""
        if not self._file.exists():
            return None
        solver = self._new_solver()
        try:
            kept = HoldemSolution.open(self._file)
            self._problem.check_resume(kept, self._problem.algorithm, self._dtype)
            solver.restore(kept.summary.iterations, kept.state)
        except ValueError as error:
            print(f"{self._file} is not resumed: {error}", file=sys.stderr, flush=True)
            return None
        return solver, list(kept.summary.curve)

    def run(self, on_progress: OnProgress) -> HoldemSolution | None:
        """Returns the solution when a limit or `on_progress` stops it; None if the solve is to go on later."""

        def on_each(now: Progress) -> bool:
            return bool(on_progress(now)) or self._channel.suspended

        problem = self._problem
        self._curve = run_until(
            self._solver, problem.limits, on_progress=on_each, earlier=self._curve, on_pause=self._keep,
            pause_seconds=SECONDS_BETWEEN,
        )  # fmt: skip
        if self._channel.suspended and not self._channel.stopped and not self._is_over():
            self._keep(self._curve)
            return None
        return problem.solution(self._solver, problem.algorithm, self._curve)

    def _is_over(self) -> bool:
        limits, last = self._problem.limits, self._curve[-1]
        reached = limits.exploitability is not None and last.exploitability <= limits.exploitability
        return reached or (limits.iterations is not None and last.iteration >= limits.iterations)

    def _keep(self, curve: Sequence[CurvePoint]) -> None:
        """Writes the file; if that cannot be done now, the earlier one stays."""
        try:
            self._problem.solution(self._solver, self._problem.algorithm, curve, keep_state=True).save(self._file)
        except StorageError as error:
            self._channel.report(stage="solving", problem=str(error))


def save_when_there_is_space(solution: HoldemSolution, file: Path, channel: Channel) -> bool:
    """Returns whether a solution was saved; a full disk is waited for, unless the server ends."""
    channel.report(stage="saving")
    while True:
        try:
            solution.save(file)
            return True
        except StorageError as error:
            if not is_full(error):
                raise
            channel.report(stage="waiting", problem=str(error))
            if channel.suspended:
                return False
            sleep(SECONDS_TO_RETRY)
