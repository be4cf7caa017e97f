"""Pruning: partial pruning is CFR, the others equal plain references, freed memory is never read, fewer nodes met."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.solvers.algorithms import NAMED_RULES, parse_rule, rule_of
from aleator.solvers.engines.by_hand import columns as col
from aleator.solvers.pruned_cfr import PrunedCFR
from aleator.solvers.pruning_rule import PruningRule
from aleator.solvers.regret_rule import HEDGE, SHARP_MATCHING
from aleator.solvers.solve import make_solver
from aleator.trees import build_tree
from tests.games.random_game import RandomGame
from tests.solvers.pruned_reference import ReferencePruning


@pytest.mark.parametrize("suffix", ["", "/simultaneous"])
@pytest.mark.parametrize(
    "name", [name for name, rule in NAMED_RULES.items() if not rule.optimistic and rule.minimiser != SHARP_MATCHING]
)
def test_partial_pruning_is_cfr(name: str, suffix: str) -> None:
    hedge = (
        NAMED_RULES[name].minimiser == HEDGE
    )  # its policy changes with t, visited or not: equal where all is visited
    for game in (load_game("matrix:5x6"),) if hedge else (RandomGame(3), RandomGame(8), load_game("kuhn")):
        tree = build_tree(game)
        plain, pruned = make_solver(tree, name + suffix), make_solver(tree, f"pp:{name}{suffix}")
        for count in (1, 2, 40):
            plain.run(count)
            pruned.run(count)
            for player in (0, 1):
                same = plain.average_policy().probabilities[player]
                np.testing.assert_allclose(pruned.average_policy().probabilities[player], same, atol=1e-6)
        assert pruned.nash_conv() == pytest.approx(plain.nash_conv(), abs=1e-7)


@pytest.mark.parametrize("name", ["rbp", "rbp:rm+,greedy", "brp", "brp:rm+", "brp:cfr,respond"])
def test_pruning_equals_a_reference_that_remembers_every_iteration(name: str) -> None:
    resumed = pruned = 0
    for seed in (2, 5, 8):
        tree = build_tree(RandomGame(seed, depth=5))
        rule = rule_of(PruningRule, f"{name},skip=3,discard=0/simultaneous")
        solver, reference = PrunedCFR(tree, rule), ReferencePruning(tree, rule)
        for _ in range(8):
            solver.run(5)
            reference.run(5)
            average = solver.average_policy()
            for player in (0, 1):
                weights = reference.vector(reference.policy_sum, player)
                np.testing.assert_allclose(solver.policy_sums()[player], weights, atol=1e-8)
                visible = ~solver.hidden(player)
                expected = reference.vector(reference.regret, player)
                np.testing.assert_allclose(solver.regrets()[player][visible], expected[visible], atol=1e-8)
            average.check()
        resumed += reference.resumed
        pruned += len(reference.pruned)
        assert sum(int(memory.marks[:, 0].sum()) for memory in solver._memory) == len(reference.pruned)
    assert resumed > 5 and pruned > 5


@pytest.mark.parametrize(
    ("pruning", "rule"),
    [
        ("rbp", "cfr"),
        ("rbp", "cfr+"),
        ("rbp", "dcfr:1.5,0.5,2"),
        ("brp", "cfr"),
        ("brp", "rm+"),
        ("rbp", "hedge,threshold=0.5"),
    ],
)
def test_pruning_converges_and_touches_fewer_nodes(pruning: str, rule: str) -> None:
    tree = build_tree(load_game("leduc"))
    solver, partial = (PrunedCFR(tree, rule_of(PruningRule, f"{name}:{rule}/simultaneous")) for name in (pruning, "pp"))
    solver.run(3000)
    partial.run(3000)
    assert solver.nash_conv() < 0.08  # uniform: 4.747
    assert 0 < solver.overhead < solver.nodes_touched < partial.nodes_touched
    assert 0.0 < solver.hidden(0).mean() < 0.9 and partial.overhead == 0 == partial.hidden(0).mean()


def test_freed_numbers_are_never_read() -> None:
    tree = build_tree(load_game("leduc"))
    rule = PruningRule(method="brp", rule=parse_rule("cfr/simultaneous"), greedy=True, discard=0.1)
    straight, poisoned = PrunedCFR(tree, rule), PrunedCFR(tree, rule)
    freed = 0
    for _ in range(10):
        straight.run(300)
        poisoned.run(300)
        for player in (0, 1):
            hidden, memory = poisoned.hidden(player), poisoned._memory[player]
            memory.places[:-1][np.ix_(hidden, [col.REGRET, col.POLICY, col.CFV])] = 1234.5
            states = np.unique(poisoned._layout.sides[player].places[hidden, 1])
            memory.sums[states, col.VALUE_SUM] = 1234.5
            freed += int(hidden.sum())
        assert poisoned.nash_conv() == straight.nash_conv()
    assert freed > 500
    assert straight.space() == pytest.approx(1.0 - freed_share(straight, itself=False)) and straight.space() < 0.9
    assert straight.space(itself=True) == pytest.approx(1.0 - freed_share(straight, itself=True))
    assert straight.space(itself=True) < 0.65


def freed_share(solver: PrunedCFR, *, itself: bool) -> float:
    """Returns the share of freed numbers, counted by walking up from every place."""
    freed = total = 0
    for player in (0, 1):
        side, marks = solver._layout.sides[player], solver._memory[player].marks
        for place in range(len(side.places)):
            if side.places[place, 0]:
                above = place
                pruned, gone = (bool(marks[place, 0]), bool(marks[place, 2])) if itself else (False, False)
                while (above := side.above[side.places[above, 1]]) != len(side.places):
                    pruned, gone = pruned or marks[above, 0] == 1, gone or marks[above, 2] == 1
                freed, total = freed + pruned + gone, total + 2
    return freed / total


@pytest.mark.parametrize("name", ["rbp:dcfr:1.5,0.5,2", "brp", "rbp:hedge,threshold=1"])
def test_a_resumed_solver_goes_on_bit_by_bit(name: str) -> None:
    tree = build_tree(load_game("kuhn"))
    straight, first, second = (make_solver(tree, name) for _ in range(3))
    straight.run(300)
    first.run(130)
    second.restore(130, {key: vector.copy() for key, vector in first.state().items()})
    second.run(170)
    assert second.nash_conv() == straight.nash_conv()
    assert second.nodes_touched == straight.nodes_touched  # type: ignore[attr-defined]


def test_long_runs_with_discounts_do_not_overflow() -> None:
    solver = make_solver(build_tree(load_game("kuhn")), "rbp:lcfr,skip=5")
    solver.run(5000)
    solver.run(5000)
    assert solver.nash_conv() < 1e-3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rbp:pcfr+", "predictions"),
        ("rbp:sharp-dcfr+", "not with sharp-matching"),
        ("rbp:dcfr", "beta must be positive, not 0.0"),
        ("rbp:hedge", "needs a threshold"),
        ("brp:dcfr:1.5,0.5,2", "without discounts"),
        ("rbp:cfr,skipp=3", "did you mean 'skip'"),
        ("rbp:cfr,skip=many", "skip must be a number from 0, not 'many'"),
        ("rbp:cfr,skip=-1", "skip must be a number from 0, not '-1'"),
        ("rbp:nothing", "unknown regret rule"),
        ("pruned", "allowed: pp"),
    ],
)
def test_impossible_rules_are_refused(text: str, message: str) -> None:
    with pytest.raises(SolveError, match=message):
        rule_of(PruningRule, text)


def test_names_of_rules() -> None:
    assert rule_of(PruningRule, "rbp") == PruningRule(respond=True)
    assert rule_of(PruningRule, "rbp:rm+,greedy").greedy and rule_of(PruningRule, "brp").greedy
    found = rule_of(PruningRule, "brp:dcfr:inf,inf,2,skip=5,discard=0.1/simultaneous")
    assert (found.least_skip, found.discard, found.rule.gamma, found.rule.alternating) == (5, 0.1, 2, False)
    with pytest.raises(SolveError, match="float64 only"):
        make_solver(build_tree(load_game("kuhn")), "rbp", dtype="float32")
