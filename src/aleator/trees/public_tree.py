"""The public tree of a game as a struct of arrays.

Nodes are numbered in *sibling order*: a node's children have consecutive numbers, and all its descendants form one
range. Parents come before children, so that an ascending loop is a forward pass and a descending loop a backward pass;
a subtree is a slice; and what belongs to the children of a node lies side by side in memory, which is why this order is
used here instead of plain preorder.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import TooBigError
from aleator.games.base import CHANCE, TERMINAL, FloatArray, Game, Payoff
from aleator.games.operators import PayoffOperator
from aleator.games.registry import load_game
from aleator.games.size import count_public_states, format_count
from aleator.meter import Meter
from aleator.trees.payoffs import Payoffs

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Int8Array = npt.NDArray[np.int8]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

IDENTITY = -1
LEAF = -3  # the actor where a depth limit cuts the tree: the game goes on below, but the tree does not
MAX_NODES = 20_000_000
_NODE_BYTES = 200  # of a node while the tree is built, measured on games whose states come up again and again


@dataclass(frozen=True, eq=False, repr=False)
class PublicTree:
    """A public tree. N nodes, players p in {0, 1}.

    Attributes:
        game: the game it was built from.
        states: the public state of each node (length N).
        actor: [N] 0 or 1, CHANCE, TERMINAL or LEAF.
        parent: [N]; -1 at the root.
        first_child: [N]; children are `first_child[n] + k` for k < num_children[n]; 0 at terminals and leaves.
        num_children: [N].
        num_actions: [N]; actions of the actor at decision nodes, else 0. Equal to num_children where moves are public.
        num_hands: [2, N].
        origin_start: [2, N]; where a node's origins begin in `origins[p]`, or IDENTITY if hands keep their numbers.
        origins: per player, flat; entry `origin_start[p, n] + h` as in `games.base.Child.origin`.
        policy_start: [N]; where the [A, H] block of a decision node begins in its player's flat policy vector.
        policy_size: (2,); lengths of the two policy vectors.
        payoff_group: [N]; index into `payoffs`, -1 at inner nodes.
        stake: [N]; factor on the group's matrix, 0 at inner nodes.
        payoffs: per group the matrix [H0, H1] of chance x utility of player 0 per unit of stake, dense or sparse; made
            when it is asked for.
        given_labels: `labels` of a tree that is not a game's own (`surgery`); None to ask the game.
    """

    game: Game[Any]
    states: tuple[Hashable, ...]
    actor: Int8Array
    parent: Int32Array
    first_child: Int32Array
    num_children: Int32Array
    num_actions: Int32Array
    num_hands: Int32Array
    origin_start: Int64Array
    origins: tuple[Int64Array, Int64Array]
    policy_start: Int64Array
    policy_size: tuple[int, int]
    payoff_group: Int32Array
    stake: FloatArray
    payoffs: Sequence[FloatArray | csr_array]
    given_labels: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return f"<PublicTree of {self.game.name}: {self.num_nodes:,} nodes>"

    @property
    def num_nodes(self) -> int:
        """The number of nodes N."""
        return len(self.actor)

    @cached_property
    def end(self) -> Int64Array:
        """[N]: the descendants of n are the nodes `first_child[n] <= m < end[n]` (n + 1 at terminals)."""
        end = np.arange(1, self.num_nodes + 1, dtype=np.int64)
        for node in np.flatnonzero(self.num_children)[::-1]:
            last = self.first_child[node] + self.num_children[node]
            children = slice(self.first_child[node], last)
            end[node] = max(last, end[children][self.num_children[children] > 0].max(initial=0))
        return end

    @cached_property
    def depth(self) -> Int32Array:
        """[N]: moves between the root and each node."""
        depth = np.zeros(self.num_nodes, dtype=np.int32)
        for node in range(1, self.num_nodes):
            depth[node] = depth[self.parent[node]] + 1
        return depth

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """For each node, what everybody saw happen on the way into it ('' at the root)."""
        if self.given_labels is not None:
            return self.given_labels
        labels = [""] * self.num_nodes
        known: dict[Hashable, list[str]] = {}
        for node in np.flatnonzero(self.num_children):
            state = self.states[node]
            if state not in known:
                known[state] = [child.label for child in self.game.children(state)]
            start = self.first_child[node]
            labels[start : start + len(known[state])] = known[state]
        return tuple(labels)

    @cached_property
    def unit(self) -> float:
        """The power of two below the largest payoff, chance included, a scale for what is small; 1 if all are 0."""
        largest = np.array([abs(matrix).max() for matrix in self.payoffs])
        ends = np.flatnonzero(self.payoff_group >= 0)
        most = float(np.abs(self.stake[ends] * largest[self.payoff_group[ends]]).max(initial=0.0))
        return 2.0 ** np.floor(np.log2(most)) if most > 0 else 1.0

    def decisions(self, player: int) -> npt.NDArray[np.intp]:
        """Returns the decision nodes of a player in ascending order."""
        return np.flatnonzero(self.actor == player)

    def children(self, node: int | np.integer[Any]) -> range:
        """Returns the children of a node."""
        return range(self.first_child[node], self.first_child[node] + self.num_children[node])

    @cached_property
    def leaves(self) -> npt.NDArray[np.intp]:
        """The nodes at which a depth limit cuts the tree, in ascending order; none in the tree of a whole game."""
        return np.flatnonzero(self.actor == LEAF)

    def path(self, node: int) -> tuple[str, ...]:
        """Returns the labels on the way from the root to a node."""
        labels: list[str] = []
        while node:
            labels.append(self.labels[node])
            node = int(self.parent[node])
        return tuple(reversed(labels))

    def events(self, node: int) -> tuple[int, ...]:
        """Returns the events, numbers of children, that lead from the root to a node."""
        events: list[int] = []
        while node:
            parent = int(self.parent[node])
            events.append(node - int(self.first_child[parent]))
            node = parent
        return tuple(reversed(events))

    def node_at(self, events: Sequence[int]) -> int:
        """Returns the node to which a sequence of events, numbers of children, leads from the root."""
        node = 0
        for event in events:
            node = int(self.first_child[node]) + event
        return node

    def find(self, path: tuple[str, ...] | list[str]) -> int:
        """Returns the node that a sequence of labels leads to; raises LookupError that names what was allowed."""
        node = 0
        for label in path:
            allowed = [self.labels[child] for child in self.children(node)]
            if label not in allowed:
                raise LookupError(
                    f"no {label!r} after {' / '.join(self.path(node)) or 'the start'}; allowed: {', '.join(allowed)}"
                )
            node = int(self.first_child[node]) + allowed.index(label)
        return node

    def origin(self, player: int, node: int) -> Int64Array | None:
        """Returns where a player's hands at a node come from in its parent, None if they keep their numbers."""
        start = self.origin_start[player, node]
        return None if start == IDENTITY else self.origins[player][start : start + self.num_hands[player, node]]

    @cached_property
    def num_infostates(self) -> int:
        """Hands that chance allows the player to act, summed over the decision nodes."""
        known: dict[Hashable, int] = {}
        total = 0
        for player in (0, 1):
            for node in self.decisions(player):
                state = self.states[node]
                if state not in known:
                    known[state] = int(self.game.possible_hands(state, player).sum())
                total += known[state]
        return total


