"""The SIMD engine equals the recursive reference, in every rule, on games with everything the public form allows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aleator.games import check_game, load_game
from aleator.solvers.algorithms import NAMED_RULES, parse_rule
from aleator.solvers.best_response import best_response_cfvs, best_response_value, cfvs, expected_value, nash_conv
from aleator.solvers.cfr import CFR
from aleator.solvers.engines.cpu import engine as engine_module
from aleator.solvers.engines.cpu.engine import CpuEngine
from aleator.solvers.regret_rule import RegretRule
from aleator.trees import build_tree
from aleator.trees.policy import random_policy, uniform_policy
from tests.games.random_game import RandomGame
from tests.solvers.reference import ReferenceCFR, reference_best_response, reference_value
from tests.trees.ties import without_ties

NAMES = ["kuhn", "leduc", "goofspiel:3", "coin-toss", "rps-plus", "liars-dice:1x4", "one-card:5"]


def assert_same_iterates(solver: CFR, reference: ReferenceCFR, tolerance: float) -> None:
    scale = max([1.0, *(np.abs(regret).max(initial=0.0) for regret in reference.regret.values())])
    state = solver.state()
    for player in (0, 1):
        ours = solver._engine.layout.unpad(player, state[f"regret{player}"])
        np.testing.assert_allclose(ours, reference.vector(reference.regret, player), atol=tolerance * scale, rtol=0)
        ours = solver._engine.layout.unpad(player, state[f"policy_sum{player}"])
        np.testing.assert_allclose(ours, reference.vector(reference.policy_sum, player), atol=tolerance, rtol=tolerance)
        if not near_tie(solver):
            ours = solver.current_policy().probabilities[player]
            np.testing.assert_allclose(ours, reference.vector(reference.policy, player), atol=tolerance * 100, rtol=0)


def near_tie(solver: CFR) -> bool:
    """Returns whether some regret is zero but for rounding: there the next policy depends on the order of additions."""
    state = solver.state()
    regrets = np.concatenate([state[name] for name in ("regret0", "regret1", "instant0", "instant1")])
    return bool(((regrets != 0) & (np.abs(regrets) < 1e-13)).any())


@pytest.mark.parametrize("rule", [*NAMED_RULES, "cfr/simultaneous", "dcfr/simultaneous", "pcfr+/simultaneous"])
@pytest.mark.parametrize("name", ["kuhn", "goofspiel:3"])
def test_every_rule_equals_the_reference(name: str, rule: str) -> None:
    tree = without_ties(build_tree(load_game(name)))
    solver, reference = CFR(tree, parse_rule(rule)), ReferenceCFR(tree, parse_rule(rule))
    for _ in range(3):
        solver.run(2)
        reference.run(2)
        assert rule == "hedge" or not near_tie(solver)  # Hedge plays everything, a little: some reaches are tiny
        assert_same_iterates(solver, reference, 1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_every_game_equals_the_reference(name: str) -> None:
    tree = without_ties(build_tree(load_game(name)))
    solver, reference = CFR(tree, NAMED_RULES["dcfr"]), ReferenceCFR(tree, NAMED_RULES["dcfr"])
    solver.run(4)
    reference.run(4)
    assert not near_tie(solver)
    assert_same_iterates(solver, reference, 1e-10)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), rule=st.sampled_from(["cfr", "cfr+", "dcfr", "pdcfr+", "hedge"]))
def test_random_games_equal_the_reference(seed: int, rule: str) -> None:
    game = RandomGame(seed)
    check_game(game)
    tree = build_tree(game)
    solver, reference = CFR(tree, NAMED_RULES[rule]), ReferenceCFR(tree, NAMED_RULES[rule])
    for _ in range(3):
        solver.run(1)
        reference.run(1)
        assert_same_iterates(solver, reference, 1e-9)
        assume(not near_tie(solver))
    solver.average_policy().check()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_values_and_best_responses_equal_the_reference(seed: int) -> None:
    tree = build_tree(RandomGame(seed))
    policy = random_policy(tree, np.random.default_rng(seed))
    policy.check()
    values = [reference_value(policy, player) for player in (0, 1)]
    assert sum(values[0]) == pytest.approx(-sum(values[1]), abs=1e-12)
    assert expected_value(policy) == pytest.approx(sum(values[0]), abs=1e-12)
    for player in (0, 1):
        best = reference_best_response(policy, player)
        np.testing.assert_allclose(cfvs(policy, player)[0], values[player], atol=1e-12)
        np.testing.assert_allclose(best_response_cfvs(policy, player)[0], best, atol=1e-12)
        assert best_response_value(policy, player) >= sum(values[player]) - 1e-12
    assert nash_conv(policy) >= -1e-12


@pytest.mark.parametrize("name", ["leduc", "one-card:9", "liars-dice:1x4"])
def test_float32_follows_float64(name: str) -> None:
    tree = build_tree(load_game(name))
    double, single = CFR(tree, NAMED_RULES["cfr"]), CFR(tree, NAMED_RULES["cfr"], dtype=np.float32)
    double.run(20)
    single.run(20)
    assert single.nash_conv() == pytest.approx(double.nash_conv(), rel=1e-3)
    assert single.state()["regret0"].dtype == np.float32


def test_float32_with_private_moves_converges() -> None:
    """Goofspiel's symmetric ties make iterates depend on rounding, but not where they go."""
    tree = build_tree(load_game("goofspiel:4"))
    solver = CFR(tree, NAMED_RULES["dcfr"], dtype=np.float32)
    solver.run(300)
    assert 0 <= solver.nash_conv() < 0.01 * nash_conv(uniform_policy(tree))


