"""Regret transfer: no change is the identity, and corrected regrets are those of a replay in the new game."""

from __future__ import annotations

import numpy as np
import pytest

from aleator import load_game, solve
from aleator.abstraction.parameters import ParametricGame, parametric_game, parse_parameters
from aleator.abstraction.regret_transfer import (
    POTENTIAL,
    UNSCALED,
    ParametricCFR,
    ParametricMCCFR,
    ParametricProblem,
    average_payoff,
    payoff_weight,
    potential_weight,
)
from aleator.errors import GameError, SolutionError, SolveError
from aleator.games.leduc import Leduc
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.best_response import nash_conv
from aleator.solvers.cfr import CFR
from aleator.solvers.sampling_rule import SamplingRule
from aleator.trees.policy import uniform_policy
from aleator.trees.public_tree import build_tree
from tests.solvers.reference import as_blocks, pull, reaches

OLD, NEW = {"a": 2.0, "b": 4.0}, {"a": 2.5, "b": 3.0}
RULES = ("cfr", "cfr/simultaneous", "cfr+", "lcfr", "dcfr", "pcfr+", "pdcfr+", "sharp-dcfr+")


def family() -> ParametricGame:
    return parametric_game("leduc:bets={a}/{b}", OLD)


def replayed_regrets(rule, iterations, tree, other):
    """Returns the regrets of both players if the policies of CFR on `tree` had been played on `other`.

    What an entry's regret was multiplied by on the way, 0 where a floor cut it off, it is multiplied by here, too.
    """
    solver = CFR(tree, rule)
    regret = [np.zeros(tree.policy_size[player]) for player in (0, 1)]
    regret_there = [row.copy() for row in regret]
    played = as_blocks(solver.current_policy())
    for t in range(1, iterations + 1):
        positive, negative, _, floor, _ = rule.schedule(t, 1)[0]
        solver.run(1)
        after = as_blocks(solver.current_policy())
        for player in (0, 1):
            # alternating: the second player sees the first one's new policy
            now = {
                n: after[n] if rule.alternating and player == 1 and tree.actor[n] == 0 else played[n] for n in played
            }
            gains = []
            for game in (tree, other):
                blocks = {}

                def regret_of(node, q, blocks=blocks, now=now):
                    value = (now[node] * q).sum(axis=0)
                    blocks[node] = q - value
                    return value

                pull(game, player, 0, reaches(game, now, 1 - player), regret_of)
                gains.append(np.concatenate([blocks[int(n)].ravel() for n in tree.decisions(player)]))
            kept = np.where(regret[player] > 0, positive, negative)
            regret[player] = regret[player] * kept + gains[0]
            alive = regret[player] > floor
            regret[player] = np.where(alive, regret[player], 0.0)
            regret_there[player] = np.where(alive, regret_there[player] * kept + gains[1], 0.0)
        played = after
    return [np.maximum(row, floor) for row in regret_there]


@pytest.mark.parametrize("name", RULES)
def test_corrected_regrets_are_those_of_a_replay(name):
    rule, games = parse_rule(name), family()
    solver = ParametricCFR(games, OLD, rule)
    solver.run(12)
    solver.transfer(NEW, UNSCALED)
    expected = replayed_regrets(rule, 12, build_tree(games.game(OLD)), build_tree(games.game(NEW)))
    layout = solver._engine.layout
    for player in (0, 1):
        regret = layout.unpad(player, solver._update.memory[player].regret)
        np.testing.assert_allclose(regret, expected[player], atol=1e-12)
        assert np.abs(regret).max() > 0.1


@pytest.mark.parametrize("name", RULES)
def test_no_change_is_the_identity(name):
    rule = parse_rule(name)
    solver, plain = ParametricCFR(family(), OLD, rule), CFR(build_tree(load_game("leduc")), rule)
    solver.run(20)
    assert solver.transfer(OLD) == 1.0
    solver.run(20)
    plain.run(40)
    assert solver.iteration == 40
    for name, vector in plain.state().items():
        np.testing.assert_array_equal(solver.state()[name], vector)


def test_derivatives_last_after_a_transfer():
    """Going to a new game and back without scaling is the identity up to rounding, for rules that keep all regrets."""
    solver, plain = (ParametricCFR(family(), OLD, parse_rule("lcfr")) for _ in range(2))
    for one in (solver, plain):
        one.run(15)
    solver.transfer(NEW, UNSCALED)
    solver.transfer(OLD, UNSCALED)
    solver.run(15)
    plain.run(15)
    np.testing.assert_allclose(solver.average_policy().probabilities[0], plain.average_policy().probabilities[0])


