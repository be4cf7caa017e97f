"""What agents that search whole hands share: menus, how each street is solved, and a memory of what was solved.

One seam, `RoundSearch.solve`, decides how: rivers to the end of the hand by the exact engine of boards, turns too
where their betting is small enough, everything else to the end of the street with leaf values of
`learning.holdem.street_values`.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import numpy as np

from aleator.agents.whole_hands.base import HandAgent, HandPolicy
from aleator.agents.whole_hands.search_settings import SearchSettings
from aleator.errors import AgentError, SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import STREET_NAMES, Action
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.hand_state import BOARD_CARDS, HandState
from aleator.memory import available_memory, format_gib
from aleator.search.whole_hands.exact import solve_exactly
from aleator.search.whole_hands.menus import MENU, TO_THE_END
from aleator.search.whole_hands.rounds import Constraint, RoundGame, SolvedRound, round_game

if TYPE_CHECKING:
    from aleator.learning.holdem.street_values import StreetValues

_RIVER: Final = 3
_TURN: Final = 2
_KEPT: Final = 96  # solved rounds, and as many positions
_DEEPEST: Final = 250  # big blinds: networks have seen stacks up to 200
_NEEDED: Final = 700 << 20  # bytes


class RoundSearch:
    """Solves rounds of whole hands, each street as the settings say."""

    def __init__(self, settings: SearchSettings) -> None:
        self.settings = settings
        self._values: dict[int, StreetValues] = {}

    def solve(
        self,
        state: HandState,
        reach: FloatArray,
        *,
        added: Action | None = None,
        constraint: Callable[[RoundGame], Constraint] | None = None,
        draw: Callable[[FloatArray], int] | None = None,
    ) -> SolvedRound:
        """Returns the round that begins at a decision, solved.

        Args:
            state: where somebody acts.
            reach: of both players, ``[2, 1326]``.
            added: what is done there, if the tree must have it.
            constraint: from the round to what its opponent is promised.
            draw: which iteration is played, where the round ends in leaves; see `solve_to_leaves`.
        """
        game, to_the_end = self._game(state, reach, added)
        iterations = self.settings.iterations(state.street, to_the_end=to_the_end)
        promised = None if constraint is None else constraint(game)
        if to_the_end:
            return solve_exactly(game, iterations, constraint=promised)
        from aleator.search.whole_hands.depth_limited import solve_to_leaves

        values = self.values(state.street).on(state.board)
        return solve_to_leaves(game, values, iterations, constraint=promised, draw=draw)

    def offers(self, state: HandState, action: Action) -> bool:
        """Returns whether the tree of a round that begins at a decision has an action there by itself."""
        return action in self._game(state, everybody(), None)[0].root.actions

    def _game(self, state: HandState, reach: FloatArray, added: Action | None) -> tuple[RoundGame, bool]:
        """Returns the round, and whether it goes to the end of the hand."""
        if state.street >= _TURN:
            menu = MENU if state.street == _RIVER else TO_THE_END
            game = round_game(state, menu, reach, to_the_end=True, added=added)
            if state.street == _RIVER or game.root.tree.num_nodes <= self.settings.exact_turn:
                return game, True
        return round_game(state, MENU, reach, to_the_end=False, added=added), False

    def values(self, street: int) -> StreetValues:
        """Returns the leaf values at the end of a street."""
        if street not in self._values:
            from aleator.learning.holdem.street_values import street_values

            self._values[street] = street_values(
                STREET_NAMES[street], networks=self.settings.networks, device=self.settings.device
            )
        return self._values[street]

    def sources(self) -> dict[str, str]:
        """Returns where the values of each street come from, in words."""
        return {
            "preflop": self.values(0).source,
            "flop": self.values(1).source,
            "turn": f"solved to the end up to {self.settings.exact_turn} betting nodes, else {self.values(2).source}",
            "river": "solved to the end of the hand",
        }


Key = Hashable
T = TypeVar("T")


class Kept(Generic[T]):
    """The last few things that were computed, by key."""

    def __init__(self, most: int = _KEPT) -> None:
        self._found: OrderedDict[Key, T] = OrderedDict()
        self._most = most

    def get(self, key: Key, make: Callable[[], T]) -> T:
        """Returns what a key stands for, made if it is not there."""
        if key not in self._found:
            made = make()
            self._found[key] = made
            while len(self._found) > self._most:
                self._found.popitem(last=False)
        self._found.move_to_end(key)
        return self._found[key]


class SearchingAgent(HandAgent):
    """An agent that solves a round whenever it has to act; what it knows follows from the public state alone.

    Args:
        settings: how it searches.
    """

    hands_at_once = 8

    def __init__(self, settings: SearchSettings | None = None) -> None:
        self.settings = settings or SearchSettings()
        self._rounds: Kept[SolvedRound] = Kept()

    @cached_property
    def search(self) -> RoundSearch:
        """The solver of rounds; networks are loaded when they are first needed."""
        if (there := available_memory()) < _NEEDED:
            raise AgentError(
                f"{self.name} takes {format_gib(_NEEDED)} of memory and {format_gib(there)} are left: free some"
            )
        return RoundSearch(self.settings)

    def policy_at(self, state: HandState) -> HandPolicy:
        check_playable(self.name, state)
        try:
            return self._policy_at(state)
        except SolveError as error:
            raise AgentError(f"{self.name}: {error}") from error

    @abstractmethod
    def _policy_at(self, state: HandState) -> HandPolicy:
        """Returns what the acting player does with every hand."""


def check_playable(name: str, state: HandState) -> None:
    """Raises AgentError unless a hand can be searched: heads-up, no-limit, four streets, equal stacks, not too deep."""
    rules, stacks = state.setup.rules, state.setup.stacks
    if rules.num_players != 2 or rules.fixed_bets is not None or rules.num_streets != len(BOARD_CARDS):
        raise AgentError(f"{name} plays heads-up no-limit hold'em to the river only: give it the game hunl")
    if len(set(stacks)) > 1:
        raise AgentError(f"{name} needs equal stacks, not {stacks[0]:,} and {stacks[1]:,}: play with the smaller one")
    if stacks[0] > _DEEPEST * rules.big_blind:
        raise AgentError(
            f"{name} plays stacks up to {_DEEPEST} big blinds, not {stacks[0] / rules.big_blind:g}: give it fewer chips"
        )


def start_of(state: HandState) -> HandState:
    """Returns the first decision of a hand, with the board as far as it is dealt there."""
    return _dealt(state.setup.start(), state)


def after(now: HandState, action: Action, state: HandState) -> HandState:
    """Returns the state after an action on the way to ``state``, with the cards that follow it dealt as they were."""
    return _dealt(now.act(action), state)


def _dealt(now: HandState, state: HandState) -> HandState:
    while (due := now.cards_due) and len(state.board) >= len(now.board) + due:
        now = now.deal(state.board[len(now.board) : len(now.board) + due])
    return now


def draw_for(state: HandState, seed: int) -> Callable[[FloatArray], int]:
    """Returns what draws an iteration for a public state: always the same one for the same state and seed."""
    text = repr((seed, state.setup.stacks, state.board, [(str(a.kind), a.amount) for a in state.actions]))
    number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")

    def draw(weights: FloatArray) -> int:
        return int(np.random.default_rng(number).choice(len(weights), p=weights))

    return draw


def everybody() -> FloatArray:
    """Returns the reach of both players before anything is done, ``[2, 1326]``."""
    return np.ones((2, NUM_HANDS))


def updated(reach: FloatArray, player: int, probabilities: FloatArray) -> FloatArray:
    """Returns reach [2, 1326] after an action of a player that each hand takes with some probability; the largest is 1.

    An action that no hand takes tells nothing.
    """
    acted = reach[player] * probabilities
    if not acted.max() > 0.0:
        return reach
    updated = reach.copy()
    updated[player] = acted / acted.max()
    return updated