@pytest.mark.parametrize("rule", ["dcfr", "pcfr+", "cfr/simultaneous", "hedge"])
@pytest.mark.parametrize("name", ["liars-dice:1x4", "goofspiel:4", "leduc"])
def test_threads_change_nothing(name: str, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "_WORTH_THREADS", 0)
    tree = build_tree(load_game(name))
    one, three = CFR(tree, parse_rule(rule)), CFR(tree, parse_rule(rule), threads=3)
    assert len(three._engine.parts) > 1
    covered = np.concatenate([task.inner for task in [three._engine.trunk, *three._engine.parts]])
    assert sorted(covered) == sorted(one._engine.whole.inner)
    one.run(10)
    three.run(10)
    for name_of_vector, vector in one.state().items():
        np.testing.assert_array_equal(vector, three.state()[name_of_vector])
    assert one.nash_conv() == three.nash_conv()


def test_a_pure_policy_is_exactly_pure() -> None:
    tree = build_tree(load_game("matrix:3x3"))
    for dtype in (np.float32, np.float64):
        solver = CFR(tree, RegretRule(), dtype=dtype)
        state = solver.state()
        regret = solver._engine.layout.pad(0, np.array([0.0, 0.1, -3.0]))
        solver._engine.match_regrets(0, regret, state["policy0"])
        assert solver.current_policy().probabilities[0].tolist() == [0.0, 1.0, 0.0]


def test_uniform_policies_score_what_the_literature_says() -> None:
    """OpenSpiel's NashConv of the uniform policy."""
    expected = {"kuhn": 11 / 12, "leduc": 4.747222222, "liars-dice:1x4": 1.310119048, "liars-dice:1x5": 1.441741799}
    for name, value in expected.items():
        assert nash_conv(uniform_policy(build_tree(load_game(name)))) == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_regrets_too_small_to_divide_by_count_as_none(dtype: str) -> None:
    engine = CpuEngine(build_tree(load_game("kuhn")), dtype)
    regret = np.full(engine.layout.vector_size[0], np.finfo(dtype).smallest_subnormal, dtype)
    policy = np.zeros_like(regret)
    engine.match_regrets(0, regret, policy)
    assert (engine.layout.unpad(0, policy) == 0.5).all()
