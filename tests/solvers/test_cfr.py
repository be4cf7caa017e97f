"""CFR converges, at the known rates, and resumes as if never stopped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.solvers.algorithms import ALGORITHMS, NAMED_RULES, parse_rule
from aleator.solvers.best_response import best_response, expected_value, exploitability, nash_conv
from aleator.solvers.cfr import CFR
from aleator.solvers.limits import Limits, Progress
from aleator.solvers.regret_rule import DCFR, HS_DCFR, RegretRule
from aleator.solvers.solve import make_solver, solve
from aleator.trees import build_tree
from aleator.trees.policy import uniform_policy

# NashConv measured with OpenSpiel 2.0 (C++ CFR and CFR+, Python DCFR), alternating updates
OPENSPIEL = [
    ("leduc", "cfr", 100, 0.19143), ("leduc", "cfr", 1000, 0.02364), ("leduc", "cfr+", 100, 0.02683),
    ("leduc", "dcfr", 100, 0.0155), ("liars-dice:1x4", "cfr", 100, 0.03409), ("liars-dice:1x4", "cfr", 1000, 0.003454),
    ("liars-dice:1x4", "cfr+", 100, 0.00459), ("liars-dice:1x4", "cfr+", 1000, 9.1e-5),
    ("liars-dice:1x4", "dcfr", 100, 0.001369), ("liars-dice:1x4", "dcfr", 1000, 5.24e-5),
    ("liars-dice:1x6", "cfr", 100, 0.04492),
]  # fmt: skip


@pytest.mark.parametrize(("name", "rule", "iterations", "expected"), OPENSPIEL)
def test_quality_after_n_iterations(name: str, rule: str, iterations: int, expected: float) -> None:
    solver = CFR(build_tree(load_game(name)), NAMED_RULES[rule])
    solver.run(iterations)
    digits = len(f"{expected:g}".split("e")[0].replace(".", "").lstrip("0"))
    assert float(f"{solver.nash_conv():.{digits}g}") == pytest.approx(expected, rel=0.6 * 10 ** (1 - digits))


@pytest.mark.parametrize(
    "algorithm", [name for name, known in ALGORITHMS.items() if not (known.exact or known.family.samples)]
)
def test_every_algorithm_converges(algorithm: str) -> None:
    tree = build_tree(load_game("leduc"))
    found = solve(tree, algorithm, limits=Limits(iterations=2000))
    assert 0 <= found.summary.nash_conv < nash_conv(uniform_policy(tree)) / 50
    assert found.summary.value == pytest.approx(-0.0856, abs=0.01)
    found.policy.check()


@pytest.mark.parametrize(
    ("name", "value"),
    [("kuhn", -1 / 18), ("rps-plus", 0.0), ("coin-toss", 0.0), ("goofspiel:3", 0.0), ("liars-dice:1x4", 0.0625)],
)
def test_known_values(name: str, value: float) -> None:
    found = solve(name, limits=Limits(exploitability=1e-5))
    assert found.summary.value == pytest.approx(value, abs=2e-5)
    assert found.summary.exploitability <= 1e-5


def test_equilibria_in_closed_form() -> None:
    coin = solve("coin-toss", limits=Limits(exploitability=1e-6)).policy
    guesses = coin[coin.tree.find(["play"])][:, 0]
    np.testing.assert_allclose(guesses, [0.25, 0.75, 0.0], atol=1e-3)  # thesis 5.1.1
    scissors = solve("rps-plus", limits=Limits(exploitability=1e-6)).policy
    np.testing.assert_allclose(scissors[0][:, 0], [0.4, 0.4, 0.2], atol=1e-3)  # ReBeL Fig. 1


def test_kuhn_bluffs_a_third_as_often_as_it_bets_for_value() -> None:
    policy = solve("kuhn", limits=Limits(exploitability=1e-6)).policy
    bets = policy[0][1]
    assert bets[0] == pytest.approx(bets[2] / 3, abs=1e-3)
    assert bets[1] == pytest.approx(0.0, abs=1e-3)


def test_best_response_policy_earns_its_value() -> None:
    policy = uniform_policy(build_tree(load_game("leduc")))
    for player, sign in ((0, 1), (1, -1)):
        response = best_response(policy, player)
        response.policy.check()
        assert sign * expected_value(response.policy) == pytest.approx(response.value, abs=1e-12)
        assert response.root_cfvs.sum() == pytest.approx(response.value, abs=1e-12)


@pytest.mark.parametrize("algorithm", ["dcfr", "pcfr+", "hedge", "fp", "flop", "hs-pcfr+"])
def test_resuming_equals_never_stopping(algorithm: str) -> None:
    tree = build_tree(load_game("goofspiel:4"))
    straight = solve(tree, algorithm, limits=Limits(iterations=60))
    half = solve(tree, algorithm, limits=Limits(iterations=23))
    resumed = solve(tree, algorithm, limits=Limits(iterations=60), resume=half)
    for name, vector in straight.state.items():
        np.testing.assert_array_equal(vector, resumed.state[name])
    assert resumed.summary.nash_conv == straight.summary.nash_conv < 1.0  # uniform: 5
    assert resumed.summary.seconds > half.summary.seconds


def test_limits_stop_a_solve() -> None:
    calls: list[Progress] = []
    found = solve("leduc", limits=Limits(iterations=37), on_progress=calls.append)
    assert found.summary.iterations == 37 == calls[-1].iteration
    assert solve("leduc", limits=Limits(exploitability=0.01)).summary.exploitability <= 0.01
    calls.clear()
    late = solve("leduc", limits=Limits(seconds=0.2), on_progress=calls.append).summary
    assert calls[-1].seconds >= 0.2 and calls[-1].iteration == late.iterations
    assert all(call.seconds < 0.2 for call in calls if call.iteration < late.iterations), "the first look after that"
    stopped = solve("leduc", limits=Limits(iterations=10**9), on_progress=lambda progress: progress.iteration > 50)
    assert 50 < stopped.summary.iterations < 10**6


def test_a_big_tree_uses_threads_and_gets_the_same() -> None:
    tree = build_tree(load_game("leduc:5"))
    one, two = make_solver(tree, "dcfr"), make_solver(tree, "dcfr", threads=2)
    assert len(two._engine.parts) > 1  # type: ignore[attr-defined]
    one.run(5)
    two.run(5)
    for name, vector in one.state().items():
        np.testing.assert_array_equal(vector, two.state()[name])
    assert two.nash_conv() < 12.0  # uniform: 17; it has learned something


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "dcfrr"}, "did you mean 'dcfr"),
        ({"algorithm": "dcfr:1,2"}, "expected 3 values, alpha, beta, gamma; not 2"),
        ({"algorithm": "cfr/both"}, "simultaneous"),
        ({"algorithm": "fp/both"}, "simultaneous"),
        ({"dtype": "float16"}, "float64, float32"),
        ({"threads": 0}, "at least 1"),
    ],
)
def test_impossible_settings_are_refused(options: dict, message: str) -> None:
    with pytest.raises(SolveError, match=message):
        solve("kuhn", **options)


def test_rules_are_values() -> None:
    assert parse_rule("dcfr:1.5,0,2") == DCFR
    assert parse_rule("dcfr:1.5,-inf,2").beta == -np.inf
    assert RegretRule.from_dict(HS_DCFR.to_dict()) == HS_DCFR
    assert RegretRule.from_dict(NAMED_RULES["cfr"].to_dict()) == NAMED_RULES["cfr"]
    rows = NAMED_RULES["lcfr"].schedule(1, 5)
    np.testing.assert_allclose(rows[:, 0], [0, 1 / 2, 2 / 3, 3 / 4, 4 / 5])
    np.testing.assert_allclose(rows[:, 2], [0, 1 / 2, 2 / 3, 3 / 4, 4 / 5])
    np.testing.assert_allclose(DCFR.schedule(3, 1)[0, :3], [2**1.5 / (2**1.5 + 1), 0.5, (2 / 3) ** 2])
    hs = HS_DCFR.schedule(501, 1)[0]
    np.testing.assert_allclose(hs[:3], [500**2.5 / (500**2.5 + 1), 1 / (1 + 500**2), (500 / 501) ** 27.5])
    with pytest.raises(SolveError, match="minimiser"):
        RegretRule(minimiser="luck")
    with pytest.raises(SolveError, match="gamma"):
        RegretRule(gamma=-1)


def test_exploitability_is_half_of_nash_conv() -> None:
    policy = uniform_policy(build_tree(load_game("kuhn")))
    assert exploitability(policy) == nash_conv(policy) / 2 == pytest.approx(11 / 24)


def test_an_average_that_begins_anew_forgets_what_was_before() -> None:
    """Restarted at powers of 4, the average after iteration 4^k + 1 is that of the last iteration alone."""
    decays = replace(DCFR, restart=4).schedule(first=1, count=70)[:, 2]
    restarts = np.flatnonzero(decays == 0.0)  # iteration t is the (t - 1)-th row
    assert restarts.tolist() == [0, 1, 4, 16, 64]
    np.testing.assert_allclose(decays[17:20], [(1 / 2) ** 2, (2 / 3) ** 2, (3 / 4) ** 2])
    np.testing.assert_array_equal(replace(DCFR, restart=0).schedule(1, 9), DCFR.schedule(1, 9))
    with pytest.raises(SolveError, match="powers of 2 or more"):
        replace(DCFR, restart=1)
