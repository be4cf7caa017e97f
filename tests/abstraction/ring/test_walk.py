"""Monte Carlo CFR for several players: traversals equal a recursion, deals are hands, ends pay what the rules say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aleator.abstraction.blueprint.deals import deal_tables
from aleator.abstraction.blueprint.walk import walk_room
from aleator.abstraction.buckets import AbstractionError, Buckets
from aleator.abstraction.ring.betting import RingBetting, build_ring_betting, menu_actions
from aleator.abstraction.ring.deals import RingRoom, deal_ring, ring_room
from aleator.abstraction.ring.walk import RingRule, end_value, traverse
from aleator.games.holdem.betting import BettingRules, BettingState
from aleator.games.holdem.cards import hand_index
from aleator.games.holdem.evaluator import evaluate
from aleator.games.holdem.variants import HoldemVariant, load_hand_game
from aleator.solvers.engines.sampling.random import advance, stream, uniform
from tests.abstraction.blueprint.small import small_buckets

THREE = HoldemVariant(
    name="three",
    title="limit flop hold'em of three",
    rules=BettingRules(num_players=3, small_blind=1, big_blind=2, num_streets=2, fixed_bets=(2, 2), max_raises=(2, 2)),
    stack=40,
)
NEVER = RingRule(50.0, -2_000_000_000, -2_000_000_000, 0.0, 1)


@pytest.fixture(scope="module")
def buckets() -> Buckets:
    return small_buckets()


@pytest.fixture(scope="module")
def betting(buckets: Buckets) -> RingBetting:
    return build_ring_betting(THREE, None, buckets.config, most_to_flop=3)


def reference(
    betting: RingBetting, regrets: np.ndarray, sums: np.ndarray, deal: RingRoom, traverser: int, state: np.uint64,
    rule: RingRule, prunes: bool,
) -> tuple[np.ndarray, np.ndarray, int]:  # fmt: skip
    """The recursive reference: the tables after one traversal, and the nodes visited."""
    arrays, regrets, sums, visits = betting.arrays, regrets.astype(np.int64), sums.astype(np.float64), 0

    def walk(node: int) -> float:
        nonlocal state, visits
        visits += 1
        if node < 0:
            won = end_value(-1 - node, traverser, arrays, deal.strength)
            return rule.unit * float(won)
        player, edges = arrays.player[node], range(arrays.first[node], arrays.first[node + 1])
        at = arrays.row[node] + len(edges) * deal.numbers[player, arrays.street[node]]
        here = regrets[at : at + len(edges)].copy()
        positive = np.maximum(here, 0)
        policy = positive / positive.sum() if positive.any() else np.full(len(edges), 1.0 / len(edges))
        if player != traverser:
            if arrays.street[node] == 0:
                sums[at : at + len(edges)] += policy
            state = np.uint64(advance(state))
            return walk(int(arrays.target[edges[int(np.searchsorted(np.cumsum(policy), uniform(state), "right"))]]))
        pruned = [
            prunes and positive.any() and arrays.street[node] < rule.last_street
            and regret < rule.threshold and arrays.target[edge] >= 0
            for regret, edge in zip(here, edges, strict=True)
        ]  # fmt: skip
        values = [0.0 if skip else walk(int(arrays.target[edge])) for skip, edge in zip(pruned, edges, strict=True)]
        value = float(policy @ values)
        for place, skip in enumerate(pruned):
            if not skip:
                regrets[at + place] = max(regrets[at + place] + round(values[place] - value), rule.floor)
        return value

    walk(0)
    return regrets, sums, visits


@pytest.mark.parametrize("rule", [NEVER, RingRule(50.0, -150, -200, 1.0, 1)])
def test_a_traversal_is_that_of_the_recursive_reference(betting: RingBetting, buckets: Buckets, rule: RingRule) -> None:
    rng, tables, deal, room = np.random.default_rng(7), deal_tables(buckets), ring_room(3), walk_room()
    regrets = np.where(rng.random(betting.size) < 0.3, 0, rng.normal(0, 200, betting.size)).astype(np.int32)
    regrets, sums, visited = np.maximum(regrets, rule.floor), np.zeros(betting.size, np.float32), set()
    for number in range(40):
        state = np.uint64(deal_ring(np.uint64(stream(np.uint64(3), number, 0, 0)), tables, deal))
        traverser = number % 3
        expected = reference(betting, regrets, sums, deal, traverser, state, rule, True)
        _, found = traverse(state, traverser, True, rule, betting.arrays, deal, regrets, sums, room)
        assert np.abs(regrets - expected[0]).max() <= 1  # a half may be rounded either way
        np.testing.assert_allclose(sums, expected[1], rtol=1e-4, atol=1e-4)
        assert found == expected[2]
        visited.add(found)
    assert len(visited) > 3
    assert sums[: betting.arrays.first_size].any()
    assert not sums[betting.arrays.first_size :].any()


def test_deals_are_hands_with_their_numbers_and_strengths(buckets: Buckets) -> None:
    tables, room, seen = deal_tables(buckets), ring_room(6), np.zeros(52, int)
    for number in range(300):
        deal_ring(np.uint64(stream(np.uint64(1), number, 0, 0)), tables, room)
        cards = room.cards.astype(int)
        assert len(set(cards.tolist())) == 17
        seen[cards] += 1
        for player in range(6):
            own = cards[5 + 2 * player : 7 + 2 * player]
            hand = int(hand_index(own[0], own[1]))
            assert room.numbers[player, 0] == buckets.numbers([])[hand]
            assert room.numbers[player, 1] == buckets.numbers(cards[:3])[hand]
            assert room.strength[player] == evaluate(np.append(cards[:3], own)[None])[0]
    expected = 300 * 17 / 52
    assert ((seen - expected) ** 2 / expected).sum() < 51 + 4 * math.sqrt(2 * 51)  # chi-squared, z = 4


def test_ends_pay_what_the_rules_say(betting: RingBetting) -> None:
    """Random play by the rules and by the arrays: the same decisions, and everybody wins the same."""
    rng, arrays = np.random.default_rng(5), betting.arrays
    shown = 0
    for _ in range(300):
        node, state = 0, THREE.start()
        while node >= 0:
            assert (state.player, state.street) == (arrays.player[node], arrays.street[node])
            edge = int(rng.integers(arrays.first[node], arrays.first[node + 1]))
            node, state = int(arrays.target[edge]), state.act(betting.actions[edge])
        strength = rng.integers(0, 3, 3)  # ties are frequent
        expected = _payoffs(state, strength)
        found = [end_value(-1 - node, player, arrays, strength.astype(np.int32)) for player in range(3)]
        assert found == pytest.approx(expected, abs=1.0 if len(set(strength)) < 3 else 1e-6)  # odd chips
        assert sum(found) == pytest.approx(0.0, abs=1e-4)
        shown += len(state.live_players) > 1
    assert shown > 50


def _payoffs(state: BettingState, strength: np.ndarray) -> tuple[int, ...]:
    return state.payoffs([strength.tolist()])


def test_before_the_flop_few_call() -> None:
    """Nobody limps but the small blind, and a third player cannot call where two may see the flop."""
    game = load_hand_game("ring:6")
    state = game.start()
    assert [str(action) for action in menu_actions(state, None, 2)] == ["fold", "raise to 200"]
    raised = state.act(menu_actions(state, None, 2)[1])
    assert "call" in map(str, menu_actions(raised, None, 2))
    called = raised.act(next(action for action in menu_actions(raised, None, 2) if str(action) == "call"))
    assert "call" not in map(str, menu_actions(called, None, 2))
    assert "call" in map(str, menu_actions(called, None, 3))
    folded = state
    for _ in range(4):
        folded = folded.act(menu_actions(folded, None, 2)[0])
    assert "call" in map(str, menu_actions(folded, None, 2))  # the small blind


def test_games_that_do_not_fit_are_refused(buckets: Buckets) -> None:
    for game, menu, most, message in (
        (load_hand_game("ring:3"), ("100%",) * 4, 2, "another street"),
        (THREE, ("100%",) * 4, 2, "limit games take none"),
        (THREE, None, 4, "2 to 3 players can see a flop, not 4"),
    ):
        with pytest.raises(AbstractionError, match=message):
            build_ring_betting(game, menu, buckets.config, most_to_flop=most)
