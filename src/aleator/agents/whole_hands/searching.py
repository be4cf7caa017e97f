"""What agents that search whole hands share: menus, how each street is solved, and a memory of what was solved.

One seam, `RoundSearch.solve`, decides how: rivers to the end of the hand by the exact engine of boards, turns too
where their betting is small enough, everything else to the end of the street with leaf values of
`learning.holdem.street_values`.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Generator, Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar

import numpy as np

from aleator.agents.whole_hands.base import HandAgent, HandPolicy
from aleator.agents.whole_hands.search_settings import SearchSettings
from aleator.caching import Kept
from aleator.errors import AgentError, SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import STREET_NAMES, Action
from aleator.games.holdem.betting_tree import BettingNode
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.hand_state import BOARD_CARDS, HandState
from aleator.memory import available_memory, format_gib
from aleator.search.whole_hands.exact import solve_exactly
from aleator.search.whole_hands.menus import MENU, TO_THE_END, read_menu
from aleator.search.whole_hands.rounds import Constraint, RoundGame, RoundTask, SolvedRound, round_game

if TYPE_CHECKING:
    from aleator.learning.holdem.street_values import StreetValues
    from aleator.solvers.engines.batched_holdem.deck import Deck

_RIVER: Final = 3
_TURN: Final = 2
_HANDS_ON_CPU: Final = 8  # that are asked about together
_HANDS_ON_DEVICE: Final = 2_048
_ROUNDS_ON_CPU: Final = 96  # that are kept
_ROUNDS_ON_DEVICE: Final = 2 * _HANDS_ON_DEVICE
_NODES_ON_CPU: Final = 64  # of betting that are solved together
_NODES_ON_DEVICE: Final = 8_192
_DEEPEST: Final = 250  # big blinds: networks have seen stacks up to 200
_NEEDED: Final = 700 << 20  # bytes
_MIX: Final = 0.9  # weight of the opponent's estimated range among the hands that a gadget deals


class RoundRequest(NamedTuple):
    """A round that an agent wants solved.

    Attributes:
        key: what it is remembered by.
        state: where somebody acts.
        reach: of both players, ``[2, 1326]``.
        added: what is done there, if the tree must have it.
        constraint: from the round to what its opponent is promised.
        draw: which iteration is played, where the round ends in leaves; see `RoundTask`.
        searcher: who searches, where the solution depends on it.
        like: the decision of a blueprint that is most like the state; None if all chips are in there.
    """

    key: Hashable
    state: HandState
    reach: FloatArray
    added: Action | None = None
    constraint: Callable[[RoundGame], Constraint] | None = None
    draw: Callable[[FloatArray], int] | None = None
    searcher: int = 0
    like: BettingNode | None = None


class RoundSolver(Protocol):
    """What solves the rounds that an agent asks for."""

    def solve(self, requests: Sequence[RoundRequest]) -> list[SolvedRound]:
        """Returns rounds, solved."""


class RoundSearch:
    """Solves rounds of whole hands, each street as the settings say."""

    def __init__(self, settings: SearchSettings) -> None:
        self.settings = settings
        self.menu = MENU if settings.menu is None else read_menu(settings.menu)
        self.on_device = settings.device != "cpu"  # then everything is solved there, in batches
        self._values: dict[int, StreetValues] = {}

    def solve(self, requests: Sequence[RoundRequest]) -> list[SolvedRound]:
        """Returns rounds, solved: those of one betting shape together."""
        groups: dict[Hashable, list[tuple[int, RoundTask]]] = {}
        solved: dict[int, SolvedRound] = {}
        for number, request in enumerate(requests):
            state = request.state
            game, to_the_end = self._game(state, request.reach, request.added)
            promised = None if request.constraint is None else request.constraint(game)
            if to_the_end and not self.on_device:
                iterations = self.settings.iterations(state.street, to_the_end=True)
                solved[number] = solve_exactly(game, iterations, constraint=promised)
            else:
                from aleator.search.whole_hands.batches import round_shape

                group = (state.street, round_shape(game.root).shape, promised is None)
                groups.setdefault(group, []).append((number, RoundTask(game, promised, request.draw)))
        for alike in groups.values():
            numbers, tasks = [number for number, _ in alike], [task for _, task in alike]
            street = requests[numbers[0]].state.street
            size = self._at_once(tasks[0].game)
            for first in range(0, len(tasks), size):
                batch = self._solve_alike(street, tasks[first : first + size])
                solved.update(zip(numbers[first : first + size], batch, strict=True))
        return [solved[number] for number in range(len(requests))]

    def _solve_alike(self, street: int, tasks: Sequence[RoundTask]) -> list[SolvedRound]:
        """Returns rounds of one street and one betting shape, solved together."""
        iterations = self.settings.iterations(street, to_the_end=street == _RIVER)
        if street == _RIVER:
            from aleator.search.whole_hands.rivers import solve_rivers

            return solve_rivers(tasks, self._deck, iterations)
        from aleator.search.whole_hands.depth_limited import solve_all_to_leaves

        return solve_all_to_leaves(tasks, self.values(street).on([task.game.board for task in tasks]), iterations)

    def _at_once(self, game: RoundGame) -> int:
        """Returns how many rounds of this betting are solved together, so that they fit into the device's memory."""
        return max(1, (_NODES_ON_DEVICE if self.on_device else _NODES_ON_CPU) // game.root.tree.num_nodes)

    @cached_property
    def _deck(self) -> Deck:
        from aleator.learning.holdem.street_values import device_named
        from aleator.solvers.engines.batched_holdem.deck import Deck

        return Deck(device=device_named(self.settings.device))

    def offers(self, state: HandState, action: Action) -> bool:
        """Returns whether the tree of a round that begins at a decision has an action there by itself."""
        return action in self._game(state, everybody(), None)[0].root.actions

    def _game(self, state: HandState, reach: FloatArray, added: Action | None) -> tuple[RoundGame, bool]:
        """Returns the round, and whether it goes to the end of the hand."""
        if state.street == _RIVER or (state.street == _TURN and not self.on_device):
            menu = self.menu if state.street == _RIVER else TO_THE_END
            game = round_game(state, menu, reach, to_the_end=True, added=added)
            if state.street == _RIVER or game.root.tree.num_nodes <= self.settings.exact_turn:
                return game, True
        return round_game(state, self.menu, reach, to_the_end=False, added=added), False

    def values(self, street: int) -> StreetValues:
        """Returns the leaf values at the end of a street."""
        if street not in self._values:
            from aleator.learning.holdem.street_values import street_values

            self._values[street] = street_values(
                STREET_NAMES[street], networks=self.settings.networks, device=self.settings.device
            )
        return self._values[street]


T = TypeVar("T")
Searching = Generator[RoundRequest, SolvedRound, T]
"""What comes to an answer by asking for rounds: many of them are followed at once, and their rounds solved together."""


class SearchingAgent(HandAgent):
    """An agent that solves a round whenever it has to act; what it knows follows from the public state alone.

    On a CUDA device all hands that are asked about together are searched in batches; on a CPU one after the other.

    Args:
        settings: how it searches.
    """

    def __init__(self, settings: SearchSettings | None = None) -> None:
        self.settings = settings or SearchSettings()
        on_device = self.settings.device != "cpu"
        self.hands_at_once = _HANDS_ON_DEVICE if on_device else _HANDS_ON_CPU
        self.is_alone = on_device
        self.positions_kept = 16 * self.hands_at_once
        self._rounds: Kept[SolvedRound] = Kept(_ROUNDS_ON_DEVICE if on_device else _ROUNDS_ON_CPU)

    @cached_property
    def search(self) -> RoundSearch:
        """The solver of rounds; networks are loaded when they are first needed."""
        if (there := available_memory()) < _NEEDED:
            raise AgentError(
                f"{self.name} takes {format_gib(_NEEDED)} of memory and {format_gib(there)} are left: free some"
            )
        return RoundSearch(self.settings)

    @property
    def solver(self) -> RoundSolver:
        """What solves the rounds that are asked for."""
        return self.search

    def policy_at(self, state: HandState) -> HandPolicy:
        return self.policies_of([state])[0]

    def policies_of(self, states: Sequence[HandState]) -> list[HandPolicy]:
        for state in states:
            check_playable(self.name, state)
        try:
            return self.follow([self._policy_at(state) for state in states])
        except SolveError as error:
            raise AgentError(f"{self.name}: {error}") from error

    def follow(self, searches: Sequence[Searching[T]]) -> list[T]:
        """Returns what some searches come to; all rounds that they wait for are solved together, each once."""
        answers: dict[int, T] = {}
        waiting: dict[int, RoundRequest] = {}

        def go_on(number: int, solved: SolvedRound | None) -> None:
            try:
                waiting[number] = searches[number].send(solved)  # type: ignore[arg-type]
            except StopIteration as end:
                waiting.pop(number, None)
                answers[number] = end.value

        for number in range(len(searches)):
            go_on(number, None)
        while waiting:
            there = {request.key: self._rounds.find(request.key) for request in waiting.values()}
            missing = {request.key: request for request in waiting.values() if there[request.key] is None}
            for key, solved in zip(missing, self.solver.solve(list(missing.values())), strict=True):
                there[key] = self._rounds.keep(key, solved)
            for number, request in list(waiting.items()):
                go_on(number, there[request.key])
        return [answers[number] for number in range(len(searches))]

    @abstractmethod
    def _policy_at(self, state: HandState) -> Searching[HandPolicy]:
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


def trembled(policy: FloatArray, action: int, tremble: float) -> FloatArray:
    """Returns [1326]: how likely each hand takes an action of a policy [A, 1326], if now and then it takes any."""
    taken: FloatArray = (1.0 - tremble) * policy[action] + tremble / len(policy)
    return taken


def promise(game: RoundGame, *, seat: int, reach: FloatArray, cfvs: FloatArray) -> Constraint:
    """Returns what a seat's opponent was promised in the unit of a round, and how its hands are dealt.

    Args:
        game: the round.
        seat: who searches.
        reach: of both players, the seat's in the unit of ``cfvs``.
        cfvs: ``[1326]`` in chips.
    """
    scale = float(np.where(game.reach[seat] > 0.0, reach[seat], 0.0).max()) or 1.0  # nobody left: it may be anybody
    estimated = game.reach[1 - seat]
    live = estimated > 0.0
    dealt = np.where(live, _MIX * estimated / estimated[live].mean() + (1.0 - _MIX), 0.0)
    return Constraint(1 - seat, cfvs / scale, dealt)
