"""Brown's thesis, Fig. 3.16 and 3.17: dynamic thresholding with Hedge and with the excessive gap technique."""

from __future__ import annotations

from aleator.apps.papers.base import Claim, OnProgress, Report, Settings
from aleator.apps.papers.traces import COLUMNS, Trace, over_nodes, ratio, ratio_claim, rows, traces

# nodes touched in a quick, the usual and a full run
_NODES = {"leduc": (2e6, 3e7, 1e9), "leduc:5": (1e7, 1e8, 2e9)}
_D, _C = "0.5", "0.005"
_CONSTANTS_D, _CONSTANTS_C = ("0.1", "0.5", "2"), ("0.001", "0.005", "0.01", "0.05")
_HEDGE, _HEDGE_RBP, _EGT = "hedge/simultaneous", f"rbp:hedge,threshold={_D}/simultaneous", "egt"
_COMPARED = {
    _EGT: "EGT",
    f"egt:threshold={_C}": f"EGT, thresholding, c = {_C}",
    _HEDGE: "Hedge",
    f"pp:hedge,threshold={_D}/simultaneous": f"Hedge, thresholding, d = {_D}",
    _HEDGE_RBP: f"Hedge, thresholding and RBP, d = {_D}",
    "pp:cfr/simultaneous": "RM, partial pruning",
    "rbp:cfr/simultaneous": "RM, RBP",
    "pp:cfr+/simultaneous": "CFR+, partial pruning",
}
_VARIED = {
    **{f"rbp:hedge,threshold={d}/simultaneous": f"Hedge, thresholding and RBP, d = {d}" for d in _CONSTANTS_D},
    **{f"egt:threshold={c}": f"EGT, thresholding, c = {c}" for c in _CONSTANTS_C},
}


def run(settings: Settings, on_progress: OnProgress, game: str = "leduc") -> Report:
    """Returns the curves of both figures on one of the two games."""
    nodes, labels = settings.choose(*_NODES[game]), _COMPARED | _VARIED
    runs = traces(game, list(labels), nodes, on_progress)
    on_progress(1.0, "")
    return Report(
        title=f"Dynamic thresholding on {game} (thesis, Fig. 3.16 and 3.17): after {nodes:.0e} nodes touched",
        setting=f"{nodes:.0e} nodes touched by each method{settings.mode}",
        convention=(
            "Hedge and RM update both players in one traversal; an iteration of EGT shrinks the smoothing of one "
            "player and computes three gradients or more, each a traversal. d and c are those of Fig. 3.17. A node "
            "touched is a history with suits not told apart. Exploitability is NashConv / 2; with CFR+ that of the "
            "best policy so far. Ratios are taken at the lowest exploitability that both methods reach, and agree from "
            "two thirds of the thesis' on."
        ),
        columns=COLUMNS,
        rows=rows(labels, runs),
        claims=_claims(game, runs),
        panels={
            "A: thresholding": over_nodes({name: _COMPARED[name] for name in list(_COMPARED)[:5]}, runs),
            "B: against RM and CFR+": over_nodes({name: _COMPARED[name] for name in list(_COMPARED)[4:]}, runs),
            "C: Hedge, other d": over_nodes({n: label for n, label in _VARIED.items() if "hedge" in n}, runs),
            "D: EGT, other c": over_nodes({n: label for n, label in _VARIED.items() if "egt" in n}, runs),
        },
        x_label="nodes touched",
        y_label="exploitability (NashConv / 2, chips)",
        deviations=(
            "The thesis gives neither the d of Fig. 3.16 nor how its EGT chooses steps; ours takes the largest step "
            "that keeps the excessive gap and begins with the smallest smoothing that does. Where the threshold is too "
            "high the gap itself is misjudged, and EGT gets stuck. The figures have curves without numbers."
        ),
    )  # fmt: skip


def _claims(game: str, runs: dict[str, Trace]) -> tuple[Claim, ...]:
    egt, pruned_egt = runs[_EGT], runs[f"egt:threshold={_C}"]
    hedge, pruned_hedge = runs[_HEDGE], runs[_HEDGE_RBP]
    matching = runs["rbp:cfr/simultaneous"]
    claims = []
    if game == "leduc:5":
        claims.append(ratio_claim("thresholding lets EGT need 2 times fewer nodes", 2, egt, pruned_egt))
        claims.append(ratio_claim("thresholding and RBP let Hedge need 7 times fewer", 7, hedge, pruned_hedge))
    else:
        claims.append(ratio_claim("thresholding helps EGT", 1.5, egt, pruned_egt))
        claims.append(ratio_claim("thresholding and RBP help Hedge", 1.5, hedge, pruned_hedge))
    better = "Hedge" if game == "leduc" else "RM"
    fewer = ratio(matching, pruned_hedge) if game == "leduc" else ratio(pruned_hedge, matching)
    claims.append(Claim(text=f"with RBP, {better} is ahead", measured=f"by a factor of {fewer:.2f}", agrees=fewer > 1))
    for name, constants, prefix in (("Hedge", _CONSTANTS_D, "rbp:hedge,"), ("EGT", _CONSTANTS_C[:3], "egt:")):
        suffix = "/simultaneous" if name == "Hedge" else ""
        final = [runs[f"{prefix}threshold={constant}{suffix}"].final for constant in constants]
        claims.append(
            Claim(
                text=f"{name} is not sensitive to the constant ({', '.join(constants)})",
                measured=f"{max(final) / min(final):.2f} times as much in the worst as in the best",
                agrees=max(final) < 1.5 * min(final),
            )
        )
    aggressive, best = (runs[f"egt:threshold={c}"].final for c in (_CONSTANTS_C[3], _C))
    claims.append(
        Claim(
            text=f"c = {_CONSTANTS_C[3]} is too aggressive and hurts EGT slightly",
            measured=f"{aggressive / best:.1f} times as much as with c = {_C}",
            agrees=1.0 < aggressive / best < 3.0,
        )
    )
    return tuple(claims)
