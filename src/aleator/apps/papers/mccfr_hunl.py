"""Brown's thesis, Fig. 3.6 and 3.7: linear and initial discounts of MCCFR in two river subgames of no-limit hold'em."""

from __future__ import annotations

from math import exp, log

from aleator.apps.papers.base import Claim, OnProgress, Points, Report, Settings
from aleator.apps.papers.dcfr_hunl import BIG_BLIND, subgame
from aleator.games.holdem.game import HoldemGame
from aleator.solvers.algorithms import rule_of
from aleator.solvers.mccfr import MCCFR
from aleator.solvers.sampling_rule import SamplingRule
from aleator.trees.public_tree import PublicTree, build_tree

_PERIOD = 200_000
_ALGORITHMS = {
    "MCCFR": "mccfr",
    "Linear MCCFR": f"lmccfr:period={_PERIOD}",
    "Initial Discount MCCFR": f"mccfr:discount=initial,period={_PERIOD}",
}
_SUBGAMES = (3, 4)
_NODES, _NODES_QUICK, _RUNS, _RUNS_QUICK = 12_800_000, 800_000, 5, 1
_LATE = 8  # the last three doublings are judged


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns the curves of the figures, averaged over a few seeds, and whether the thesis's claims hold."""
    nodes, runs = (_NODES_QUICK, _RUNS_QUICK) if settings.quick else (_NODES, _RUNS)
    looks = [_PERIOD * 2**k for k in range(1, 20) if _PERIOD * 2**k <= nodes]
    panels: dict[str, dict[str, Points]] = {}
    done, total = 0, len(_SUBGAMES) * len(_ALGORITHMS) * runs
    for number in _SUBGAMES:
        tree = build_tree(HoldemGame(subgame(number)))
        curves: dict[str, Points] = {}
        for shown, rule in _ALGORITHMS.items():
            results = []
            for index in range(runs):
                on_progress(done / total, f"subgame {number}, {shown}, run {index + 1} of {runs}")
                results.append(_curve(tree, rule, looks, settings.seed + index))
                done += 1
            curves[shown] = [
                (float(look), sum(row) / runs) for look, row in zip(looks, zip(*results, strict=True), strict=True)
            ]
        panels[f"subgame {number}"] = curves
    on_progress(1.0, "")
    return Report(
        title="Exploitability of MCCFR in two river subgames, mbb/g (thesis Fig. 3.6 and 3.7)",
        setting=f"{nodes:,} nodes touched, {runs} runs (thesis: 100)" + ", quick" * settings.quick,
        convention=(
            "External sampling. Nodes touched count terminals too. After period n everything accumulated is multiplied "
            "by n / (n + 1) (linear), or once, after the first, by 1/10 (initial). Exploitability is the average over "
            "the two players, in thousandths of a big blind, averaged over runs with different seeds. Subgames as in "
            "dcfr-hunl."
        ),
        columns=("algorithm", *(f"{number}: at {look / 1e6:g} M" for number in _SUBGAMES for look in looks[-2:])),
        rows=tuple(
            (shown, *(dict(curves[shown])[float(look)] for curves in panels.values() for look in looks[-2:]))
            for shown in _ALGORITHMS
        ),
        claims=_claims(panels),
        panels=panels,
        x_label="nodes touched",
        y_label="exploitability, mbb/g",
        deviations=(
            f"A period has {_PERIOD:,} nodes instead of 10,000,000, since ours runs for fewer; boards and ranges are "
            "ours. What the thesis says is judged on the geometric mean over the last three doublings."
        ),
    )


def _curve(tree: PublicTree, rule: str, looks: list[int], seed: int) -> list[float]:
    """Returns the exploitability in mbb/g when so many nodes have been touched."""
    solver = MCCFR(tree, rule_of(SamplingRule, rule), seed=seed)
    solver.run(100)
    per_iteration = solver.nodes_touched / 100
    points = []
    for look in looks:
        while solver.nodes_touched < look:
            solver.run(max(1, int((look - solver.nodes_touched) / per_iteration)))
        points.append(solver.nash_conv() / 2 / BIG_BLIND * 1000)
    return points


def _claims(panels: dict[str, dict[str, Points]]) -> tuple[Claim, ...]:
    def late(curve: Points) -> float:
        numbers = [log(quality) for look, quality in curve if look >= curve[-1][0] / _LATE]
        return exp(sum(numbers) / len(numbers))

    plain = [late(curves["MCCFR"]) for curves in panels.values()]
    linear = [late(curves["Linear MCCFR"]) / base for curves, base in zip(panels.values(), plain, strict=True)]
    initial = [
        late(curves["Initial Discount MCCFR"]) / base for curves, base in zip(panels.values(), plain, strict=True)
    ]
    return (
        Claim(
            text="linear MCCFR is clearly better than vanilla MCCFR",
            measured=f"times MCCFR's exploitability in subgames 3 and 4: {linear[0]:.2f}, {linear[1]:.2f}",
            agrees=max(linear) < 0.9,
        ),
        Claim(
            text="the improvement is particularly noticeable in subgame 3",
            measured=f"{linear[0]:.2f} in subgame 3, {linear[1]:.2f} in subgame 4",
            agrees=linear[0] < linear[1],
        ),
        Claim(
            text="an initial discount alone improves on MCCFR, too",
            measured=f"{initial[0]:.2f}, {initial[1]:.2f}",
            agrees=max(initial) < 1,
        ),
    )
