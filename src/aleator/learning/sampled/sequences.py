"""Infostates as sequences: the hand, then one move after the other, chance's included.

Algorithm:
    The sequence of an infostate has the player's hand first and then whatever everybody saw, move by move; where a
    move changes the hands (a private move) it comes with the hand that the player holds after it. A move is told by
    who made it and what it is called. Infostates share the beginnings of their sequences: all beginnings together are
    a tree of cells, each of which continues its parent by one symbol. A recurrent network that walks this tree visits
    every cell once, however many infostates go through it.

Reference: Double Neural CFR, "Recurrent Neural Network Representation", Fig. 2 (A).
Deviations: the tree of cells, which changes the cost and not the result.
Status: sequences are injective on every game of the library, tests/learning/sampled/test_sequences.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from aleator.games.base import CHANCE
from aleator.learning.sampled.play import TreePlay
from aleator.trees.public_tree import PublicTree

Tensor = torch.Tensor
_Key = tuple[int, int]  # the parent's cell, the symbol


class Level(NamedTuple):
    """Cells with sequences of one length.

    Attributes:
        symbols: [n]: the last symbol of each.
        parents: [n]: places of their parents in the level before; empty in the first level.
    """

    symbols: Tensor
    parents: Tensor


class Walk(NamedTuple):
    """What a network has to walk to answer for some infostates.

    Attributes:
        levels: cells by the length of their sequences, shortest first.
        ends: [n]: the cell at which each infostate's sequence ends, numbered through all levels.
    """

    levels: list[Level]
    ends: Tensor


class InfostateSequences:
    """The sequences of all infostates of a tree.

    Attributes:
        symbols: names of the symbols.
        cell_of: [I]: where an infostate's sequence ends.
        parent, symbol, depth: [C]: of each cell; the parent of a first one is -1, and its depth 0.
    """

    def __init__(self, play: TreePlay) -> None:
        names: dict[str, int] = {}
        cells: dict[_Key, int] = {}
        ends = [_cells(play.tree, player, names, cells) for player in (0, 1)]
        node, hand, player = (column.cpu().numpy() for column in (play.node_of, play.hand_of, play.player_of))
        last = [ends[p][n][h] for n, h, p in zip(node.tolist(), hand.tolist(), player.tolist(), strict=True)]
        self.symbols = list(names)
        parent = np.array([key[0] for key in cells], dtype=np.int64)
        depth = np.zeros(len(parent), dtype=np.int64)
        for cell in range(len(parent)):  # parents come before their children
            depth[cell] = depth[parent[cell]] + 1 if parent[cell] >= 0 else 0
        self.parent, self.depth = torch.from_numpy(parent).to(play.device), torch.from_numpy(depth).to(play.device)
        self.symbol = torch.tensor([key[1] for key in cells], dtype=torch.int64, device=play.device)
        self.cell_of = torch.tensor(last, dtype=torch.int64, device=play.device)

    def walk(self, infostates: Tensor) -> Walk:
        """Returns what has to be walked for infostates [n]."""
        ends = self.cell_of[infostates]
        needed = torch.zeros(len(self.parent), dtype=torch.bool, device=ends.device)
        frontier = torch.unique(ends)
        while len(frontier):
            needed[frontier] = True
            frontier = torch.unique(self.parent[frontier])
            frontier = frontier[frontier >= 0]
        number = torch.zeros(len(self.parent), dtype=torch.int64, device=ends.device)
        levels: list[Level] = []
        begun = 0
        for depth in range(int(self.depth[needed].max()) + 1 if bool(needed.any()) else 0):
            cells = (needed & (self.depth == depth)).nonzero().squeeze(1)
            number[cells] = begun + torch.arange(len(cells), device=ends.device)
            before = begun - len(levels[-1].symbols) if levels else 0
            parents = number[self.parent[cells]] - before if depth else cells[:0]
            levels.append(Level(self.symbol[cells], parents))
            begun += len(cells)
        return Walk(levels, number[ends])


def _cells(tree: PublicTree, player: int, names: dict[str, int], cells: dict[_Key, int]) -> dict[int, list[int]]:
    """Returns node by node the cells of a player's hands; adds symbols and cells that are new.

    Only nodes at which the player acts, and those on the way there, have cells.
    """
    needed = tree.actor == player
    for node in range(tree.num_nodes - 1, 0, -1):
        needed[tree.parent[node]] |= needed[node]

    def cell(parent: int, symbol: str) -> int:
        return cells.setdefault((parent, names.setdefault(symbol, len(names))), len(cells))

    cells_at: dict[int, list[int]] = {}
    if needed[0]:
        cells_at[0] = [cell(-1, f"hand {hand}") for hand in range(tree.num_hands[player, 0])]
    for parent in range(tree.num_nodes):
        seen: dict[str, int] = {}
        for node in tree.children(parent):
            label = tree.labels[node]
            seen[label] = seen.get(label, 0) + 1  # siblings of the same name are told apart
            if not needed[node]:
                continue
            actor = int(tree.actor[parent])
            move = f"{'chance' if actor == CHANCE else actor} {label} #{seen[label]}"
            origin = tree.origin(player, node)
            if origin is None:
                cells_at[node] = [cell(before, move) for before in cells_at[parent]]
                continue
            hands = int(tree.num_hands[player, parent])
            came = [cells_at[parent][int(number) % hands] for number in origin]  # the actor's has its action, too
            cells_at[node] = [cell(before, f"{move}, hand {hand}") for hand, before in enumerate(came)]
    return cells_at
