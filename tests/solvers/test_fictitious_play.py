"""Fictitious play follows its definition and the results of ReBeL's appendix."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.games import load_game
from aleator.solvers.best_response import best_response, exploitability
from aleator.solvers.cfr import CFR
from aleator.solvers.fictitious_play import FictitiousPlay
from aleator.solvers.fictitious_rule import FICTITIOUS_PLAY, FLOP, LINEAR_FICTITIOUS_PLAY
from aleator.solvers.regret_rule import LCFR
from aleator.trees import build_tree
from aleator.trees.policy import uniform_policy


def test_matching_the_definition_in_a_matrix_game() -> None:
    game = load_game("matrix:4x5,seed=3")
    tree = build_tree(game)
    for rule in (FICTITIOUS_PLAY, LINEAR_FICTITIOUS_PLAY, FLOP):
        solver = FictitiousPlay(tree, rule)
        averages = [np.full(4, 1 / 4), np.full(5, 1 / 5)]
        last = [average.copy() for average in averages]
        for t in range(1, 30):
            solver.run(1)
            for player in (0, 1):
                share = 2 / (t + 2) if rule.optimistic else 0.0
                expected = (1 - share) * averages[1 - player] + share * last[1 - player]
                values = game.payoffs @ expected if player == 0 else -game.payoffs.T @ expected
                last[player] = np.eye(len(values))[int(np.argmax(values))]
                weight = 2 / (t + 2) if rule.linear else 1 / (t + 1)
                averages[player] += weight * (last[player] - averages[player])
        for player in (0, 1):
            np.testing.assert_allclose(solver.average_policy().probabilities[player], averages[player], atol=1e-12)


def test_first_response_is_to_the_uniform_policy() -> None:
    tree = build_tree(load_game("leduc"))
    solver = FictitiousPlay(tree)
    solver.run(1)
    expected = best_response(uniform_policy(tree), 0).policy
    np.testing.assert_array_equal(solver.current_policy().probabilities[0], expected.probabilities[0])


def test_the_appendix_ordering_on_liars_dice() -> None:
    """ReBeL Fig. 3: FLOP outperforms linear FP but not linear CFR."""
    tree = build_tree(load_game("liars-dice:1x5"))
    scores = []
    for solver in (CFR(tree, LCFR), FictitiousPlay(tree, FLOP), FictitiousPlay(tree, LINEAR_FICTITIOUS_PLAY)):
        solver.run(1024)
        scores.append(solver.nash_conv() / 2)
        assert solver.nash_conv() / 2 == pytest.approx(exploitability(solver.average_policy()), abs=1e-12)
    assert scores == sorted(scores)
    assert scores[-1] < 0.02


def test_table_2_on_one_die_of_six_faces() -> None:
    """ReBeL Table 2: .039 after 1,024 one-player iterations of FP on 1x6f."""
    solver = FictitiousPlay(build_tree(load_game("liars-dice:1x6")))
    solver.run(512)
    assert solver.nash_conv() / 2 == pytest.approx(0.039, abs=0.0015)
