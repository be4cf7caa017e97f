"""Brown's thesis, Fig. 3.13 to 3.15: partial and regret-based pruning on Leduc and Leduc-5."""

from __future__ import annotations

from aleator.apps.papers.base import Claim, OnProgress, Report, Settings
from aleator.apps.papers.traces import (
    AGREES,
    COLUMNS,
    Trace,
    over_iterations,
    over_nodes,
    ratio,
    ratio_claim,
    rows,
    traces,
)

# nodes touched in a quick, the usual and a full run
_NODES = {"leduc": (2e6, 1e8, 1e10), "leduc:5": (1e7, 1e8, 1e10)}
_DCFR = "dcfr:1.5,0.5,2"
_LABELS = {
    "cfr/simultaneous": "CFR, no pruning",
    "pp:cfr/simultaneous": "CFR, partial pruning",
    "pp:cfr,respond/simultaneous": "CFR, best response where reach is zero",
    "rbp:cfr/simultaneous": "CFR, RBP",
    "rbp:cfr,greedy/simultaneous": "CFR, RBP, greedy",
    "pp:cfr+/simultaneous": "CFR+, partial pruning",
    "rbp:cfr+/simultaneous": "CFR+, RBP",
    f"pp:{_DCFR}/simultaneous": "DCFR(1.5, 0.5, 2), partial pruning",
    f"rbp:{_DCFR}/simultaneous": "DCFR(1.5, 0.5, 2), RBP",
}
# what the thesis says: times fewer nodes to the same exploitability, and per iteration
_PAPER = {"leduc": {"cfr": (8.0, 2.0), "cfr+": (2.0, 2.0)}, "leduc:5": {"cfr": (12.0, 7.0), "cfr+": (10.0, 40.0)}}
_SKIPS = (1, 5, 10, 25, 50)


def run(settings: Settings, on_progress: OnProgress, game: str = "leduc") -> Report:
    """Returns the curves of Fig. 3.13 and 3.14 for one of the two games."""
    nodes = settings.choose(*_NODES[game])
    runs = traces(game, list(_LABELS), nodes, on_progress)
    on_progress(1.0, "")
    return Report(
        title=f"Pruning on {game} (thesis, Fig. 3.13 and 3.14): after {nodes:.0e} nodes touched",
        setting=f"{nodes:.0e} nodes touched by each method{settings.mode}",
        convention=_CONVENTION,
        columns=COLUMNS,
        rows=rows(_LABELS, runs),
        claims=_claims(game, runs),
        panels={
            "A: over nodes touched": over_nodes(_LABELS, runs),
            "B: over iterations": over_iterations(_LABELS, runs),
            "C: nodes per iteration": {
                label: runs[name].points(runs[name].iterations, runs[name].per_iteration)
                for name, label in _LABELS.items()
            },
        },
        x_label="nodes touched (A); iterations (B, C)",
        y_label="exploitability (NashConv / 2, chips); nodes (C)",
        deviations=_DEVIATIONS,
    )


