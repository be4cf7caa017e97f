"""The rest of a spot below one of its nodes, with any ranges, as a spot of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aleator.games.base import FloatArray, IntArray
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, find_node
from aleator.games.holdem.cards import blocked_hands
from aleator.games.holdem.lock import Lock
from aleator.games.holdem.node_path import NodePath, NodePathError, parse_path
from aleator.games.holdem.spot import Spot


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgame(Spot):
    """The rest of a spot from a decision on; pot and amounts count from the start of the whole tree.

    Attributes:
        root: the betting that is left.
        reach: both players' reach, `[2, 1326]`, in place of the ranges.
    """

    root: BettingNode
    reach: FloatArray

    def weights(self) -> FloatArray:
        """Returns both players' reach, `[2, 1326]`."""
        return self.reach

    def _check_shares(self, weights: FloatArray, apart: IntArray, free: FloatArray) -> None:
        """Accepts any reach: what is left of ranges after some play can be as small as policies make it."""

    def build_tree(self) -> BettingNode:
        """Returns the betting that is left."""
        return self.root


def subgame_of(spot: Spot, path: NodePath | str, reach: FloatArray) -> Subgame:
    """Returns the subgame below a decision of a spot, locks included.

    Args:
        spot: the whole.
        path: the decision, all cards named.
        reach: both players' reach there, `[2, 1326]`; hands that the board blocks are dropped.

    Raises:
        NodePathError: there is no such node, or nobody acts there.
        SpotError: the board leaves a player no hand.
    """
    path = parse_path(path) if isinstance(path, str) else path
    whole = spot.build_tree()
    node = find_node(whole, path, board=spot.board)
    if node.kind is not NodeKind.DECISION:
        raise NodePathError(f"nobody acts at {path}: a subgame begins with a decision")
    return rest_of(spot, (*spot.board, *path.cards), node, reach, _locks_below(spot, whole, path))


def rest_of(
    spot: Spot, board: tuple[int, ...], root: BettingNode, reach: FloatArray, locks: tuple[Lock, ...] = ()
) -> Subgame:
    """Returns the subgame below a decision on a board; see `subgame_of`. Locks have paths that begin there."""
    return Subgame(
        board=board, pot=spot.pot, stack=spot.stack, oop=spot.oop, ip=spot.ip, min_bet=spot.min_bet, rake=spot.rake,
        menu=spot.menu, solve=spot.solve, locks=locks, root=root, reach=np.where(blocked_hands(board), 0.0, reach),
    )  # fmt: skip


def _locks_below(spot: Spot, whole: BettingNode, path: NodePath) -> tuple[Lock, ...]:
    """Returns the locks at or below a node, with paths that begin there."""
    locks, depth = [], len(path.tokens)
    for lock in spot.locks:
        steps = lock.find(whole).steps
        above, below = steps[:depth], steps[depth:]
        if len(above) == depth and all(step in (None, token) for step, token in zip(above, path.tokens, strict=True)):
            locks.append(Lock(path=NodePath(tuple(step for step in below if step is not None)), shares=lock.shares))
    return tuple(locks)
