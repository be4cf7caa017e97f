"""Values of public states by shares of the pot, from which AIVAT takes luck; by default equities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.games.holdem.cards import NUM_CARDS, blocked_hands
from aleator.games.holdem.equity import BoardShowdowns, showdown_rows

_KEPT_ROWS: Final = 512
_WORTH_A_MATRIX: Final = 4  # questions about a board
_KEPT_MATRICES: Final = 64  # of 3 MiB each


class Situation(NamedTuple):
    """What a value may depend on besides hands: the board, the chips each has put in and has behind, and dead money."""

    board: npt.NDArray[np.int8]
    paid: tuple[int, int]
    behind: tuple[int, int]
    dead: int


class HandValue(ABC):
    """Shares of the pot that hands expect; any numbers leave AIVAT unbiased, good ones take the variance away.

    Attributes:
        is_fair: whether the mean over the next cards is always the value before them.
        tells_actions: whether the luck of actions is told by this value, as a share of what is bet; if not, by the
            equity.
        told_boards: boards, by how many cards they have, on which the luck of the last card is told by this value; on
            others by the equity, as always on the flop.
    """

    is_fair: bool = False
    tells_actions: bool = True
    told_boards: tuple[int, ...] = (4, 5)

    @abstractmethod
    def rows(self, situation: Situation, player: int, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Returns the sum over the opponent's hands of reach times share, and of reach, per own hand, ``[1326]`` each.

        Args:
            situation: everything public that matters.
            player: whose hands.
            reach: of both players' hands, ``[2, 1326]``, 0 where the board blocks them.
        """

    def mean_share(self, situation: Situation, reach: FloatArray) -> float:
        """Returns the share of player 0 before one more card, as the mean over all cards, each as likely as it is.

        Args:
            situation: before the card.
            reach: of both players' hands, ``[2, 1326]``.
        """
        total = weight = 0.0
        for after in next_boards(situation.board):
            alive = reach * living_hands(after)
            won, met = self.rows(situation._replace(board=after), 0, alive)
            total += float(alive[0] @ won)
            weight += float(alive[0] @ met)
        return total / weight


def next_boards(board: npt.NDArray[np.int8]) -> list[npt.NDArray[np.int8]]:
    """Returns a board with each card that may come next."""
    return [np.append(board, np.int8(card)) for card in range(NUM_CARDS) if card not in board]


class EquityValue(HandValue):
    """The share of the pot is the chance to win a showdown."""

    is_fair = True

    def __init__(self) -> None:
        self._of_uniform: dict[bytes, tuple[FloatArray, FloatArray]] = {}
        self._asked: dict[bytes, int] = {}
        self._matrices: dict[bytes, BoardShowdowns] = {}

    def rows(self, situation: Situation, player: int, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
        won, met = self.showdowns(situation.board, reach[1 - player][None])
        return won[0], met[0]

    def showdowns(self, board: npt.NDArray[np.int8], reach: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Returns `showdown_rows`; a board that is asked about often gets a matrix, the last ones are kept."""
        if len(board) not in (3, 4):
            return showdown_rows(board, reach)
        key = board.tobytes()
        if key not in self._matrices:
            self._asked[key] = self._asked.get(key, 0) + len(reach)
            if self._asked[key] < _WORTH_A_MATRIX:
                return showdown_rows(board, reach)
            if len(self._matrices) >= _KEPT_MATRICES:
                self._matrices.pop(next(iter(self._matrices)))
            self._matrices[key] = BoardShowdowns(board)
        return self._matrices[key].rows(reach)

    def rows_of_all_hands(self, board: npt.NDArray[np.int8]) -> tuple[FloatArray, FloatArray]:
        """Returns the rows against all hands alike, the same for everybody on a board; the last are kept."""
        key = board.tobytes()
        if key not in self._of_uniform:
            if len(self._of_uniform) >= _KEPT_ROWS:
                self._of_uniform.pop(next(iter(self._of_uniform)))
            won, met = self.showdowns(board, living_hands(board)[None])
            self._of_uniform[key] = won[0], met[0]
        return self._of_uniform[key]


def living_hands(board: npt.NDArray[np.integer]) -> FloatArray:
    """Returns 1 for hands that share no card with the board, else 0, ``[1326]``."""
    return (~blocked_hands(board)).astype(np.float64)