class _Facts(NamedTuple):
    """What the builder asks a game about one state, once."""

    actor: int
    num_actions: int
    num_hands: tuple[int, int]
    children: tuple[Any, ...]
    payoff: Payoff | None


def _ask(game: Game[Any], state: Any) -> _Facts:
    actor = game.actor(state)
    if actor == TERMINAL:
        return _Facts(actor, 0, game.num_hands(state), (), game.payoff(state))
    actions = len(game.actions(state)) if actor >= 0 else 0
    return _Facts(actor, actions, game.num_hands(state), tuple(game.children(state)), None)


def build_tree(
    game: Game[Any] | str,
    *,
    root: Hashable | None = None,
    is_leaf: Callable[[Any, int], bool] | None = None,
    depth_in: Literal["moves", "rounds"] = "moves",
    max_nodes: int = MAX_NODES,
) -> PublicTree:
    """Returns the public tree of a game, or of a part of it.

    Args:
        game: the game, or its name.
        root: the public state to begin at; None for the game's own root. Payoffs keep the probability of chance's part
            in reaching the root: beliefs at the root are the players' reach alone.
        is_leaf: `is_leaf(state, depth)` says where a depth limit cuts the tree (`depth` moves below the root). The root
            is never cut, and a terminal is a terminal whatever it says.
        depth_in: what `depth` counts: moves, or rounds, that is, chance's moves since the root (its own not counted).
        max_nodes: how big a tree may get.

    Raises:
        TooBigError: the tree would have more than `max_nodes` nodes, or take more than half of the memory that is free.
    """
    game = load_game(game) if isinstance(game, str) else game
    whole = root is None and is_leaf is None
    total = count_public_states(game) if whole else None
    if total is not None and total > max_nodes:
        raise TooBigError(
            f"{game.name} has {format_count(total)} public states; at most {max_nodes:,} are allowed: choose a smaller "
            "game"
        )
    name = game.name if whole else f"this part of {game.name}"
    with Meter(name, f"building the tree of {game.name}", "public states", most=max_nodes, total=total) as meter:
        if total is not None:
            meter.check_memory(total * _NODE_BYTES)
        return _build(game, game.root() if root is None else root, is_leaf, depth_in, meter)


