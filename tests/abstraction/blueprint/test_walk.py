from __future__ import annotations

import math

import numpy as np
import pytest

from aleator.abstraction.blueprint.betting import FOLDED, Betting, build_betting
from aleator.abstraction.blueprint.deals import deal_hand, deal_room, deal_tables
from aleator.abstraction.blueprint.walk import Pruning, traverse, walk_room
from aleator.abstraction.buckets import AbstractionError, BucketConfig
from aleator.games.holdem.cards import hand_index
from aleator.games.holdem.evaluator import evaluate
from aleator.solvers.engines.sampling.random import advance, uniform
from aleator.solvers.engines.sampling.random import stream as stream_of
from tests.abstraction.blueprint.small import small_buckets

NEVER = Pruning(-math.inf, -math.inf, 0.0, 1)


def stream(seed: int, deal: int) -> np.uint64:
    return np.uint64(stream_of(np.uint64(seed), deal, 0, 0))


def reference(
    betting: Betting, table: np.ndarray, numbers: np.ndarray, traverser: int, winner: int, state: np.uint64,
    pruning: Pruning, prunes: bool,
) -> tuple[np.ndarray, int]:  # fmt: skip
    """The recursive reference: the table after one traversal, and the nodes visited."""
    arrays, table, visits = betting.arrays, table.astype(np.float64), 0

    def walk(node: int) -> float:
        nonlocal state, visits
        visits += 1
        player, actions = arrays.player[node], range(arrays.first[node], arrays.first[node + 1])
        at = arrays.row[node] + 2 * len(actions) * numbers[player, arrays.street[node]]
        regrets = table[at : at + len(actions)].copy()
        positive = np.maximum(regrets, 0.0)
        policy = positive / positive.sum() if positive.any() else np.full(len(actions), 1.0 / len(actions))
        if player != traverser:
            table[at + len(actions) : at + 2 * len(actions)] += policy
            state = np.uint64(advance(state))
            return follow(actions[int(np.searchsorted(np.cumsum(policy), uniform(state), "right"))])
        pruned = [
            prunes and positive.any() and arrays.street[node] < pruning.last_street
            and regret < pruning.threshold and arrays.target[edge] >= 0
            for regret, edge in zip(regrets, actions, strict=True)
        ]  # fmt: skip
        values = [0.0 if skipped else follow(edge) for skipped, edge in zip(pruned, actions, strict=True)]
        value = float(policy @ values)
        for place, skipped in enumerate(pruned):
            if not skipped:
                table[at + place] = max(table[at + place] + values[place] - value, pruning.floor)
        return value

    def follow(edge: int) -> float:
        nonlocal visits
        if arrays.target[edge] >= 0:
            return walk(int(arrays.target[edge]))
        visits += 1
        won = float(arrays.stake[edge]) * (1 if arrays.target[edge] == FOLDED else winner)
        return won if traverser == 0 else -won

    walk(0)
    return table, visits


@pytest.mark.parametrize("pruning", [NEVER, Pruning(-1.5, -2.5, 0.0, 1)])
@pytest.mark.parametrize("traverser", [0, 1])
def test_a_traversal_is_that_of_the_recursive_reference(betting: Betting, traverser: int, pruning: Pruning) -> None:
    rng = np.random.default_rng(7)
    table = np.where(rng.random(betting.size) < 0.3, 0.0, rng.normal(0.0, 2.0, betting.size)).astype(np.float32)
    table = np.maximum(table, np.float32(max(pruning.floor, -1e9)))
    visited = set()
    for deal in range(40):
        numbers = np.array([[rng.integers(169), rng.integers(10), 0, 0] for _ in range(2)])
        winner, state = int(rng.integers(-1, 2)), stream(3, deal)
        expected, visits = reference(betting, table, numbers, traverser, winner, state, pruning, True)
        _, found = traverse(state, traverser, winner, True, pruning, betting.arrays, numbers, table, walk_room())
        np.testing.assert_allclose(table, expected, rtol=1e-4, atol=1e-4)
        assert found == visits
        visited.add(visits)
    assert len(visited) > 3


def test_an_action_below_the_threshold_is_followed_as_often_as_libratus_does(betting: Betting) -> None:
    arrays, pruning = betting.arrays, Pruning(-10.0, -math.inf, 5.0, 1)
    raise_to = int(arrays.first[1]) - 1  # the first player's raise, which does not end the hand
    assert arrays.target[raise_to] >= 0
    followed, tries = 0, 4000
    numbers = np.zeros((2, 4), np.int64)
    for deal in range(tries):
        table = np.zeros(betting.size, np.float32)
        place = raise_to - int(arrays.first[0])
        table[0], table[place] = 1.0, -25.0
        player = int(arrays.player[0])
        traverse(stream(4, deal), player, 1, True, pruning, arrays, numbers, table, walk_room())
        followed += table[place] != -25.0
    share, expected = followed / tries, 5.0 / (5.0 + 15.0)  # K / (K + C − R)
    assert abs(share - expected) < 4.0 * math.sqrt(expected * (1 - expected) / tries)  # z = 4


@pytest.mark.parametrize("perfect_recall", [False, True])
def test_deals_are_hands_with_their_numbers_and_winners(perfect_recall: bool) -> None:
    buckets = small_buckets(perfect_recall=perfect_recall)
    tables, room, seen = deal_tables(buckets), deal_room(), np.zeros(52, int)
    for deal in range(300):
        _, winner = deal_hand(stream(1, deal), tables, room)
        cards = room.cards.astype(int)
        assert len(set(cards.tolist())) == 9
        seen[cards] += 1
        strengths = evaluate(np.stack([np.append(cards[4:7], cards[:2]), np.append(cards[4:7], cards[2:4])]))
        assert winner == np.sign(int(strengths[0]) - int(strengths[1]))
        for player in range(2):
            hand = int(hand_index(cards[2 * player], cards[2 * player + 1]))
            assert room.numbers[player, 0] == buckets.numbers([])[hand]
            assert room.numbers[player, 1] == buckets.numbers(cards[4:7])[hand]
    expected = 300 * 9 / 52
    assert ((seen - expected) ** 2 / expected).sum() < 51 + 4 * math.sqrt(2 * 51)  # chi-squared, z = 4


def test_ends_are_worth_what_was_put_in(betting: Betting) -> None:
    arrays, tree = betting.arrays, betting.root.tree
    assert arrays.player[0] == 1 and arrays.stake[0] == 1.0 and arrays.target[0] == FOLDED  # folding the small blind
    assert betting.infostates == sum([169, 10][street] for street in arrays.street)
    ends = [(arrays.target[edge], arrays.stake[edge]) for edge in range(len(arrays.target)) if arrays.target[edge] < 0]
    assert max(stake for _, stake in ends) == tree.chips.max()
    assert {abs(float(stake)) for kind, stake in ends if kind == FOLDED} <= set(tree.chips.ravel().astype(float))


def test_games_that_have_no_blueprint_are_named() -> None:
    config = BucketConfig()
    with pytest.raises(AbstractionError, match="another street"):
        build_betting("flop-holdem", None, config)
    with pytest.raises(AbstractionError, match="no-limit games need a bet menu"):
        build_betting("hunl", None, config)
    with pytest.raises(AbstractionError, match="two players from the blinds on"):
        build_betting("turn-endgame", None, config)
    with pytest.raises(AbstractionError, match="menu"):
        build_betting("hunl", ("50%", "half", "1", "1"), config)
