"""The shape of the betting on one street: one betting tree for each line that leads to the street.

Lines are taken in *chunks*, each small enough that its rows of reach and values stay in the cache, and large enough to
fill the lanes of the terminal scans. Nodes of a chunk are in sibling order, roots first, so that children lie side by
side. Each player's storage holds, per board, a row of hands for every action of each of the player's decisions. Reach
lives in *slots*, numbered anew in each chunk: a slot per line for the roots, then one per action of the player; a
node's slot is that of the player's last action.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.games.holdem.betting_tree import BettingTree, NodeKind
from aleator.games.holdem.spot import Rake

Int32Array = npt.NDArray[np.int32]
Float32Array = npt.NDArray[np.float32]

FOLD, SHOWDOWN, NEXT = 2, 3, 4
_CODES = np.array([-1, FOLD, SHOWDOWN, NEXT])  # by NodeKind
NOWHERE = -1
_LANE_FIELDS = ("slot", "fold", "show", "fold_amount", "show_amount", "rake_amount")


class BettingForest(NamedTuple):
    """What the kernels know about one street. N nodes, C chunks; [2, ...] is per player."""

    kind: npt.NDArray[np.int8]  # [N] 0 or 1: that player acts; FOLD, SHOWDOWN, NEXT
    first_child: Int32Array  # [N]
    num_children: Int32Array  # [N]
    row: Int32Array  # [N] first storage row of a decision
    slot: Int32Array  # [2, N] the player's reach
    inner: Int32Array  # decisions, chunk by chunk, parents first
    next_nodes: Int32Array  # the nodes of kind NEXT; entry k is line k of the next street
    num_rows: Int32Array  # [2] storage rows per board
    line_start: Int32Array  # [C + 1] lines of each chunk
    node_start: Int32Array  # [C + 1] nodes of each chunk; its roots come first
    inner_start: Int32Array  # [C + 1] decisions of each chunk
    lane_start: Int32Array  # [2, C + 1] lanes of each chunk, per traverser
    lane_slot: Int32Array  # [2, lanes] opponent's slot
    lane_fold: Int32Array  # [2, lanes] the FOLD node whose value the lane gives, or NOWHERE
    lane_show: Int32Array  # [2, lanes] the SHOWDOWN node, or NOWHERE
    fold_amount: Float32Array  # [2, lanes] payoff per unit of reach of compatible hands
    show_amount: Float32Array  # [2, lanes] payoff per unit of (weaker - stronger) reach
    rake_amount: (
        Float32Array  # [2, lanes] payoff at a showdown per unit of reach of compatible hands: minus half the rake
    )

    @property
    def num_chunks(self) -> int:
        """The number of chunks C."""
        return len(self.line_start) - 1


class BettingForestSize(NamedTuple):
    """The largest chunk: what scratch must hold."""

    nodes: int
    slots: tuple[int, int]


def build_forest(
    tree: BettingTree, roots: Sequence[int], pot: int, rake: Rake, chance: float, nodes_per_chunk: int
) -> tuple[BettingForest, Int32Array, BettingForestSize]:
    """Returns the forest of a street, its nodes' numbers in the betting tree, and the size of the largest chunk.

    Args:
        tree: the betting.
        roots: the first node of the street for each line that leads to it.
        pot: chips in the middle at the start of the whole tree.
        rake: what the house takes.
        chance: probability of each board of this street, given both hands; payoffs are multiplied by it.
        nodes_per_chunk: a chunk is closed once it has so many nodes.
    """
    builder = _Builder(tree, pot, rake, chance)
    for first, end in _chunks([_count_street(tree, root) for root in roots], nodes_per_chunk):
        builder.add(roots[first:end])
    return (
        builder.forest(),
        np.array(builder.nodes, np.int32),
        BettingForestSize(builder.most_nodes, (builder.most_slots[0], builder.most_slots[1])),
    )


def _count_street(tree: BettingTree, root: int) -> int:
    """Returns the nodes of a subtree up to the end of its street."""
    return int((tree.street[root : int(tree.end[root])] == tree.street[root]).sum())


def _chunks(sizes: list[int], most: int) -> list[tuple[int, int]]:
    """Returns ranges of lines with about equally many nodes, at most about `most`."""
    wanted = max(1, round(sum(sizes) / most))
    bounds, total, done = [0], sum(sizes), 0
    for line, size in enumerate(sizes):
        done += size
        if done >= total * len(bounds) / wanted and line + 1 < len(sizes):
            bounds.append(line + 1)
    return list(zip(bounds, [*bounds[1:], len(sizes)], strict=True))


class _Builder:
    """Collects a forest chunk by chunk."""

    def __init__(self, tree: BettingTree, pot: int, rake: Rake, chance: float) -> None:
        self.tree, self.pot, self.rake, self.chance = tree, pot, rake, chance
        self.nodes: list[int] = []
        self.columns: dict[str, list[npt.NDArray[np.int64]]] = {
            name: [np.zeros(0, np.int64)]
            for name in ("kind", "first_child", "num_children", "row", "slot0", "slot1", "inner")
        }
        self.lanes: list[dict[str, list[float]]] = [{name: [] for name in _LANE_FIELDS} for _ in range(2)]
        self.starts: dict[str, list[int]] = {name: [0] for name in ("line", "node", "inner", "lane0", "lane1")}
        self.num_rows = [0, 0]
        self.most_nodes, self.most_slots = 0, [0, 0]

    def add(self, roots: Sequence[int]) -> None:
        """Adds a chunk of lines."""
        tree, offset, nodes = self.tree, len(self.nodes), list(roots)
        first_child, num_children = [0] * len(roots), [0] * len(roots)
        waiting = list(range(len(roots) - 1, -1, -1))
        while waiting:
            number = waiting.pop()
            if tree.kind[nodes[number]] == NodeKind.DECISION:
                children = tree.children(nodes[number])
                first_child[number], num_children[number] = len(nodes), len(children)
                waiting.extend(range(len(nodes) + len(children) - 1, len(nodes) - 1, -1))
                nodes.extend(children)
                first_child.extend([0] * len(children))
                num_children.extend([0] * len(children))
        kind = np.where(tree.kind[nodes] == NodeKind.DECISION, tree.player[nodes], _CODES[tree.kind[nodes]]).astype(
            np.int64
        )
        inner = np.flatnonzero(kind <= 1)
        row, slot = np.zeros(len(nodes), np.int64), np.zeros((2, len(nodes)), np.int64)
        slot[:, : len(roots)] = np.arange(len(roots))
        num_slots = [len(roots), len(roots)]
        for number in map(int, inner):
            player, count = int(kind[number]), num_children[number]
            below = slice(first_child[number], first_child[number] + count)
            row[number] = self.num_rows[player]
            slot[player, below] = num_slots[player] + np.arange(count)
            slot[1 - player, below] = slot[1 - player, number]
            self.num_rows[player] += count
            num_slots[player] += count
        self.nodes += nodes
        for name, column in (
            ("kind", kind), ("first_child", np.array(first_child) + offset), ("num_children", np.array(num_children)),
            ("row", row), ("slot0", slot[0]), ("slot1", slot[1]), ("inner", inner + offset),
        ):  # fmt: skip
            self.columns[name].append(column)
        for player in (0, 1):
            self._add_lanes(player, nodes, kind, slot[1 - player], offset)
            self.starts[f"lane{player}"].append(len(self.lanes[player]["slot"]))
        self.starts["line"].append(self.starts["line"][-1] + len(roots))
        self.starts["node"].append(len(self.nodes))
        self.starts["inner"].append(self.starts["inner"][-1] + len(inner))
        self.most_nodes = max(self.most_nodes, len(nodes))
        self.most_slots = [max(most, count) for most, count in zip(self.most_slots, num_slots, strict=True)]

    def _add_lanes(
        self, player: int, nodes: list[int], kind: npt.NDArray[np.int64], slot: npt.NDArray[np.int64], offset: int
    ) -> None:
        """Adds one lane per opponent's slot with terminals below: at most one fold and one showdown share a slot.

        Lanes are sorted by what they need (showdown, both, fold), so that whole batches can skip a scan.
        """
        fold: dict[int, int] = {}
        show: dict[int, int] = {}
        for number in np.flatnonzero((kind == FOLD) | (kind == SHOWDOWN)):
            target = fold if kind[number] == FOLD else show
            assert int(slot[number]) not in target, "two terminals of one kind share a slot"
            target[int(slot[number])] = int(number)
        lanes = self.lanes[player]
        both = set(fold) & set(show)
        slots = sorted(set(show) - both) + sorted(both) + sorted(set(fold) - both)
        for key in slots:
            fold_at, show_at = fold.get(key), show.get(key)
            won, taken = (0.0, 0.0) if show_at is None else self._stake(nodes[show_at])
            lanes["slot"].append(key)
            lanes["fold"].append(NOWHERE if fold_at is None else fold_at + offset)
            lanes["show"].append(NOWHERE if show_at is None else show_at + offset)
            lanes["fold_amount"].append(
                0.0 if fold_at is None else self._fold_payoff(nodes[fold_at], player) * self.chance
            )
            lanes["show_amount"].append((won - taken / 2) * self.chance)
            lanes["rake_amount"].append(-taken / 2 * self.chance)

    def _stake(self, node: int) -> tuple[float, float]:
        """Returns what a player stands to win or lose without rake, and the rake."""
        matched = int(self.tree.chips[node].min())
        return self.pot / 2 + matched, self.rake.amount(self.pot + 2 * matched)

    def _fold_payoff(self, node: int, player: int) -> float:
        stake, taken = self._stake(node)
        return -stake if self.tree.player[node] == player else stake - taken

    def forest(self) -> BettingForest:
        """Returns what has been collected."""
        column = {name: np.concatenate(parts) for name, parts in self.columns.items()}
        width = max(len(lanes["slot"]) for lanes in self.lanes)

        def lanes(name: str) -> npt.NDArray[np.float64]:
            return np.array([own[name] + [0.0] * (width - len(own[name])) for own in self.lanes])

        return BettingForest(
            kind=column["kind"].astype(np.int8),
            first_child=column["first_child"].astype(np.int32),
            num_children=column["num_children"].astype(np.int32),
            row=column["row"].astype(np.int32),
            slot=np.stack([column["slot0"], column["slot1"]]).astype(np.int32),
            inner=column["inner"].astype(np.int32),
            next_nodes=np.flatnonzero(column["kind"] == NEXT).astype(np.int32),
            num_rows=np.array(self.num_rows, np.int32),
            line_start=np.array(self.starts["line"], np.int32),
            node_start=np.array(self.starts["node"], np.int32),
            inner_start=np.array(self.starts["inner"], np.int32),
            lane_start=np.array([self.starts["lane0"], self.starts["lane1"]], np.int32),
            lane_slot=lanes("slot").astype(np.int32),
            lane_fold=lanes("fold").astype(np.int32),
            lane_show=lanes("show").astype(np.int32),
            fold_amount=lanes("fold_amount").astype(np.float32),
            show_amount=lanes("show_amount").astype(np.float32),
            rake_amount=lanes("rake_amount").astype(np.float32),
        )
