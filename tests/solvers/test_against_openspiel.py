"""Our iterates are OpenSpiel's: algorithm, iteration, NashConv; and each other's policies score the same."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.games import load_game
from aleator.games.extensive.openspiel import load_openspiel
from aleator.solvers.algorithms import NAMED_RULES
from aleator.solvers.best_response import expected_value, nash_conv
from aleator.solvers.cfr import CFR
from aleator.solvers.limits import Limits
from aleator.solvers.linear_program import solve_linear_program
from aleator.solvers.regret_rule import CFR as VANILLA
from aleator.solvers.regret_rule import CFR_PLUS, RegretRule
from aleator.solvers.solve import solve
from aleator.trees import build_tree
from aleator.trees.openspiel_policy import to_openspiel_policy
from aleator.trees.policy import random_policy

pyspiel = pytest.importorskip("pyspiel")
GOOFSPIEL = "goofspiel(imp_info=True,num_cards=4,points_order=descending,returns_type=point_difference)"
PAIRS = [
    ("kuhn", "kuhn_poker"),
    ("leduc", "leduc_poker"),
    ("liars-dice:1x4", "liars_dice(numdice=1,dice_sides=4)"),
    ("goofspiel:4,descending", GOOFSPIEL),
]


def source(name: str) -> object:
    game = pyspiel.load_game(name)
    simultaneous = game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
    return pyspiel.convert_to_turn_based(game) if simultaneous else game


def their_nash_conv(solver: object, game: object) -> float:
    return float(pyspiel.nash_conv(game, solver.average_policy()))


@pytest.mark.parametrize(("rule", "peer", "iterations"), [(VANILLA, "CFRSolver", 30), (CFR_PLUS, "CFRPlusSolver", 15)])
@pytest.mark.parametrize(("name", "openspiel"), PAIRS)
def test_nash_conv_after_n_iterations(name: str, openspiel: str, rule: RegretRule, peer: str, iterations: int) -> None:
    """To six digits. Later, iterates part where regrets are zero but for rounding, in ours as between theirs."""
    game = source(openspiel)
    theirs = getattr(pyspiel, peer)(game)
    ours = [CFR(build_tree(load_game(name)), rule), CFR(build_tree(load_openspiel(openspiel)), rule)]
    if "goofspiel" in name:
        iterations = 5  # a symmetric game: exact ties from the start
    for _ in range(iterations):
        theirs.evaluate_and_update_policy()
    units = (2.0 if "goofspiel" in name else 1.0, 1.0)  # OpenSpiel pays points less their mean: half the difference
    for solver, unit in zip(ours, units, strict=True):
        solver.run(iterations)
        assert solver.nash_conv() == pytest.approx(unit * their_nash_conv(theirs, game), rel=1e-6)


def test_dcfr_equals_openspiels() -> None:
    from open_spiel.python.algorithms import discounted_cfr, exploitability

    game = pyspiel.load_game("kuhn_poker")
    theirs, ours = discounted_cfr.DCFRSolver(game), CFR(build_tree(load_game("kuhn")), NAMED_RULES["dcfr"])
    for _ in range(40):
        theirs.evaluate_and_update_policy()
    ours.run(40)
    assert ours.nash_conv() == pytest.approx(exploitability.nash_conv(game, theirs.average_policy()), rel=1e-6)


@pytest.mark.parametrize("name", [openspiel for _, openspiel in PAIRS])
def test_openspiel_scores_our_policies_as_we_do(name: str) -> None:
    tree = build_tree(load_openspiel(name))
    game = source(name)
    for policy in (random_policy(tree, np.random.default_rng(1)), solve(tree, limits=Limits(iterations=50)).policy):
        exported = to_openspiel_policy(policy)
        table = pyspiel.TabularPolicy(
            {key: [(a, p) for a, p in enumerate(row) if p > 0] for key, row in _rows(exported).items()}
        )
        assert pyspiel.nash_conv(game, table) == pytest.approx(nash_conv(policy), abs=1e-9)


def _rows(policy: object) -> dict[str, np.ndarray]:
    return {key: policy.action_probability_array[index] for key, index in policy.state_lookup.items()}


@pytest.mark.parametrize(("name", "openspiel"), PAIRS)
def test_values_agree_through_the_adapter(name: str, openspiel: str) -> None:
    native, _ = solve_linear_program(build_tree(load_game(name)))
    adapted, policy = solve_linear_program(build_tree(load_openspiel(openspiel)))
    assert native == pytest.approx(adapted, abs=1e-9)
    assert expected_value(policy) == pytest.approx(adapted, abs=1e-9)
