"""Many subgames laid out as rows, level by level.

A *row* is one node of one subgame, and holds one number per hand. Rows are ordered by level, then by subgame, and
siblings stand side by side; so a pass over a level is one operation on a slice, whatever shapes the subgames have.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch

from aleator.solvers.engines.batched.operators import DenseMatrices
from aleator.solvers.engines.batched.shapes import Shapes
from aleator.trees.public_tree import LEAF

Tensor = torch.Tensor


@dataclass(frozen=True, eq=False)
class Forest:
    """G subgames in R rows; all indices are int64 on the device of the shapes.

    Attributes:
        shapes: what the subgames can look like.
        shape: [G] the number of each subgame's tree; row g of level 0 is the root of subgame g.
        bounds: level l is the rows `bounds[l] <= row < bounds[l + 1]`.
        subgame: [R] which subgame a row belongs to.
        template: [R] place of a row's node in the tables of `shapes`.
        parent: [R] row of the parent (a root's is itself).
        first_child: [R] row of the first child; 0 where there is none.
    """

    shapes: Shapes
    shape: Tensor
    bounds: tuple[int, ...]
    subgame: Tensor
    template: Tensor
    parent: Tensor
    first_child: Tensor

    @staticmethod
    def build(shapes: Shapes, shape: Tensor) -> Forest:
        """Returns the forest of subgames whose trees have the given numbers ([G]), all added to the shapes before."""
        counts = shapes.level_count[shape]
        first = torch.cumsum(counts, 0) - counts
        totals = counts.sum(0).tolist()
        bounds = [0]
        for total in totals:
            bounds.append(bounds[-1] + total)
        subgames, templates, parents, children = [], [], [], []
        every = torch.arange(len(shape), device=shapes.device)
        for level, total in enumerate(totals):
            subgame = torch.repeat_interleave(every, counts[:, level], output_size=total)
            index = torch.arange(total, device=shapes.device) - first[subgame, level]
            template = shapes.level_start[shape[subgame], level] + index
            above = shapes.parent[template] + first[subgame, level - 1] + bounds[level - 1] if level else subgame
            below = torch.zeros_like(template)
            if level + 1 < len(totals):
                below = shapes.first_child[template] + first[subgame, level + 1] + bounds[level + 1]
                below = torch.where(shapes.num_children[template] > 0, below, 0)
            subgames.append(subgame)
            templates.append(template)
            parents.append(above)
            children.append(below)
        return Forest(
            shapes,
            shape,
            tuple(bounds),
            torch.cat(subgames),
            torch.cat(templates),
            torch.cat(parents),
            torch.cat(children),
        )

    @property
    def num_rows(self) -> int:
        """R."""
        return self.bounds[-1]

    @property
    def num_levels(self) -> int:
        """L."""
        return len(self.bounds) - 1

    @cached_property
    def actor(self) -> Tensor:
        """[R] who moves at a row."""
        return self.shapes.actor[self.template]

    @cached_property
    def num_children(self) -> Tensor:
        """[R]."""
        return self.shapes.num_children[self.template]

    @cached_property
    def mover(self) -> Tensor:
        """[R] who moved into a row; -1 for chance and at roots."""
        return torch.where(
            self.parent == torch.arange(self.num_rows, device=self.parent.device), -1, self.actor[self.parent]
        )

    @cached_property
    def decisions(self) -> Tensor:
        """[n] rows where a player moves."""
        return torch.nonzero(self.actor >= 0)[:, 0]

    @cached_property
    def moved(self) -> Tensor:
        """[n] rows that a player moved into."""
        return torch.nonzero(self.mover >= 0)[:, 0]

    @cached_property
    def terminals(self) -> Tensor:
        """[Z] rows of terminals, ordered by payoff matrix."""
        payoff = self.shapes.payoff[self.template]
        rows = torch.nonzero(payoff >= 0)[:, 0]
        return rows[torch.argsort(payoff[rows], stable=True)]

    @cached_property
    def leaves(self) -> Tensor:
        """[Y] rows of leaves, ordered by the matrix of their deal."""
        rows = torch.nonzero(self.actor == LEAF)[:, 0]
        return rows[torch.argsort(self.shapes.deal[self.template[rows]], stable=True)]

    @cached_property
    def leaf_states(self) -> Tensor:
        """[Y] numbers of the leaves' public states among `shapes.states`."""
        return self.shapes.leaf[self.template[self.leaves]]

    @cached_property
    def payoffs(self) -> DenseMatrices:
        """The payoffs of the terminals."""
        template = self.template[self.terminals]
        return DenseMatrices(
            self.shapes.matrices, self.terminals, self.shapes.payoff[template], self.shapes.stake[template]
        )

    @cached_property
    def leaf_deals(self) -> DenseMatrices:
        """The deals at the leaves."""
        return DenseMatrices(self.shapes.matrices, self.leaves, self.shapes.deal[self.template[self.leaves]])

    @cached_property
    def root_deals(self) -> DenseMatrices:
        """The deals at the roots."""
        number, roots = torch.sort(self.shapes.root_deal[self.shape], stable=True)
        return DenseMatrices(self.shapes.matrices, roots, number)
