"""The betting of one street of a whole spot as tensors: policies from rows, reach down and values up, in torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from aleator.games.holdem.betting_tree import BettingTree, NodeKind

Tensor = torch.Tensor


@dataclass(frozen=True, eq=False)
class Level:
    """What nodes of one depth do: rows of actions and the nodes that they lead to."""

    rows: Tensor  # [A]
    child: Tensor  # [A]
    parent: Tensor  # [A]


class StreetBetting:
    """The betting of one street below all places where the street before ends.

    Attributes:
        roots: [roots] nodes, in the order of the leaves of the street before.
        folds: nodes per player (who has folded).
        others: [L] nodes where the next card comes, or hands are shown.
        stake: [N] chips that the loser of a terminal loses.
        decisions: of the betting tree, in preorder.
        row_node, row_parent, row_player: [R] the nodes after and before an action, and whose it is; rows in preorder of
            decisions.
    """

    def __init__(self, tree: BettingTree, street: int, roots: list[int], pot: int, device: torch.device) -> None:
        nodes = [n for n in range(tree.num_nodes) if tree.street[n] == street]
        local = {node: slot for slot, node in enumerate(nodes)}
        decisions = [n for n in nodes if tree.kind[n] == NodeKind.DECISION]
        actions = [child for node in decisions for child in tree.children(node)]
        depth = dict.fromkeys(roots, 0)
        for node in decisions:  # in preorder, parents first
            depth |= dict.fromkeys(tree.children(node), depth[node] + 1)

        def index(values: list[int]) -> Tensor:
            return torch.tensor(values, dtype=torch.int64, device=device)

        def of_kind(kind: NodeKind) -> list[int]:
            return [local[n] for n in nodes if tree.kind[n] == kind]

        self.num_nodes, self.num_rows, self.nodes = len(nodes), len(actions), nodes
        leaves = of_kind(NodeKind.NEXT_STREET)
        self.roots, self.others = index([local[n] for n in roots]), index(leaves or of_kind(NodeKind.SHOWDOWN))
        self.leaf_nodes = [nodes[slot] for slot in leaves]
        self.folds = [index([p for p in of_kind(NodeKind.FOLD) if tree.player[nodes[p]] == own]) for own in (0, 1)]
        self.stake = torch.tensor([min(tree.chips[n]) + pot / 2 for n in nodes], dtype=torch.float32, device=device)
        self.row_node = index([local[child] for child in actions])
        self.row_parent = index([local[int(tree.parent[child])] for child in actions])
        self.row_player = np.array([tree.player[tree.parent[child]] for child in actions], np.int8)
        self.decisions = decisions
        self.decision_of_row = index([decisions.index(int(tree.parent[child])) for child in actions])
        self.num_decisions = len(decisions)
        counts = torch.bincount(self.decision_of_row, minlength=max(len(decisions), 1))
        self.uniform = (1.0 / counts[self.decision_of_row].float())[:, None] if actions else torch.zeros(0, 1)
        self.levels: list[tuple[Level, Level]] = []  # of both players, by depth of the parent
        for at in range(max(depth.values(), default=0)):
            pair = []
            for player in (0, 1):
                rows = [
                    row
                    for row, child in enumerate(actions)
                    if depth[child] == at + 1 and tree.player[tree.parent[child]] == player
                ]
                children = [actions[row] for row in rows]
                parents = [local[int(tree.parent[child])] for child in children]
                pair.append(Level(index(rows), index([local[child] for child in children]), index(parents)))
            self.levels.append((pair[0], pair[1]))
        self.rows_of = [index(np.flatnonzero(self.row_player == player).tolist()) for player in (0, 1)]

    def rows_at(self, decision: int) -> Tensor:
        """Returns the rows of a decision of the betting tree."""
        return (self.decision_of_row == self.decisions.index(decision)).nonzero()[:, 0]

    def match(self, rows: Tensor, power: float) -> Tensor:
        """Returns [B, R, H]: policies in proportion to the positive part of rows to a power; uniform without one."""
        weights = rows.clamp_min(0.0)
        if power != 1.0:
            weights = weights * weights.sqrt() if power == 1.5 else weights**power
        total = weights.new_zeros(len(rows), self.num_decisions, rows.shape[2])
        total = total.index_add_(1, self.decision_of_row, weights)[:, self.decision_of_row]
        return torch.where(total > 0, weights / total, self.uniform)

    def push(self, policy: Tensor, reach: Tensor, player: int) -> Tensor:
        """Returns the player's reach at all nodes [B, N, H], from that at the roots [B, roots, H]."""
        nodes = reach.new_zeros(len(reach), self.num_nodes, reach.shape[2])
        nodes[:, self.roots] = reach
        for level in self.levels:
            own, other = level[player], level[1 - player]
            nodes[:, own.child] = nodes[:, own.parent] * policy[:, own.rows]
            nodes[:, other.child] = nodes[:, other.parent]
        return nodes

    def pull(self, policy: Tensor, values: Tensor, player: int, *, best: bool) -> Tensor:
        """Adds the player's cfvs of decisions to those of terminals and leaves [B, N, H], in place."""
        for level in reversed(self.levels):
            own, other = level[player], level[1 - player]
            values.index_add_(1, other.parent, values[:, other.child])
            if best and len(own.parent):
                index = own.parent[None, :, None].expand(len(values), -1, values.shape[2])
                values.scatter_reduce_(1, index, values[:, own.child], "amax", include_self=False)
            else:
                values.index_add_(1, own.parent, policy[:, own.rows] * values[:, own.child])
        return values
