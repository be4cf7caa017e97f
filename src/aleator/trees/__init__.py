"""Public trees: immutable flat arrays, built once from a game."""

from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree, build_tree

__all__ = ["Policy", "PublicTree", "build_tree"]
