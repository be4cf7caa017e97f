"""Trees made of trees: weigh the payoffs of a subtree, put new nodes above it or below its leaves.

Search solves games that are not played: a subgame with a gadget at its root, many subgames at once, a tree whose leaves
offer a choice of continuations. All of them are public trees, made here from parts, so that every solver takes them as
they are. A part is an `Inner` node, an `End`, a whole tree, or a tree whose leaves other parts take the place of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from aleator.games.base import TERMINAL, FloatArray, Game, IntArray
from aleator.trees.public_tree import IDENTITY, Int32Array, Int64Array, PublicTree, place_policies

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Origin = tuple[IntArray | None, IntArray | None]


@dataclass(frozen=True, eq=False)
class End:
    """A terminal: `stake` times the matrix [H0, H1] of chance x utility of player 0. Ends of one matrix form a group."""

    matrix: FloatArray | csr_array
    stake: float = 1.0
    state: Any = "end"


@dataclass(frozen=True, eq=False)
class Edge:
    """A way out of an `Inner` node: what everybody sees, where the hands come from (`games.base.Child`), what follows."""

    label: str
    part: Part
    origin: Origin = (None, None)


@dataclass(frozen=True, eq=False)
class Inner:
    """A decision of player `actor` among `num_actions`, or chance (whose children's values add up), above other parts."""

    actor: int
    hands: tuple[int, int]
    edges: tuple[Edge, ...]
    num_actions: int = 0
    state: Any = "inner"


@dataclass(frozen=True, eq=False)
class Grafted:
    """A tree with parts in the place of its leaves: `parts[leaf]` has the leaf's hands."""

    tree: PublicTree
    parts: Mapping[int, Part]


Part = Inner | End | PublicTree | Grafted


@dataclass(frozen=True, eq=False)
class Assembly:
    """A tree made of parts.

    Attributes:
        tree: the tree.
        nodes: for every tree among the parts, in order, [its nodes] their numbers in the new tree.
    """

    tree: PublicTree
    nodes: tuple[Int64Array, ...]


def root_hands(tree: PublicTree, player: int) -> list[IntArray | None]:
    """Returns for each node [H] the hand of the root that a hand comes from, None where hands have kept their numbers."""
    found: list[IntArray | None] = [None]
    for node in range(1, tree.num_nodes):
        parent, origin = int(tree.parent[node]), tree.origin(player, node)
        before = found[parent]
        if origin is None:
            found.append(before)
            continue
        hands = origin % tree.num_hands[player, parent] if tree.actor[parent] == player else origin
        found.append(hands if before is None else before[hands])
    return found


def weigh(tree: PublicTree, first: FloatArray, second: FloatArray) -> PublicTree:
    """Returns the tree with each payoff multiplied by weights of the hands that the players held at the root ([H0], [H1])."""
    from scipy.sparse import diags_array, issparse

    if (tree.origin_start == IDENTITY).all():
        hands: list[list[IntArray | None]] = [[None] * tree.num_nodes] * 2
    else:
        hands = [root_hands(tree, player) for player in (0, 1)]
    groups: dict[tuple[Any, ...], int] = {}
    payoffs: list[Any] = []
    number = tree.payoff_group.copy()
    for node in np.flatnonzero(tree.payoff_group >= 0):
        rows, columns = hands[0][node], hands[1][node]
        key = (
            int(tree.payoff_group[node]),
            None if rows is None else rows.tobytes(),
            None if columns is None else columns.tobytes(),
        )
        if key not in groups:
            left = first if rows is None else first[rows]
            right = second if columns is None else second[columns]
            payoff = tree.payoffs[key[0]]
            groups[key] = len(payoffs)
            if issparse(payoff):
                payoffs.append((diags_array(left) @ payoff @ diags_array(right)).tocsr())
            else:
                payoffs.append(left[:, None] * payoff * right[None, :])
        number[node] = groups[key]
    return replace(tree, payoff_group=number, payoffs=tuple(payoffs))


def assemble(game: Game[Any], part: Part) -> Assembly:
    """Returns the tree of a part; the game stays that of the states that were the game's own."""
    return _Assembler(game).assemble(part)


@dataclass(eq=False)
class _Assembler:
    game: Game[Any]
    count: int = 1
    singles: list[tuple[int, int, Inner | End]] = field(default_factory=list)  # number, first child, node
    trees: list[tuple[Int64Array, PublicTree]] = field(default_factory=list)
    edges: list[tuple[int, int, Edge]] = field(default_factory=list)  # number, parent, edge

    def _place(self, part: Part, at: int) -> None:
        """Numbers the nodes of a part whose root has the number `at`."""
        if isinstance(part, PublicTree):
            below = np.arange(self.count, self.count + part.num_nodes - 1)
            self.trees.append((np.concatenate([[at], below]).astype(np.int64), part))
            self.count += part.num_nodes - 1
        elif isinstance(part, Grafted):
            self._place_grafted(part, at)
        elif isinstance(part, End):
            self.singles.append((at, 0, part))
        else:
            first = self.count
            self.singles.append((at, first, part))
            self.count += len(part.edges)
            for place, edge in enumerate(part.edges):
                self.edges.append((first + place, at, edge))
            for place, edge in enumerate(part.edges):
                self._place(edge.part, first + place)

    def _place_grafted(self, part: Grafted, at: int) -> None:
        """Numbers the nodes of a tree one by one; what takes the place of a leaf gets the leaf's number."""
        tree = part.tree
        nodes = np.full(tree.num_nodes, at, dtype=np.int64)
        waiting = [0]
        self.trees.append((nodes, tree))
        while waiting:
            node = waiting.pop()
            if node in part.parts:
                self._place(part.parts[node], int(nodes[node]))
            elif tree.num_children[node]:
                first, count = int(tree.first_child[node]), int(tree.num_children[node])
                nodes[first : first + count] = np.arange(self.count, self.count + count)
                self.count += count
                waiting.extend(range(first + count - 1, first - 1, -1))

    def assemble(self, part: Part) -> Assembly:
        self._place(part, 0)
        size = self.count
        states: list[Any] = [None] * size
        labels = [""] * size
        actor = np.full(size, TERMINAL, dtype=np.int8)
        columns: dict[str, Int32Array] = {
            name: np.zeros(size, dtype=np.int32) for name in ("first_child", "num_children", "num_actions")
        }
        parent, group = np.full((2, size), -1, dtype=np.int32)
        stake = np.zeros(size)
        hands = np.zeros((2, size), dtype=np.int32)
        payoffs: list[Any] = []
        known: dict[int, int] = {}
        start = np.full((2, size), IDENTITY, dtype=np.int64)
        origins: tuple[list[IntArray], list[IntArray]] = ([], [])
        lengths = [0, 0]

        def add_origins(player: int, flat: IntArray) -> int:
            origins[player].append(flat)
            lengths[player] += len(flat)
            return lengths[player] - len(flat)

        def group_of(matrix: Any) -> int:
            if id(matrix) not in known:
                known[id(matrix)] = len(payoffs)
                payoffs.append(matrix)
            return known[id(matrix)]

        for nodes, tree in self.trees:
            actor[nodes], hands[:, nodes], stake[nodes] = tree.actor, tree.num_hands, tree.stake
            inner = tree.num_children > 0
            columns["first_child"][nodes[inner]] = nodes[tree.first_child[inner]]
            columns["num_children"][nodes] = tree.num_children
            columns["num_actions"][nodes] = tree.num_actions
            parent[nodes[1:]] = nodes[tree.parent[1:]]
            numbers = np.array([*(group_of(matrix) for matrix in tree.payoffs), -1], dtype=np.int32)
            group[nodes] = numbers[tree.payoff_group]
            for player in (0, 1):
                mapped = tree.origin_start[player] != IDENTITY
                if mapped.any():
                    before = add_origins(player, tree.origins[player])
                    start[player, nodes[mapped]] = tree.origin_start[player][mapped] + before
            for old, (node, label) in enumerate(zip(nodes, tree.labels, strict=True)):
                states[node], labels[node] = tree.states[old], label
        for node, first, single in self.singles:
            if isinstance(single, End):
                actor[node], hands[:, node], stake[node] = TERMINAL, single.matrix.shape, single.stake
                group[node] = group_of(single.matrix)
                states[node] = single.state
            else:
                actor[node], hands[:, node] = single.actor, single.hands
                columns["first_child"][node], columns["num_children"][node] = first, len(single.edges)
                columns["num_actions"][node] = single.num_actions
                states[node] = single.state
        for node, above, edge in self.edges:
            parent[node], labels[node] = above, edge.label
            for player in (0, 1):
                mapping = edge.origin[player]
                if mapping is not None:
                    start[player, node] = add_origins(player, np.asarray(mapping, dtype=np.int64))
        policy_start, policy_size = place_policies(actor, columns["num_actions"], hands)
        flat = tuple(np.concatenate([np.zeros(0, dtype=np.int64), *chunks]) for chunks in origins)
        tree = PublicTree(
            game=self.game,
            states=tuple(states),
            actor=actor,
            parent=parent,
            num_hands=hands,
            origin_start=start,
            origins=(flat[0], flat[1]),
            policy_start=policy_start,
            policy_size=policy_size,
            payoff_group=group,
            stake=stake,
            payoffs=tuple(payoffs),
            given_labels=tuple(labels),
            **columns,
        )
        return Assembly(tree, tuple(nodes for nodes, _ in self.trees))
