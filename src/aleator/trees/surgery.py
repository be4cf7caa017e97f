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
from aleator.trees.public_tree import IDENTITY, Int64Array, PublicTree, place_policies

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Origin = tuple[IntArray | None, IntArray | None]


@dataclass(frozen=True, eq=False)
class End:
    """A terminal: `stake` times the matrix [H0, H1] of chance x utility of player 0. One matrix makes a group."""

    matrix: FloatArray | csr_array
    stake: float = 1.0
    state: Any = "end"


@dataclass(frozen=True, eq=False)
class Edge:
    """A way out of an `Inner` node: what everybody sees, where hands come from (`games.base.Child`), what follows."""

    label: str
    part: Part
    origin: Origin = (None, None)


@dataclass(frozen=True, eq=False)
class Inner:
    """A decision of player `actor` among `num_actions`, or chance (children's values add up), above other parts."""

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
    """Returns for each node [H] the root's hand that a hand comes from, None where hands have kept their numbers."""
    origins: list[IntArray | None] = [None]
    for node in range(1, tree.num_nodes):
        parent, origin = int(tree.parent[node]), tree.origin(player, node)
        before = origins[parent]
        if origin is None:
            origins.append(before)
            continue
        hands = origin % tree.num_hands[player, parent] if tree.actor[parent] == player else origin
        origins.append(hands if before is None else before[hands])
    return origins


def weigh(tree: PublicTree, first: FloatArray, second: FloatArray) -> PublicTree:
    """Returns the tree with each payoff multiplied by weights of the hands held at the root ([H0], [H1])."""
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
    order = _Numbering()
    order.place(part, 0)
    draft = _Draft(order.count)
    for nodes, tree in order.trees:
        draft.copy_tree(nodes, tree)
    for node, end in order.ends:
        draft.write_end(node, end)
    for node, first, inner in order.inners:
        draft.write_inner(node, first, inner)
    return Assembly(draft.finish(game), tuple(nodes for nodes, _ in order.trees))


@dataclass(eq=False)
class _Numbering:
    """Which number each node of a part gets in the new tree, in sibling order."""

    count: int = 1
    trees: list[tuple[Int64Array, PublicTree]] = field(default_factory=list)  # numbers of its nodes, tree
    ends: list[tuple[int, End]] = field(default_factory=list)  # number, node
    inners: list[tuple[int, int, Inner]] = field(default_factory=list)  # number, that of the first child, node

    def place(self, part: Part, at: int) -> None:
        """Numbers the nodes of a part whose root has the number `at`."""
        if isinstance(part, PublicTree):
            below = np.arange(self.count, self.count + part.num_nodes - 1)
            self.trees.append((np.concatenate([[at], below]).astype(np.int64), part))
            self.count += part.num_nodes - 1
        elif isinstance(part, Grafted):
            self._place_grafted(part, at)
        elif isinstance(part, End):
            self.ends.append((at, part))
        else:
            first = self.count
            self.inners.append((at, first, part))
            self.count += len(part.edges)
            for child, edge in enumerate(part.edges, start=first):
                self.place(edge.part, child)

    def _place_grafted(self, part: Grafted, at: int) -> None:
        """Numbers the nodes of a tree one by one; what takes the place of a leaf gets the leaf's number."""
        tree = part.tree
        nodes = np.full(tree.num_nodes, at, dtype=np.int64)
        waiting = [0]
        self.trees.append((nodes, tree))
        while waiting:
            node = waiting.pop()
            if node in part.parts:
                self.place(part.parts[node], int(nodes[node]))
            elif tree.num_children[node]:
                first, count = int(tree.first_child[node]), int(tree.num_children[node])
                nodes[first : first + count] = np.arange(self.count, self.count + count)
                self.count += count
                waiting.extend(range(first + count - 1, first - 1, -1))


