"""Exploitability over nodes touched for several algorithms on one game: what the experiments on pruning consist of."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from aleator.apps.papers.base import Cell, Claim, OnProgress, Points
from aleator.games.base import FloatArray
from aleator.games.registry import load_game
from aleator.solvers.pruned_cfr import PrunedCFR
from aleator.solvers.solve import make_solver, prepare
from aleator.trees.public_tree import build_tree

# a ratio that is at least this part of the thesis' agrees with it
AGREES = 2 / 3


class Trace(NamedTuple):
    """One run; vectors are [points].

    Attributes:
        iterations, touched, seconds: where it was looked at.
        quality: exploitability of the average policy, in CFR+ and its like of the best one so far.
        space: which part of the regrets and sums of policies is needed then, those of pruned actions themselves not
            counted.
        kept: the same, those counted.
        played: histories that both players' policies reach in the end (all of them where that is not counted).
    """

    iterations: FloatArray
    touched: FloatArray
    seconds: FloatArray
    quality: FloatArray
    space: FloatArray
    kept: FloatArray
    played: float

    @property
    def final(self) -> float:
        """The exploitability at the end."""
        return float(self.quality[-1])

    def at(self, level: float, axis: FloatArray) -> float:
        """Returns where an exploitability is first reached on some axis, interpolated on logarithmic axes."""
        best = np.minimum.accumulate(self.quality)
        return float(np.exp(np.interp(-np.log(level), -np.log(best), np.log(axis))))

    @property
    def per_iteration(self) -> FloatArray:
        """Nodes touched per iteration since the point before."""
        before = np.concatenate([[0.0], self.touched[:-1]]), np.concatenate([[0.0], self.iterations[:-1]])
        rate: FloatArray = (self.touched - before[0]) / (self.iterations - before[1])
        return rate

    def points(self, x: FloatArray, y: FloatArray) -> Points:
        """Returns two of the vectors as points of a curve."""
        return [(float(at), float(value)) for at, value in zip(x, y, strict=True)]


def traces(
    game: str, algorithms: Sequence[str], nodes: float, on_progress: OnProgress, part: tuple[float, float] = (0.0, 1.0)
) -> dict[str, Trace]:
    """Returns the run of each algorithm until it has touched so many nodes; `part` is where progress begins, ends."""
    tree = build_tree(load_game(game))
    on_progress(part[0], "compiling (first run only)")
    for algorithm in algorithms:
        prepare(algorithm)
    everything = make_solver(tree, "pp:cfr/simultaneous")
    everything.run(1)  # the uniform policy reaches all
    assert isinstance(everything, PrunedCFR)
    runs = {}
    for number, algorithm in enumerate(algorithms):
        solver, rows, spent, best = make_solver(tree, algorithm), [], 0.0, np.inf
        touched, goal = 0, 1
        while touched < nodes:
            share = (number + touched / nodes) / len(algorithms)
            on_progress(part[0] + share * (part[1] - part[0]), algorithm)
            started = perf_counter()
            solver.run(goal - solver.iteration)
            spent += perf_counter() - started
            counted = solver.nodes_touched
            touched = solver.iteration * everything.nodes_touched if counted is None else counted
            quality = solver.nash_conv() / 2
            best = min(best, quality) if "+" in algorithm else quality
            needed = (solver.space(itself=True), solver.space()) if isinstance(solver, PrunedCFR) else (1.0, 1.0)
            rows.append((solver.iteration, touched, spent, best, *needed))
            goal = max(goal + 1, int(goal * 1.2))
            goal = min(
                goal, max(solver.iteration + 1, int(solver.iteration * (1 + 1.02 * (nodes - touched) / touched)))
            )
        played = solver.nodes_played() if isinstance(solver, PrunedCFR) else everything.nodes_touched
        iterations, nodes_touched, seconds, qualities, space, kept = np.array(rows).T
        runs[algorithm] = Trace(iterations, nodes_touched, seconds, qualities, space, kept, float(played))
    return runs


def common_level(*runs: Trace) -> float:
    """Returns the lowest exploitability that all runs reach."""
    return max(float(run.quality.min()) for run in runs)


def ratio(slow: Trace, fast: Trace, axis: str = "touched") -> float:
    """Returns how many times less of something the second run needs for the lowest exploitability that both reach."""
    level = common_level(slow, fast)
    return slow.at(level, getattr(slow, axis)) / fast.at(level, getattr(fast, axis))


def ratio_claim(text: str, paper: float, slow: Trace, fast: Trace, axis: str = "touched") -> Claim:
    """Returns whether a ratio of the thesis is reached at the lowest common exploitability; says how."""
    level, x, y = common_level(slow, fast), getattr(slow, axis), getattr(fast, axis)
    ratios = {each: slow.at(each, x) / fast.at(each, y) for each in (4 * level, 2 * level, level)}
    measured = ", ".join(f"{value:.1f} at {each:.2g}" for each, value in ratios.items())
    return Claim(text=text, measured=measured, agrees=ratios[level] >= AGREES * paper)


def rows(labels: dict[str, str], runs: dict[str, Trace]) -> tuple[tuple[Cell, ...], ...]:
    """Returns a row per algorithm: what it reaches, and what that took; columns are COLUMNS."""
    return tuple(
        (label, algorithm, run.final, int(run.iterations[-1]), run.touched[-1] / 1e6, run.seconds[-1],
         float(run.per_iteration[-1]))
        for algorithm, label in labels.items() for run in [runs[algorithm]]
    )  # fmt: skip


def over_nodes(labels: dict[str, str], runs: dict[str, Trace]) -> dict[str, Points]:
    """Returns a panel: exploitability over nodes touched."""
    return {label: runs[name].points(runs[name].touched, runs[name].quality) for name, label in labels.items()}


def over_iterations(labels: dict[str, str], runs: dict[str, Trace]) -> dict[str, Points]:
    """Returns a panel: exploitability over iterations."""
    return {label: runs[name].points(runs[name].iterations, runs[name].quality) for name, label in labels.items()}


COLUMNS = ("method", "algorithm", "exploitability", "iterations", "million nodes", "seconds", "nodes per iteration")
