"""The trees that subgames can have, level by level, as tables on one device.

A *shape* is the public tree of one subgame. All shapes together are a few tables, from which `forest` copies the rows of
thousands of subgames of different shapes with a handful of gathers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.trees.public_tree import IDENTITY, LEAF, PublicTree


class Shapes:
    """S shapes of trees in which hands keep their numbers; M nodes in all, ordered by shape, level and node.

    Hands are padded to H, the larger number of both players; hands that do not exist have no chance of being dealt.

    Attributes:
        trees: the S trees.
        num_hands: H.
        num_levels: L, levels of the deepest tree.
        max_actions: the largest number of children of a node.
        level_count, level_start: [S, L] nodes of a shape at a level, and the place of the first of them.
        parent: [M] place of the parent among its shape's nodes one level above.
        first_child: [M] place of the first child among its shape's nodes one level below.
        num_children, actor: [M] as in `PublicTree`.
        slot: [M] place among the siblings.
        node: [M] number of the node in its tree.
        payoff: [M] matrix of a terminal, -1 elsewhere.
        deal: [M] matrix of the deal at a root, at a leaf, and at a chance node and its children; -1 elsewhere.
        stake: [M] factor on a terminal's matrix, 1 elsewhere.
        matrices: [K, H, H] payoffs to player 0 and deals, chance included, rows of player 0.
        deal_of_root: [S] the root's deal among `matrices`.
        leaf: [M] number of a leaf's public state among `leaf_states`, -1 elsewhere.
        leaf_states: public states of the leaves, each once.
    """

    def __init__(
        self,
        trees: Sequence[PublicTree],
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.trees = tuple(trees)
        self.device, self.dtype = torch.device(device), dtype
        for tree in trees:
            if (tree.origin_start != IDENTITY).any():
                raise SolveError(
                    f"{tree.game.name} renumbers hands on the way (private moves or draws); "
                    "the batched engine takes games whose hands keep their numbers"
                )
        self.num_hands = max(int(tree.num_hands.max()) for tree in trees)
        self.num_levels = max(int(tree.depth.max()) + 1 for tree in trees)
        self.max_actions = max(int(tree.num_children.max()) for tree in trees)
        self.leaf_states: list[Any] = []
        self._leaf_number: dict[Any, int] = {}
        self._matrix_number: dict[bytes, int] = {}
        self._matrices: list[FloatArray] = []
        columns: dict[str, list[Any]] = {
            name: []
            for name in (
                "parent",
                "first_child",
                "num_children",
                "actor",
                "slot",
                "node",
                "payoff",
                "deal",
                "stake",
                "leaf",
            )
        }
        counts = np.zeros((len(trees), self.num_levels), dtype=np.int64)
        starts = np.zeros_like(counts)
        total = 0
        for shape, tree in enumerate(trees):
            levels = [np.flatnonzero(tree.depth == level) for level in range(self.num_levels)]
            rank = np.zeros(tree.num_nodes, dtype=np.int64)
            for nodes in levels:
                rank[nodes] = np.arange(len(nodes))
            for level, nodes in enumerate(levels):
                counts[shape, level], starts[shape, level] = len(nodes), total
                total += len(nodes)
                for name, column in self._describe(tree, nodes, rank).items():
                    columns[name].append(column)

        def table(name: str, kind: torch.dtype) -> torch.Tensor:
            return torch.tensor(np.concatenate(columns[name]), dtype=kind, device=self.device)

        self.level_count = torch.tensor(counts, device=self.device)
        self.level_start = torch.tensor(starts, device=self.device)
        self.parent, self.first_child = table("parent", torch.int64), table("first_child", torch.int64)
        self.num_children, self.actor = table("num_children", torch.int64), table("actor", torch.int64)
        self.slot, self.node = table("slot", torch.int64), table("node", torch.int64)
        self.payoff, self.deal, self.leaf = (table(name, torch.int64) for name in ("payoff", "deal", "leaf"))
        self.stake = table("stake", dtype)
        self.matrices = torch.tensor(np.stack(self._matrices), dtype=dtype, device=self.device)
        self.deal_of_root = self.deal[self.level_start[:, 0]]

    def _describe(self, tree: PublicTree, nodes: Any, rank: Any) -> dict[str, Any]:
        """Returns the columns of the tables for the nodes of one level; `rank` [N] is a node's place in its level."""
        parent, actor = tree.parent[nodes], tree.actor[nodes]
        root = parent < 0
        terminal, leaf = tree.payoff_group[nodes] >= 0, actor == LEAF
        chance = (actor == -1) | (tree.actor[parent] == -1) & ~root
        return {
            "parent": np.where(root, -1, rank[parent]),
            "first_child": rank[tree.first_child[nodes]],
            "num_children": tree.num_children[nodes],
            "actor": actor,
            "slot": np.where(root, 0, nodes - tree.first_child[parent]),
            "node": nodes,
            "payoff": [
                self._matrix(tree.payoffs[tree.payoff_group[n]]) if ends else -1
                for n, ends in zip(nodes, terminal, strict=True)
            ],
            "deal": [
                self._matrix(tree.game.deal(tree.states[n])) if wanted else -1
                for n, wanted in zip(nodes, root | leaf | chance, strict=True)
            ],
            "stake": np.where(terminal, tree.stake[nodes], 1.0),
            "leaf": [self._leaf(tree.states[n]) if cut else -1 for n, cut in zip(nodes, leaf, strict=True)],
        }

    def _matrix(self, matrix: Any) -> int:
        """Returns the number of a matrix among all, which it joins if it is new."""
        dense = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)
        padded = np.zeros((self.num_hands, self.num_hands))
        padded[: dense.shape[0], : dense.shape[1]] = dense
        key = padded.tobytes()
        if key not in self._matrix_number:
            self._matrix_number[key] = len(self._matrices)
            self._matrices.append(padded)
        return self._matrix_number[key]

    def _leaf(self, state: Any) -> int:
        """Returns the number of a leaf's public state among all, which it joins if it is new."""
        if state not in self._leaf_number:
            self._leaf_number[state] = len(self.leaf_states)
            self.leaf_states.append(state)
        return self._leaf_number[state]
