"""Folds and showdowns as linear maps on rows of the opponent's reach, for B games at once.

`compatible` sums the reach of all hands that share no card with one's own: what a fold is worth, up to the stake.
`showdown` sums it with sign: weaker hands count +1, stronger ones -1.
"""

from __future__ import annotations

from typing import Protocol

import torch

from aleator.solvers.engines.batched_holdem.order import StrengthOrder

Tensor = torch.Tensor


class Payoffs(Protocol):
    """What terminals are worth per unit of stake, over whatever order of hands the rows have."""

    def compatible(self, rows: Tensor) -> Tensor:
        """Returns [B, n, H] from the opponent's reach [B, n, H]."""

    def showdown(self, rows: Tensor) -> Tensor:
        """Returns [B, n, H] from the opponent's reach [B, n, H]."""


class RiverPayoffs:
    """Payoffs on rivers; rows are over positions of a strength order."""

    def __init__(self, order: StrengthOrder) -> None:
        self.order = order
        self._width = order.card_list.shape[2] + 1
        self._first = order.card * self._width  # where a card's prefix sums begin

    def compatible(self, rows: Tensor) -> Tensor:
        """Returns the reach of hands that share no card, [B, n, H]."""
        by_card = self._by_card(rows).sum(3)
        taken = sum(_gather(by_card, self.order.card[..., column]) for column in (0, 1))
        return rows.sum(-1, keepdim=True) - taken + rows

    def showdown(self, rows: Tensor) -> Tensor:
        """Returns the reach of weaker less that of stronger hands, [B, n, H]."""
        order, everybody = self.order, _prefix(rows)
        total = _gather(everybody, order.weaker) + _gather(everybody, order.not_stronger) - everybody[..., -1:]
        held = _prefix(self._by_card(rows)).flatten(2)
        for column in (0, 1):
            first = self._first[..., column]
            total = total - _gather(held, first + order.card_weaker[..., column])
            total = total - _gather(held, first + order.card_not_stronger[..., column])
            total = total + _gather(held, first + self._width - 1)
        return total

    def _by_card(self, rows: Tensor) -> Tensor:
        """Returns [B, n, C, L]: rows in the lists of each card."""
        lists = self.order.card_list
        return _gather(rows, lists.flatten(1)).view(*rows.shape[:2], *lists.shape[1:])


class PairPayoffs:
    """Folds in a round before the river, over all pairs of the live cards."""

    def __init__(self, num_cards: int, device: torch.device) -> None:
        pairs = torch.tril_indices(num_cards, num_cards, -1, device=device)
        self._holds = torch.zeros(pairs.shape[1], num_cards, device=device).scatter_(1, pairs.T, 1.0)

    def compatible(self, rows: Tensor) -> Tensor:
        """Returns the reach of hands that share no card, [B, n, H]."""
        holds = self._holds.to(rows.dtype)
        return rows.sum(-1, keepdim=True) - (rows @ holds) @ holds.T + rows

    def showdown(self, rows: Tensor) -> Tensor:
        """Is never asked for: the round ends in leaves."""
        raise AssertionError("a round before the river ends in leaves, not in a showdown")


def _prefix(rows: Tensor) -> Tensor:
    """Returns exclusive prefix sums over the last axis, with the total behind: [..., H + 1]."""
    return torch.nn.functional.pad(rows.cumsum(-1), (1, 0))


def _gather(rows: Tensor, index: Tensor) -> Tensor:
    """Returns [B, n, I]: the same places [B, I] of each row of [B, n, anything]."""
    return torch.gather(rows, 2, index[:, None].expand(-1, rows.shape[1], -1))
