"""Public trees: immutable flat arrays, built once from a game."""

from aleator.trees.beliefs import PublicBeliefState
from aleator.trees.policy import Policy, policy_from, uniform_policy
from aleator.trees.public_tree import PublicTree, build_tree
from aleator.trees.subgame import DepthLimit, Subgame, cut, subgame_at

__all__ = [
    "DepthLimit",
    "Policy",
    "PublicBeliefState",
    "PublicTree",
    "Subgame",
    "build_tree",
    "cut",
    "policy_from",
    "subgame_at",
    "uniform_policy",
]
