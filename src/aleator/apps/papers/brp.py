"""Brown's thesis, Fig. 3.18 to 3.21: space and convergence of best-response pruning on Leduc and Leduc-5."""

from __future__ import annotations

import numpy as np

from aleator.apps.papers.base import Claim, OnProgress, Report, Settings
from aleator.apps.papers.traces import AGREES, COLUMNS, Trace, over_iterations, over_nodes, ratio, rows, traces
from aleator.games.registry import load_game
from aleator.solvers.engines.by_hand import columns as col
from aleator.solvers.engines.by_hand.layout import HandLayout, below
from aleator.solvers.solve import make_solver
from aleator.solvers.warm_start import WarmStarter
from aleator.trees.public_tree import build_tree

# nodes touched in a quick, the usual and a full run
_NODES = {"leduc": (2e6, 3e7, 1e9), "leduc:5": (1e7, 1e8, 2e9)}
_RULES = {"cfr": "CFR", "rm+": "CFR with RM+"}
_CONSTANTS = ("0.01", "0.1", "1")
_BRP = {
    f"brp:{rule},discard={constant}/simultaneous": f"{label}, BRP, C = {constant}"
    for rule, label in _RULES.items()
    for constant in _CONSTANTS
}
_OTHERS = {
    "cfr/simultaneous": "CFR, no pruning",
    "pp:cfr/simultaneous": "CFR, partial pruning",
    "rbp:cfr/simultaneous": "CFR, RBP",
    "pp:cfr+/simultaneous": "CFR+, partial pruning",
    "rbp:cfr+/simultaneous": "CFR+, RBP",
}
_LABELS = _BRP | _OTHERS
# what the thesis says: how many times less space with C = 0.1, how many times fewer nodes than RBP with CFR
_PAPER = {"leduc": (2.0, 1.0), "leduc:5": (7.0, 2.0)}
_LOSS = 1e-5  # counterfactual value that an action must lose to be called worse than the best


def run(settings: Settings, on_progress: OnProgress, game: str = "leduc") -> Report:
    """Returns space and convergence on one of the two games."""
    nodes = settings.choose(*_NODES[game])
    runs = traces(game, list(_LABELS), nodes, on_progress)
    on_progress(1.0, "")
    compared = {name: label for name, label in _BRP.items() if "discard=0.01/" in name} | _OTHERS
    return Report(
        title=f"Best-response pruning on {game} (thesis, Fig. 3.18 to 3.21): after {nodes:.0e} nodes touched",
        setting=f"{nodes:.0e} nodes touched by each method{settings.mode}",
        convention=(
            "Both players are updated in one traversal. Space is the share of all regrets and sums of policies, one of "
            "each per infostate and action, that is needed: regrets of a pruned action and below are not, sums are not "
            "once the average policy plays it with a probability of at most C / √t. 'Kept' counts the pruned actions' "
            "own numbers as needed. A node touched is a history with suits not told apart; walks "
            "that begin or end pruning count. Exploitability is NashConv / 2; with CFR+ and RM+ that of the best "
            "policy so far."
        ),
        columns=(*COLUMNS, "space", "kept"),
        rows=tuple(
            (*row, float(runs[name].space[-1]), float(runs[name].kept[-1]))
            for row, name in zip(rows(_LABELS, runs), _LABELS, strict=True)
        ),
        claims=(*_claims(game, runs), _limit(game, int(settings.choose(300, 3000, 30000)))),
        panels={
            "A: space": {
                label: runs[name].points(runs[name].iterations, runs[name].space) for name, label in _BRP.items()
            },
            "B: over iterations": over_iterations(_BRP, runs),
            "C: over nodes touched": over_nodes(compared, runs),
        },
        x_label="iterations (A, B); nodes touched (C)",
        y_label="exploitability (NashConv / 2, chips); share (A)",
        deviations=(
            "Memory is counted, not returned to the system; a test overwrites what is below pruned actions and finds "
            "no effect. An action is looked at only if its regret alone says that it would be skipped for 25 "
            "iterations, and again after 10 % more iterations; sums of policies are thrown away below pruned actions "
            "only. The thesis does not define its measure of space. Its half on Leduc cannot leave out only what is "
            "below pruned actions: at an equilibrium no more than a fifth is below actions that lose something (last "
            "claim). It fits the count with the pruned actions themselves, although the regret of such an action is "
            "needed to know when to look at it again. After how many iterations a seventh was reached on Leduc-5 is "
            "not said; here space falls with the logarithm of the iterations: with RM+ and C = 0.1 it is 0.49 after "
            "1,100 of them, 0.35 after 20,000 and 0.32 after 130,000; with CFR and C = 0.01 it is 0.46 after 450,000, "
            "which takes 1.4 times fewer nodes than RBP and 4.0 times fewer than partial pruning at 0.0042."
        ),
    )  # fmt: skip


def _limit(game: str, iterations: int) -> Claim:
    """Returns what space can fall to: the share of actions that lose nothing against a nearly optimal opponent."""
    tree = build_tree(load_game(game))
    layout, starter, solver = HandLayout(tree), WarmStarter(tree), make_solver(tree, "cfr+")
    solver.run(iterations)
    policy = solver.average_policy()
    free: dict[bool, list[np.ndarray]] = {True: [], False: []}
    for player, side in enumerate(layout.sides):
        losses = -starter.substitutes(policy, player, softness=0.0, iterations=1).regrets
        worse = np.append(losses > _LOSS, False)
        for itself, trace in free.items():
            trace.append(below(side, worse, itself=itself)[side.places[:, col.LEGAL] != 0])
    space, kept = (1.0 - float(np.concatenate(free[itself]).mean()) for itself in (True, False))
    return Claim(
        text="the least that is needed in the end: actions of best responses to an equilibrium",
        measured=f"{space:.2f}, or {kept:.2f} with the other actions' own numbers; CFR+, {iterations:,} iterations",
        agrees=1 / space >= AGREES * _PAPER[game][0],
    )


def _claims(game: str, runs: dict[str, Trace]) -> tuple[Claim, ...]:
    less, fewer = _PAPER[game]
    claims = []
    for rule, label in _RULES.items():
        run = runs[f"brp:{rule},discard=0.1/simultaneous"]
        claims.append(
            Claim(
                text=f"space falls to about 1/{less:g} with {label}, C = 0.1",
                measured=f"{run.space[-1]:.2f} ({run.kept[-1]:.2f} kept) after {int(run.iterations[-1]):,} iterations",
                agrees=bool(1 / run.space[-1] >= AGREES * less),
            )
        )
    brp, rbp = runs["brp:cfr,discard=0.01/simultaneous"], runs["rbp:cfr/simultaneous"]
    text = (
        f"BRP needs {fewer:g} times fewer nodes than RBP with CFR"
        if fewer > 1
        else "BRP and RBP are comparable with CFR"
    )
    claims.append(
        Claim(text=text, measured=f"{ratio(rbp, brp):.2f} times fewer", agrees=ratio(rbp, brp) >= AGREES * fewer)
    )
    brp, rbp = runs["brp:rm+,discard=0.01/simultaneous"], runs["rbp:cfr+/simultaneous"]
    if game == "leduc":
        text, agrees = "RBP with CFR+ is significantly better than BRP with RM+", ratio(brp, rbp) > 1.5
    else:
        text, agrees = "BRP with RM+ is comparable to RBP with CFR+", ratio(brp, rbp) < 1.5
    claims.append(Claim(text=text, measured=f"RBP needs {ratio(brp, rbp):.2f} times fewer nodes", agrees=agrees))
    return tuple(claims)