class _Draft:
    """The arrays of a tree of N nodes (see `PublicTree`) while its parts are written into them."""

    def __init__(self, size: int) -> None:
        self.states: list[Any] = [None] * size
        self.labels = [""] * size
        self.actor = np.full(size, TERMINAL, dtype=np.int8)
        self.parent, self.payoff_group = np.full((2, size), -1, dtype=np.int32)
        self.first_child, self.num_children, self.num_actions = np.zeros((3, size), dtype=np.int32)
        self.num_hands = np.zeros((2, size), dtype=np.int32)
        self.stake = np.zeros(size)
        self.origin_start = np.full((2, size), IDENTITY, dtype=np.int64)
        self.origins: tuple[list[IntArray], list[IntArray]] = ([], [])
        self.origins_size = [0, 0]
        self.payoffs: list[FloatArray | csr_array] = []
        self.groups: dict[int, int] = {}  # of a payoff matrix by its identity

    def copy_tree(self, nodes: Int64Array, tree: PublicTree) -> None:
        """Writes a tree whose nodes have these numbers [its nodes]; what replaces a leaf is written after it."""
        self.actor[nodes], self.num_hands[:, nodes], self.stake[nodes] = tree.actor, tree.num_hands, tree.stake
        inner = tree.num_children > 0
        self.first_child[nodes[inner]] = nodes[tree.first_child[inner]]
        self.num_children[nodes], self.num_actions[nodes] = tree.num_children, tree.num_actions
        self.parent[nodes[1:]] = nodes[tree.parent[1:]]
        groups = np.array([*(self._group(matrix) for matrix in tree.payoffs), -1], dtype=np.int32)
        self.payoff_group[nodes] = groups[tree.payoff_group]
        for player in (0, 1):
            mapped = tree.origin_start[player] != IDENTITY
            if mapped.any():
                start = self._add_origins(player, tree.origins[player])
                self.origin_start[player, nodes[mapped]] = tree.origin_start[player][mapped] + start
        for old, node in enumerate(nodes):
            self.states[node] = tree.states[old]
            if old > 0:  # the label of the root is that of the way into it
                self.labels[node] = tree.labels[old]

    def write_end(self, node: int, end: End) -> None:
        """Writes a terminal."""
        self.actor[node], self.num_hands[:, node], self.states[node] = TERMINAL, end.matrix.shape, end.state
        self.payoff_group[node], self.stake[node] = self._group(end.matrix), end.stake

    def write_inner(self, node: int, first: int, inner: Inner) -> None:
        """Writes an inner node, and how its children, from the number `first` on, hang below it."""
        self.actor[node], self.num_hands[:, node], self.states[node] = inner.actor, inner.hands, inner.state
        self.first_child[node], self.num_children[node] = first, len(inner.edges)
        self.num_actions[node] = inner.num_actions
        for child, edge in enumerate(inner.edges, start=first):
            self.parent[child], self.labels[child] = node, edge.label
            for player, origin in enumerate(edge.origin):
                if origin is not None:
                    start = self._add_origins(player, np.asarray(origin, dtype=np.int64))
                    self.origin_start[player, child] = start

    def _group(self, matrix: FloatArray | csr_array) -> int:
        """Returns the payoff group of a matrix."""
        if id(matrix) not in self.groups:
            self.groups[id(matrix)] = len(self.payoffs)
            self.payoffs.append(matrix)
        return self.groups[id(matrix)]

    def _add_origins(self, player: int, flat: IntArray) -> int:
        """Returns where in the player's origins these begin."""
        start = self.origins_size[player]
        self.origins[player].append(flat)
        self.origins_size[player] += len(flat)
        return start

    def finish(self, game: Game[Any]) -> PublicTree:
        """Returns the tree."""
        policy_start, policy_size = place_policies(self.actor, self.num_actions, self.num_hands)
        first, second = (np.concatenate([np.zeros(0, dtype=np.int64), *chunks]) for chunks in self.origins)
        return PublicTree(
            game=game,
            states=tuple(self.states),
            given_labels=tuple(self.labels),
            actor=self.actor,
            parent=self.parent,
            first_child=self.first_child,
            num_children=self.num_children,
            num_actions=self.num_actions,
            num_hands=self.num_hands,
            origin_start=self.origin_start,
            origins=(first, second),
            policy_start=policy_start,
            policy_size=policy_size,
            payoff_group=self.payoff_group,
            stake=self.stake,
            payoffs=tuple(self.payoffs),
        )
