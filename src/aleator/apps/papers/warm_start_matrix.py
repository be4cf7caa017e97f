"""Brown's thesis, Fig. 3.8: CFR without regrets, warm started in every iteration, on random 100x100 matrix games."""

from __future__ import annotations

import numpy as np

from aleator.apps.papers.base import Claim, OnProgress, Points, Report, Settings
from aleator.games.base import FloatArray
from aleator.games.matrix import random_matrix
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.best_response import nash_conv
from aleator.solvers.cfr import CFR
from aleator.solvers.warm_start import WarmStarter
from aleator.trees.policy import Policy, uniform_policy
from aleator.trees.public_tree import PublicTree, build_tree

_GAMES, _GAMES_QUICK = 64, 5
_LAST, _LAST_QUICK = 512, 32
_SAME = 1.05
_LABELS = ("CFR", "warm started in every iteration")
_TITLE = "64 random games"


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns both curves with 95 % bands, and the ratio of the two game by game."""
    games, last = (_GAMES_QUICK, _LAST_QUICK) if settings.quick else (_GAMES, _LAST)
    points = [2**k for k in range(int(np.log2(last)) + 1)]
    rng = np.random.default_rng(settings.seed)
    quality = np.zeros((2, games, len(points)))
    on_progress(0.0, "compiling (first run only)")
    for game in range(games):
        tree = build_tree(random_matrix(100, 100, rng=rng))
        quality[0, game], quality[1, game] = _plain(tree, points), _restarted(tree, points)
        on_progress((game + 1) / games, f"game {game + 1} of {games}")
    mean, half = quality.mean(axis=1), 1.96 * quality.std(axis=1, ddof=1) / np.sqrt(games)
    logs = np.log(quality[1] / quality[0])
    ratio, spread = np.exp(logs.mean(axis=0)), 1.96 * logs.std(axis=0, ddof=1) / np.sqrt(games)
    low, high = ratio * np.exp(-spread), ratio * np.exp(spread)
    overlap = np.abs(mean[0] - mean[1]) <= half[0] + half[1]
    curves: dict[str, Points] = {
        label: [(float(x), float(y)) for x, y in zip(points, mean[k], strict=True)] for k, label in enumerate(_LABELS)
    }
    return Report(
        title=f"Exploitability, mean of {games} random 100x100 games (thesis, Fig. 3.8)",
        setting=f"{games} games drawn from seed {settings.seed}, {last} iterations; bands are 95 % of the mean"
        + f" (quick; the thesis has {_GAMES} games)" * settings.quick,
        convention=(
            "Both players are updated at once. The second method keeps no regrets: in every iteration it warm starts "
            "from its average policy alone, with the λ for which the substitute values of both players add up to 0. "
            "Exploitability is NashConv / 2, payoffs lie in [-1, 1]. The ratio is the geometric mean over games."
        ),
        columns=("iterations", _LABELS[0], "± 95 %", _LABELS[1], "± 95 %", "ratio", "low", "high"),
        rows=tuple(
            (point, *(float(x) for x in (mean[0, k], half[0, k], mean[1, k], half[1, k], ratio[k], low[k], high[k])))
            for k, point in enumerate(points)
        ),
        claims=(
            Claim(
                text="warm starting every iteration is virtually identical to CFR",
                measured=f"{ratio[-1]:.3f} times as much ({low[-1]:.3f} to {high[-1]:.3f}) after {last} iterations",
                agrees=bool(1 / _SAME < ratio[-1] < _SAME),
            ),
            Claim(
                text="the 95 % bands overlap everywhere",
                measured=f"at {overlap.sum()} of {len(points)} points",
                agrees=bool(overlap.all()),
            ),
        ),
        panels={_TITLE: curves},
        bands={
            _TITLE: {
                label: [
                    (float(x), float(y - h), float(y + h)) for x, y, h in zip(points, mean[k], half[k], strict=True)
                ]
                for k, label in enumerate(_LABELS)
            }
        },
        x_label="iterations (each updates both players)",
        y_label="exploitability (NashConv / 2)",
        deviations=f"Virtually identical: within {(_SAME - 1) * 100:.0f} %. The thesis has curves without numbers.",
    )


def _plain(tree: PublicTree, points: list[int]) -> FloatArray:
    """Returns the exploitability of CFR at the points."""
    solver, curve = CFR(tree, parse_rule("cfr/simultaneous")), []
    for point in points:
        solver.run(point - solver.iteration)
        curve.append(solver.nash_conv() / 2)
    return np.array(curve)


def _restarted(tree: PublicTree, points: list[int]) -> FloatArray:
    """Returns the exploitability at the points of CFR that knows its average policy only."""
    starter, average, curve = WarmStarter(tree), uniform_policy(tree), []
    for iteration in range(1, points[-1] + 1):
        if iteration in points:
            curve.append(nash_conv(average) / 2)
        now = starter.current_policy(average, iteration)
        first, second = (
            (iteration * old + new) / (iteration + 1)
            for old, new in zip(average.probabilities, now.probabilities, strict=True)
        )
        average = Policy(tree, (first, second))
    return np.array(curve)
