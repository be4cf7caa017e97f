"""ReBeL Table 2, its full-game rows: FP and CFR on Liar's Dice after 1,024 iterations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aleator.apps.papers.base import Cell, OnProgress, Report, Settings
from aleator.apps.papers.curves import Run, exploitability_curves, powers_of_two
from aleator.apps.papers.rebel import GAMES, TABLE_2, TABLE_2_ITERATIONS, X_LABEL, Y_LABEL, convention, one_player
from aleator.games.registry import load_game
from aleator.trees.public_tree import PublicTree, build_tree

# measured with the authors' released code, 1,024 one-player iterations
_RELEASE = {
    "FP": {"1x4f": 0.0118, "1x5f": 0.0236, "1x6f": 0.0387, "2x3f": 0.0568},
    "CFR": {"1x4f": 0.000515, "1x5f": 0.001274, "1x6f": 0.001837, "2x3f": 0.002250},
}
# label in our table -> (our algorithm, row of the paper's table)
_ALGORITHMS = {"linear FP": ("linear-fp", "FP"), "linear CFR": ("lcfr", "CFR"), "plain FP": ("fp", None)}
_JITTER = 3e-8
_DEVIATIONS = (
    "The FP row of the paper is linear fictitious play: that is what the released code runs unless told otherwise, and "
    "a replay of its arithmetic gives its numbers on all four games; without linear weights 1x4f comes out at .016. "
    "Fictitious play depends on which of several equally good responses is taken. The release rounds probabilities of "
    "winning to single precision, so that noise decides; ours takes the first best action. Regret matching jumps where "
    "a regret is zero, so that rounding decides in CFR, too, and processors round in different orders. The last two "
    "columns show what other choices lead to: payoffs changed at random by 3 parts in 10^8, lowest and highest of "
    "{jitters} runs. CFR: the release averages the policies after each update and the uniform one before the first; "
    "ours averages the policies that were played."
)


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns the table; it takes seconds, so a quick run only tries fewer ways to break ties."""
    rng = np.random.default_rng(settings.seed)
    jitters = 2 if settings.quick else 10
    last = TABLE_2_ITERATIONS // 2
    points = powers_of_two(1, last)
    runs = []
    for label, name in GAMES.items():
        tree = build_tree(load_game(name))
        runs += [Run((label, shown), tree, ours, points) for shown, (ours, _) in _ALGORITHMS.items()]
        for index in range(jitters):
            other = jittered(tree, rng)
            runs += [
                Run((label, f"{shown}, ties {index}"), other, ours, (last,))
                for shown, (ours, row) in _ALGORITHMS.items()
                if row
            ]
    curves = exploitability_curves(runs, on_progress)
    rows: list[tuple[Cell, ...]] = []
    for label in GAMES:
        for shown, (_, row) in _ALGORITHMS.items():
            compared: tuple[Cell, ...] = (None, None, None, None)
            if row:
                ties = [curves[label, f"{shown}, ties {index}"][-1][1] for index in range(jitters)]
                compared = (TABLE_2[row][label], _RELEASE[row][label], min(ties), max(ties))
            rows.append((label, shown, curves[label, shown][-1][1], *compared))
    return Report(
        title="Exploitability on Liar's Dice after 1,024 iterations (ReBeL Table 2)",
        setting=f"{last:,} iterations of ours; {jitters} other ways to break ties" + " (quick)" * settings.quick,
        convention=convention(TABLE_2_ITERATIONS) + " Its FP is linear fictitious play, too (see deviations).",
        columns=("game", "algorithm", "ours", "paper", "release", "ties low", "ties high"),
        rows=tuple(rows),
        panels={label: {shown: one_player(curves[label, shown]) for shown in _ALGORITHMS} for label in GAMES},
        x_label=X_LABEL,
        y_label=Y_LABEL,
        deviations=_DEVIATIONS.format(jitters=jitters),
    )


def jittered(tree: PublicTree, rng: np.random.Generator) -> PublicTree:
    """Returns the tree with payoffs changed by some parts in 10^8, so that ties of actions are broken at random."""
    return replace(
        tree, payoffs=tuple(matrix * (1 + _JITTER * rng.uniform(-1, 1, matrix.shape)) for matrix in tree.payoffs)
    )
