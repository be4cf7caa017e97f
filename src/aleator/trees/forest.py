"""Forests: the subgames below several public states as one tree, so that one walk covers them all.

The trees hang below a node that stands for nothing. Hands are renumbered on the way to each of them, so that every tree
has rows of its own for the players' reach at its root.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from aleator.games.base import CHANCE, Child, FloatArray, Game, Payoff
from aleator.games.operators import Deal, MatrixDeal, PayoffOperator
from aleator.trees.public_tree import Int64Array, PublicTree, build_tree

_ABOVE = "above the forest"


class _ManyRoots(Game[Any]):
    """A game whose root leads to given states of another game."""

    def __init__(self, game: Game[Any], states: Sequence[Hashable]) -> None:
        self.name = f"{len(states)} subgames of {game.name}"
        self._game = game
        self._states = states

    def root(self) -> Any:
        return _ABOVE

    def actor(self, state: Any) -> int:
        return CHANCE if state is _ABOVE else self._game.actor(state)

    def actions(self, state: Any) -> Sequence[str]:
        return () if state is _ABOVE else self._game.actions(state)

    def children(self, state: Any) -> Sequence[Child[Any]]:
        if state is not _ABOVE:
            return self._game.children(state)
        children = []
        for below in self._states:
            first, second = self._game.num_hands(below)
            children.append(Child(below, "", (np.zeros(first, np.int64), np.zeros(second, np.int64))))
        return children

    def hands(self, state: Any, player: int) -> Sequence[str]:
        return ("-",) if state is _ABOVE else self._game.hands(state, player)

    def num_hands(self, state: Any) -> tuple[int, int]:
        return (1, 1) if state is _ABOVE else self._game.num_hands(state)

    def deal(self, state: Any) -> FloatArray:
        return np.ones((1, 1)) if state is _ABOVE else self._game.deal(state)

    def deal_operator(self, state: Any) -> Deal:
        return MatrixDeal(np.ones((1, 1))) if state is _ABOVE else self._game.deal_operator(state)

    def utility(self, state: Any) -> FloatArray:
        return self._game.utility(state)

    def payoff(self, state: Any) -> Payoff:
        return self._game.payoff(state)

    def payoff_operator(self, state: Any, stake: float) -> PayoffOperator:
        return self._game.payoff_operator(state, stake)


def build_forest(game: Game[Any], states: Sequence[Hashable]) -> PublicTree:
    """Returns one tree in which nodes 1, 2, ... are the given public states, each with its subgame below it.

    Raises:
        TooBigError: there is too much below them, which is found out before anything is built.
    """
    return build_tree(_ManyRoots(game, states))


def nodes_in(full: PublicTree, roots: Int64Array, forest: PublicTree) -> Int64Array:
    """Returns [N] for each node of a forest (0 aside) the same node of a tree in which its roots are `roots`."""
    nodes = np.full(forest.num_nodes, -1, dtype=np.int64)
    nodes[1 : len(roots) + 1] = roots
    for node in range(1, forest.num_nodes):
        count = forest.num_children[node]
        first = full.first_child[nodes[node]]
        nodes[forest.first_child[node] : forest.first_child[node] + count] = np.arange(first, first + count)
    return nodes
