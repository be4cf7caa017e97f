"""The card between two streets of a whole spot: reach goes to the boards that it makes, cfvs come back.

Algorithm:
    A board after the card stands for all that differ from it by a renaming of suits: each of them is a *map*, which
    says where a hand of the board before stands on it. Cfvs before the card are means over the maps of all boards.

Reference: as `whole`.

Deviations: none.

Status: kernels equal torch (tests/solvers/batched_holdem/test_whole_kernels.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from aleator.caching import cache
from aleator.games.holdem.cards import NUM_CARDS, NUM_HANDS
from aleator.games.holdem.suits import HAND_MAPS
from aleator.solvers.engines.batched_holdem.nvrtc import Kernel, Source
from aleator.solvers.engines.boards.plan import Board

Tensor = torch.Tensor
_THREADS = 256


def card_source() -> str:
    """Returns the source of the kernels."""
    return Path(__file__).with_name("cards.cu").read_text()


def card_defines(leaves: int, before: int, after: int) -> dict[str, int]:
    """Returns what the kernels are compiled with: ends of the betting, and hands of a board before and after."""
    return {"THREADS": _THREADS, "LEAVES": leaves, "BEFORE": before, "AFTER": after}


@cache
def _kernels(leaves: int, before: int, after: int, device: int) -> tuple[Kernel, Kernel]:
    """Returns `deal` and `gather`, compiled once per process."""
    defines = card_defines(leaves, before, after)
    return Kernel(card_source(), "deal", defines), Kernel(card_source(), "gather", defines)


class WholeCards:
    """What a card makes of the boards of a street."""

    def __init__(self, boards: Sequence[Board], hands: Tensor, before: Tensor) -> None:
        """Makes tables.

        Args:
            boards: after the card; those of one board before stand side by side.
            hands: [B, H] of these boards.
            before: [P, H'] of the boards before.
        """
        self._hands, (self._num_parents, self._before) = hands.shape[1], before.shape
        device = hands.device
        self._parents = np.array([board.parent for board in boards])
        self._parent = torch.from_numpy(self._parents).to(device)
        self._from_parent = _place_of(before)[self._parent].gather(1, hands)  # [B, H]
        pairs = [(number, suits) for number, board in enumerate(boards) for suits in board.maps]
        map_board = np.array([number for number, _ in pairs])
        self._map_board = torch.from_numpy(map_board).to(device)
        maps = torch.from_numpy(HAND_MAPS[[suits for _, suits in pairs]].astype(np.int64)).to(device)
        renamed = maps.gather(1, before[self._parent[self._map_board]])
        self._to_child = _place_of(hands)[self._map_board].gather(1, renamed)  # [maps, H']
        self._first_map = np.searchsorted(map_board, np.arange(len(boards) + 1))
        self._chance = 1.0 / (NUM_CARDS - len(boards[0].cards) + 1 - 4)
        self._first_map_of: Tensor | None = None  # [P + 1], where kernels are used

    def use_kernels(self) -> None:
        """Lets kernels do what torch does."""
        first = np.searchsorted(self._parents[self._map_board.cpu().numpy()], np.arange(self._num_parents + 1))
        self._first_map_of = torch.from_numpy(first).to(self._parent.device, torch.int32)
        self._parent, self._map_board = self._parent.int(), self._map_board.int()
        self._from_parent, self._to_child = self._from_parent.int(), self._to_child.int()

    def sources(self, leaves: int) -> list[Source]:
        """Returns what is compiled for so many ends of the betting."""
        return [(card_source(), card_defines(leaves, self._before, self._hands))]

    def below(self, parents: slice) -> slice:
        """Returns the boards after the card that come from some boards before it."""
        first, last = np.searchsorted(self._parents, [parents.start, parents.stop])
        return slice(int(first), int(last))

    def deal(self, leaves: Tensor, parents: slice, boards: slice) -> Tensor:
        """Returns the reach [b, L, H] on some boards, from that before the card [p, L, H'] on theirs."""
        if self._first_map_of is not None:
            reach = leaves.new_empty(boards.stop - boards.start, leaves.shape[1], self._hands)
            deal, _ = _kernels(leaves.shape[1], self._before, self._hands, leaves.device.index or 0)
            deal(
                reach.shape[0] * reach.shape[1], _THREADS, self._parent[boards], self._from_parent[boards],
                leaves.contiguous(), reach, parents.start,
            )  # fmt: skip
            return reach
        above = self._parent[boards] - parents.start
        index = self._from_parent[boards][:, None].expand(-1, leaves.shape[1], -1)
        return torch.nn.functional.pad(leaves, (0, 1))[above].gather(2, index)

    def gather(self, values: Tensor, total: Tensor, parents: slice, boards: slice) -> None:
        """Adds the cfvs [b, L, H] of some boards to those before the card, ``total`` [p, L, H']."""
        maps = slice(int(self._first_map[boards.start]), int(self._first_map[boards.stop]))
        if self._first_map_of is not None:
            _, gather = _kernels(values.shape[1], self._before, self._hands, values.device.index or 0)
            gather(
                total.shape[0] * total.shape[1], _THREADS, self._first_map_of, self._map_board, self._to_child,
                values.contiguous(), total, parents.start, boards.start, maps.start, maps.stop, self._chance,
            )  # fmt: skip
            return
        child = self._map_board[maps]
        rows = torch.nn.functional.pad(values, (0, 1))[child - boards.start]
        rows = rows.gather(2, self._to_child[maps][:, None].expand(-1, values.shape[1], -1))
        total.index_add_(0, self._parent[child] - parents.start, rows, alpha=self._chance)


def _place_of(hands: Tensor) -> Tensor:
    """Returns [B, 1326]: where each hand stands among those of a board [B, H]; H for hands that are not there."""
    count = hands.shape[1]
    places = torch.full((len(hands), NUM_HANDS), count, device=hands.device)
    return places.scatter_(1, hands, torch.arange(count, device=hands.device).expand_as(hands))
