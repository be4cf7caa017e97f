"""What a blueprint is worth from any point of the betting on, for every pair of numbers; also if one player is biased.

Algorithm:
    A walk of the abstract game from the ends of the hand up. At a decision of player p the value is the mean over its
    policy; at a card it is the mean over what both numbers become (`chances`), each player's on its own; at an all-in
    and at a showdown it is the stake times how often one number beats the other. A *continuation* of a player is its
    policy with one kind of actions (folds, calls, raises) ten times as likely, then normalised; values of all four
    continuations against the other player's own policy come from one walk.
    On a real board a pair of hands has the mean over the next cards of the value of the numbers that both then have
    (`on_board`), so that what one card does to both hands is kept, and hands that share a card never meet.

Reference: N. Brown's thesis (2020), 5.2.2 (values of states by one walk of the game, the bias approach), 6.5 (leaves of
a search take the value of the blueprint's leaf as a share of the pot).
Deviations: Modicum rolls out from its leaves; here rollouts are exact sums in the abstract game. From the second card
on the numbers of both players are taken to move independently. Hands that training never met check and call.
Status: tests/abstraction/blueprint/test_values.py compares with a recursion over dealt hands, and with rollouts.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.chances import Matrix, NumberChances, count_chances
from aleator.abstraction.blueprint.policy import BlueprintPolicy
from aleator.caching import Kept
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import ActionKind
from aleator.games.holdem.betting_tree import ACTION_KINDS, NodeKind
from aleator.games.holdem.cards import HANDS, NUM_CARDS, NUM_HANDS, blocked_hands
from aleator.jit import kernel

CONTINUATIONS: Final = (None, ActionKind.FOLD, ActionKind.CALL, ActionKind.RAISE)
"""What a player's policy is biased towards; the blueprint itself first."""
BIAS: Final = 10.0
_DEALS: Final = 2_000_000
_KEPT: Final = 512  # matrices of nodes


class BoardNumbers(NamedTuple):
    """The numbers of the hands on a board after each card that may come next.

    Attributes:
        hands: that the board does not block, ``[H]``.
        numbers: of each after each card, ``[C, H]``; -1 where the card blocks the hand.
        blocked: whether two of the hands share a card, ``[H, H]``.
    """

    hands: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int32]
    blocked: npt.NDArray[np.bool_]