def run_thresholds(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns the curves of Fig. 3.15: the least expected number of skipped iterations, on Leduc-5."""
    nodes = settings.choose(*_NODES["leduc:5"])
    labels = {
        f"rbp:{rule},skip={skip}/simultaneous": f"{rule.upper()}, {skip}" for rule in ("cfr", "cfr+") for skip in _SKIPS
    }
    runs = traces("leduc:5", list(labels), nodes, on_progress)
    on_progress(1.0, "")
    final = {rule: [runs[f"rbp:{rule},skip={skip}/simultaneous"].final for skip in _SKIPS] for rule in ("cfr", "cfr+")}
    return Report(
        title=f"Least number of skipped iterations, Leduc-5 (thesis, Fig. 3.15): after {nodes:.0e} nodes touched",
        setting=f"{nodes:.0e} nodes touched by each method{settings.mode}",
        convention=_CONVENTION,
        columns=COLUMNS,
        rows=rows(labels, runs),
        claims=tuple(
            Claim(
                text=f"all of 1, 5, 10, 25 and 50 perform similarly with {rule.upper()}",
                measured=f"{max(values) / min(values):.2f} times as much in the worst as in the best",
                agrees=max(values) < 2 * min(values),
            )
            for rule, values in final.items()
        ),
        panels={
            rule.upper(): over_nodes(
                {name: label for name, label in labels.items() if name.startswith(f"rbp:{rule},")}, runs
            )
            for rule in ("cfr", "cfr+")
        },
        x_label="nodes touched",
        y_label="exploitability (NashConv / 2, chips)",
        deviations="Within a factor of 2 is similar: the figure has curves without numbers. " + _DEVIATIONS,
    )


def _claims(game: str, runs: dict[str, Trace]) -> tuple[Claim, ...]:
    claims = []
    for rule, (total, each) in _PAPER[game].items():
        slow, fast = runs[f"pp:{rule}/simultaneous"], runs[f"rbp:{rule}/simultaneous"]
        name = rule.upper()
        claims.append(
            ratio_claim(f"RBP needs {total:g} times fewer nodes than partial pruning with {name}", total, slow, fast)
        )
        fewer = float(slow.per_iteration[-1] / fast.per_iteration[-1])
        limit = float(slow.per_iteration[-1] / fast.played)
        claims.append(
            Claim(
                text=f"and {each:g} times fewer nodes per iteration",
                measured=f"{fewer:.1f} at the end; {limit:.1f} if all that is not played were pruned",
                agrees=fewer >= AGREES * each,
            )
        )
    partial, response = runs["pp:cfr/simultaneous"], runs["pp:cfr,respond/simultaneous"]
    fewer = ratio(partial, response, "iterations")
    claims.append(
        Claim(
            text="best responses where reach is zero: far fewer iterations of CFR",
            measured=f"{fewer:.1f} times fewer",
            agrees=fewer > 1.5,
        )
    )
    slow, fast = (runs[f"{method}:{_DCFR}/simultaneous"] for method in ("pp", "rbp"))
    plus = runs["rbp:cfr+/simultaneous"]
    claims.append(
        Claim(
            text="RBP goes better with DCFR, β = 0.5, than with CFR+",
            measured=f"{fast.final:.2g} against {plus.final:.2g}; {ratio(slow, fast):.1f} times fewer nodes",
            agrees=fast.final < plus.final,
        )
    )
    slow, fast = runs["pp:cfr/simultaneous"], runs["rbp:cfr/simultaneous"]
    seconds = ratio(slow, fast, "seconds")
    claims.append(
        Claim(text="and RBP takes less time, too", measured=f"{seconds:.1f} times less with CFR", agrees=seconds > 1)
    )
    return tuple(claims)


_CONVENTION = (
    "Both players are updated in one traversal, as in the thesis. A node touched is a history with suits not told "
    "apart; walks that begin or end pruning count. Exploitability is NashConv / 2; with CFR+ that of the best average "
    "policy so far, as in the thesis. Ratios are taken at the lowest exploitability that both methods reach, and agree "
    "if they are at least two thirds of the thesis'."
)
_DEVIATIONS = (
    "RBP here equals a reference that keeps all policies and follows 3.3.2 and 3.3.3 literally; 'greedy' plays the "
    "highest regret where none is positive, instead of uniformly. The thesis has curves without numbers; neither its "
    "node counts nor the exploitability at which its ratios were read off are known. What it reports is what ours "
    "tends to, not what a run of minutes shows. A ratio has two factors. Iterations: best responses alone save 3.1 "
    "times of them on Leduc at 0.004 and 4.4 times at 0.0009. Nodes per iteration: since U(I, a) is far above what an "
    "action is worth, an action that loses δ chips is pruned for 25 iterations only after 25 U / δ of them, so that "
    "what is touched comes down slowly to what both players play, which is 2 (Leduc) and 8 times (Leduc-5) fewer than "
    "partial pruning touches. Long runs, times fewer nodes than partial pruning: CFR on Leduc 2.8 at 0.004, 3.9 at "
    "0.002, 4.3 at 0.001, 5.5 at 0.0005 and 7.8 at 0.00026 (in 3.8 times less time; 1.3e10 nodes of partial pruning); "
    "CFR on Leduc-5 2.0 at 0.07, 2.4 at 0.03, 2.8 at 0.004 (6.7e9); CFR+ there 1.7 at 0.005, 3.2 at 0.00125, 2.8 at "
    "0.0006, with 34 times fewer nodes per iteration in the end (after 550,000 of them). On Leduc-5 that saves no time "
    "yet (1.07 times less with CFR, 0.83 with CFR+): a node costs two to three times as much where few pairs of hands "
    "of a public state are left."
)
