"""CFR for many players: OpenSpiel's iterates, the two-player solvers', known equilibria, and resuming."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aleator import solve
from aleator.errors import SolutionError, SolveError
from aleator.games import load_game
from aleator.games.multiplayer.registry import load_multiplayer_game
from aleator.solvers import regret_rule as rules
from aleator.solvers.cfr import CFR
from aleator.solvers.multiplayer.cfr import MultiplayerCFR
from aleator.solvers.multiplayer.evaluation import evaluate
from aleator.solvers.multiplayer.problem import MultiplayerSolution
from aleator.solvers.solution import open_solution
from aleator.trees import build_tree
from aleator.trees.sequence_form import build_sequence_form, uniform_profile

KAPPA = 1 / 24  # Szafron et al. 2013: values (-κ(½ + β), -κ/2, κ(1 + β)), β in [0, ¼]


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+", "dcfr"])
def test_three_player_kuhn_reaches_the_known_equilibria(algorithm: str) -> None:
    solution = solve("kuhn:players=3", algorithm, iterations=5000)
    first, second, third = solution.summary.values
    assert solution.summary.nash_conv < 2e-3  # uniform play: 2.06
    assert second == pytest.approx(-KAPPA / 2, abs=1e-3)
    beta = third / KAPPA - 1
    assert -0.03 < beta < 0.28
    assert first == pytest.approx(-KAPPA * (0.5 + beta), abs=1e-3)


def test_iterates_are_openspiels() -> None:
    """CFR+ meets no ties in this game: payoffs that differ in the last bit lead to the same numbers."""
    pyspiel = pytest.importorskip("pyspiel")
    name = "kuhn_poker(players=3)"
    source = pyspiel.load_game(name)
    other = pyspiel.CFRPlusSolver(source)
    solver = MultiplayerCFR(build_sequence_form(load_multiplayer_game(f"openspiel:{name}")), rules.CFR_PLUS)
    for _ in range(30):
        other.evaluate_and_update_policy()
        solver.run(1)
        assert solver.nash_conv() == pytest.approx(pyspiel.nash_conv(source, other.average_policy()), abs=1e-9)


def test_three_player_leduc_as_openspiels() -> None:
    """NashConv of OpenSpiel 2.0's CFR+ on `leduc_poker(players=3,suit_isomorphism=true)`.

    The game has ties: payoffs that differ by one part in 10¹² move these numbers by as much as 0.0006, 0.0007, 0.008
    and 0.0013; uniform play has 12.6.
    """
    expected = {10: (2.023142, 2e-3), 20: (0.793461, 3e-3), 50: (0.238944, 1.5e-2), 100: (0.085818, 4e-3)}
    solver = MultiplayerCFR(build_sequence_form(load_multiplayer_game("leduc:players=3")), rules.CFR_PLUS)
    for iterations, (nash_conv, ties) in expected.items():
        solver.run(iterations - solver.iteration)
        assert solver.nash_conv() == pytest.approx(nash_conv, abs=ties)


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+", "dcfr", "lcfr", "pcfr+", "sharp-dcfr+"])
def test_two_players_as_on_the_public_tree(algorithm: str) -> None:
    rule = rules_by_name(algorithm)
    ours = MultiplayerCFR(build_sequence_form(load_multiplayer_game("leduc")), rule)
    theirs = CFR(build_tree(load_game("leduc")), rule)
    for _ in range(3):
        ours.run(2)
        theirs.run(2)
        assert ours.nash_conv() == pytest.approx(theirs.nash_conv(), abs=1e-9)


def rules_by_name(name: str) -> rules.RegretRule:
    from aleator.solvers.algorithms import NAMED_RULES

    return NAMED_RULES[name]


def test_simultaneous_updates_are_those_of_two_players() -> None:
    rule = rules.RegretRule(alternating=False)
    ours = MultiplayerCFR(build_sequence_form(load_multiplayer_game("leduc")), rule)
    theirs = CFR(build_tree(load_game("leduc")), rule)
    ours.run(5)
    theirs.run(5)
    assert ours.nash_conv() == pytest.approx(theirs.nash_conv(), abs=1e-9)


def test_locked_infostates_keep_their_policy_and_the_others_answer_it() -> None:
    form = build_sequence_form(load_multiplayer_game("kuhn:players=3"))
    locked = form.player != 1
    start = uniform_profile(form)
    solver = MultiplayerCFR(form, rules.CFR_PLUS, locked=locked, start=start)
    solver.run(500)
    profile, held = solver.average_profile(), np.repeat(locked, np.diff(form.first))
    assert np.array_equal(profile[held], start[held])
    found = evaluate(form, profile)
    assert found.values[1] == pytest.approx(found.best[1], abs=1e-2)
    assert found.values[1] > evaluate(form, start).values[1] + 0.1


def test_solutions_are_saved_resumed_and_told_apart(tmp_path: object) -> None:
    path = f"{tmp_path}/kuhn.solution"
    solve("kuhn:players=3", iterations=50).save(path)
    saved = open_solution(path)
    assert isinstance(saved, MultiplayerSolution)
    assert evaluate(saved.form, saved.profile).nash_conv == pytest.approx(saved.summary.nash_conv)
    resumed, straight = solve("kuhn:players=3", iterations=100, resume=saved), solve("kuhn:players=3", iterations=100)
    assert isinstance(resumed, MultiplayerSolution)
    assert isinstance(straight, MultiplayerSolution)
    assert np.array_equal(resumed.profile, straight.profile)
    with pytest.raises(SolutionError, match="not of kuhn:players=4"):
        solve("kuhn:players=4", iterations=100, resume=saved)
    with pytest.raises(SolutionError, match="made by cfr\\+, not by cfr"):
        solve("kuhn:players=3", "cfr", iterations=100, resume=saved)
    with pytest.raises(SolutionError, match="many players"):
        _ = saved.policy


@pytest.mark.parametrize("algorithm", ["lp", "mccfr", "hedge", "fp"])
def test_algorithms_of_two_players_are_refused(algorithm: str) -> None:
    with pytest.raises(SolveError, match="many players"):
        solve("kuhn:players=3", algorithm)


@pytest.mark.slow
def test_three_player_leduc_comes_close_to_an_equilibrium() -> None:
    """NashConv 12.6 of uniform play; .0002 after 5,000 iterations of CFR+ with discounts, however payoffs are rounded.

    Those here differ by one part in 10¹²; without discounts, ties then decide between .0016 and .0059.
    """
    form, rng = build_sequence_form(load_multiplayer_game("leduc:players=3")), np.random.default_rng(1)
    for _ in range(3):
        other = replace(form, payoff=form.payoff * (1.0 + 1e-12 * rng.standard_normal(form.payoff.shape)))
        solver = MultiplayerCFR(other, rules.DCFR_PLUS)
        solver.run(5000)
        assert solver.nash_conv() <= 0.0005
