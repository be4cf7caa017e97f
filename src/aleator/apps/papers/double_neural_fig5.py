"""Double Neural CFR, Fig. 5, its tabular parts: mini-batches and robust sampling on one-card poker with 5 cards."""

from __future__ import annotations

from aleator.apps.papers import double_neural as shared
from aleator.apps.papers.base import Claim, OnProgress, Report, Settings
from aleator.apps.papers.double_neural import SAME, Curve, Method, batched

_GAME = "one-card:5"
_A, _B, _C = "A: batches, k = max", "B: actions explored, batch 5,000", "C: MCCFR+ over nodes touched"
_EXTERNAL, _OUTCOME, _ONE = batched("mccfr"), batched("mccfr:outcome,epsilon=0"), batched("mccfr:robust1")
_METHODS = [
    *(Method(_A, f"b = {batch:,}", batched("mccfr", batch)) for batch in shared.BATCHES),
    Method(_B, "outcome", _OUTCOME),
    Method(_B, "outcome, ε = 0.6", batched("mccfr:outcome")),
    Method(_B, "k = 1", _ONE),
    Method(_B, "k = max", _EXTERNAL),
    Method(_C, "MCCFR+, k = 1", batched("mccfr+:robust1")),
    Method(_C, "MCCFR+, k = max", batched("mccfr+")),
]


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns the curves of the figure and whether what they show holds."""
    return shared.figure(
        5,
        _GAME,
        "one-card poker, 5 cards",
        _METHODS,
        settings,
        on_progress,
        nodes=_C,
        claims=_claims,
        convention=(
            "An iteration updates both players with b traversals each. An infostate has two actions: k is 1 or 2, and "
            "k = 2 is k = max, which is external sampling. Outcome sampling is what the paper's Lemma 4 says: one "
            "action, drawn by the current policy. Exploitability is NashConv / 2 in antes."
        ),
        deviations=(
            "The paper comments on this figure only that results are comparable to those in Leduc; what it says there "
            "is checked here. Panel C of the paper compares tabular MCCFR+ with the neural method; ours is the tabular "
            "part. Where outcome sampling gets stuck depends on the seed, see its band; the usual form, which explores "
            "uniformly with probability 0.6, does not get stuck."
        ),
    )


def _claims(curves: dict[str, Curve], _: int) -> tuple[Claim, ...]:
    """Returns what the paper says about robust sampling, checked in this game."""
    outcome, one, external = curves[_OUTCOME], curves[_ONE], curves[_EXTERNAL]
    return (
        Claim(
            text="k = 1 explores one action as outcome sampling does, and is better",
            measured=f"{one.final:.3g} against {outcome.final:.3g}",
            agrees=one.final < outcome.final / SAME,
        ),
        Claim(text="a larger k converges faster", measured=f"{external.final:.3g}", agrees=external.final < one.final),
    )