def _build(
    game: Game[Any],
    root: Any,
    is_leaf: Callable[[Any, int], bool] | None,
    depth_in: Literal["moves", "rounds"],
    meter: Meter,
) -> PublicTree:
    """Does the work of `build_tree`."""
    nodes = _Nodes(root)
    meter.add()
    waiting = [0]
    while waiting:
        node = waiting.pop()
        state = nodes.states[node]
        facts = nodes.facts.get(state)
        if facts is None:
            facts = nodes.facts[state] = _ask(game, state)
        if facts.payoff is not None:
            nodes.pay(node, facts.payoff, game)
        elif is_leaf and node and is_leaf(state, nodes.depth[node]):
            nodes.leaves.append(node)
        else:
            counted = depth_in == "moves" or (facts.actor == CHANCE and node > 0)
            children = nodes.expand(node, facts.children, nodes.depth[node] + counted)
            meter.add(len(children))
            waiting.extend(reversed(children))
    return nodes.pack(game)


class _Nodes:
    """What the builder found: lists with one entry per node, facts by state, what makes payoff matrices by group."""

    def __init__(self, root: Any) -> None:
        self.states: list[Any] = [root]
        self.origin: list[Any] = [(None, None)]  # as in `games.base.Child`
        self.depth, self.parent = [0], [-1]
        self.first_child, self.num_children = [0], [0]
        self.payoff_group, self.stake = [-1], [0.0]
        self.leaves: list[int] = []
        self.facts: dict[Hashable, _Facts] = {}
        self.groups: dict[Hashable, int] = {}
        self.payoffs: list[Callable[[], PayoffOperator]] = []

    def pay(self, node: int, payoff: Payoff, game: Game[Any]) -> None:
        """Puts a terminal into its payoff group."""
        key, self.stake[node] = payoff
        if key not in self.groups:
            self.groups[key] = len(self.payoffs)
            self.payoffs.append(partial(game.payoff_operator, self.states[node], self.stake[node]))
        self.payoff_group[node] = self.groups[key]

    def expand(self, node: int, children: tuple[Any, ...], depth: int) -> range:
        """Adds the children of a node; returns their numbers."""
        start, count = len(self.states), len(children)
        self.first_child[node], self.num_children[node] = start, count
        self.states.extend(child.state for child in children)
        self.origin.extend(child.origin for child in children)
        self.parent.extend([node] * count)
        self.depth.extend([depth] * count)
        self.first_child.extend([0] * count)
        self.num_children.extend([0] * count)
        self.payoff_group.extend([-1] * count)
        self.stake.extend([0.0] * count)
        return range(start, start + count)

    def pack(self, game: Game[Any]) -> PublicTree:
        """Returns the tree."""
        of_node = [self.facts[state] for state in self.states]
        actor = np.array([facts.actor for facts in of_node], dtype=np.int8)
        num_actions = np.array([facts.num_actions for facts in of_node], dtype=np.int32)
        actor[self.leaves], num_actions[self.leaves] = LEAF, 0
        num_hands = np.array([facts.num_hands for facts in of_node], dtype=np.int32).T.copy()
        origin_start = np.full((2, len(self.states)), IDENTITY, dtype=np.int64)
        origins: list[Int64Array] = []
        for player in (0, 1):
            chunks, total = [np.zeros(0, dtype=np.int64)], 0
            for node, origin in enumerate(self.origin):
                if origin[player] is not None:
                    origin_start[player, node] = total
                    chunks.append(np.asarray(origin[player], dtype=np.int64))
                    total += len(chunks[-1])
            origins.append(np.concatenate(chunks))
        policy_start, policy_size = place_policies(actor, num_actions, num_hands)
        return PublicTree(
            game=game,
            states=tuple(self.states),
            actor=actor,
            parent=np.array(self.parent, dtype=np.int32),
            first_child=np.array(self.first_child, dtype=np.int32),
            num_children=np.array(self.num_children, dtype=np.int32),
            num_actions=num_actions,
            num_hands=num_hands,
            origin_start=origin_start,
            origins=(origins[0], origins[1]),
            policy_start=policy_start,
            policy_size=policy_size,
            payoff_group=np.array(self.payoff_group, dtype=np.int32),
            stake=np.array(self.stake, dtype=np.float64),
            payoffs=Payoffs(self.payoffs),
        )


def place_policies(
    actor: Int8Array, num_actions: Int32Array, num_hands: Int32Array
) -> tuple[Int64Array, tuple[int, int]]:
    """Returns where the policy block of each decision begins, and the lengths of both players' vectors."""
    start = np.zeros(len(actor), dtype=np.int64)
    sizes = [0, 0]
    for player in (0, 1):
        own = np.flatnonzero(actor == player)
        lengths = num_actions[own].astype(np.int64) * num_hands[player, own]
        ends = np.cumsum(lengths)
        start[own] = ends - lengths
        sizes[player] = int(lengths.sum())
    return start, (sizes[0], sizes[1])
