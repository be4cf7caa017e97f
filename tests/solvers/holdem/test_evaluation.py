"""Policies of any kind are worth in the engine of boards what they are worth in the general one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode
from aleator.games.holdem.cards import HANDS, NUM_HANDS
from aleator.games.holdem.game import HoldemState, WholeHoldemGame
from aleator.solvers.best_response import best_response_value, expected_value
from aleator.solvers.holdem.evaluation import evaluate_policy
from aleator.trees import build_tree
from aleator.trees.policy import uniform_policy
from tests.solvers.holdem.test_whole_game import FLOP


def by_ranks(node: BettingNode, boards: Sequence[tuple[int, ...]]) -> FloatArray:
    """Returns a policy to which suits mean nothing: what it does follows from the ranks of a hand, a board, a node."""
    count, ranks = len(node.children), HANDS // 4
    pairs = (ranks[:, 0] == ranks[:, 1]).astype(np.float64)
    blocks = []
    for board in boards:
        meets = sum((ranks == card // 4).any(axis=1).astype(np.float64) for card in board) + pairs
        rows = [1.0 + ((node.number * 7 + action * 3) % 5) * (1.0 + meets) for action in range(count)]
        blocks.append(np.stack(rows) / np.sum(rows, axis=0))
    return np.stack(blocks)


def test_a_policy_given_by_a_function_is_worth_what_the_general_engine_says() -> None:
    game = WholeHoldemGame(FLOP)
    tree = build_tree(game)
    policy = uniform_policy(tree)
    for number in np.flatnonzero(tree.actor >= 0).tolist():
        state = tree.states[number]
        assert isinstance(state, HoldemState)
        hands = game.hand_sets[int(tree.actor[number])]
        policy[number][:] = by_ranks(game.betting(state), [state.board])[0][:, hands]
    found = evaluate_policy(FLOP, by_ranks)
    assert found.values[0] == pytest.approx(expected_value(policy), abs=1e-5)
    assert found.best == pytest.approx([best_response_value(policy, player) for player in (0, 1)], abs=1e-5)
    assert evaluate_policy(FLOP, by_ranks, threads=2, boards_at_once=3) == found
    assert found.exploitability > 0.1


def test_suits_that_mean_something_are_renamed_before_the_policy_is_asked() -> None:
    asked: set[tuple[int, ...]] = set()

    def answer(node: BettingNode, boards: Sequence[tuple[int, ...]]) -> FloatArray:
        asked.update(boards)
        block = np.zeros((len(boards), len(node.children), NUM_HANDS))
        block[:, 0, HANDS[:, 0] % 4 == 1], block[:, 1, HANDS[:, 0] % 4 != 1] = 1.0, 1.0
        return block

    found = evaluate_policy(FLOP, answer)
    assert len(asked) == 1 + (84 + 3 * 10 + 2 * 3) // 6, "no cards, and flops of nine cards up to suits, by Burnside"
    assert sum(found.values) == pytest.approx(0.0, abs=1e-5) and found.exploitability > 0.0


@pytest.mark.parametrize(("shape", "fill", "message"), [((1, 1), 1.0, "must answer"), ((0, 0), 0.4, "sum to 1")])
def test_answers_that_are_no_policies_are_refused(shape: tuple[int, int], fill: float, message: str) -> None:
    def answer(node: BettingNode, boards: Sequence[tuple[int, ...]]) -> FloatArray:
        return np.full((len(boards) + shape[0], len(node.children) + shape[1], NUM_HANDS), fill)

    with pytest.raises(SolveError, match=message):
        evaluate_policy(FLOP, answer)
