"""What each action is worth to the hands of one of two players who are left, if both play a blueprint on afterwards.

Algorithm:
    Runouts to the end of the hand are drawn: all of them where one card is to come; where two are, 16 turn cards, each
    with a river card drawn for it. On each runout the betting is walked down with the opponent's reach, and up with the
    player's counterfactual values: hands fall into the blueprint's buckets, and at ends are compared with all hands
    that share no card. Cards that are known to be gone (those of players who have folded) do not come, and nobody holds
    them. The mean over runouts, each as likely as it is for two hands that it leaves, has the exact value as its
    expectation.

Reference: M. Johanson, K. Waugh, M. Bowling, M. Zinkevich, "Accelerating Best Response Calculation in Large Extensive
    Games" (IJCAI 2011), for showdowns in the order of strengths.
Deviations: none.
Status: tests/abstraction/ring/test_values.py compares with a recursion over pairs of hands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.ring.betting import RingArrays
from aleator.abstraction.ring.policy import RingPolicy
from aleator.games.base import FloatArray
from aleator.games.holdem.cards import HANDS, NUM_CARDS, NUM_HANDS, blocked_hands
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.hand_state import BOARD_CARDS
from aleator.jit import njit

_TURNS: Final = 16  # turn cards that are drawn on the flop


class Runout(NamedTuple):
    """The H hands that a whole board leaves, weakest first.

    Attributes:
        cards: ``[H, 2]``.
        strength: ``[H]``.
        buckets: ``[4, H]`` on each street from that of the decision on.
    """

    cards: npt.NDArray[np.int8]
    strength: npt.NDArray[np.int16]
    buckets: npt.NDArray[np.int32]


class RingValues:
    """Values of actions where two players are left and play a blueprint.

    Args:
        policy: of the blueprint.
    """

    def __init__(self, policy: RingPolicy) -> None:
        self.policy = policy

    def of_actions(
        self, decision: int, board: Sequence[int], reach: FloatArray, rng: np.random.Generator,
        gone: Sequence[int] = (),
    ) -> FloatArray:  # fmt: skip
        """Returns counterfactual values in chips of the player to act, ``[A, 1326]``: what it wins, folds included.

        Args:
            decision: of the blueprint, from the flop on, with two players left.
            board: the cards on the table.
            reach: of the opponent's hands, ``[1326]``.
            rng: of the cards that are drawn on the flop.
            gone: cards that nobody has and that do not come.
        """
        arrays = self.policy.betting.arrays
        order = below(arrays, decision)
        actions = int(arrays.first[decision + 1] - arrays.first[decision])
        total, blocked = np.zeros((actions, NUM_HANDS)), np.zeros(NUM_CARDS, np.bool_)
        blocked[list(gone)] = True
        futures, chance = self._futures(board, blocked, rng)
        living = reach * ~(blocked_hands(board) | blocked[HANDS].any(axis=1))
        for future in futures:
            hands, runout = self._runout(board, future, blocked, int(arrays.street[decision]))
            values = np.zeros((actions, len(hands)))
            walk_runout(decision, order, arrays, self.policy.probabilities, runout, living[hands], values)
            total[:, hands] += values
        return np.asarray(total / (len(futures) * chance))

    def _futures(
        self, board: Sequence[int], blocked: npt.NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.int64], float]:
        """Returns cards to come ``[R, K]``, and how likely one of all such draws leaves two given hands."""
        missing = BOARD_CARDS[self.policy.game.rules.num_streets - 1] - len(board)
        rest = np.setdiff1d(np.flatnonzero(~blocked), np.asarray(board, np.int64))
        assert missing <= 2, "from the flop on"
        if missing == 0:
            return np.zeros((1, 0), np.int64), 1.0
        count = len(rest)
        if missing == 1:
            return rest[:, None], (count - 4) / count
        places = rng.permutation(count)[:_TURNS]
        other = rng.integers(0, count - 1, len(places))
        futures = np.stack((rest[places], rest[other + (other >= places)]), axis=1)
        return futures, (count - 4) * (count - 5) / (count * (count - 1))

    def _runout(
        self, board: Sequence[int], future: npt.NDArray[np.int64], blocked: npt.NDArray[np.bool_], street: int
    ) -> tuple[npt.NDArray[np.int64], Runout]:
        whole = np.concatenate((np.asarray(board, np.int64), future))
        strength = strengths(whole.astype(np.int8))
        order = np.argsort(strength, kind="stable")
        hands = order[(strength[order] >= 0) & ~blocked[HANDS[order]].any(axis=1)]
        buckets = np.zeros((4, len(hands)), np.int32)
        for later in range(street, self.policy.game.rules.num_streets):
            buckets[later] = self.policy.buckets.numbers(whole[: BOARD_CARDS[later]])[hands]
        return hands, Runout(np.ascontiguousarray(HANDS[hands], np.int8), strength[hands], buckets)


def below(arrays: RingArrays, decision: int) -> npt.NDArray[np.int32]:
    """Returns a decision and all that can follow, parents before children, ``[N]``."""
    order = [decision]
    for node in order:
        targets = arrays.target[arrays.first[node] : arrays.first[node + 1]]
        order += targets[targets > 0].tolist()
    return np.array(order, np.int32)


@njit()
def walk_runout(
    root: int, order: npt.NDArray[np.int32], betting: RingArrays, probabilities: npt.NDArray[np.float32],
    runout: Runout, reach: FloatArray, result: FloatArray,
) -> None:  # fmt: skip
    """Fills ``result`` ``[A, H]`` with counterfactual values of a decision's actions on one runout.

    Args:
        root: the decision.
        order: it and all below it, parents before children.
        betting: the blueprint's.
        probabilities: the blueprint's table.
        runout: hands.
        reach: the opponent's, ``[H]``.
        result: filled.
    """
    hands, player = len(reach), betting.player[root]
    reaches, values = np.empty((len(order), hands)), np.zeros((len(order), hands))
    at, won, acted = np.zeros(len(order), np.int64), np.empty(hands), np.empty(hands)
    reaches[0], used, following = reach, 1, 1
    child = np.zeros(len(order), np.int64)  # where the children of each begin in the order
    for place in range(len(order)):
        node = order[place]
        child[place] = following
        begin, actions = betting.first[node], betting.first[node + 1] - betting.first[node]
        for action in range(actions):
            if betting.target[begin + action] < 0:
                continue
            if betting.player[node] == player:
                at[following] = at[place]
            else:
                buckets, row = runout.buckets[betting.street[node]], betting.row[node] + action
                for hand in range(hands):
                    likely = probabilities[row + buckets[hand] * actions]
                    reaches[used, hand] = reaches[at[place], hand] * likely
                at[following] = used
                used += 1
            following += 1
    for place in range(len(order) - 1, -1, -1):
        node, follower = order[place], child[place]
        begin, actions = betting.first[node], betting.first[node + 1] - betting.first[node]
        buckets = runout.buckets[betting.street[node]]
        for action in range(actions):
            row, target = betting.row[node] + action, betting.target[begin + action]
            if target >= 0:
                acted[:] = values[follower]
                follower += 1
            elif betting.player[node] == player:
                _end(-1 - target, player, betting, runout, reaches[at[place]], acted)
            else:
                for hand in range(hands):
                    won[hand] = reaches[at[place], hand] * probabilities[row + buckets[hand] * actions]
                _end(-1 - target, player, betting, runout, won, acted)
            if place == 0:
                result[action] = acted
            elif betting.player[node] == player:
                for hand in range(hands):
                    values[place, hand] += probabilities[row + buckets[hand] * actions] * acted[hand]
            else:
                for hand in range(hands):
                    values[place, hand] += acted[hand]


@njit()
def _end(end: int, player: int, betting: RingArrays, runout: Runout, reach: FloatArray, values: FloatArray) -> None:
    """Writes what the player's hands win at an end of the hand, summed over the opponent's reach."""
    hands, cards = len(reach), runout.cards
    paid, pot = np.float64(betting.paid[end, player]), 0.0
    for other in range(betting.paid.shape[1]):
        pot += betting.paid[end, other]
    by_card, total = np.zeros(NUM_CARDS), 0.0
    for hand in range(hands):
        by_card[cards[hand, 0]] += reach[hand]
        by_card[cards[hand, 1]] += reach[hand]
        total += reach[hand]
    live = betting.live[end]
    if live == live & -live:  # one is left
        won = pot - paid if live >> player & 1 else -paid
        for hand in range(hands):
            met = total - by_card[cards[hand, 0]] - by_card[cards[hand, 1]] + reach[hand]
            values[hand] = won * met
        return
    weaker, weaker_by_card, begin = 0.0, np.zeros(NUM_CARDS), 0
    while begin < hands:
        stop = begin
        while stop < hands and runout.strength[stop] == runout.strength[begin]:
            first, second = cards[stop, 0], cards[stop, 1]
            values[stop] = weaker - weaker_by_card[first] - weaker_by_card[second]  # beaten
            stop += 1
        for hand in range(begin, stop):
            weaker += reach[hand]
            weaker_by_card[cards[hand, 0]] += reach[hand]
            weaker_by_card[cards[hand, 1]] += reach[hand]
        for hand in range(begin, stop):
            first, second = cards[hand, 0], cards[hand, 1]
            beaten, not_better = values[hand], weaker - weaker_by_card[first] - weaker_by_card[second] + reach[hand]
            met = total - by_card[first] - by_card[second] + reach[hand]
            values[hand] = pot * 0.5 * (beaten + not_better) - paid * met
        begin = stop
