"""Libratus in whole hands: a blueprint before the turn, nested safe search to the end of the hand from there on.

Algorithm:
    Nested search (`agents.whole_hands.nested`) from the turn on, without card abstraction. The first search of a hand
    has a gadget above it, too: each of the opponent's hands may take what the blueprint would give it on this board
    (estimated alternative payoffs, `abstraction.blueprint.values`). Every bet that a search lacks starts another one,
    and so does the river; their alternative payoffs are the opponent's values in the search before. All bet sizes of a
    hand's searches are larger or smaller by the same percentage, drawn when the turn comes.

Reference: N. Brown, T. Sandholm, "Superhuman AI for heads-up no-limit poker: Libratus beats top professionals" (Science
2018); N. Brown's thesis (2020), 5.1.4 (estimates), 5.1.7 (nested search), 6.4.
Deviations: the re-solve gadget in place of Reach-Maxmargin; the turn's first search is safe, Libratus' was not; a new
    search follows a new card or a bet off the tree, Libratus searched after every action.
Status: tests/agents/whole_hands/test_libratus.py.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np

from aleator.agents.whole_hands.blueprint import BlueprintAgent
from aleator.agents.whole_hands.nested import NestedAgent, NestedSolver
from aleator.agents.whole_hands.search_settings import NestedSettings
from aleator.agents.whole_hands.searching import draw_for
from aleator.games.base import FloatArray
from aleator.games.holdem.bet_menu import BetSize, SizeKind
from aleator.games.holdem.betting_tree import BettingNode
from aleator.games.holdem.hand_state import HandState, states_before
from aleator.games.holdem.level_menu import LevelMenu

MOST_VARIED: Final = 8
"""Percent that bet sizes are larger or smaller at most."""
_TURN: Final = 2


class VaryingSolver(NestedSolver):
    """Solves turns and rivers with bet sizes that vary from hand to hand; what they are follows from the hand."""

    seed, most_varied = 0, MOST_VARIED

    def menu(self, state: HandState) -> LevelMenu:
        """Returns the bets of a search that begins at a decision, all varied as the hand's first one was."""
        first = next(now for now in states_before(state) if now.street >= _TURN)
        count = 2 * self.most_varied + 1
        return varied(super().menu(state), draw_for(first, self.seed)(np.full(count, 1.0 / count)) - self.most_varied)


class LibratusAgent(NestedAgent):
    """Searches from the turn on; see the module.

    Args:
        blueprint: what it plays before the turn.
        settings: how it searches.
        seed: of the bet sizes.
        most_varied: percent that they are larger or smaller at most.
    """

    first_street = _TURN

    def __init__(
        self,
        blueprint: BlueprintAgent,
        settings: NestedSettings | None = None,
        *,
        seed: int = 0,
        most_varied: int = MOST_VARIED,
    ) -> None:
        super().__init__(blueprint, settings or NestedSettings())
        self.name, self._seed, self._most_varied = blueprint.name.replace("blueprint", "libratus", 1), seed, most_varied

    @cached_property
    def solver(self) -> NestedSolver:
        """What solves rounds."""
        solver = VaryingSolver(self.values, self.nested)
        solver.seed, solver.most_varied = self._seed, self._most_varied
        return solver

    def promised(self, state: HandState, reach: FloatArray, like: BettingNode | None, seat: int) -> FloatArray | None:
        """Returns what the blueprint gives the opponent's hands; None where it has nothing to say."""
        if like is None:
            return None
        scale = state.betting.pot / sum(like.chips)
        cfvs: FloatArray = scale * self.values.cfvs(like.number, state.board, reach)[1 - seat]
        return cfvs


def varied(menu: LevelMenu, percent: int) -> LevelMenu:
    """Returns a menu with all shares of the pot larger by so many percent."""
    factor = 1 + Fraction(percent, 100)

    def change(size: BetSize) -> BetSize:
        return replace(size, number=size.number * factor) if size.kind is SizeKind.POT else size

    first, second, third, fourth = (
        tuple(tuple(change(size) for size in level) for level in levels) for levels in menu.levels
    )
    return replace(menu, levels=(first, second, third, fourth))