class BlueprintValues:
    """Values of a blueprint; what was asked for is kept.

    Args:
        policy: of the blueprint.
        deals: that chances are counted from.
        seed: of these deals.
    """

    def __init__(self, policy: BlueprintPolicy, *, deals: int = _DEALS, seed: int = 0) -> None:
        self.policy, self._deals, self._seed = policy, deals, seed
        self.tree = policy.betting.root.tree
        self._kept: Kept[Matrix] = Kept(_KEPT)

    @cached_property
    def chances(self) -> NumberChances:
        """What cards do to numbers; counted when it is first needed, unless that was done before."""
        return self.policy.buckets.chances or count_chances(self.policy.buckets, deals=self._deals, seed=self._seed)

    def of_node(self, number: int, chooser: int | None = None) -> Matrix:
        """Returns what player 0 wins in chips from a node on, ``[K, n, n]`` by both players' numbers there.

        Args:
            number: of a node of the betting tree that begins a street or lies in one.
            chooser: whose four continuations (`CONTINUATIONS`) there are values for; None: one value, of the blueprint.
        """
        return self._kept.find_or_make((number, chooser), lambda: self._matrix(number, chooser))

    def _matrix(self, number: int, chooser: int | None) -> Matrix:
        """Returns what `of_node` does, computed."""
        value = self._walk(number, chooser)
        count = self.policy.buckets.config.count(int(self.tree.street[number]))
        options = 1 if chooser is None else len(CONTINUATIONS)
        return np.ascontiguousarray(np.broadcast_to(value, (options, count, count)))

    def board_numbers(self, board: tuple[int, ...]) -> BoardNumbers:
        """Returns the numbers of hands after each next card of a board of three or four cards."""
        hands = np.flatnonzero(~blocked_hands(board))
        cards = [card for card in range(NUM_CARDS) if card not in board]
        numbers = np.full((len(cards), len(hands)), -1, np.int32)
        held = HANDS[hands]
        for row, card in enumerate(cards):
            free = (held != card).all(axis=1)
            numbers[row, free] = self.policy.buckets.numbers((*board, card))[hands[free]]
        blocked = (held[:, None, :, None] == held[None, :, None, :]).any(axis=(2, 3))
        return BoardNumbers(hands, numbers, blocked)

    def on_board(self, number: int, board: BoardNumbers, chooser: int | None = None) -> Matrix:
        """Returns what player 0 wins in chips with a pair of hands, before the card that begins a street.

        Args:
            number: of the first node of that street in the betting tree.
            board: of the street before.
            chooser: as in `of_node`.

        Returns:
            ``[K, H, H]`` by player 0's and player 1's hand; 0 for hands that share a card.
        """
        matrices = self.of_node(number, chooser)
        options, count, _ = matrices.shape
        padded = np.zeros((count + 1, count + 1, options), np.float32)  # blocked hands read the zeros behind the end
        padded[:count, :count] = matrices.transpose(1, 2, 0)
        size = len(board.hands)
        values = np.empty((options, size, size), np.float32)
        numbers = np.where(board.numbers < 0, count, board.numbers).astype(np.int32)
        _mean_over_cards(padded, numbers, values, np.empty((size, options), np.float32))
        values *= ~board.blocked / np.float32(len(board.numbers) - 4.0)
        return values

    def cfvs(self, number: int, board: tuple[int, ...], reach: FloatArray) -> FloatArray:
        """Returns both players' cfvs in chips at the first node of a street whose cards are on the board.

        Args:
            number: of that node.
            board: with the cards of that street.
            reach: of both players, ``[2, 1326]``.

        Returns:
            ``[2, 1326]``; 0 for hands that the board blocks.
        """
        alive = np.flatnonzero(~blocked_hands(board))
        numbers = self.policy.buckets.numbers(board)[alive]
        held = HANDS[alive]
        free = ~(held[:, None, :, None] == held[None, :, None, :]).any(axis=(2, 3))
        pairs = self.of_node(number)[0][np.ix_(numbers, numbers)] * free
        cfvs = np.zeros((2, NUM_HANDS))
        cfvs[0, alive] = pairs @ reach[1, alive]
        cfvs[1, alive] = -(reach[0, alive] @ pairs)
        return cfvs

    def _walk(self, number: int, chooser: int | None) -> Matrix:
        """Returns the value of a node, ``[K or 1, n or 1, n or 1]``."""
        tree, kind = self.tree, NodeKind(self.tree.kind[number])
        if kind is NodeKind.FOLD:
            loser = int(tree.player[number])
            lost = float(tree.chips[number, loser])
            return np.full((1, 1, 1), lost if loser else -lost, np.float32)
        street = int(tree.street[number])
        if kind is NodeKind.SHOWDOWN:
            return np.float32(tree.chips[number].min()) * self.chances.showdowns[street][None]
        if kind is NodeKind.NEXT_STREET:
            end = number
            while tree.kind[end] == NodeKind.NEXT_STREET:
                end += 1
            if tree.kind[end] == NodeKind.SHOWDOWN:  # all-in: no more decisions
                return np.float32(tree.chips[end].min()) * self.chances.showdowns[street][None]
            moves = self.chances.moves[street]
            return np.asarray(moves @ self._walk(number + 1, chooser) @ moves.T)
        player = int(tree.player[number])
        policies = self._continuations(number) if player == chooser else self._continuations(number)[:1]
        count = policies.shape[1]
        options = 1 if chooser is None else len(CONTINUATIONS)
        total = np.zeros((options, count, count), np.float32)
        for action, child in enumerate(tree.children(number)):
            below = np.broadcast_to(self._walk(child, chooser), (options, count, count))
            weights = np.broadcast_to(policies[:, :, action], (options, count))
            _add_weighted(total, weights, below, player)
        return total

    def _continuations(self, number: int) -> Matrix:
        """Returns the policies of a decision by continuation, ``[K, n, A]``."""
        kinds = [ACTION_KINDS[self.tree.action[child]] for child in self.tree.children(number)]
        policy = self.policy.at(number)
        unknown = policy.sum(axis=1) <= 0.0
        policy[unknown, kinds.index(ActionKind.CALL)] = 1.0
        weights = np.array([[BIAS if kind is towards else 1.0 for kind in kinds] for towards in CONTINUATIONS])
        biased = policy[None] * weights[:, None, :]
        return np.asarray(biased / biased.sum(axis=2, keepdims=True), np.float32)


@kernel()
def _add_weighted(total: Matrix, weights: Matrix, below: Matrix, player: int) -> None:
    """Adds values [K, n, n] below an action to a total, times the probabilities [K, n] of the player's numbers."""
    for option in range(total.shape[0]):
        for first in range(total.shape[1]):
            if player == 0:
                weight = weights[option, first]
                if weight > 0.0:
                    for second in range(total.shape[2]):
                        total[option, first, second] += weight * below[option, first, second]
            else:
                for second in range(total.shape[2]):
                    total[option, first, second] += weights[option, second] * below[option, first, second]


@kernel()
def _mean_over_cards(matrices: Matrix, numbers: npt.NDArray[np.int32], values: Matrix, row: Matrix) -> None:
    """Writes the sums over cards of the values of pairs of numbers.

    Args:
        matrices: by both numbers and continuation, ``[n + 1, n + 1, K]``, 0 at the end.
        numbers: of each hand after each card, ``[C, H]``.
        values: written, ``[K, H, H]``.
        row: working memory, ``[H, K]``.
    """
    cards, hands = numbers.shape
    options = matrices.shape[2]
    for first in range(hands):
        row[:] = 0.0
        for card in range(cards):
            own = matrices[numbers[card, first]]
            for second in range(hands):
                other = numbers[card, second]
                for option in range(options):
                    row[second, option] += own[other, option]
        for option in range(options):
            for second in range(hands):
                values[option, first, second] = row[second, option]
