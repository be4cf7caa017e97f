"""Warm starts: the substitute values satisfy their equation, and CFR goes on as if it had never been stopped."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.games.matrix import random_matrix
from aleator.solvers.algorithms import NAMED_RULES, parse_rule
from aleator.solvers.best_response import best_response_value, nash_conv
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import CFR as CFR_RULE
from aleator.solvers.warm_start import WarmStarter, equivalent_iterations
from aleator.trees import build_tree
from aleator.trees.policy import Policy, block, legal_actions, random_policy, uniform_policy
from aleator.trees.public_tree import PublicTree
from tests.games.random_game import RandomGame
from tests.solvers.reference import as_blocks, pull, reaches


def payoff_span(tree: PublicTree, player: int, node: int, hand: int) -> float:
    """Returns the highest less the lowest payoff that can follow, by walking down."""
    found: list[float] = []

    def walk(at: int, own: set[int]) -> None:
        if tree.num_children[at] == 0:
            state = tree.states[at]
            utility, possible = tree.game.utility(state), tree.game.possible(state)
            if player == 1:
                utility, possible = -utility.T, possible.T
            found.extend(float(x) for h in own for x in utility[h][possible[h]])
        for child in tree.children(at):
            origin = tree.origin(player, child)
            before = tree.num_hands[player, at]
            kept = own if origin is None else {h for h, source in enumerate(origin) if int(source) % before in own}
            walk(child, kept)

    walk(node, {hand})
    return max(found) - min(found) if found else 0.0


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("softness", [0.0, 0.3])
def test_substitutes_satisfy_their_equation(seed: int, softness: float) -> None:
    tree = build_tree(RandomGame(seed))
    policy, iterations = random_policy(tree, np.random.default_rng(seed)), 7
    legal = legal_actions(tree)
    for player in (0, 1):
        found = WarmStarter(tree).substitutes(policy, player, softness, iterations)
        opponent = reaches(tree, as_blocks(policy), 1 - player)

        def choose(node: int, q: np.ndarray, player: int = player, opponent=opponent, found=found) -> list[float]:
            regrets = block(tree, (found.regrets, found.regrets), node)
            deal = tree.game.deal(tree.states[node])
            cf_reach = (deal if player == 0 else deal.T) @ opponent[node]
            values = []
            for hand in range(q.shape[1]):
                allowed = block(tree, legal, node)[:, hand]
                limit = softness * cf_reach[hand] * payoff_span(tree, player, node, hand) ** 2 * allowed.sum()
                positive = np.maximum(regrets[allowed, hand], 0.0)
                assert np.sum(positive**2) == pytest.approx(limit / iterations, abs=1e-12)
                value = q[allowed, hand] - regrets[allowed, hand]
                np.testing.assert_allclose(value, value[0], atol=1e-12)
                assert not regrets[~allowed, hand].any()
                values.append(value[0])
            return values

        assert sum(pull(tree, player, 0, opponent, choose)) == pytest.approx(found.value, abs=1e-12)
        if softness == 0.0:
            assert found.value == pytest.approx(best_response_value(policy, player), abs=1e-12)


def test_softness_makes_the_values_add_up_to_zero() -> None:
    tree = build_tree(load_game("leduc"))
    solver = CFR(tree, CFR_RULE)
    solver.run(100)
    policy, starter = solver.average_policy(), WarmStarter(tree)
    softness = starter.softness(policy, 100)
    total = sum(starter.substitutes(policy, player, softness, 100).value for player in (0, 1))
    assert -1e-6 < total <= 0.0 < softness < 1.0
    assert starter.softness(policy, 10**9) == 1.0


def first_below(curve: list[tuple[int, float]], target: float) -> int:
    return next(iteration for iteration, quality in curve if quality <= target)


def curve_of(solver: CFR, already: int, until: int) -> list[tuple[int, float]]:
    """Returns (iterations, NashConv) about every 2 %; `already` iterations were spent before the solver began."""
    curve = []
    while already < until:
        step = max(1, already // 50)
        solver.run(step)
        already += step
        curve.append((already, solver.nash_conv()))
    return curve


@pytest.mark.parametrize("stop", [100, 500])
def test_a_warm_start_on_leduc_loses_less_than_a_tenth_of_the_iterations(stop: int) -> None:
    tree = build_tree(load_game("leduc"))
    solver = CFR(tree, CFR_RULE)
    solver.run(stop)
    policy, quality = solver.average_policy(), solver.nash_conv()
    warm = WarmStarter(tree).start(policy)
    assert 0.7 * stop < warm.iteration <= stop
    assert nash_conv(warm.average_policy()) == pytest.approx(quality, abs=1e-12)
    kept, restarted = curve_of(solver, stop, 20 * stop), curve_of(warm, stop, 20 * stop)
    targets = quality * np.geomspace(0.7, 0.1, 10)
    ratio = [first_below(restarted, target) / first_below(kept, target) for target in targets]
    assert np.exp(np.mean(np.log(ratio))) < 1.1


def test_warm_starting_every_iteration_is_cfr_on_random_matrices() -> None:
    rng, rule, games, iterations = np.random.default_rng(7), parse_rule("cfr/simultaneous"), 8, 60
    differences = []
    for _ in range(games):
        tree = build_tree(random_matrix(40, 40, rng=rng))
        solver = CFR(tree, rule)
        solver.run(iterations)
        starter, average = WarmStarter(tree), uniform_policy(tree)
        for t in range(1, iterations):
            now = starter.current_policy(average, t)
            first, second = (
                (t * old + new) / (t + 1) for old, new in zip(average.probabilities, now.probabilities, strict=True)
            )
            average = Policy(tree, (first, second))
        differences.append(np.log(nash_conv(average) / solver.nash_conv()))
        assert nash_conv(average) < nash_conv(uniform_policy(tree)) / 2
    # n = 8, seed 7: the mean of the logarithms lies within 2.4 standard errors of 0 (t distribution, 95 %)
    assert abs(np.mean(differences)) < 2.4 * np.std(differences, ddof=1) / np.sqrt(games)


@pytest.mark.parametrize("name", ["cfr", "cfr+", "lcfr", "dcfr", "pcfr+", "pdcfr+", "dcfr+"])
def test_every_rule_goes_on_from_a_warm_start(name: str) -> None:
    tree, rule = build_tree(load_game("leduc")), NAMED_RULES[name]
    solver = CFR(tree, rule)
    solver.run(100)
    warm = WarmStarter(tree).start(solver.average_policy(), rule, iterations=100)
    warm.current_policy().check()
    before = warm.nash_conv()
    assert before == pytest.approx(solver.nash_conv(), rel=1e-9)
    warm.run(400)
    assert warm.iteration == 500
    assert warm.nash_conv() < before / 2


def test_rebels_version_helps_a_short_run() -> None:
    tree = build_tree(load_game("leduc"))
    teacher, scratch = CFR(tree, CFR_RULE), CFR(tree, CFR_RULE)
    teacher.run(100)
    warm = WarmStarter(tree).start(teacher.average_policy(), iterations=15, softness=0.0)
    assert warm.iteration == 15
    np.testing.assert_allclose(  # no regret is positive at first, so the given policy is played once more
        warm.current_policy().probabilities[0], teacher.average_policy().probabilities[0], atol=1e-15
    )
    warm.run(15)
    scratch.run(30)
    assert warm.iteration == scratch.iteration
    assert warm.nash_conv() < 0.8 * scratch.nash_conv()


def test_equivalent_iterations_of_cfr_are_its_iterations() -> None:
    tree = build_tree(load_game("leduc"))
    solver = CFR(tree, CFR_RULE)
    for iterations in (10, 40, 100):
        solver.run(iterations - solver.iteration)
        assert equivalent_iterations(solver.average_policy()) == pytest.approx(iterations, rel=0.1)


def test_impossible_settings_are_refused() -> None:
    tree = build_tree(load_game("kuhn"))
    policy = uniform_policy(tree)
    with pytest.raises(SolveError, match="at least 1 iteration"):
        WarmStarter(tree).start(policy, iterations=0)
    with pytest.raises(SolveError, match=r"\[0, 1\], not 1.5"):
        WarmStarter(tree).start(policy, iterations=5, softness=1.5)
    with pytest.raises(SolveError, match="Hedge"):
        WarmStarter(tree).start(policy, NAMED_RULES["hedge"])
    with pytest.raises(SolveError, match="another tree"):
        WarmStarter(build_tree(load_game("kuhn"))).start(policy)
