"""Deals and payoffs as operators on rows of hands: what a forest knows about its terminals, its leaves and its roots.

A payoff turns the opponent's reach into counterfactual values of the traverser; a deal turns it into counterfactual
reach, and draws pairs of hands. Here both multiply by matrices [H, H], rows with the same matrix together.
"""

from __future__ import annotations

from typing import Protocol

import torch

Tensor = torch.Tensor


class Deals(Protocol):
    """The deals at some rows of a forest."""

    rows: Tensor  # [n]

    def cf_reach(self, player: int, opponent_reach: Tensor) -> Tensor:
        """Returns [n, H]: chance's and the opponent's part in coming to each of the rows, given its reach [R, H]."""

    def sample(self, reach: tuple[Tensor, Tensor], draws: Tensor) -> tuple[Tensor, Tensor]:
        """Returns per player [n] a hand at each row, given both players' reach [n, H] and uniform draws [n] in [0, 1).

        The rows are all of 0, ..., n - 1, in any order; reach, draws and hands are in this order.
        """


class DenseMatrices:
    """A matrix [H, H] per row: operators for payoffs and for deals.

    Attributes:
        rows: [n] rows, ordered by matrix.
    """

    def __init__(self, matrices: Tensor, rows: Tensor, number: Tensor, stake: Tensor | None = None) -> None:
        """Finds out which rows have the same matrix; the host waits for that once.

        Args:
            matrices: [K, H, H] to player 0.
            rows: [n].
            number: [n] the matrix of each row, in ascending order.
            stake: [n] factors, for payoffs, whose sign is another for player 1; None for deals.
        """
        self.rows, self._number, self._matrices = rows, number, matrices
        self._stake = (1.0, 1.0) if stake is None else (stake[:, None], -stake[:, None])
        numbers, counts = torch.unique_consecutive(number, return_counts=True)
        self._runs, begin = [], 0
        for same, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            self._runs.append((slice(begin, begin + count), (matrices[same].T.contiguous(), matrices[same])))
            begin += count

    def apply(self, player: int, opponent_reach: Tensor) -> Tensor:
        """Returns [n, H]: stake x matrix x the opponent's reach ([R, H])."""
        reach = opponent_reach[self.rows]
        result = torch.empty_like(reach)
        for part, matrix in self._runs:
            torch.mm(reach[part], matrix[player], out=result[part])
        return result.mul_(self._stake[player])

    cf_reach = apply

    def sample(self, reach: tuple[Tensor, Tensor], draws: Tensor) -> tuple[Tensor, Tensor]:
        """As `Deals.sample`: player 0's hand by its marginal chance, then player 1's given that one."""
        own, other, at = reach[0][self.rows], reach[1][self.rows], torch.arange(len(self.rows), device=draws.device)
        ends = (own * self.apply(0, reach[1])).cumsum(dim=1)
        point = draws[self.rows] * ends[:, -1]
        first = draw(ends, point)
        rest = point - torch.where(first > 0, ends[at, first - 1], 0.0)
        second = draw((self._matrices[self._number, first] * other * own[at, first][:, None]).cumsum(dim=1), rest)
        hands = torch.empty((2, len(at)), dtype=torch.int64, device=draws.device)
        hands[:, self.rows] = torch.stack([first, second])
        return hands[0], hands[1]


def draw(ends: Tensor, point: Tensor) -> Tensor:
    """Returns [n] columns: the one of `ends` [n, k] (sums of weights up to each) that a point [n] falls into.

    However sums are rounded, it is a column with some weight, if there is one.
    """
    inside = (ends <= point.clamp(min=0.0)[:, None]) & (ends < ends[:, -1:])
    return inside.sum(dim=1).clamp(max=ends.shape[1] - 1)
