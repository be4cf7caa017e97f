"""A value network of the river as AIVAT's value: what both ranges expect at its start, and what its card changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from aleator.arena.whole_hands.aivat.hand_value import EquityValue, HandValue, Situation, next_boards
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.cards import NUM_HANDS, blocked_hands
from aleator.learning.holdem.examples import price_rivers
from aleator.learning.holdem.model import load_holdem_model
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.order import order_of

_RIVER_BOARD = 5


class NetworkValue(HandValue):
    """Shares by a network of the start of the river; before the river, and when nobody can bet any more, by the equity.

    Args:
        file: of the network, as `aleator train holdem` writes it.

    Raises:
        StorageError: the file is not a network.
        AgentError: it is a network of another street.
    """

    tells_actions = False  # what a hand wins by later bets does not grow with the next one
    told_boards = (_RIVER_BOARD,)

    def __init__(self, file: Path | str) -> None:
        self._network = load_holdem_model(file).network
        if self._network.shape.street != "river":
            raise AgentError(f"{file} is a network of the {self._network.shape.street}: AIVAT takes one of the river")
        self._deck, self._equity = Deck(), EquityValue()

    def rows(self, situation: Situation, player: int, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
        won, met = self._equity.rows(situation, player, reach)
        if len(situation.board) < _RIVER_BOARD or min(situation.behind) <= 0 or not reach.any(axis=1).all():
            return won, met
        return 0.5 * met + self._cfvs(situation, situation.board[None], reach[None])[0, player], met

    def mean_share(self, situation: Situation, reach: FloatArray) -> float:
        if len(situation.board) + 1 < _RIVER_BOARD or min(situation.behind) <= 0:
            won, met = self._equity.rows(situation, 0, reach)
            return float(reach[0] @ won) / float(reach[0] @ met)
        boards = np.stack(next_boards(situation.board))
        alive = np.stack([reach * ~blocked_hands(board) for board in boards])
        masses = alive.sum(axis=2, keepdims=True)
        boards, alive = boards[(masses > 0).all(axis=(1, 2))], alive[(masses > 0).all(axis=(1, 2))]
        values = (alive[:, 0] * self._cfvs(situation, boards, alive)[:, 0]).sum()
        weight = sum(
            float(rows[0] @ self._equity.rows(situation._replace(board=board), 0, rows)[1])
            for board, rows in zip(boards, alive, strict=True)
        )
        return float(0.5 + values / weight)

    def _cfvs(self, situation: Situation, boards: npt.NDArray[np.int8], reach: FloatArray) -> FloatArray:
        """Returns both players' cfvs in pots on some boards, ``[B, 2, 1326]``, from their reach there."""
        pot = 2 * min(situation.paid) + situation.dead
        stack = torch.full((len(boards),), min(situation.behind) / pot)
        order = order_of(self._deck, torch.from_numpy(boards.astype(np.int64)))
        rows = order.sort(torch.from_numpy(reach).float())
        mass = rows.sum(2, keepdim=True)
        values, _ = price_rivers(order, rows / mass, stack, self._network)
        cfvs: FloatArray = order.unsort(values * mass.flip(1), NUM_HANDS).double().numpy()
        return cfvs
