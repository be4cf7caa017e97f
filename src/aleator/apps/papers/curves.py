"""Exploitability over iterations for several games and algorithms: the work that most experiments consist of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from aleator.apps.papers.base import OnProgress, Points
from aleator.solvers.solve import make_solver, prepare
from aleator.trees.public_tree import PublicTree

_CHUNK = 256
_ITERATION_COST = 4000  # of an iteration's fixed part, in numbers of a policy


class Run(NamedTuple):
    """A solve: its name in the results, the tree, the algorithm, and the iterations at which to look."""

    key: tuple[str, str]
    tree: PublicTree
    algorithm: str
    points: tuple[int, ...]

    @property
    def cost(self) -> float:
        """The time it takes, in a unit common to all runs."""
        return self.points[-1] * (sum(self.tree.policy_size) + _ITERATION_COST)


def exploitability_curves(runs: Sequence[Run], on_progress: OnProgress) -> dict[tuple[str, str], Points]:
    """Returns for each run (iteration, exploitability of the average policy) at its points; iterations update both."""
    for algorithm in dict.fromkeys(run.algorithm for run in runs):
        on_progress(0.0, "compiling (first run only)")
        prepare(algorithm)
    total, done = sum(run.cost for run in runs), 0.0
    curves: dict[tuple[str, str], Points] = {}
    for run in runs:
        solver = make_solver(run.tree, run.algorithm)
        curve: list[tuple[float, float]] = []
        for point in run.points:
            while solver.iteration < point:
                on_progress((done + run.cost * solver.iteration / run.points[-1]) / total, " ".join(run.key))
                solver.run(min(_CHUNK, point - solver.iteration))
            curve.append((float(point), solver.nash_conv() / 2))
        done += run.cost
        curves[run.key] = curve
    on_progress(1.0, "")
    return curves


def powers_of_two(first: int, last: int, *, per_octave: int = 1) -> tuple[int, ...]:
    """Returns first, 2 first, 4 first, ... to last, with equally many whole numbers in between if there are any."""
    steps = range(round(math.log2(last / first) * per_octave) + 1)
    return tuple(sorted({round(first * 2.0 ** (step / per_octave)) for step in steps}))
