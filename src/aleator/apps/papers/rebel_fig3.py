"""ReBeL Fig. 3: fictitious play, linear fictitious play, FLOP and linear CFR on Liar's Dice."""

from __future__ import annotations

from aleator.apps.papers.base import OnProgress, Report, Settings, less
from aleator.apps.papers.curves import Run, exploitability_curves, powers_of_two
from aleator.apps.papers.rebel import GAMES, X_LABEL, Y_LABEL, convention, one_player
from aleator.games.registry import load_game
from aleator.trees.public_tree import build_tree

_ALGORITHMS = {"FP": "fp", "linear FP": "linear-fp", "FLOP": "flop", "linear CFR": "lcfr"}
_FIRST, _LAST, _LAST_QUICK = 64, 16_384, 1024
_DEVIATIONS = (
    "The figure shows curves without numbers, so its two claims are checked. In fictitious play the uniform policy "
    "counts as one iteration, and ties between best responses go to the first action. FLOP responds to the mixture of "
    "Appendix D and is judged by its average policy; the released code judges the average with the last response added."
)


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns the curves of the figure and whether its claims hold in every game."""
    last = _LAST_QUICK if settings.quick else _LAST
    points = powers_of_two(_FIRST // 2, last // 2)
    trees = {label: build_tree(load_game(name)) for label, name in GAMES.items()}
    runs = [
        Run((label, shown), tree, ours, points) for label, tree in trees.items() for shown, ours in _ALGORITHMS.items()
    ]
    curves = exploitability_curves(runs, on_progress)
    final = {key: curve[-1][1] for key, curve in curves.items()}
    return Report(
        title=f"Exploitability on Liar's Dice after {last:,} iterations (ReBeL Fig. 3)",
        setting=f"{last:,} one-player iterations" + f" (quick; the figure goes to {_LAST:,})" * settings.quick,
        convention=convention(last),
        columns=("game", *_ALGORITHMS),
        rows=tuple((label, *(final[label, shown] for shown in _ALGORITHMS)) for label in GAMES),
        claims=tuple(
            less(f"{better} beats {worse} on {label}", final[label, better], final[label, worse])
            for label in GAMES
            for better, worse in (("FLOP", "linear FP"), ("linear CFR", "FLOP"))
        ),
        panels={label: {shown: one_player(curves[label, shown]) for shown in _ALGORITHMS} for label in GAMES},
        x_label=X_LABEL,
        y_label=Y_LABEL,
        deviations=_DEVIATIONS,
    )
