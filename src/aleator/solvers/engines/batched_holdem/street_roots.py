"""Where the betting of a street begins in a whole spot: roots grouped by the shape of what lies below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from aleator.games.holdem.betting_tree import BettingNode, BettingTree
from aleator.solvers.engines.batched_holdem.shapes import FOLD, BettingShape, betting_of

Tensor = torch.Tensor


class RootGroup(NamedTuple):
    """Roots of one shape.

    Attributes:
        shape: of the betting below them, on the street.
        roots: int32 [n, 4] each root's number, and the first of its rows, leaves and folds.
        stakes: [n, K] in chips.
    """

    shape: BettingShape
    roots: Tensor
    stakes: Tensor

    @property
    def chosen(self) -> int:
        """How many roots have the shape."""
        return len(self.roots)


class StreetRoots(NamedTuple):
    """All roots of a street: groups, and how many roots, rows, leaves and folds there are."""

    groups: tuple[RootGroup, ...]
    roots: int
    rows: int
    leaves: int
    folds: int

    @classmethod
    def of(cls, tree: BettingTree, roots: Sequence[int], pot: int, device: torch.device) -> StreetRoots:
        """Returns the roots of a street.

        Args:
            tree: the betting of the spot.
            roots: its nodes where the street begins, ascending.
            pot: chips in the middle at the spot's root.
            device: where tensors go.
        """
        betting = [betting_of(BettingNode(tree, root), pot) for root in roots]
        members: dict[BettingShape, list[int]] = {}
        counts = np.zeros((len(roots) + 1, 4), np.int32)
        for number, (shape, _) in enumerate(betting):
            members.setdefault(shape, []).append(number)
            sizes = 1, shape.num_rows, len(shape.leaves), shape.kind.count(FOLD)
            counts[number + 1] = counts[number] + sizes
        groups = tuple(
            RootGroup(
                shape,
                torch.from_numpy(counts[numbers]).to(device),
                torch.from_numpy(np.stack([betting[number][1] * pot for number in numbers])).to(device).float(),
            )
            for shape, numbers in members.items()
        )
        return cls(groups, *counts[-1].tolist())
