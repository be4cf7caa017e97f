"""Searchers: one player's search through a whole game, wherever play goes. What was solved is kept."""

from __future__ import annotations

from abc import ABC, abstractmethod

from aleator.games.base import FloatArray
from aleator.trees.beliefs import Reach
from aleator.trees.policy import Policy, uniform_policy
from aleator.trees.public_tree import PublicTree


class Searcher(ABC):
    """A player who searches as play goes on; asked about a node, it searches all that lies on the way there.

    Attributes:
        tree: of the whole game.
        searcher: the player, 0 or 1.
        searches: how many situations were solved.
    """

    def __init__(self, tree: PublicTree, searcher: int) -> None:
        self.tree, self.searcher = tree, searcher
        self.searches = 0

    @abstractmethod
    def block(self, node: int) -> FloatArray:
        """Returns [A, H]: what the searcher does at one of its decisions."""

    @abstractmethod
    def reach(self, node: int) -> Reach:
        """Returns each player's reach [H0], [H1] at a node as the searcher believes it."""

    def policy(self) -> Policy:
        """Returns what the searcher plays in the whole game, everything searched; the other's part is uniform."""
        policy = uniform_policy(self.tree)
        for node in self.tree.decisions(self.searcher):  # ancestors come first
            policy[int(node)][:] = self.block(int(node))
        return policy
