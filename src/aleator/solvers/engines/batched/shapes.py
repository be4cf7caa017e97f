"""The trees of the subgames that have been met, level by level, as tables on one device.

Subgames are numbered by the public states at their roots and leaves: a leaf is where another subgame can begin. All
trees together are a few tables, which grow when a tree is added; `forest` copies the rows of thousands of subgames from
them with a handful of gathers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from aleator.errors import SolveError
from aleator.games.base import CHANCE, FloatArray
from aleator.solvers.engines.batched.growing import Growing
from aleator.trees.public_tree import IDENTITY, PublicTree

_INDICES = ("parent", "first_child", "num_children", "actor", "slot", "node", "payoff", "deal", "leaf")


class Shapes:
    """Trees in which hands keep their numbers: S public states, M nodes in all, ordered by tree, level and node.

    Hands are padded to H, the larger number of both players; hands that do not exist have no chance of being dealt.

    Attributes:
        states: the public states at roots and leaves, S of them.
        number: the number of each of them.
        trees: [S] the tree that begins at a public state; None where none was added.
        num_trees: how many were added.
        num_nodes: M.
        num_hands: H.
        num_levels: L, levels of the deepest tree.
        max_actions: the largest number of children of a node.
        level_count, level_start: [S, L] nodes of a tree at a level, and the place of the first of them.
        root_deal: [S] the deal at a public state among `matrices`.
        parent: [M] place of the parent among its tree's nodes one level above.
        first_child: [M] place of the first child among its tree's nodes one level below.
        num_children, actor: [M] as in `PublicTree`.
        slot: [M] place among the siblings.
        node: [M] number of the node in its tree.
        payoff: [M] matrix of a terminal, -1 elsewhere.
        deal: [M] matrix of the deal at a root, at a leaf, and at a chance node and its children; -1 elsewhere.
        stake: [M] factor on a terminal's matrix, 1 elsewhere.
        leaf: [M] number of a leaf's public state, -1 elsewhere.
        matrices: [K, H, H] payoffs to player 0 and deals, chance included, rows of player 0.
    """

    parent: torch.Tensor
    first_child: torch.Tensor
    num_children: torch.Tensor
    actor: torch.Tensor
    slot: torch.Tensor
    node: torch.Tensor
    payoff: torch.Tensor
    deal: torch.Tensor
    leaf: torch.Tensor
    stake: torch.Tensor

    def __init__(
        self,
        trees: Iterable[PublicTree],
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """Makes the tables of some trees, at least one."""
        trees = list(trees)
        self.device, self.dtype = torch.device(device), dtype
        self.game, self.num_hands = trees[0].game, int(trees[0].num_hands[:, 0].max())
        hands = self.num_hands
        self._tables = {name: Growing(dtype=torch.int64, device=device) for name in _INDICES}
        self._tables["stake"] = Growing(dtype=dtype, device=device)
        self._root_deal = Growing(dtype=torch.int64, device=device)
        self._matrices = Growing(hands, hands, dtype=dtype, device=device)
        self.clear()
        self.add(trees)

    def clear(self) -> None:
        """Forgets all trees and public states; forests that were made before are of no use any more."""
        self.states: list[Any] = []
        self.number: dict[Hashable, int] = {}
        self.trees: list[PublicTree | None] = []
        self.num_levels = self.max_actions = self.num_nodes = self.num_trees = 0
        self.level_count = self.level_start = torch.zeros((0, 0), dtype=torch.int64, device=self.device)
        self._matrix_number: dict[bytes, int] = {}
        self._deals: list[int] = []  # as `root_deal`
        for table in (*self._tables.values(), self._root_deal, self._matrices):
            table.clear()

    def add(self, trees: Iterable[PublicTree]) -> None:
        """Adds trees that are not here yet, each with its root and its leaves."""
        trees = list(trees)
        for tree in trees:
            if (tree.origin_start != IDENTITY).any():
                raise SolveError(
                    f"{tree.game.name} renumbers hands on the way (private moves or draws); "
                    "the batched engine takes games whose hands keep their numbers"
                )
        columns: dict[str, list[Any]] = {name: [] for name in self._tables}
        matrices: list[FloatArray] = []
        known = len(self.states)
        levels: list[tuple[int, list[int]]] = []  # the number of a tree, and how many nodes it has at each level

        def number_matrix(matrix: Any) -> int:
            dense = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)
            padded = np.zeros((self.num_hands, self.num_hands))
            padded[: dense.shape[0], : dense.shape[1]] = dense
            key = padded.tobytes()
            if key not in self._matrix_number:
                self._matrix_number[key] = len(self._matrix_number)
                matrices.append(padded)
            return self._matrix_number[key]

        def number_state(state: Hashable) -> int:
            if state not in self.number:
                self.number[state] = len(self.states)
                self.states.append(state)
                self.trees.append(None)
                self._deals.append(number_matrix(self.game.deal(state)))
            return self.number[state]

        for tree in trees:
            number = number_state(tree.states[0])
            self.trees[number] = tree
            leaf, deal = np.full(tree.num_nodes, -1), np.full(tree.num_nodes, -1)
            leaf[tree.leaves] = [number_state(tree.states[node]) for node in tree.leaves]
            random = np.flatnonzero((tree.actor == CHANCE) | (tree.parent >= 0) & (tree.actor[tree.parent] == CHANCE))
            deal[random] = [number_matrix(self.game.deal(tree.states[node])) for node in random]
            deal[tree.leaves], deal[0] = np.array(self._deals)[leaf[tree.leaves]], self._deals[number]
            order = np.argsort(tree.depth, kind="stable")
            counts = np.bincount(tree.depth)
            rank = np.empty(tree.num_nodes, dtype=np.int64)  # place of a node in its level
            rank[order] = np.arange(tree.num_nodes) - np.repeat(counts.cumsum() - counts, counts)
            levels.append((number, counts.tolist()))
            self.max_actions = max(self.max_actions, int(tree.num_children.max()))
            payoffs = [number_matrix(matrix) for matrix in tree.payoffs]
            payoff = np.array([*payoffs, -1])[tree.payoff_group]
            for name, column in {**_describe(tree, rank), "leaf": leaf, "deal": deal, "payoff": payoff}.items():
                columns[name].append(column[order])
        if not levels:
            return
        for name, parts in columns.items():
            setattr(self, name, self._tables[name].append(np.concatenate(parts)))
        self.root_deal = self._root_deal.append(np.array(self._deals[known:], dtype=np.int64))
        self.matrices = self._matrices.append(np.array(matrices).reshape(-1, self.num_hands, self.num_hands))
        self._place(levels)

    def _place(self, levels: list[tuple[int, list[int]]]) -> None:
        """Enters where the levels of new trees are, which stand at the end of the tables in the same order."""
        self.num_levels = max(self.num_levels, *(len(counts) for _, counts in levels))
        missing = (0, self.num_levels - self.level_count.shape[1], 0, len(self.states) - len(self.level_count))
        numbers = torch.tensor([number for number, _ in levels], device=self.device)
        counts = np.array([counts + [0] * (self.num_levels - len(counts)) for _, counts in levels])
        starts = self.num_nodes + (counts.cumsum() - counts.ravel()).reshape(counts.shape)
        self.num_nodes, self.num_trees = self.num_nodes + int(counts.sum()), self.num_trees + len(levels)
        tables = []
        for table, rows in ((self.level_count, counts), (self.level_start, starts)):
            table = torch.nn.functional.pad(table, missing)
            table[numbers] = torch.as_tensor(rows, device=self.device)
            tables.append(table)
        self.level_count, self.level_start = tables


def _describe(tree: PublicTree, rank: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
    """Returns columns [N] of the tables that a tree alone decides; `rank` [N] is a node's place in its level."""
    root = tree.parent < 0
    return {
        "parent": np.where(root, -1, rank[tree.parent]),
        "first_child": rank[tree.first_child],
        "num_children": tree.num_children,
        "actor": tree.actor,
        "slot": np.where(root, 0, np.arange(tree.num_nodes) - tree.first_child[tree.parent]),
        "node": np.arange(tree.num_nodes),
        "stake": np.where(tree.payoff_group >= 0, tree.stake, 1.0),
    }
