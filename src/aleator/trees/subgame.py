"""Subgames: the tree below a public state, to the end of the game or to a depth limit.

A subgame is a tree and nothing more; with each player's reach at its root it is the subgame of a public belief state.
Where a depth limit cuts it the tree has *leaves*, whose values come from elsewhere (`aleator.search.leaf_value`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError
from aleator.games.base import CHANCE, TERMINAL, Game
from aleator.trees.payoffs import Payoffs, payoff_operator
from aleator.trees.policy import BoolArray, Policy
from aleator.trees.public_tree import IDENTITY, LEAF, Int64Array, PublicTree, build_tree, place_policies


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthLimit:
    """How far a subgame goes; with both limits, whichever cuts first; with none, to the end of the game.

    Attributes:
        moves: leaves are this many moves below the root (players' and chance's count alike).
        rounds: leaves are where chance moves for the n-th time below the root: the end of the n-th betting round.
        deals: leaves are right behind chance's n-th move below the root.
    """

    moves: int | None = None
    rounds: int | None = None
    deals: int | None = None

    def __post_init__(self) -> None:
        for name in ("moves", "rounds", "deals"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SolveError(f"a depth limit needs at least 1 of {name}, not {value}")


TO_THE_END = DepthLimit()


class Watch(NamedTuple):
    """Nodes [K] of a subgame whose cfvs for a player are wanted."""

    player: int
    nodes: Int64Array


@dataclass(frozen=True, eq=False)
class Subgame:
    """A tree below a public state, cut at leaves.

    Attributes:
        tree: the subgame's own tree; its node 0 is where the subgame begins.
        full: the tree it was cut from, if any.
        nodes: [N] the node of `full` that each node of `tree` is (-1 where there is none).
    """

    tree: PublicTree
    full: PublicTree | None = None
    nodes: Int64Array | None = None

    @property
    def leaves(self) -> npt.NDArray[np.intp]:
        """[L] the nodes where the depth limit cuts the tree, in ascending order."""
        return self.tree.leaves

    @cached_property
    def leaf_hands(self) -> tuple[int, int]:
        """The largest number of each player's hands at a leaf: rows [L, H] over leaves are this long, padded."""
        hands = self.tree.num_hands[:, self.leaves].max(axis=1, initial=0)
        return int(hands[0]), int(hands[1])

    def leaf_mask(self, player: int) -> BoolArray:
        """Returns [L, H]: which entries of a row over leaves are hands, not padding."""
        return np.asarray(np.arange(self.leaf_hands[player]) < self.tree.num_hands[player, self.leaves][:, None])


def subgame_at(game: Game[Any], state: Hashable | None = None, limit: DepthLimit = TO_THE_END) -> Subgame:
    """Returns the subgame below a public state (by default the game's root), built from the rules alone."""
    if limit.deals is not None:
        return cut(build_tree(game, root=state), limit=limit)
    if limit.rounds is None:
        return Subgame(build_tree(game, root=state, is_leaf=lambda _, moves: moves == limit.moves))
    if limit.moves is not None:
        return cut(build_tree(game, root=state, is_leaf=lambda _, moves: moves == limit.moves), limit=limit)
    last = limit.rounds - 1
    tree = build_tree(
        game,
        root=state,
        is_leaf=lambda below, rounds: rounds == last and game.actor(below) == CHANCE,
        depth_in="rounds",
    )
    return Subgame(tree)


def cut(full: PublicTree, node: int = 0, limit: DepthLimit = TO_THE_END) -> Subgame:
    """Returns the subgame of a tree below one of its nodes, as slices of its arrays; hands keep their numbers."""
    if not 0 <= node < full.num_nodes:
        raise SolveError(f"no node {node}; the tree has nodes 0 to {full.num_nodes - 1}")
    if full.actor[node] in (TERMINAL, LEAF):
        raise SolveError(f"node {node} is the end of its tree: there is no subgame below it")
    below = np.concatenate([[node], np.arange(full.first_child[node], full.end[node])])
    leaf = (full.actor[below] == LEAF) | _beyond(full, below, limit)
    leaf[0] = False
    nodes, leaf = _keep_above(full, below, leaf)
    return Subgame(_slice(full, nodes, leaf), full, nodes)


