"""Payoffs of hands of cards in O(H): running sums over the opponent's hands by strength, common cards taken out.

Algorithm: going up through the own hands by strength, the weaker opposing hands so far are summed up, in all and per
    card; what an own hand wins is all of it less what holds one of its two cards. Going down gives what it loses. At a
    fold all hands count.
Reference: Johanson et al. 2011.
Deviations: none.
Status: equal to the matrices (tests/solvers/test_cards.py).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.games.operators import CardPayoff
from aleator.jit import inner_kernel

FEWEST_PAIRS = 40_000  # of hands: below that a matrix is as quick
NUM_CARDS, _HEADER = 52, 4
_FOLD, _SHOWDOWN = 0, 1
Places = npt.NDArray[np.int32]


class PackedCards:
    """Payoffs as the kernel takes them: a header, then for each own and each opposing hand number, cards, strength.

    Hands that cannot be are left out; the others are in the order of strength. The header says what kind of payoff it
    is, how many hands there are, and where their weights begin. Own hands have one more number: where the opponent's
    hand of the very same cards stands, or -1.
    """

    def __init__(self) -> None:
        self._hands: list[npt.NDArray[np.int64]] = [np.zeros(0, np.int64)]
        self._weights: list[FloatArray] = [np.zeros(0)]
        self._headers: list[int] = []
        self._size = self._num_weights = 0

    def add(self, payoff: CardPayoff, player: int) -> int:
        """Adds a payoff as a player sees it; returns where it begins."""
        deal, at = payoff.deal, self._size
        self._headers.append(at)
        fold = payoff.strengths is None
        orders, columns = [], []
        for side in (player, 1 - player):
            strength = np.zeros(deal.shape[side], np.int64) if payoff.strengths is None else payoff.strengths[side]
            hands = np.flatnonzero(deal.weights[side] > 0.0)
            hands = hands[np.argsort(strength[hands], kind="stable")]
            orders.append(hands)
            columns.append([hands, deal.cards[side][hands, 0], deal.cards[side][hands, 1], strength[hands]])
        offset = np.full(deal.shape[1 - player] + 1, -1, np.int64)  # the last one is for no hand
        offset[orders[1]] = np.arange(len(orders[1]))
        columns[0].append(offset[deal.same_hand(player)[orders[0]]])
        sign = -1.0 if fold and player == 1 else 1.0
        self._weights += [deal.weights[player][orders[0]] * (deal.scale * sign), deal.weights[1 - player][orders[1]]]
        own, opponent = (np.stack(of_side, axis=1).astype(np.int64).ravel() for of_side in columns)
        header = [_FOLD if fold else _SHOWDOWN, len(orders[0]), len(orders[1]), self._num_weights]
        self._num_weights += len(orders[0]) + len(orders[1])
        packed = np.concatenate([header, own, opponent])
        self._hands.append(packed)
        self._size += len(packed)
        return at

    def pack(self, first_weight: int) -> tuple[Places, FloatArray]:
        """Returns all payoffs, and their weights, of which the first will stand at a given place."""
        packed = np.concatenate(self._hands).astype(np.int32)
        packed[np.array(self._headers, np.int64) + _HEADER - 1] += first_weight
        return packed, np.concatenate(self._weights)


@inner_kernel()
def apply_cards(
    packed: Places, at: int, weights: FloatArray, sum_at: int, reach: FloatArray, reach_at: int, stake: float,
    values: FloatArray, value_at: int, width: int,
) -> None:  # fmt: skip
    """Writes a row of values: stake x payoff applied to the opponent's row of reach; 0 for hands that cannot be.

    `weights[sum_at : sum_at + 52]` are overwritten.
    """
    values[value_at : value_at + width] = 0.0
    kind, own, opponent, weight_at = packed[at], packed[at + 1], packed[at + 2], packed[at + 3]
    mine, theirs = at + _HEADER, at + _HEADER + 5 * own
    other_weight = weight_at + own
    by_card = weights[sum_at : sum_at + NUM_CARDS]
    by_card[:] = 0.0
    total = 0.0
    if kind == _FOLD:
        for k in range(opponent):
            weight = weights[other_weight + k] * reach[reach_at + packed[theirs + 4 * k]]
            total += weight
            by_card[packed[theirs + 4 * k + 1]] += weight
            by_card[packed[theirs + 4 * k + 2]] += weight
        for k in range(own):
            hand = mine + 5 * k
            free = total - by_card[packed[hand + 1]] - by_card[packed[hand + 2]]
            if packed[hand + 4] >= 0:
                free += (
                    weights[other_weight + packed[hand + 4]] * reach[reach_at + packed[theirs + 4 * packed[hand + 4]]]
                )
            values[value_at + packed[hand]] = stake * weights[weight_at + k] * free
        return
    for direction in (1, -1):
        total = 0.0
        by_card[:] = 0.0
        done = 0
        for step in range(own):
            k = step if direction == 1 else own - 1 - step
            hand = mine + 5 * k
            while done < opponent:
                j = done if direction == 1 else opponent - 1 - done
                if (packed[hand + 3] - packed[theirs + 4 * j + 3]) * direction <= 0:
                    break
                weight = weights[other_weight + j] * reach[reach_at + packed[theirs + 4 * j]]
                total += weight
                by_card[packed[theirs + 4 * j + 1]] += weight
                by_card[packed[theirs + 4 * j + 2]] += weight
                done += 1
            free = total - by_card[packed[hand + 1]] - by_card[packed[hand + 2]]
            values[value_at + packed[hand]] += direction * stake * weights[weight_at + k] * free
