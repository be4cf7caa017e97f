"""An agent that plays a solved hold'em spot out of its file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aleator.agents.base import Agent
from aleator.agents.spot_walk import SpotPosition, SpotWalk
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode, NodeKind
from aleator.games.holdem.cards import format_cards
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.node_path import NodePath
from aleator.games.holdem.spot import Spot
from aleator.games.table import PublicHistory
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.trees.beliefs import PublicBeliefState
from aleator.trees.policy import Policy, uniform_policy
from aleator.trees.public_tree import PublicTree


class SpotAgent(Agent):
    """Plays the average policy of a solved spot, and believes that the opponent does, too.

    Only the decisions that play comes to are read. Rivers that the file lacks are solved when play gets there.

    Args:
        game: the spot. Board, pot, stacks, ranges and bets must be those of the solution.
        solution: what is played.
    """

    name = "blueprint"
    game: HoldemGame

    def __init__(self, game: HoldemGame, solution: HoldemSolution) -> None:
        super().__init__(game)
        if difference := _difference(game.spot, solution.spot):
            raise AgentError(f"this is not a solution of {game.name}: {difference}")
        self.solution = solution
        self._walk = SpotWalk(solution)

    @classmethod
    def of_file(cls, game: HoldemGame, solution: HoldemSolution, file: str) -> SpotAgent:
        """Returns the agent of a solution that was read from a file.

        Raises:
            AgentError: it is the solution of another spot.
        """
        try:
            return cls(game, solution)
        except AgentError as error:
            raise AgentError(f"{file}: {error}") from None

    def policy_at(self, history: PublicHistory) -> FloatArray:
        """Returns [A, H]: the solution there."""
        return self._block(self._find(history.events), history.seat)

    def belief(self, history: PublicHistory) -> PublicBeliefState:
        """Returns what follows from both players' policies."""
        reach = self._find(history.events).reach
        first, second = (reach[player][self.game.hand_sets[player]] for player in (0, 1))
        return PublicBeliefState(self.game, history.state, (first, second))

    def policy(self, tree: PublicTree) -> Policy:
        """Returns the policy on the tree of the game."""
        if tree.game is not self.game:
            raise AgentError(f"the agent plays {self.game.name}, not {tree.game.name}")
        found, places = uniform_policy(tree), {0: self._walk.start()}
        for node in range(tree.num_nodes):  # parents come first
            place, player = places.pop(node), int(tree.actor[node])
            if player >= 0:
                found[node][:] = self._block(place, player)
            for child in tree.children(node):
                places[child] = self._walk.follow(place, tree.labels[child])
        return found

    def _block(self, place: SpotPosition, player: int) -> FloatArray:
        """Returns [A, H]: the policy of a decision; uniform for hands that never get there."""
        block = place.policy()[:, self.game.hand_sets[player]]
        return np.where(block.any(axis=0), block, 1.0 / len(block))

    def _find(self, events: Sequence[int]) -> SpotPosition:
        """Returns the place to which a sequence of events leads."""
        place, state = self._walk.start(), self.game.root()
        for event in events:
            place = self._walk.follow(place, self.game.actions(state)[event])
            state = self.game.child(state, event)
        return place


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
