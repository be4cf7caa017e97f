"""Brown's thesis, Fig. 3.5: discounting variants of CFR on 5-card Goofspiel."""

from __future__ import annotations

from math import exp, log

from aleator.apps.papers.base import Claim, OnProgress, Points, Report, Settings
from aleator.apps.papers.curves import Run, exploitability_curves, powers_of_two
from aleator.games.registry import load_game
from aleator.trees.public_tree import build_tree

_GAME = "goofspiel:5"
_ALGORITHMS = {
    "CFR+": "cfr+quadratic",
    "DCFR(3/2, 0, 2)": "dcfr",
    "DCFR(3/2, -inf, 2)": "dcfr:1.5,-inf,2",
    "DCFR(3/2, 1/2, 2)": "dcfr:1.5,0.5,2",
    "LCFR+": "lcfr+",
    "LCFR": "lcfr",
    "CFR": "cfr",
}
_LAST, _LAST_QUICK = 8192, 1024
# a factor that is hardly seen on a logarithmic axis, one that is, and one that cannot be missed
_SAME, _WORSE, _POOR = 1.5, 1.25, 2.0


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns the curves of the figure and whether what the thesis says about Goofspiel holds."""
    last = _LAST_QUICK if settings.quick else _LAST
    tree = build_tree(load_game(_GAME))
    points = powers_of_two(1, last, per_octave=4)
    runs = [Run((_GAME, shown), tree, ours, points) for shown, ours in _ALGORITHMS.items()]
    measured = exploitability_curves(runs, on_progress)
    curves = {shown: measured[_GAME, shown] for shown in _ALGORITHMS}
    typical = {shown: late_mean(curve) for shown, curve in curves.items()}
    looks = (last // 64, last // 8, last)
    at = {shown: dict(curve) for shown, curve in curves.items()}
    return Report(
        title=f"Exploitability on Goofspiel after {last:,} iterations (thesis Fig. 3.5)",
        setting=f"{last:,} iterations" + f" (quick; the figure goes to {_LAST:,})" * settings.quick,
        convention=(
            "5 cards, prizes 1 to 5 in ascending order, payoff the difference in points. Updates alternate; an "
            "iteration updates both players, as in the thesis. Exploitability is the average over the two players, "
            "NashConv / 2. CFR+ averages with quadratic weights."
        ),
        columns=("algorithm", *(f"at {look:,}" for look in looks), "late mean / CFR+"),
        rows=tuple(
            (shown, *(at[shown][look] for look in looks), typical[shown] / typical["CFR+"]) for shown in _ALGORITHMS
        ),
        claims=claims(typical),
        panels={_GAME: curves},
        x_label="iterations, each updates both players",
        y_label="exploitability (NashConv / 2)",
        deviations=(
            "The figure shows curves without numbers, so what the thesis says about it (3.1.4; LCFR+: 3.1.2, of all "
            "its games together) is checked on the geometric mean of the last three doublings: within a factor of "
            f"{_SAME} is the same, {_WORSE} times as much is worse, {_POOR:.0f} times as much is poor. CFR is ours, to "
            "compare with."
        ),
    )


def claims(typical: dict[str, float]) -> tuple[Claim, ...]:
    """Returns what the thesis says, judged by a typical exploitability per algorithm."""

    def compared(text: str, one: str, other: str, low: float, high: float) -> Claim:
        ratio = typical[one] / typical[other]
        return Claim(text=text, measured=f"{one} has {ratio:.2f} times {other}'s", agrees=low <= ratio <= high)

    dcfr, infinity = "DCFR(3/2, 0, 2)", float("inf")
    return (
        compared("DCFR(3/2, 0, 2) is essentially identical to CFR+", dcfr, "CFR+", 1 / _SAME, _SAME),
        compared("DCFR(3/2, -inf, 2) is equally strong", "DCFR(3/2, -inf, 2)", dcfr, 0, _SAME),
        compared("DCFR(3/2, 1/2, 2) does noticeably worse", "DCFR(3/2, 1/2, 2)", dcfr, _WORSE, infinity),
        compared("LCFR does poorly", "LCFR", "CFR+", _POOR, infinity),
        compared("LCFR+ is worse than CFR+", "LCFR+", "CFR+", _WORSE, infinity),
        compared("LCFR+ is worse than LCFR", "LCFR+", "LCFR", _WORSE, infinity),
    )


def late_mean(curve: Points) -> float:
    """Returns the geometric mean of a curve over the last three doublings of iterations."""
    late = [log(quality) for iteration, quality in curve if iteration >= curve[-1][0] / 8]
    return exp(sum(late) / len(late))
