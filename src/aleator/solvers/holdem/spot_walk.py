"""Walking through a solved hold'em spot, action by action and card by card."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aleator.caching import Kept
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import NodeKind
from aleator.games.holdem.cards import NUM_HANDS, blocked_hands
from aleator.games.holdem.node_path import NodePath
from aleator.solvers.holdem.board_solution import StoredNode
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.view import solve_river
from aleator.trees.beliefs import normalised_rows

_KEPT_RIVERS = 16


class SpotPosition(NamedTuple):
    """Where play is in a solution.

    Attributes:
        tokens: how it came here, as in `NodePath`.
        solution: the file, or a river that was solved because the file lacks it.
        at: the node there.
        reach: [2, 1326] of both players by the average policy; the ranges' weights are not in it.
    """

    tokens: tuple[str, ...]
    solution: HoldemSolution
    at: StoredNode
    reach: FloatArray

    def policy(self) -> FloatArray:
        """Returns [A, 1326]: the average policy of a decision; 0 for hands out of range."""
        return self.solution.policy_at(self.at)


class SpotWalk:
    """Positions in a solved spot. Only decisions that play comes to are read; rivers that the file lacks are solved."""

    def __init__(self, solution: HoldemSolution) -> None:
        self.solution = solution
        self._weights = solution.spot.weights()
        self._rivers: Kept[HoldemSolution] = Kept(_KEPT_RIVERS)

    def start(self) -> SpotPosition:
        """Returns the first position."""
        return SpotPosition((), self.solution, self.solution.start(), np.ones((2, NUM_HANDS)))

    def follow(self, position: SpotPosition, token: str) -> SpotPosition:
        """Returns the position behind an action or a card."""
        tokens, solution, at, reach = (*position.tokens, token), position.solution, position.at, position.reach
        if at.node.kind is NodeKind.DECISION:
            reach = reach.copy()
            reach[at.node.player] *= position.policy()[at.node.tokens.index(token)]
            return SpotPosition(tokens, solution, solution.follow(at, token), reach)
        at = solution.follow(at, token)
        if at.node.kind is NodeKind.DECISION and at.level + 1 == len(solution.boards) and not solution.has_last_street:
            solution = self._rivers.find_or_make(tokens, lambda: self._river(tokens, reach))
            at = solution.start()
        return SpotPosition(tokens, solution, at, reach)

    def _river(self, tokens: tuple[str, ...], reach: FloatArray) -> HoldemSolution:
        """Returns a river that the file lacks, solved. Who never comes has the whole range."""
        path = NodePath(tokens)
        alive = np.where(blocked_hands((*self.solution.spot.board, *path.cards)), 0.0, self._weights)
        believed = np.stack([normalised_rows(alive[player] * reach[player]) for player in (0, 1)])
        return solve_river(self.solution, path, np.where(alive > 0.0, believed, 0.0))
