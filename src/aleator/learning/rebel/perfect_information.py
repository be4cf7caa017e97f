"""What search by minimax plays in a whole game of perfect information, position by position.

Algorithm:
    Search by minimax draws nothing: what it does depends on the position and on how many moves ago the last search was.
    So every subgame is searched once, and values of the game under the policies found, against any answer, are exact.

Reference: ReBeL section 5.4, section 6.

Deviations: none.

Status: equal to the exploitability in the tree of all histories (tests/learning/rebel/test_perfect_information.py).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from aleator.games.base import Child, FloatArray, Game
from aleator.learning.rebel.evaluation import Played
from aleator.learning.rebel.subgames import Subgames
from aleator.solvers.engines.batched.engine import BatchedValue
from aleator.solvers.engines.batched.minimax import MinimaxEngine
from aleator.solvers.engines.torch_threads import one_thread
from aleator.solvers.minimax import position_values
from aleator.solvers.search_rule import SearchRule

_CHUNK = 1024  # subgames that are searched together
_NOTHING = 0.0  # added to a number, it leaves no zero with a minus
Place = tuple[Any, int]  # a public state, and how many moves ago the subgame began that is played in


class SearchedGame(Game[Place]):
    """A game whose public states also say how long ago the last search was."""

    def __init__(self, game: Game[Any], depth: int) -> None:
        self.game, self.depth, self.name = game, depth, game.name

    def root(self) -> Place:
        return self.game.root(), 0

    def actor(self, state: Place) -> int:
        return self.game.actor(state[0])

    def actions(self, state: Place) -> Sequence[str]:
        return self.game.actions(state[0])

    def children(self, state: Place) -> Sequence[Child[Place]]:
        moves = (state[1] + 1) % self.depth
        return [Child((child.state, moves), child.label) for child in self.game.children(state[0])]

    def hands(self, state: Place, player: int) -> Sequence[str]:
        return self.game.hands(state[0], player)

    def deal(self, state: Place) -> FloatArray:
        return self.game.deal(state[0])

    def utility(self, state: Place) -> FloatArray:
        return self.game.utility(state[0])


@dataclass(frozen=True, eq=False)
class SearchedPositions:
    """What search does and expects at every position.

    Attributes:
        game: whose states the others are about.
        policy: moment -> [A].
        values: moment -> what player 0 wins from there, as the search of its subgame says.
    """

    game: SearchedGame
    policy: dict[Hashable, FloatArray]
    values: dict[Hashable, float]

    def exploitability(self) -> float:
        """Returns NashConv / 2, exactly."""
        return -(self.against_best(0) + self.against_best(1)) / 2 + _NOTHING

    def played(self) -> Played:
        """Returns the same as the evaluation of one playthrough, which needs no estimate of an error."""
        return Played(
            exploitability=self.exploitability(), error=0.0, playthroughs=1, searches=len(self.policy), policy=None
        )

    def against_best(self, seat: int) -> float:
        """Returns what search wins in a seat, on average over equally good actions, against the best answer to it."""
        return self._against(seat, worst=False)

    def worst(self, seat: int) -> float:
        """Returns the least that search can win in a seat, whatever the other player and its own draws do."""
        return self._against(seat, worst=True)

    def met(self) -> set[Place]:
        """Returns the moments, ends of games left out, that can be met if one of the players does what search does."""
        moments: set[Place] = set()
        for seat in (0, 1):
            seen, waiting = {self.game.root()}, [self.game.root()]
            while waiting:
                moment = waiting.pop()
                chances = self.policy[moment] if self.game.actor(moment) == seat else None
                for action, child in enumerate(self.game.children(moment)):
                    wanted = chances is None or chances[action] > 0.0
                    if wanted and child.state not in seen and child.state in self.policy:
                        seen.add(child.state)
                        waiting.append(child.state)
            moments |= seen
        return moments

    def _against(self, seat: int, *, worst: bool) -> float:
        policies = (self.policy, None) if seat == 0 else (None, self.policy)
        value = position_values(self.game, policies, worst=worst)[self.game.root()]
        return value if seat == 0 else -value + _NOTHING


def search_positions(subgames: Subgames, leaf_values: BatchedValue, rule: SearchRule) -> SearchedPositions:
    """Returns what search by minimax with a value function at the leaves does in a game of perfect information.

    Args:
        subgames: of the game.
        leaf_values: the value function.
        rule: minimax.
    """
    shapes = subgames.complete().shapes
    policy: dict[Hashable, FloatArray] = {}
    values: dict[Hashable, float] = {}
    for roots in torch.split(torch.arange(len(shapes.states), device=shapes.device), _CHUNK):
        forest = subgames.forest(roots)
        ones = torch.ones((len(roots), 1), dtype=shapes.dtype, device=shapes.device)
        engine = MinimaxEngine(forest, leaf_values, (ones, ones), rule)
        with one_thread():
            chances = engine.search().policy[:, 0].double().cpu().numpy()
        worth = ((engine.values[0] - engine.values[1]) / 2)[:, 0].tolist()
        tree_of, node_of = roots[forest.subgame].tolist(), shapes.node[forest.template].tolist()
        first, count = forest.first_child.tolist(), forest.num_children.tolist()
        for level in range(forest.num_levels):
            for row in range(forest.bounds[level], forest.bounds[level + 1]):
                if count[row]:
                    tree = shapes.trees[tree_of[row]]
                    assert tree is not None
                    moment = tree.states[node_of[row]], level
                    taken = chances[first[row] : first[row] + count[row]]
                    policy[moment] = taken / taken.sum()
                    values[moment] = worth[row]
    return SearchedPositions(SearchedGame(subgames.game, subgames.depth), policy, values)
