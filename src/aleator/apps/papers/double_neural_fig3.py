"""Double Neural CFR, Fig. 3: mini-batches and robust sampling on no-limit Leduc hold'em with stack 5."""

from __future__ import annotations

from aleator.apps.papers import double_neural as shared
from aleator.apps.papers.base import Claim, OnProgress, Report, Settings
from aleator.apps.papers.double_neural import SAME, Curve, Method, batched

_GAME = "leduc:nolimit"
_A, _B, _C = "A: batches, k = max", "B: actions explored, batch 5,000", "C: the same over nodes touched"
_EXTERNAL, _OUTCOME = batched("mccfr"), batched("mccfr:outcome,epsilon=0")
_SAMPLED = [
    Method(_B, "outcome", _OUTCOME, "above 0.1"),
    Method(_B, "outcome, ε = 0.6", batched("mccfr:outcome")),
    *(Method(_B, f"k = {k}", batched(f"mccfr:robust{k}")) for k in (1, 3, 5)),
    Method(_B, "k = max", _EXTERNAL),
    Method(_B, "MCCFR+, k = 3", batched("mccfr+:robust3"), "about 0.02"),
]
_METHODS = [
    *(Method(_A, f"b = {batch:,}", batched("mccfr", batch)) for batch in shared.BATCHES),
    *_SAMPLED,
    *(method._replace(panel=_C) for method in _SAMPLED),
]


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns the curves of the figure and whether what the paper says about them holds."""
    return shared.figure(
        3,
        _GAME,
        "no-limit Leduc, stack 5",
        _METHODS,
        settings,
        on_progress,
        nodes=_C,
        claims=_claims,
        convention=(
            "An iteration updates both players with b traversals each. k is the number of actions that the traverser "
            "explores at an infostate; the game has at most 5, so that k = 5 is k = max, which is external sampling. "
            "Outcome sampling is what the paper's Lemma 4 says: one action, drawn by the current policy. "
            "Exploitability is NashConv / 2 in chips; the paper does not say which it takes."
        ),
        deviations=(
            "The figure has curves without numbers, so what the text says about them is checked; within a factor of "
            f"{SAME} is similar. Outcome sampling by the policy alone never tries what the policy does not play, so "
            "that it gets nowhere; the usual form, which explores uniformly with probability 0.6, converges, here at "
            "least as fast as k = 1. The paper has tabular MCCFR+ in Fig. 4 (0.02); ours averages policies with linear "
            "weights. The average policy is sampled at the opponent's infostates; the paper is not clear about where "
            "it samples its own. Suits are not told apart."
        ),
    )


def _claims(curves: dict[str, Curve], last: int) -> tuple[Claim, ...]:
    """Returns what the paper says about panels B and C."""
    outcome, external = curves[_OUTCOME], curves[_EXTERNAL]
    by_k = {k: curves[batched(f"mccfr:robust{k}")] for k in (1, 3, 5)}
    ratios = [
        Claim(
            text=f"outcome sampling stays above 0.1 for {last:,} iterations",
            measured=f"{outcome.final:.3g}, {outcome.touched[-1]:.1e} nodes touched",
            agrees=bool(outcome.low[-1] > 0.1),
        ),
        Claim(
            text="k = 1 explores one action as well, and is better",
            measured=f"{by_k[1].final:.3g}",
            agrees=by_k[1].final < outcome.final,
        ),
        Claim(
            text="a larger k converges faster",
            measured=", ".join(f"{curve.final:.3g} with k = {k}" for k, curve in by_k.items()),
            agrees=by_k[1].final > by_k[3].final > by_k[5].final,
        ),
    ]
    for k in (3, 5):
        ratio = by_k[k].final / external.final
        text = f"k = {k} is similar to k = max"
        ratios.append(Claim(text=text, measured=f"{ratio:.2f} times as much", agrees=ratio < SAME))
    for k in (1, 3):
        touched = min(by_k[k].touched[-1], external.touched[-1])
        ratio = by_k[k].after(touched) / external.after(touched)
        text = f"at equally many nodes touched, k = {k} is as good as k = max"
        ratios.append(Claim(text=text, measured=f"{ratio:.2f} times as much at {touched:.1e}", agrees=ratio < SAME))
    return tuple(ratios)
