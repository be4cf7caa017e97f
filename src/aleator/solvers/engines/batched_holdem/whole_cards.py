"""The card between two streets of a whole spot: reach goes to the boards that it makes, cfvs come back.

Algorithm:
    Hands have the same numbers before and after the card; those that hold it have no reach. A board after the card
    stands for all that differ from it by a renaming of suits: each of them is a *map*, which says where a hand of the
    board before stands on it. Cfvs before the card are means over the maps of all boards.

Reference: as `whole`.

Deviations: none.

Status: kernels equal torch (tests/solvers/batched_holdem/test_whole_kernels.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from aleator.games.holdem.cards import NUM_CARDS, NUM_HANDS
from aleator.games.holdem.suits import HAND_MAPS
from aleator.solvers.engines.boards.plan import Board

Tensor = torch.Tensor


class WholeCards:
    """What a card makes of the boards of a street.

    Attributes:
        parent: int32 [B] which board before the card.
        live: [B, H] 0 for hands that hold a card of the board, else 1.
        first_map: int32 [P + 1] where the maps of the boards of each board before begin.
        map_board: int32 [maps] whose map it is.
        place: int16 [maps, H] where a hand of the board before stands; H if nowhere.
        chance: of a card, given both hands.
    """

    def __init__(self, boards: Sequence[Board], hands: Tensor, live: Tensor, num_parents: int) -> None:
        """Makes tables.

        Args:
            boards: after the card; those of one board before stand side by side.
            hands: [B, H] of these boards, and of those before.
            live: [B, H].
            num_parents: P.
        """
        device = hands.device
        self._parents = np.array([board.parent for board in boards])
        self.parent, self.live = torch.from_numpy(self._parents).to(device, torch.int32), live
        pairs = [(number, suits) for number, board in enumerate(boards) for suits in board.maps]
        map_board = np.array([number for number, _ in pairs])
        self._first_of = np.searchsorted(map_board, np.arange(len(boards) + 1))
        board = torch.from_numpy(map_board).to(device)
        maps = torch.from_numpy(HAND_MAPS[[suits for _, suits in pairs]].astype(np.int64)).to(device)
        self.map_board = board.int()
        self.place = _places(hands, live)[board].gather(1, maps.gather(1, hands[board])).to(torch.int16)
        first = np.searchsorted(self._parents[map_board], np.arange(num_parents + 1))
        self.first_map = torch.from_numpy(first).to(device, torch.int32)
        self.chance = 1.0 / (NUM_CARDS - len(boards[0].cards) + 1 - 4)

    def below(self, parents: slice) -> slice:
        """Returns the boards after the card that come from some boards before it."""
        first, last = np.searchsorted(self._parents, [parents.start, parents.stop])
        return slice(int(first), int(last))

    def maps(self, boards: slice) -> slice:
        """Returns the maps of some boards."""
        return slice(int(self._first_of[boards.start]), int(self._first_of[boards.stop]))

    def deal(self, above: Tensor, parents: slice, boards: slice) -> Tensor:
        """Returns the reach [b, L, H] on some boards, from that before the card [p, L, H] on theirs."""
        return above[self.parent[boards] - parents.start] * self.live[boards, None]

    def gather(self, values: Tensor, total: Tensor, parents: slice, boards: slice) -> None:
        """Adds the cfvs [b, L, H] of some boards to those before the card, ``total`` [p, L, H]."""
        maps = self.maps(boards)
        child = self.map_board[maps]
        rows = torch.nn.functional.pad(values, (0, 1))[child - boards.start]
        rows = rows.gather(2, self.place[maps, None].long().expand(-1, values.shape[1], -1))
        total.index_add_(0, self.parent[child] - parents.start, rows, alpha=self.chance)


def _places(hands: Tensor, live: Tensor) -> Tensor:
    """Returns [B, 1326]: where each hand stands among those of a board [B, H]; H for hands that are not there."""
    batch, count = hands.shape
    places = torch.full((batch, NUM_HANDS), count, device=hands.device)
    numbers = torch.arange(count, device=hands.device).expand_as(hands)
    return places.scatter_(1, hands, torch.where(live > 0, numbers, count))


def some_hands(live: Tensor, wanted: Tensor, multiple: int = 1) -> Tensor:
    """Returns [B, n]: equally many hands of each board, ascending, with all that are live and wanted.

    Args:
        live: [B, 1326] hands that a board does not block.
        wanted: [1326].
        multiple: n is a multiple of it; where too few are live others stand in.
    """
    count = -(-int((live & wanted).sum(1).max()) // multiple) * multiple
    order = (live.byte() + (live & wanted).byte()).argsort(dim=1, descending=True, stable=True)
    return order[:, :count].sort(1).values
