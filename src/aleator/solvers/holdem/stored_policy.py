"""The policy of a solved hold'em spot, read out of its solution where play gets to.

Only the decisions that are asked for are read. Rivers that the file lacks are solved when play gets there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aleator.errors import SolutionError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode, NodeKind
from aleator.games.holdem.cards import format_cards
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.node_path import NodePath
from aleator.games.holdem.spot import Spot
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.spot_walk import SpotPosition, SpotWalk
from aleator.trees.policy import Policy, uniform_policy
from aleator.trees.public_tree import PublicTree


class StoredPolicy:
    """The average policy of a solved spot; see `trees.policy.HistoryPolicy`.

    Args:
        game: the spot. Board, pot, stacks, ranges and bets must be those of the solution.
        solution: what is played.

    Raises:
        SolutionError: it is the solution of another spot.
    """

    def __init__(self, game: HoldemGame, solution: HoldemSolution) -> None:
        if difference := _difference(game.spot, solution.spot):
            raise SolutionError(f"this is not a solution of {game.name}: {difference}")
        self.game, self.solution = game, solution
        self._walk = SpotWalk(solution)

    def at(self, events: Sequence[int]) -> FloatArray:
        """Returns [A, H]: the policy of the decision after some events; uniform for hands that never get there."""
        position, state = self._walk.start(), self.game.root()
        for event in events:
            position = self._walk.follow(position, self.game.actions(state)[event])
            state = self.game.child(state, event)
        return self._block(position)

    def on(self, tree: PublicTree) -> Policy:
        """Returns the policy on the tree of the game, where every card is apart."""
        if tree.game is not self.game:
            raise SolutionError(f"the policy is one of {self.game.name}, not of {tree.game.name}")
        policy, positions = uniform_policy(tree), {0: self._walk.start()}
        for node in range(tree.num_nodes):  # parents come first
            position = positions.pop(node)
            if tree.actor[node] >= 0:
                policy[node][:] = self._block(position)
            for child in tree.children(node):
                positions[child] = self._walk.follow(position, tree.labels[child])
        return policy

    def _block(self, position: SpotPosition) -> FloatArray:
        block = position.policy()[:, self.game.hand_sets[position.at.node.player]]
        return np.where(block.any(axis=0), block, 1.0 / len(block))


def _difference(played: Spot, solved: Spot) -> str:
    """Returns in words how a solved spot differs from the one that is played; nothing if they are equal."""
    if set(played.board) != set(solved.board):
        return f"its board is {format_cards(solved.board)}, not {format_cards(played.board)}"
    for name in ("pot", "stack"):
        if getattr(played, name) != getattr(solved, name):
            return f"its {name} is {getattr(solved, name):,}, not {getattr(played, name):,}"
    ranges = (played.weights() == solved.weights()).all(axis=1)
    if not ranges.all():
        return f"the range of {('oop', 'ip')[int(ranges.argmin())]} is another one"
    return _other_bets(played.build_tree(), solved.build_tree())


def _other_bets(played: BettingNode, solved: BettingNode) -> str:
    """Returns where two betting trees differ, in words; nothing if they do not."""
    waiting = [(played, solved, NodePath())]
    while waiting:
        here, there, path = waiting.pop()
        if here.tokens != there.tokens:
            return f"at {path} it knows {', '.join(there.tokens)}, and the game has {', '.join(here.tokens)}"
        for index, pair in enumerate(zip(here.children, there.children, strict=True)):
            dealt = here.kind is NodeKind.NEXT_STREET
            waiting.append((*pair, path if dealt else path.then(here.tokens[index])))
    return ""
