"""What `modicum` and `libratus` share: a blueprint on the first streets, nested search from there on.

Algorithm:
    Both players' reach is followed from the blinds on: by the blueprint's policy on the first streets, later by the
    solutions of searches. Where a street is searched, it is solved once, from its start; both players are then taken to
    act as that solution says. If somebody bets what the solution lacks, a new search begins at that decision, with the
    bet added. From the first search that goes to the end of the hand on, further searches of that hand are safe: a
    gadget above them (`search.range_gadget`) lets each of the opponent's hands take what it had in the search before.
    Beside it goes a node of the blueprint's betting, the one most like what was played: values come from there.

Reference: N. Brown's thesis (2020), 5.1.7 (nested search), 6.4 and 6.5; DeepStack, Algorithm 1 (the mixture of hands
that are dealt into the gadget).
Deviations: bets before the first searched street are translated by the blueprint; Modicum adds them to its tree.
Status: tests/agents/whole_hands/test_modicum.py, tests/agents/whole_hands/test_libratus.py.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Final, NamedTuple

from aleator.abstraction.blueprint.values import BlueprintValues
from aleator.abstraction.translation import size_at_table
from aleator.agents.whole_hands.base import HandPolicy
from aleator.agents.whole_hands.blueprint import BlueprintAgent
from aleator.agents.whole_hands.search_settings import NestedSettings
from aleator.agents.whole_hands.searching import (
    RoundRequest,
    Searching,
    SearchingAgent,
    everybody,
    promise,
    updated,
)
from aleator.agents.whole_hands.tree_agent import is_all_in
from aleator.caching import Kept
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action, ActionKind
from aleator.games.holdem.betting_tree import BettingNode
from aleator.games.holdem.hand_state import HandState, states_before
from aleator.games.holdem.level_menu import LevelMenu
from aleator.search.whole_hands.exact import solve_exactly
from aleator.search.whole_hands.menus import MENU, NESTED, read_menu
from aleator.search.whole_hands.multi_valued import (
    MultiValuedRound,
    equity_matrix,
    matching_child,
    next_street,
    solve_multi_valued,
)
from aleator.search.whole_hands.rounds import (
    RoundGame,
    RoundTask,
    SolvedRound,
    child_of,
    nearest_action,
    nearest_of,
    round_game,
)

_FLOP: Final = 1
_TURN: Final = 2
_RIVER: Final = 3
_BOARDS_KEPT: Final = 4


class Beliefs(NamedTuple):
    """What a seat believes at a public state.

    Attributes:
        state: where.
        reach: of both players, ``[2, 1326]``, at most 1.
        like: the node of the blueprint's betting that is most like it; None if all chips are in there.
        solved: the search that covers this state; None if none was begun on this street.
        node: where it stands in there; None if the search lacks what was done.
        promised: ``[1326]`` cfvs in chips that the opponent may take at most, for the seat's reach times ``scale``.
        scale: what the seat's reach must be multiplied by to be in the unit of its search.
    """

    state: HandState
    reach: FloatArray
    like: BettingNode | None
    solved: SolvedRound | None = None
    node: BettingNode | None = None
    promised: FloatArray | None = None
    scale: float = 1.0


class NestedSolver:
    """Solves rounds from a blueprint: flops to multi-valued leaves, turns and rivers to the end of the hand.

    Args:
        values: of the blueprint.
        settings: how long.
        naive: whether leaves have the blueprint's value only.
    """

    def __init__(self, values: BlueprintValues, settings: NestedSettings, *, naive: bool = False) -> None:
        self.values, self.settings, self.naive = values, settings, naive
        self._boards: Kept[MultiValuedRound] = Kept(_BOARDS_KEPT)
        self._river, self._before = MENU, NESTED
        if settings.menu is not None:
            self._river, asked = read_menu(settings.menu), read_menu(settings.menu, NESTED)
            self._before = replace(asked, levels=(*asked.levels[:_RIVER], NESTED.levels[_RIVER]))

    def solve(self, requests: Sequence[RoundRequest]) -> list[SolvedRound]:
        """Returns rounds, solved one after the other."""
        return [self._solve(request) for request in requests]

    def menu(self, state: HandState) -> LevelMenu:
        """Returns the bets of a search that begins at a decision."""
        return self._river if state.street == _RIVER else self._before

    def game(self, state: HandState, reach: FloatArray, added: Action | None = None) -> RoundGame:
        """Returns the round that begins at a decision."""
        return round_game(state, self.menu(state), reach, to_the_end=state.street >= _TURN, added=added)

    def _solve(self, request: RoundRequest) -> SolvedRound:
        state, settings = request.state, self.settings
        game = self.game(state, request.reach, request.added)
        promised = None if request.constraint is None else request.constraint(game)
        if state.street >= _TURN:
            iterations = settings.turn if state.street == _TURN else settings.river
            opponent = 1 - request.searcher
            return solve_exactly(game, iterations, constraint=promised, seconds=settings.seconds, watch=opponent)
        board = self._boards.find(state.board)
        if board is None:
            numbers = self.values.board_numbers(state.board)
            equities = equity_matrix(state.board, numbers.hands)
            board = self._boards.keep(state.board, MultiValuedRound(self.values, None, numbers, equities, None))
        leaves = board._replace(node=request.like, chooser=None if self.naive else 1 - request.searcher)
        return solve_multi_valued(RoundTask(game, promised), leaves, settings.flop, seconds=settings.seconds)


class NestedAgent(SearchingAgent):
    """Plays a blueprint, and searches from some street on; see the module.

    Args:
        blueprint: what it plays before.
        settings: how it searches.

    Attributes:
        first_street: the first one that it searches.
    """

    first_street: int
    has_own_stacks = True

    def __init__(self, blueprint: BlueprintAgent, settings: NestedSettings) -> None:
        super().__init__()
        self.blueprint, self.nested = blueprint, settings
        self._beliefs: Kept[Beliefs] = Kept(self.positions_kept)
        self.values = BlueprintValues(blueprint.blueprint.policy)

    @property
    @abstractmethod
    def solver(self) -> NestedSolver:
        """What solves rounds."""

    def promised(self, state: HandState, reach: FloatArray, like: BettingNode | None, seat: int) -> FloatArray | None:
        """Returns the opponent's cfvs at the start of a street, ``[1326]``; None to search from there unsafely."""
        return None

    @cached_property
    def _most(self) -> int:
        return self.blueprint.blueprint.most

    def _policy_at(self, state: HandState) -> Searching[HandPolicy]:
        assert state.player is not None
        if state.street < self.first_street:
            return self.blueprint.policy_at(state)
        beliefs = yield from self._beliefs_at(state, state.player)
        beliefs = yield from self._searched(beliefs, state.player, None)
        assert beliefs.solved is not None and beliefs.node is not None
        return HandPolicy(beliefs.node.actions, beliefs.solved.policies[beliefs.node.number])

    def beliefs_at(self, state: HandState, seat: int) -> Beliefs:
        """Returns what a seat believes at a decision."""
        return self.follow([self._beliefs_at(state, seat)])[0]

    def _beliefs_at(self, state: HandState, seat: int) -> Searching[Beliefs]:
        states = states_before(state)
        if not self.blueprint.blueprint.begins_at(states[0]):
            raise AgentError(f"{self.name} plays hands from the blinds on")
        beliefs, known = Beliefs(states[0], everybody(), self.blueprint.blueprint.start().node), 0
        if last := self._beliefs.find_last([(now, seat) for now in states]):
            known, beliefs = last
        for action, later in zip(state.actions[known:], states[known + 1 :], strict=True):
            beliefs = self._beliefs.keep((later, seat), (yield from self._after(beliefs, seat, action, later)))
        return beliefs

    def _after(self, beliefs: Beliefs, seat: int, action: Action, later: HandState) -> Searching[Beliefs]:
        """Returns what a seat believes after an action, which leads to ``later``."""
        state, player = beliefs.state, beliefs.state.player
        assert player is not None
        if state.street < self.first_street:
            policy = self.blueprint.policy_at(state)
            probabilities = policy.probabilities[nearest_of(policy.actions, action)]
        else:
            beliefs = yield from self._searched(beliefs, seat, action)
            assert beliefs.solved is not None and beliefs.node is not None
            probabilities = beliefs.solved.policies[beliefs.node.number][nearest_action(beliefs.node, action)]
        reach = updated(beliefs.reach, player, probabilities)
        scale = beliefs.scale
        if player == seat and (most := float((beliefs.reach[seat] * probabilities).max())) > 0.0:
            scale *= most
        size = size_at_table(state.betting, action.amount) if action.kind is ActionKind.RAISE else 0.0
        all_in = action.kind is ActionKind.RAISE and is_all_in(state, action.amount)
        like = matching_child(beliefs.like, action.kind, size, all_in=all_in, most=self._most)
        node = None if beliefs.node is None else child_of(beliefs.node, action)
        if later.street != state.street or later.betting.is_over:
            like = None if like is None else next_street(like)
            if later.player is None or later.street < self.first_street:
                return Beliefs(later, reach, like)
            if node is not None and beliefs.solved is not None and beliefs.solved.next_cfvs is not None:
                promised = beliefs.solved.next_cfvs(node.number, later.board[-1])
                return Beliefs(later, reach, like, promised=promised, scale=scale)
            return Beliefs(later, reach, like, promised=self.promised(later, reach, like, seat))
        return beliefs._replace(state=later, reach=reach, like=like, node=node, scale=scale)

    def _searched(self, beliefs: Beliefs, seat: int, action: Action | None) -> Searching[Beliefs]:
        """Returns the same beliefs with a search that covers the state, and an action there if it is given."""
        state, reach, like, solved, node, promised, scale = beliefs
        if solved is not None and node is not None:
            if action is None or child_of(node, action) is not None:
                return beliefs
            promised = solved.cfvs.get(node.number)
        added = None if action is None or action in self.solver.game(state, reach).root.actions else action
        constraint = None if promised is None else partial(promise, seat=seat, reach=scale * reach, cfvs=promised)
        request = RoundRequest(
            (state, seat, added), state, reach, added=added, constraint=constraint, searcher=seat, like=like
        )
        solved = yield request
        most = float(
            reach[seat][solved.game.reach[seat] > 0.0].max()
        )  # 1 in the search, which leaves blocked hands out
        return Beliefs(state, reach, like, solved, solved.game.root, promised, 1.0 / most if most > 0.0 else 1.0)
