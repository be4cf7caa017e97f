"""Leaf values: what the rest of the game is worth where a depth limit cuts a subgame.

A leaf's value depends on what both players believe there, so that it is a function of their reach, one row over hands
per leaf. Everything that answers this question has one method, `LeafValue.cfvs`: the exact oracle
(`aleator.search.oracle`), policies by which the players go on (`ContinuationValue`), nothing at all (`ZeroValue`), a
network.
"""

from __future__ import annotations

from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.solvers.engines.cpu.engine import CpuEngine
from aleator.solvers.engines.cpu.layout import Vector
from aleator.solvers.engines.cpu.rows import NodeRows
from aleator.trees.beliefs import Reach, normalised_rows
from aleator.trees.forest import build_forest, nodes_in
from aleator.trees.policy import BoolArray, Policy, block
from aleator.trees.public_tree import Int64Array
from aleator.trees.subgame import Subgame


class LeafValue(Protocol):
    """Values of the leaves of a subgame."""

    def cfvs(self, subgame: Subgame, reach: Reach, player: int | None = None) -> Reach:
        """Returns both players' cfvs [L, H0] and [L, H1] at the leaves of a subgame.

        A cfv is weighted by the opponent's reach and chance, as everywhere: it doubles with the opponent's reach, and
        does not change with the player's own reach times a factor.

        Args:
            subgame: L leaves, `subgame.leaves`. Rows are padded with zeros to `subgame.leaf_hands`.
            reach: [L, H0] and [L, H1] of each player at each leaf, not normalised.
            player: whose values are needed; None for both. The other's may be anything.
        """


class ZeroValue:
    """Leaves that are worth nothing."""

    def cfvs(self, subgame: Subgame, reach: Reach, player: int | None = None) -> Reach:
        """Returns zeros; see `LeafValue.cfvs`."""
        return np.zeros_like(reach[0]), np.zeros_like(reach[1])


def believed(rows: FloatArray, real: BoolArray) -> FloatArray:
    """Returns [L, H]: reach, normalised over each leaf's hands (`Subgame.leaf_mask`); uniform where nobody comes."""
    rows = np.where(real, rows, 0.0)
    nobody = rows.sum(axis=1, keepdims=True) == 0.0
    return normalised_rows(np.where(nobody, real, rows))


class LeafForest:
    """What lies below the leaves of a subgame: one tree and an engine that walks it.

    Attributes:
        tree: the forest (`aleator.trees.forest`); its nodes 1 ... L are the leaves.
        engine: walks everything below the leaves.
        rows: the rows of the leaves in the engine's vectors.
    """

    def __init__(self, subgame: Subgame) -> None:
        states = [subgame.tree.states[leaf] for leaf in subgame.leaves]
        self.tree = build_forest(subgame.tree.game, states)
        self.engine = CpuEngine(self.tree, nodes=np.arange(1, self.tree.num_nodes))
        self.rows = NodeRows(self.engine.layout, np.arange(1, len(states) + 1))

    def nodes_in(self, subgame: Subgame) -> Int64Array:
        """Returns [N]: the node of `subgame.full` that each node of the forest is (node 0 aside)."""
        if subgame.full is None or subgame.nodes is None:
            raise SolveError("the subgame was not cut from a tree: nothing says which of its nodes the leaves are")
        return nodes_in(subgame.full, subgame.nodes[subgame.leaves], self.tree)

    def push(self, player: int, rows: FloatArray, policy: Vector) -> Vector:
        """Returns a player's reach below the leaves, from its reach [L, H] there and a policy in engine order."""
        reach = self.engine.layout.new_reach(player)
        self.rows.put_reach(player, rows, reach)
        self.engine.push_reach(player, policy, reach)
        return reach

    def cfvs(self, reach: Reach, policies: tuple[Vector, Vector], *, best: bool = False) -> Reach:
        """Returns the cfvs [L, H] of both players at leaves under policies or, if `best`, best responses to them."""
        cfvs = []
        for player in (0, 1):
            opponent = self.push(1 - player, reach[1 - player], policies[1 - player])
            own = np.zeros(0, self.engine.layout.dtype) if best else policies[player]
            cfvs.append(self.rows.values(player, self.engine.values(player, opponent, own, best=best)))
        return cfvs[0], cfvs[1]


class ContinuationValue:
    """Leaves below which both players follow a given policy, whatever they believe.

    The policy is one of the tree that the subgame was cut from (`aleator.trees.subgame.cut`).
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._known: WeakKeyDictionary[Subgame, tuple[LeafForest, tuple[Vector, Vector]]] = WeakKeyDictionary()

    def cfvs(self, subgame: Subgame, reach: Reach, player: int | None = None) -> Reach:
        """Returns the values of the policy; see `LeafValue.cfvs`."""
        if subgame not in self._known:
            self._known[subgame] = self._prepare(subgame)
        forest, policies = self._known[subgame]
        return forest.cfvs(reach, policies)

    def _prepare(self, subgame: Subgame) -> tuple[LeafForest, tuple[Vector, Vector]]:
        """Returns the forest below the leaves, and the policy on it in the engine's order."""
        if subgame.full is not self.policy.tree:
            raise SolveError(f"the continuation policy belongs to another tree of {self.policy.tree.game.name}")
        forest = LeafForest(subgame)
        nodes = forest.nodes_in(subgame)
        vectors = (np.zeros(forest.tree.policy_size[0]), np.zeros(forest.tree.policy_size[1]))
        for node in np.flatnonzero(forest.tree.actor >= 0):
            block(forest.tree, vectors, int(node))[:] = self.policy[int(nodes[node])]
        layout = forest.engine.layout
        return forest, (layout.pad(0, vectors[0]), layout.pad(1, vectors[1]))
