"""Leaves before a card that are worth a mean over the cards of what pairs of numbers are worth, without matrices.

Algorithm:
    A pair of hands at a leaf is worth the mean over the next cards of W(b_c(h), b_c(h')), with b_c the numbers of the
    hands in an abstraction once card c has come. As a matrix over pairs of hands that is over a million numbers for
    each leaf and continuation, which would be read in every iteration. Here the reach of one player is summed by number
    after each card, multiplied by W (a product of small matrices), and gathered by the other player's numbers. Pairs
    that share a card would count: their part is kept, as matrices over the hands that hold a card, and subtracted.
    The continuations of the player who chooses are next to each other in memory.

Reference: what is computed is `abstraction.blueprint.values.BlueprintValues.on_board` times a reach.
Deviations: none.
Status: tests/search/whole_hands/test_card_leaves.py compares with those matrices.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from aleator.abstraction.blueprint.values import BoardNumbers
from aleator.games.holdem.cards import HANDS
from aleator.jit import kernel

Tensor = torch.Tensor
Float32Array = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int32]
_ROUNDED = 8  # rows of products are a multiple of it


class CardLeaves:
    """L leaves with K continuations each of one player, the chooser.

    Args:
        board: numbers of the hands after each next card.
        matrices: for each leaf what player 0 wins in chips by both players' numbers, ``[K, n, n]``.
        chooser: whose continuations they are; None if there is one only.
    """

    def __init__(self, board: BoardNumbers, matrices: Sequence[npt.NDArray[np.float32]], chooser: int | None) -> None:
        self.chooser = 1 if chooser is None else chooser
        self.num_leaves, (self.num_choices, count, _) = len(matrices), matrices[0].shape
        self._numbers = np.where(board.numbers < 0, count, board.numbers).astype(np.int32)
        self._holding, self._at = hands_by_card(board)
        self._width = -(-(count + 1) // _ROUNDED) * _ROUNDED
        cards, holders = self._holding.shape
        size = (self.num_leaves, self._width, self._width, self.num_choices)
        worth = np.zeros(size, np.float32)  # by the searcher's number, the chooser's, and continuation
        for leaf, matrix in enumerate(matrices):
            by_number = matrix if self.chooser == 1 else matrix.transpose(0, 2, 1)
            worth[leaf, :count, :count] = by_number.transpose(1, 2, 0) / np.float32(len(board.numbers) - 4.0)
        shared = np.zeros((self.num_leaves, cards, holders, holders, self.num_choices), np.float32)
        for leaf in range(self.num_leaves):
            _sum_shared(worth[leaf], self._numbers, self._holding, shared[leaf])
        self._worth = torch.from_numpy(worth).flatten(2)  # [L, n, n K]
        self._shared = torch.from_numpy(shared).reshape(self.num_leaves * cards, holders, holders * self.num_choices)

    def cfvs(self, player: int, reach: Float32Array) -> Float32Array:
        """Returns a player's cfvs in chips, ``[L, K, H]``, from its opponent's reach, ``[L, K, H]``.

        The chooser's are those of each continuation. Those of the other player are summed over continuations, and
        stand in the first place: it does not choose, so that nothing else counts.
        """
        chooses = player == self.chooser
        factors, shared = (self._worth, self._shared) if chooses else (self._worth.mT, self._shared.mT)
        reach = reach[:, :1] if chooses else reach  # the searcher's is the same for all
        leaves, cards, options = len(reach), len(self._numbers), reach.shape[1]
        summed = np.zeros((leaves, cards, self._width, options), np.float32)
        held = np.empty((leaves, *self._holding.shape, options), np.float32)
        _sum_by_number(reach, self._numbers, self._holding, summed, held)
        given = torch.bmm(torch.from_numpy(summed).flatten(2), factors)
        taken = torch.bmm(torch.from_numpy(held).reshape(len(shared), 1, -1), shared)
        count = self.num_choices if chooses else 1
        cfvs = np.zeros((leaves, self.num_choices, reach.shape[2]), np.float32)
        _gather(
            given.numpy().reshape(leaves, cards, self._width, count),
            taken.numpy().reshape(leaves, -1, count),
            self._numbers,
            self._at,
            np.float32(1.0 if player == 0 else -1.0),
            np.empty((reach.shape[2], count), np.float32),
            cfvs,
        )
        return cfvs


def hands_by_card(board: BoardNumbers) -> tuple[IntArray, IntArray]:
    """Returns the hands that hold each card, by their places among a board's, ``[C, D]``, and each one's two places.

    The second array, ``[H, 2]``, has the places of a hand in the first one, flattened.
    """
    held = HANDS[board.hands]
    cards = np.unique(held)
    holding = np.stack([np.flatnonzero((held == card).any(axis=1)) for card in cards]).astype(np.int32)
    order = np.argsort(holding.ravel(), kind="stable").astype(np.int32)
    return holding, np.ascontiguousarray(order.reshape(-1, 2))


@kernel()
def _sum_shared(worth: Float32Array, numbers: IntArray, holding: IntArray, shared: Float32Array) -> None:
    """Writes what pairs of hands that hold the same card would add; a pair of equal hands holds two, and half of each.

    Args:
        worth: of pairs of numbers, ``[n, n, K]``; 0 for the number of blocked hands.
        numbers: of each hand after each card, ``[C, H]``.
        holding: the hands that hold each card, ``[C, D]``.
        shared: added to, ``[C, D, D, K]``.
    """
    holders, options = holding.shape[1], worth.shape[2]
    for card in range(len(holding)):
        for first in range(holders):
            sums = shared[card, first]
            for falling in range(len(numbers)):
                row = worth[numbers[falling, holding[card, first]]]
                for second in range(holders):
                    number = numbers[falling, holding[card, second]]
                    for option in range(options):
                        sums[second, option] += row[number, option]
            for option in range(options):
                sums[first, option] *= np.float32(0.5)


@kernel()
def _sum_by_number(
    reach: Float32Array, numbers: IntArray, holding: IntArray, summed: Float32Array, held: Float32Array
) -> None:
    """Adds up a reach by number after each card, and writes it out by card held.

    Args:
        reach: ``[L, K, H]``.
        numbers: of each hand after each card, ``[C, H]``.
        holding: the hands that hold each card, ``[C, D]``.
        summed: added to, ``[L, C, n, K]``.
        held: written, ``[L, C, D, K]``.
    """
    cards, hands = numbers.shape
    for leaf in range(len(reach)):
        for card in range(cards):
            for hand in range(hands):
                number = numbers[card, hand]
                for option in range(reach.shape[1]):
                    summed[leaf, card, number, option] += reach[leaf, option, hand]
        for card in range(len(holding)):
            for place in range(holding.shape[1]):
                for option in range(reach.shape[1]):
                    held[leaf, card, place, option] = reach[leaf, option, holding[card, place]]


@kernel()
def _gather(
    given: Float32Array, taken: Float32Array, numbers: IntArray, at: IntArray, sign: np.float32, sums: Float32Array,
    cfvs: Float32Array,
) -> None:  # fmt: skip
    """Writes what numbers are worth to each hand, less the part of hands that share a card with it.

    Args:
        given: by number after each card, ``[L, C, n, K']``.
        taken: by card held and place, ``[L, C D, K']``.
        numbers: of each hand after each card, ``[C, H]``.
        at: where each hand is found in ``taken``, ``[H, 2]``.
        sign: what all is multiplied by.
        sums: working memory, ``[H, K']``.
        cfvs: of which the first K' rows of each leaf are written, ``[L, K, H]``.
    """
    cards, hands = numbers.shape
    options = given.shape[3]
    for leaf in range(len(given)):
        sums[:] = 0.0
        for card in range(cards):
            for hand in range(hands):
                number = numbers[card, hand]
                for option in range(options):
                    sums[hand, option] += given[leaf, card, number, option]
        for hand in range(hands):
            one, other = at[hand, 0], at[hand, 1]
            for option in range(options):
                less = taken[leaf, one, option] + taken[leaf, other, option]
                cfvs[leaf, option, hand] = sign * (sums[hand, option] - less)