@pytest.mark.parametrize(
    "scheme",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("chance", "external", "robust", "public-chance")),
        "outcome",
    ],
)
def test_sampled_regrets_are_those_of_the_same_samples_in_the_new_game(scheme):
    """A run in the new game whose policies are those of the old one: its derivative is followed, not its regrets."""
    games, rule = family(), SamplingRule(scheme=scheme)
    solver = ParametricMCCFR(games, OLD, rule, seed=3)
    plain = ParametricMCCFR(games, OLD, rule, seed=3)
    replay = ParametricMCCFR(games, OLD, rule, seed=3)
    replay._engine.follow(games.stakes(NEW)[None])
    for one in (solver, plain, replay):
        one.run(200)
    solver.transfer(NEW, UNSCALED)
    np.testing.assert_allclose(solver._engine.regret, replay._engine.derivatives[0], atol=1e-9)
    assert np.abs(solver._engine.regret - plain._engine.regret).max() > 0.1
    assert nash_conv(solver.average_policy()) == solver.nash_conv() != plain.nash_conv()


def test_weights():
    growth, actions = np.array([-5.0, 2.0, 1.0]), np.array([2.0, 2.0, 8.0])
    expected = [1 / (1 + 2 * g * np.sqrt(a * 100) / 4 + g**2 * 100 / 16) for g, a in ((0.02, 2.0), (0.01, 8.0))]
    assert payoff_weight(growth, actions, 100, 4.0) == pytest.approx(min(expected))
    assert payoff_weight(-(growth**2), actions, 100, 4.0) == 1.0
    assert potential_weight(np.array([3.0, -9.0]), np.array([4.0, 3.0])) == pytest.approx(9 / 25)
    assert potential_weight(np.array([3.0]), np.array([1.0])) == 1.0
    assert average_payoff(uniform_policy(build_tree(load_game("kuhn")))) == pytest.approx(1.375)


def test_transfer_with_weight_is_ahead_of_a_start_from_scratch():
    games, near = family(), {"a": 2.1, "b": 4.1}
    solver, scratch = ParametricCFR(games, OLD, parse_rule("cfr")), ParametricCFR(games, near, parse_rule("cfr"))
    solver.run(5000)
    weight = solver.transfer(near)
    assert 0.2 < weight < 0.9 and solver.iteration == round(weight * 5000)
    solver.run(500)
    scratch.run(500)
    assert solver.nash_conv() < scratch.nash_conv() / 2
    assert solver.nash_conv() == pytest.approx(nash_conv(solver.average_policy()))
    assert solver.tree.game.name == "leduc:bets=2.1/4.1"


def test_a_problem_goes_on_from_a_file(tmp_path):
    from aleator import open_solution

    games = family()
    solve(ParametricProblem(games, OLD), "dcfr", iterations=200).save(tmp_path / "old.solution")
    source = open_solution(tmp_path / "old.solution")
    problem = ParametricProblem(games, {"a": 2.1, "b": 4.1}, source=source, weight=POTENTIAL)
    solution = solve(problem, "dcfr", iterations=400)
    assert solution.exploitability < 0.01 and 0.0 < problem.weight < 1.0
    with pytest.raises(SolutionError, match="made by dcfr in float64, not by cfr"):
        solve(ParametricProblem(games, NEW, source=source), "cfr", iterations=1)
    with pytest.raises(SolutionError, match="has no derivatives"):
        solve(ParametricProblem(games, NEW, source=solve("leduc", iterations=1)), "dcfr", iterations=1)


def test_what_is_refused():
    games = family()
    with pytest.raises(SolveError, match="Hedge"):
        ParametricCFR(games, OLD, parse_rule("hedge"))
    with pytest.raises(SolveError, match="above 0 and at most 1"):
        ParametricCFR(games, OLD).transfer(NEW, 0.0)
    with pytest.raises(SolveError, match="unknown weight"):
        ParametricCFR(games, OLD).transfer(NEW, "none")
    with pytest.raises(GameError, match="needs a value of b"):
        parametric_game("leduc:bets={a}/{b}", {"a": 2.0})
    with pytest.raises(GameError, match="unknown parameter"):
        parametric_game("leduc:bets={a}/4", {"a": 2.0, "c": 1.0})
    for values in ({}, {"a": 2.0}):
        with pytest.raises(GameError, match="no parameters"):
            parametric_game("leduc", values)
    with pytest.raises(GameError, match="more than stakes change"):
        parametric_game("leduc:bets=2/4,stack={s}", {"s": 12.95})
    with pytest.raises(GameError, match="not affine"):
        ParametricGame(lambda s: Leduc(((s**2,), (4,))), {"s": 2.0}, name="squares")
    for text, words in (("second", "NAME=NUMBER"), ("a=x", "a"), ("2=3", "NAME=NUMBER")):
        with pytest.raises(GameError, match=words):
            parse_parameters([text])
    with pytest.raises(GameError, match="already"):
        parse_parameters(["a=1", "a=2"])
