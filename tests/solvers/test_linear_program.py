"""The linear program is exact and agrees with everything else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.errors import TooBigError
from aleator.games import load_game
from aleator.solvers import linear_program
from aleator.solvers.best_response import expected_value, nash_conv
from aleator.solvers.limits import Limits
from aleator.solvers.linear_program import sequence_form, sequences, solve_linear_program
from aleator.solvers.solve import solve
from aleator.trees import build_tree
from aleator.trees.policy import Policy, random_policy
from tests.games.random_game import RandomGame
from tests.solvers.reference import as_blocks, reaches


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kuhn", -1 / 18),
        ("leduc", -0.085606424),
        ("liars-dice:1x4", 0.0625),
        ("liars-dice:1x5", 0.008),
        ("coin-toss", 0.0),
    ],
)
def test_values_of_the_literature(name: str, value: float) -> None:
    tree = build_tree(load_game(name))
    found, policy = solve_linear_program(tree)
    assert found == pytest.approx(value, abs=1e-9)
    assert nash_conv(policy) == pytest.approx(0.0, abs=1e-8)
    policy.check()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_cfr_finds_the_same_value_in_random_games(seed: int) -> None:
    tree = build_tree(RandomGame(seed))
    exact, policy = solve_linear_program(tree)
    assert nash_conv(policy) == pytest.approx(0.0, abs=1e-7)
    found = solve(tree, "cfr+", limits=Limits(iterations=2000, exploitability=1e-4))
    assert found.summary.value == pytest.approx(exact, abs=2 * found.summary.nash_conv + 1e-9)


@pytest.mark.parametrize("unit", [1e-300, 1e-100, 1e-10, 1e-7, 3e5, 1e10, 1e100, 1e300])
@pytest.mark.parametrize(("name", "value"), [("leduc", -0.085606424), ("liars-dice:1x4", 0.0625)])
def test_stakes_in_any_unit_are_solved_as_exactly(name: str, value: float, unit: float) -> None:
    tree = build_tree(load_game(name))
    found, policy = solve_linear_program(replace(tree, stake=tree.stake * unit))
    assert found == pytest.approx(value * unit, rel=1e-7)
    assert abs(nash_conv(Policy(tree, policy.probabilities))) < 1e-8


def test_sequence_form_gives_the_value_of_a_policy() -> None:
    tree = build_tree(load_game("goofspiel:3"))
    policy = random_policy(tree, np.random.default_rng(5))
    form = sequence_form(tree)
    reach = []
    for player in (0, 1):
        vector = np.ones(tree.policy_size[player] + 1)
        nodes = reaches(tree, as_blocks(policy), player)
        for node, last in enumerate(sequences(tree, player)):
            vector[last] = nodes[node]
        equations, right = form.flow[player]
        np.testing.assert_allclose(equations @ vector, right, atol=1e-12)
        reach.append(vector)
    assert reach[0] @ (form.payoff @ reach[1]) == pytest.approx(expected_value(policy), abs=1e-12)


def test_big_games_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_program, "MAX_SEQUENCES", 10)
    with pytest.raises(TooBigError, match="sequences"):
        solve_linear_program(build_tree(load_game("leduc")))
