"""A solved spot, or a solved game from the blinds on, as a tree to play whole hands by."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aleator.abstraction.translation import Translation, pseudo_harmonic
from aleator.agents.whole_hands.base import HandAgent
from aleator.agents.whole_hands.pot_odds import PotOddsAgent
from aleator.agents.whole_hands.tree_agent import KnownTree, TreeAgent
from aleator.errors import SolutionError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode
from aleator.games.holdem.cards import format_card
from aleator.games.holdem.hand_state import HandState
from aleator.solvers.holdem.board_solution import StoredNode
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.spot_walk import SpotPosition, SpotWalk
from aleator.solvers.holdem.whole_solution import WholeSolution
from aleator.solvers.solution import open_solution


class SpotTree(KnownTree[SpotPosition]):
    """The tree of a solved spot. It begins on the spot's board, with its stack in pots, before anybody has acted."""

    def __init__(self, solution: HoldemSolution) -> None:
        self.spot, self._walk = solution.spot, SpotWalk(solution)
        self.dead, self.most = self.spot.pot, self.spot.stack

    def begins_at(self, state: HandState) -> bool:
        rules, betting = state.setup.rules, state.betting
        return (
            rules.num_players == 2
            and rules.fixed_bets is None
            and state.player == 0
            and betting.street == self.spot.street
            and not any(betting.bets)
            and not any(betting.acted)
            and set(state.board) == set(self.spot.board)
            and betting.pot * self.spot.stack == min(betting.stacks) * self.spot.pot
        )

    def start(self) -> SpotPosition:
        return self._walk.start()

    def betting(self, position: SpotPosition) -> BettingNode:
        return position.at.node

    def act(self, position: SpotPosition, action: int) -> SpotPosition:
        return self._walk.follow(position, position.at.node.tokens[action])

    def deal(self, position: SpotPosition, cards: Sequence[int]) -> SpotPosition:
        for card in cards:
            position = self._walk.follow(position, format_card(card))
        return position

    def policy_at(self, position: SpotPosition) -> FloatArray:
        return position.policy()


class WholeTree(KnownTree[StoredNode]):
    """The tree of a solved game from the blinds on."""

    def __init__(self, solution: WholeSolution) -> None:
        self.solution, self.dead, self.most = solution, 0, solution.whole.stack

    def begins_at(self, state: HandState) -> bool:
        return state == self.solution.whole.variant.setup.start()

    def start(self) -> StoredNode:
        return self.solution.start()

    def betting(self, position: StoredNode) -> BettingNode:
        return position.node

    def act(self, position: StoredNode, action: int) -> StoredNode:
        return self.solution.act(position, action)

    def deal(self, position: StoredNode, cards: Sequence[int]) -> StoredNode:
        after = self.solution.deal(position, cards)
        assert after is not None, "any flop can come"
        return after

    def policy_at(self, position: StoredNode) -> FloatArray:
        return self.solution.policy_at(position)


def equilibrium_agent(
    file: Path | str, *, otherwise: HandAgent | None = None, translation: Translation = pseudo_harmonic
) -> TreeAgent[SpotPosition] | TreeAgent[StoredNode]:
    """Returns the agent that plays a solved spot or game out of its file.

    Args:
        file: as `aleator holdem solve` or `aleator solve flop-holdem` writes it.
        otherwise: who plays before the spot and off its tree; `PotOddsAgent` if None.
        translation: how bets that the tree lacks are taken.

    Raises:
        SolutionError: it is not a file of solved hold'em.
    """
    name, off_tree, solution = f"equilibrium:{file}", otherwise or PotOddsAgent(), open_solution(file)
    if isinstance(solution, WholeSolution):
        return TreeAgent(name, WholeTree(solution), off_tree, translation)
    if not isinstance(solution, HoldemSolution):
        raise SolutionError(f"{file} is not a solved hold'em spot but a solution of {solution.summary.game}")
    return TreeAgent(name, SpotTree(solution), off_tree, translation)
