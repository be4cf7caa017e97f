"""ReBeL Fig. 1 and section 6 on rock-paper-scissors+: what one-ply search must know, how to play on safely."""

from __future__ import annotations

import numpy as np

from aleator.apps.papers.base import Claim, OnProgress, Report, Settings
from aleator.apps.papers.curves import powers_of_two
from aleator.games.base import FloatArray
from aleator.games.registry import load_game
from aleator.search import DepthLimitedSolver, LeafValue, OracleValue, PlayedPolicy, SearchConfig, ZeroValue
from aleator.solvers.best_response import best_response_value
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree, build_tree
from aleator.trees.subgame import DepthLimit, cut

_LAST, _LAST_QUICK, _PRECISION = 1024, 128, 1e-3
_EQUILIBRIUM = (0.4, 0.4, 0.2)
_RULES = ("cfr-d", "cfr-ave")
_DEVIATIONS = (
    "The paper tells the example in words; its numbers are the equilibrium (0.4, 0.4, 0.2) and the unsafe answer (0, "
    "1, 0) to beliefs (0.41, 0.39, 0.2). Which pure answer unsafe search gives depends on which way its beliefs are a "
    "little off. Search runs linear CFR; leaves are solved to a NashConv of 0.001."
)


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns the policies of both players by one-ply search, and how exploitable they are."""
    last = _LAST_QUICK if settings.quick else _LAST
    tree = build_tree(load_game("rps-plus"))
    fixed = _solver(tree, ZeroValue(), "cfr-d", last)
    fixed.run(last)
    rows = [_row("player 1, leaf values that ignore beliefs", fixed.average_policy()[0], None, _EQUILIBRIUM)]
    curves: dict[str, list[tuple[float, float]]] = {}
    answers: dict[str, Policy] = {}
    first: dict[str, FloatArray] = {}
    for number, rule in enumerate(_RULES):
        solver = _solver(tree, OracleValue(_PRECISION), rule, last)
        played = {
            shown: PlayedPolicy(tree, SearchConfig(rule=rule, safe=safe), ZeroValue(), finish=OracleValue(_PRECISION))
            for shown, safe in (("random iteration", True), ("unsafe", False))
        }
        for point in powers_of_two(2, last):
            on_progress((number + point / last) / len(_RULES), f"{rule}, {point} iterations")
            solver.run(point - solver.iteration)
            for shown, finder in played.items():
                answers[f"{shown}, {rule}"] = policy = finder.of(solver)
                curves.setdefault(f"{shown}, {rule}", []).append((float(point), best_response_value(policy, 0)))
        first[rule] = solver.average_policy()[0][:, 0]
        beaten = best_response_value(answers[f"random iteration, {rule}"], 1)
        rows.append(_row(f"player 1, values of public belief states, {rule}", first[rule], beaten, _EQUILIBRIUM))
    for label, policy in answers.items():
        expected = _EQUILIBRIUM if "random" in label else (0.0, 1.0, 0.0)
        rows.append(_row(f"player 2, {label}", policy[1], curves[label][-1][1], expected))
    return Report(
        title="Rock-paper-scissors+ by one-ply search (ReBeL Fig. 1, section 6)",
        setting=f"{last:,} iterations",
        convention="Exploitability of one player's policy: what a best response to it wins; the game is worth 0.",
        columns=("who and how", "rock", "paper", "scissors", "paper's", "a best response wins"),
        rows=tuple(rows),
        claims=_claims(fixed.average_policy()[0][:, 0], first, curves, last),
        panels={"player 2": curves},
        x_label="search iterations, each for both players",
        y_label="what a best response wins",
        deviations=_DEVIATIONS,
    )


def _claims(
    fixed: FloatArray, first: dict[str, FloatArray], curves: dict[str, list[tuple[float, float]]], last: int
) -> tuple[Claim, ...]:
    """Returns what the paper says about player 1 without and with values of beliefs, and about player 2."""
    return (
        Claim(
            text="values that do not depend on beliefs do not lead to (0.4, 0.4, 0.2)",
            measured=_text(fixed),
            agrees=_distance(fixed) > 0.05,
        ),
        Claim(
            text="values of public belief states do",
            measured="; ".join(f"{rule} {_text(policy)}" for rule, policy in first.items()),
            agrees=all(_distance(policy) < 0.03 for policy in first.values()),
        ),
        *(
            Claim(
                text=f"unsafe search as player 2 is exploitable ({rule})",
                measured=f"loses {curves[f'unsafe, {rule}'][-1][1]:.3g}",
                agrees=curves[f"unsafe, {rule}"][-1][1] > 0.5,
            )
            for rule in _RULES
        ),
        *(
            Claim(
                text=f"a random iteration is not: what it loses in expectation goes to 0 ({rule})",
                measured=f"{_at(curves, rule, 0):.3g} after 2 iterations, {_at(curves, rule, -1):.3g} after {last:,}",
                agrees=_at(curves, rule, -1) < 0.1 * _at(curves, rule, 0),
            )
            for rule in _RULES
        ),
    )


def _solver(tree: PublicTree, leaves: LeafValue, rule: str, last: int) -> DepthLimitedSolver:
    return DepthLimitedSolver(cut(tree, limit=DepthLimit(moves=1)), leaves, rule, keep=range(1, last + 1))


def _row(
    label: str, block: FloatArray, beaten: float | None, paper: tuple[float, ...]
) -> tuple[str | float | None, ...]:
    shown = ", ".join(f"{share:g}" for share in paper)
    return (label, *(float(share) for share in block.ravel()), f"({shown})", beaten)


def _text(policy: FloatArray) -> str:
    return "(" + ", ".join(f"{share:.3f}" for share in policy) + ")"


def _distance(policy: FloatArray) -> float:
    return float(abs(policy - np.array(_EQUILIBRIUM)).max())


def _at(curves: dict[str, list[tuple[float, float]]], rule: str, index: int) -> float:
    return curves[f"random iteration, {rule}"][index][1]
