"""Search: solving at play time the part of a game that one is in."""

from aleator.search.depth_limited import DepthLimitedSolver
from aleator.search.leaf_value import ContinuationValue, LeafValue, ZeroValue
from aleator.search.oracle import OracleValue
from aleator.search.random_iteration import PlayedPolicy, SearchConfig, draw_iteration
from aleator.search.regularised import RegularisedValue
from aleator.search.trunk import trunk_exploitability
from aleator.solvers.search_rule import SEARCH_RULES, SearchRule

__all__ = [
    "SEARCH_RULES",
    "ContinuationValue",
    "DepthLimitedSolver",
    "LeafValue",
    "OracleValue",
    "PlayedPolicy",
    "RegularisedValue",
    "SearchConfig",
    "SearchRule",
    "ZeroValue",
    "draw_iteration",
    "trunk_exploitability",
]
