"""Values of a blueprint's actions for all hands: equal to a recursion over pairs of hands, and unbiased on the flop."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.abstraction.ring.policy import RingPolicy
from aleator.abstraction.ring.values import RingValues, below
from aleator.games.holdem.cards import HANDS, NUM_CARDS, NUM_HANDS, blocked_hands
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.hand_state import BOARD_CARDS
from tests.search.pluribus.ring.small import three_players_policy

GONE = [40, 41]


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> RingPolicy:
    return three_players_policy(tmp_path_factory.mktemp("values"))


def first_decision(policy: RingPolicy, street: int) -> int:
    """Returns a decision of a street behind which there is a bit of betting."""
    arrays = policy.betting.arrays
    return next(int(node) for node in np.flatnonzero(arrays.street == street) if len(below(arrays, int(node))) > 4)


def pair_value(policy: RingPolicy, target: int, player: int, board: list[int], hands: dict[int, int]) -> float:
    """Returns what a player expects after an action, with two hands on a whole board."""
    arrays = policy.betting.arrays
    if target < 0:
        live, paid = int(arrays.live[-1 - target]), arrays.paid[-1 - target]
        if not live >> player & 1:
            return -float(paid[player])
        strength = strengths(np.array(board, np.int8))
        shares = {own: int(strength[hand]) for own, hand in hands.items() if live >> own & 1}
        best = [own for own in shares if shares[own] == max(shares.values())]
        return (player in best) * float(paid.sum()) / len(best) - float(paid[player])
    street, actor = int(arrays.street[target]), int(arrays.player[target])
    bucket = policy.buckets.numbers(np.array(board[: BOARD_CARDS[street]]))[hands[actor]]
    row = policy.policy(target)[bucket]
    edges = range(arrays.first[target], arrays.first[target + 1])
    return sum(
        float(chance) * pair_value(policy, int(arrays.target[edge]), player, board, hands)
        for edge, chance in zip(edges, row, strict=True)
    )


def players_at(policy: RingPolicy, decision: int) -> tuple[int, int]:
    player = int(policy.betting.arrays.player[decision])
    (other,) = (seat for seat in range(3) if policy.places.live[decision] >> seat & 1 and seat != player)
    return player, other


@pytest.mark.parametrize("street", [2, 3])
def test_values_are_those_of_a_recursion_over_pairs_of_hands(policy: RingPolicy, street: int) -> None:
    rng, board = np.random.default_rng(3), [0, 17, 34, 9, 22][: BOARD_CARDS[street]]
    decision = first_decision(policy, street)
    player, other = players_at(policy, decision)
    free = np.flatnonzero(~blocked_hands([*board, *GONE]))
    reach, mine = np.zeros(NUM_HANDS), rng.choice(free, 3, replace=False)
    theirs = rng.choice(free, 2, replace=False)
    reach[theirs] = 0.3, 0.7
    reach[hands_with(GONE[0])] = 1.0  # nobody has them
    values = RingValues(policy).of_actions(decision, board, reach, rng, GONE)
    arrays = policy.betting.arrays
    for own in mine.tolist():
        for action, edge in enumerate(range(arrays.first[decision], arrays.first[decision + 1])):
            expected = 0.0
            for hand in theirs.tolist():
                known = {*HANDS[own].tolist(), *HANDS[hand].tolist()}
                if len(known) < 4:
                    continue
                taken = known | {*board, *GONE}
                runouts = [[]] if street == 3 else [[card] for card in range(NUM_CARDS) if card not in taken]
                worth = [
                    pair_value(policy, int(arrays.target[edge]), player, board + cards, {player: own, other: hand})
                    for cards in runouts
                ]
                expected += reach[hand] * float(np.mean(worth))
            assert values[action, own] == pytest.approx(expected, rel=1e-6, abs=1e-6)


def hands_with(card: int) -> list[int]:
    return np.flatnonzero((card == HANDS).any(axis=1)).tolist()


def test_on_the_flop_the_mean_over_draws_is_that_of_all_runouts(policy: RingPolicy) -> None:
    """Aces against kings, 200 draws; |z| < 4 against 150 runouts by the recursion."""
    rng, board, decision = np.random.default_rng(5), [0, 17, 34], first_decision(policy, 1)
    player, other = players_at(policy, decision)
    own, hand = (int(np.flatnonzero((cards == HANDS).all(axis=1))[0]) for cards in ([51, 50], [47, 46]))
    reach = np.zeros(NUM_HANDS)
    reach[hand] = 1.0
    values = RingValues(policy)
    draws = np.array([values.of_actions(decision, board, reach, rng)[:, own] for _ in range(200)])
    arrays, rest = policy.betting.arrays, [card for card in range(NUM_CARDS) if card not in (*board, 51, 50, 47, 46)]
    target = int(arrays.target[arrays.first[decision]])
    pairs = [(one, two) for one in rest for two in rest if one != two]
    sample = [pairs[place] for place in rng.choice(len(pairs), 150, replace=False)]
    exact = np.array([pair_value(policy, target, player, [*board, *two], {player: own, other: hand}) for two in sample])
    error = np.hypot(draws[:, 0].std(ddof=1) / 200**0.5, exact.std(ddof=1) / 150**0.5)
    assert draws[:, 0].std() > 0.0
    assert abs(draws[:, 0].mean() - exact.mean()) < 4.0 * error
