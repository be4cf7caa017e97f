"""Spots as games, solved by the engine of hold'em: the general engine's equilibria, with beliefs and locks."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import SolveError, TooBigError
from aleator.games import load_game
from aleator.games.holdem.game import HoldemGame
from aleator.solvers.best_response import expected_value, nash_conv
from aleator.solvers.cfr import CFR
from aleator.solvers.holdem import tree as holdem_tree
from aleator.solvers.holdem.tree import HoldemTreeSolver, is_spot, make_cfr, spot_size
from aleator.solvers.limits import Limits
from aleator.solvers.regret_rule import DCFR, LCFR
from aleator.solvers.solve import solve
from aleator.trees import DepthLimit, build_tree, cut
from aleator.trees.policy import uniform_policy
from tests.solvers.holdem.test_solver import RIVER, TURN


@pytest.mark.parametrize("spot", [RIVER, TURN], ids=["river", "turn"])
def test_it_finds_an_equilibrium_of_the_game(spot) -> None:  # type: ignore[no-untyped-def]
    tree = build_tree(HoldemGame(spot))
    solver = make_cfr(tree, DCFR)
    assert isinstance(solver, HoldemTreeSolver)
    solver.run(300)
    found = solver.average_policy()
    assert solver.nash_conv() == pytest.approx(nash_conv(found), abs=0.01)
    assert nash_conv(found) < 0.02 * nash_conv(uniform_policy(tree))
    general = CFR(tree, DCFR)
    general.run(300)
    assert expected_value(found) == pytest.approx(expected_value(general.average_policy()), abs=0.2)  # of a pot of 100


@pytest.mark.parametrize("spot", [RIVER, TURN], ids=["river", "turn"])
def test_the_size_is_known_without_the_tree(spot, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    game = HoldemGame(spot)
    tree, size = build_tree(game), spot_size(game, 80)
    assert size.public_states == tree.num_nodes and size.memory == 80 * sum(tree.policy_size)
    size.check_fits("a spot")
    monkeypatch.setattr(holdem_tree, "available_memory", lambda: size.memory - 1)
    with pytest.raises(
        TooBigError, match=rf"a spot has {size.public_states:,} public states .* play a turn or a river"
    ):
        size.check_fits("a spot")


def test_beliefs_at_the_root_and_locked_decisions_are_kept() -> None:
    tree = build_tree(HoldemGame(RIVER))
    rng = np.random.default_rng(0)
    reach = (rng.random(int(tree.num_hands[0, 0])), rng.random(int(tree.num_hands[1, 0])))
    reach[1][:3] = 0.0
    solver, general = HoldemTreeSolver(tree, LCFR, root_reach=reach), CFR(tree, LCFR, root_reach=reach)
    held = uniform_policy(tree)[0]
    for each in (solver, general):
        each.lock(np.array([0]), held[None])
        each.run(400)
    found, expected = solver.average_policy(), general.average_policy()
    np.testing.assert_allclose(found[0], held, atol=1e-6)
    assert expected_value(found, reach) == pytest.approx(expected_value(expected, reach), abs=0.3)


def test_spots_from_a_decision_to_the_end_are_solved_that_way() -> None:
    tree = build_tree(HoldemGame(TURN))
    rests = [cut(tree, node).tree for node in (0, 1, tree.find(["b50"]), tree.find(["c", "c", "2c"]))]
    assert all(is_spot(rest) and isinstance(make_cfr(rest, DCFR), HoldemTreeSolver) for rest in rests)
    chance = cut(tree, tree.find(["c", "c"])).tree
    for part in (cut(tree, 0, DepthLimit(moves=2)).tree, chance, build_tree(load_game("kuhn"))):
        assert not is_spot(part)
        with pytest.raises(SolveError, match="not the tree of a hold'em spot to the end"):
            HoldemTreeSolver(part)
    assert isinstance(make_cfr(chance, DCFR), CFR)


@pytest.mark.parametrize("labels", [["c"], ["b50"], ["c", "c", "2c"], ["c", "c", "2c", "c"]])
def test_the_rest_of_a_spot_is_that_of_the_general_engine(labels: list[str]) -> None:
    """Also in the middle of a street, and on later ones, with beliefs."""
    tree = build_tree(HoldemGame(TURN))
    rest, rng = cut(tree, tree.find(labels)).tree, np.random.default_rng(2)
    reach = (rng.random(int(tree.num_hands[0, 0])), rng.random(int(tree.num_hands[1, 0])))
    quick, general = HoldemTreeSolver(rest, DCFR, root_reach=reach), CFR(rest, DCFR, root_reach=reach)
    for solver in (quick, general):
        solver.run(500)
    found, expected = quick.average_policy(), general.average_policy()
    found.check()
    value, scale = expected_value(expected, reach), nash_conv(uniform_policy(rest), reach)
    assert expected_value(found, reach) == pytest.approx(value, abs=0.005 * scale)
    assert nash_conv(found, reach) < 0.02 * scale


def test_a_solve_ends_at_its_limits_and_reports() -> None:
    tree, seen = build_tree(HoldemGame(RIVER)), []
    found = solve(
        tree, limits=Limits(iterations=50), on_progress=lambda progress: seen.append(progress.iteration)
    ).policy
    assert seen[-1] == 50 and seen == sorted(seen)
    assert nash_conv(found) < 0.1 * nash_conv(uniform_policy(tree))