def part_of(policy: Policy, subgame: Subgame) -> Policy:
    """Returns what a policy of a tree does in a subgame that was cut from it."""
    if subgame.full is not policy.tree or subgame.nodes is None:
        raise SolveError("the subgame was not cut from the tree of the policy")
    return policy.part(subgame.nodes[subgame.tree.actor >= 0], subgame.tree)


def _beyond(full: PublicTree, below: Int64Array, limit: DepthLimit) -> BoolArray:
    """Returns which inner nodes lie at the limit or beyond."""
    inner = full.num_children[below] > 0
    beyond = np.zeros(len(below), dtype=np.bool_)
    if limit.moves is not None:
        beyond |= full.depth[below] - full.depth[below[0]] >= limit.moves
    if limit.rounds is not None or limit.deals is not None:
        chance = full.actor == CHANCE
        rounds = np.zeros(full.num_nodes, dtype=np.int64)  # chance's moves on the way, the root's not counted
        for node in below[1:]:
            parent = full.parent[node]
            rounds[node] = rounds[parent] + (chance[parent] and parent != below[0])
        if limit.rounds is not None:
            beyond |= chance[below] & (rounds[below] >= limit.rounds - 1)
        if limit.deals is not None:
            beyond |= rounds[below] >= limit.deals
    return beyond & inner


def _keep_above(full: PublicTree, below: Int64Array, leaf: BoolArray) -> tuple[Int64Array, BoolArray]:
    """Returns the nodes that have no leaf above them, and which of them are leaves."""
    kept = np.zeros(full.num_nodes, dtype=np.bool_)
    ends = np.zeros(full.num_nodes, dtype=np.bool_)
    ends[below] = leaf
    kept[below[0]] = True
    for node in below[1:]:
        parent = full.parent[node]
        kept[node] = kept[parent] and not ends[parent]
    nodes = below[kept[below]]
    return nodes, ends[nodes]


def _slice(full: PublicTree, nodes: Int64Array, leaf: BoolArray) -> PublicTree:
    """Returns the tree of some nodes of another, given in ascending order with the root first."""
    number = np.full(full.num_nodes, -1, dtype=np.int32)
    number[nodes] = np.arange(len(nodes))
    inner = (full.num_children[nodes] > 0) & ~leaf
    actor = np.where(leaf, LEAF, full.actor[nodes]).astype(np.int8)
    num_actions = np.where(leaf, 0, full.num_actions[nodes]).astype(np.int32)
    num_hands = full.num_hands[:, nodes]
    origin_start = full.origin_start[:, nodes]
    origin_start[:, 0] = IDENTITY
    parent = number[full.parent[nodes]]
    parent[0] = -1
    policy_start, policy_size = place_policies(actor, num_actions, num_hands)
    labels = full.given_labels
    groups = full.payoff_group[nodes]
    used, renumbered = np.unique(groups[groups >= 0], return_inverse=True)
    groups[groups >= 0] = renumbered
    return replace(
        full,
        states=tuple(full.states[node] for node in nodes),
        actor=actor,
        parent=parent,
        first_child=np.where(inner, number[full.first_child[nodes]], 0).astype(np.int32),
        num_children=np.where(inner, full.num_children[nodes], 0).astype(np.int32),
        num_actions=num_actions,
        num_hands=num_hands,
        origin_start=origin_start,
        policy_start=policy_start,
        policy_size=policy_size,
        payoff_group=groups,
        stake=full.stake[nodes],
        payoffs=Payoffs([partial(payoff_operator, full.payoffs, group) for group in used.tolist()]),
        given_labels=None if labels is None else ("", *(labels[node] for node in nodes[1:])),
    )
