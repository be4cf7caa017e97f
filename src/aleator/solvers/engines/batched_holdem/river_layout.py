"""How the kernels of rivers see an order of strength: sizes, and where each hand finds its prefix sums (`sums.cu`)."""

from __future__ import annotations

from typing import NamedTuple

import torch

from aleator.errors import SolveError
from aleator.solvers.engines.batched_holdem.order import StrengthOrder

Tensor = torch.Tensor
_WARP = 32
_SLOT = 16  # bytes of four floats
_MOST_STAKES = 64


class RiverLayout(NamedTuple):
    """Sizes that a kernel is compiled for; equal sizes share one.

    Attributes:
        cards, hands, longest: live cards, hands of two of them, and the most hands that hold one card.
    """

    cards: int
    hands: int
    longest: int

    @classmethod
    def of(cls, order: StrengthOrder) -> RiverLayout:
        """Returns the sizes of an order."""
        return cls(order.card_list.shape[1], order.num_hands, order.card_list.shape[2])

    @property
    def threads(self) -> int:
        """Threads of a block: two positions each, and at least one position that is nobody's."""
        return -(-(self.hands + 1) // (2 * _WARP)) * _WARP

    @property
    def positions(self) -> int:
        """Positions of all threads."""
        return 2 * self.threads

    @property
    def list(self) -> int:
        """Slots of a card's list."""
        return 8 * ((self.longest + 16) // 16 * 2)

    @property
    def shared_bytes(self) -> int:
        """What a block needs of shared memory."""
        return _SLOT * (2 * (_slot(self.positions) + 1) + self.cards * self.stride + 32) + 4 * _MOST_STAKES

    @property
    def stride(self) -> int:
        """How far apart the sums of two cards are kept."""
        return self.list // 8 * 9 + 1

    def defines(self, num_rows: int, num_stakes: int, *, sharp: bool) -> dict[str, int]:
        """Returns what `sums.cu` is compiled with.

        Raises:
            SolveError: there are more stakes than a block keeps.
        """
        if num_stakes > _MOST_STAKES:
            raise SolveError(
                f"the fused engine takes at most {_MOST_STAKES} different stakes, not {num_stakes}: use fewer bet sizes"
            )
        sizes = {"CARDS": self.cards, "HANDS": self.hands, "LONGEST": self.longest, "THREADS": self.threads}
        return sizes | {"ROWS": num_rows, "STAKES": num_stakes, "SHARP": int(sharp)}

    def places_of(self, order: StrengthOrder) -> tuple[Tensor, Tensor]:
        """Returns what a kernel reads of an order: places int32 [B, positions, 4] and lists int16 [B, C, list]."""

        def slot(position: Tensor) -> Tensor:
            return position + (position >> 3)

        batch, device = len(order.hand), order.hand.device
        places = torch.zeros(batch, self.positions, 4, dtype=torch.int32, device=device)
        places[:, : self.hands, 0] = (slot(order.weaker) | slot(order.not_stronger) << 16).int()
        for column in (0, 1):
            first = order.card[..., column] * self.stride
            weaker, level = (first + slot(count[..., column]) for count in (order.card_weaker, order.card_not_stronger))
            places[:, : self.hands, 1 + column] = (weaker | level << 12 | order.card[..., column] << 24).int()
        lists = torch.full((batch, self.cards, self.list), _slot(self.hands), dtype=torch.int16, device=device)
        lists[..., : self.longest] = slot(order.card_list).to(torch.int16)
        return places, lists


def _slot(position: int) -> int:
    """Returns where a kernel keeps a position's float4."""
    return position + (position >> 3)
