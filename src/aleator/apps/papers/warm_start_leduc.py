"""Brown's thesis, Fig. 3.9: CFR that is warm started once, after some iterations; here on Leduc."""

from __future__ import annotations

import numpy as np

from aleator.apps.papers.base import Cell, Claim, OnProgress, Points, Report, Settings
from aleator.apps.papers.curves import powers_of_two
from aleator.games.registry import load_game
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.cfr import CFR
from aleator.solvers.warm_start import WarmStarter, equivalent_iterations
from aleator.trees.public_tree import PublicTree, build_tree

_STARTS = (100, 500, 2500)
_THESIS = {100: 97, 500: 490, 2500: 2310}
_LAST, _LAST_QUICK = 32768, 4096
_RULE = "cfr"
_MOST = 0.1


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns the curves of CFR with and without a warm start, and how many iterations the latter costs."""
    last = _LAST_QUICK if settings.quick else _LAST
    starts = [start for start in _STARTS if start * 4 <= last]
    tree = build_tree(load_game("leduc"))
    points = powers_of_two(16, last, per_octave=4)
    on_progress(0.0, "compiling (first run only)")
    curves: dict[str, Points] = {"CFR": _run(CFR(tree, parse_rule(_RULE)), points, 0)}
    rows: list[tuple[Cell, ...]] = []
    claims = []
    for number, start in enumerate(starts):
        on_progress((number + 1) / (len(starts) + 1), f"warm start after {start} iterations")
        equivalent, softness, curve = _restarted(tree, start, points)
        loss = _loss(curves["CFR"], curve, start)
        curves[f"warm start after {start:,}"] = curve
        rows.append((start, _THESIS[start], equivalent, softness, curve[-1][1], curves["CFR"][-1][1], loss))
        claims.append(
            Claim(
                text=f"warm starting after {start:,} iterations loses at most 10 % of the iterations",
                measured=f"{100 * loss:+.1f} %, the median from {4 * start:,} iterations on",
                agrees=loss <= _MOST,
            )
        )
    on_progress(1.0, "")
    return Report(
        title="CFR on Leduc, warm started once from its own average policy (thesis, Fig. 3.9)",
        setting=f"to {last:,} iterations, the ones before the warm start included" + " (quick)" * settings.quick,
        convention=(
            "CFR runs for some iterations, forgets its regrets, and goes on from its average policy. How many "
            "iterations that stands for is guessed from the NashConv of the first 10 iterations from scratch; λ is the "
            "smallest that is sound. The loss compares with the iterations that CFR without a stop takes to the same "
            "exploitability."
        ),
        columns=("after", "thesis' guess", "our guess", "λ", "exploitability", "without", "iterations lost"),
        rows=tuple(rows),
        claims=tuple(claims),
        panels={"Leduc": curves},
        x_label="iterations (each updates both players)",
        y_label="exploitability (NashConv / 2, chips)",
        deviations=(
            "The thesis' figure is on limit flop hold'em, and so are its guesses of iterations. A negative loss is a "
            "gain."
        ),
    )


def _run(solver: CFR, points: tuple[int, ...], offset: int) -> list[tuple[float, float]]:
    """Returns (iterations, exploitability) at the points; `offset` iterations are in the solver's count but not run."""
    curve = []
    for point in points:
        solver.run(point + offset - solver.iteration)
        curve.append((float(point), solver.nash_conv() / 2))
    return curve


def _restarted(tree: PublicTree, start: int, points: tuple[int, ...]) -> tuple[int, float, list[tuple[float, float]]]:
    """Returns (T, lambda, curve) of a run that is warm started after `start` iterations."""
    rule = parse_rule(_RULE)
    first = CFR(tree, rule)
    before = _run(first, tuple(point for point in points if point < start), 0)
    first.run(start - first.iteration)
    policy = first.average_policy()
    equivalent, starter = equivalent_iterations(policy, rule), WarmStarter(tree)
    softness = starter.softness(policy, equivalent)
    solver = starter.start(policy, rule, iterations=equivalent, softness=softness)
    after = tuple(point for point in points if point > start)
    return equivalent, softness, [*before, *_run(solver, after, equivalent - start)]


def _loss(plain: Points, warm: Points, start: int) -> float:
    """Returns the share of iterations lost: the median over the points well behind the warm start."""
    x, y = np.array(plain).T
    best = np.minimum.accumulate(y)
    losses = []
    for at, quality in warm:
        if at >= 4 * start and quality >= best[-1]:
            same = np.exp(np.interp(-np.log(quality), -np.log(best), np.log(x)))
            losses.append(1.0 - same / at)
    return float(np.median(losses))
