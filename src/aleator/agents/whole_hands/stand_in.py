"""A blueprint of several players in the place of whoever sits at another table: fewer seats, other blinds and stacks.

Hands are taken for those of the blueprint's game that are most like them (`abstraction.ring.tables`), and what it does
there is brought back. A blueprint of another game than the hand's knows less: `known_policy` is None where it has lost
the line, `check_known` says whether it understands the line well enough to be asked for advice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.ring.tables import check_stacks, moved, translated
from aleator.agents.whole_hands.base import BatchPolicy, HandAgent, HandPolicy, ask_held
from aleator.agents.whole_hands.preflop import nearest_path
from aleator.agents.whole_hands.ring_blueprint import RingBlueprintAgent
from aleator.caching import lru_cache
from aleator.errors import AgentError
from aleator.games.holdem.betting import FOLD, Action, ActionKind
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.hand_batch import NO_CODE, HandBatch, action_code
from aleator.games.holdem.hand_state import HandSetup, HandState, states_before
from aleator.games.holdem.node_path import NodePath
from aleator.search.whole_hands.rounds import nearest_of

MOST_TIMES: Final = 2.0
"""How many times as large a bet may be as the one of the menu that it is taken for, or as small, if a line is known."""
LEAST_MET: Final = 1e-3
"""How likely the others must be to play to a decision by the blueprint: of what it met less often it learned little.

With the blueprint of the package the worst hands play on in 0 to 0.6 % of cases against reraises that it met as often,
in 3 % against those met a third as often, in 17 % and more against others.
"""
_BOARDS: Final = 16_384  # whose buckets are kept
_LINES: Final = 100_000  # of betting that are kept


class _Place(NamedTuple):
    """A decision of the blueprint, and its actions as those of the table, each once."""

    decision: int
    actions: tuple[Action, ...]
    columns: npt.NDArray[np.int64]  # of which of them each action of the blueprint is one


class StandInAgent(HandAgent):
    """Plays a blueprint of several players at other tables.

    Args:
        blueprint: that is.

    Attributes:
        blueprint: as given.
    """

    is_quick = True
    hands_at_once = 1024

    def __init__(self, blueprint: RingBlueprintAgent) -> None:
        self.name, self.blueprint = f"{blueprint.name} at another table", blueprint
        self._setup: HandSetup | None = None  # of the lines that are kept
        self._lines: dict[bytes, _Place | None] = {}
        self._buckets = lru_cache(maxsize=_BOARDS)(self._buckets_on)

    def policy_at(self, state: HandState) -> HandPolicy:
        return self.known_policy(state) or self.blueprint.otherwise.policy_at(state)

    def known_policy(self, state: HandState, *, least_met: float = 0.0) -> HandPolicy | None:
        """Returns what the blueprint does; None where it knows nothing, or has met less often what was done."""
        place = self._place_at(state)
        if place is None or self.blueprint.policy.met[place.decision] < least_met:
            return None
        rows = self.blueprint.policy.policy(place.decision)[self._buckets(state.board)].T
        legal = np.zeros((len(place.actions), NUM_HANDS))
        np.add.at(legal, place.columns, rows)
        return HandPolicy(place.actions, legal)

    def check_known(self, state: HandState) -> None:
        """Raises AgentError, and says why, where the blueprint does not understand what was done or who is in."""
        policy = self.blueprint.policy
        there = translated(state, policy.game)
        check_stacks(state, policy.game)
        line = policy.follow(there)
        gone, now = set[int | None](), there.setup.betting()
        for action, edge in zip(there.actions, line.edges, strict=False):
            if edge < 0:
                gone.add(now.player)
            elif not is_like(action, policy.betting.actions[edge]):
                raise AgentError(
                    "a bet is more than twice, or less than half, as large as any that the blueprint knows"
                )
            now = now.act(action)
        if gone & set(there.betting.live_players):
            raise AgentError(
                "somebody is in who limped, or called a raise as a third player, as the blueprint never does"
            )
        decision = policy.decision_at(there)
        if decision is None:
            raise AgentError("the blueprint knows nothing of what was done")
        if policy.met[decision] < LEAST_MET:
            raise AgentError("the blueprint has hardly ever met what was done")

    def chart(self, state: HandState) -> tuple[NodePath, bool]:
        """Returns where the blueprint's charts have a decision before the flop, and whether it is just that one.

        Raises:
            AgentError: the table is too different.
        """
        there = translated(state, self.blueprint.policy.game)
        path, is_exact = nearest_path(self.blueprint, there)
        return path, is_exact and there.setup.num_players == state.setup.num_players

    def own_reach(self, state: HandState, hand: int) -> float:
        """Returns how likely the player who acts is to have come here with a hand, as far as its own play decides."""
        reach = 1.0
        for now, action in zip(states_before(state), state.actions, strict=False):
            if now.player == state.player:
                policy = self.policy_at(now)
                reach *= float(policy.probabilities[nearest_of(policy.actions, action), hand])
        return reach

    def is_met(self, state: HandState, action: Action) -> bool:
        """Returns whether the blueprint has often met what an action at a decision that it knows leads to."""
        policy = self.blueprint.policy
        there = translated(state, policy.game)
        decision, action = policy.decision_at(there), moved(action, state.betting, there.betting)
        edge = None if decision is None else policy.edge(decision, action)
        if edge is None or not is_like(action, policy.betting.actions[edge]):
            return False
        target = int(policy.betting.arrays.target[edge])
        return action == FOLD or target < 0 or bool(policy.met[target] >= LEAST_MET)

    def held_policies(
        self, hands: HandBatch, rows: npt.NDArray[np.int64], held: npt.NDArray[np.int64]
    ) -> BatchPolicy | None:
        policy, counts = self.blueprint.policy, hands.num_actions[rows]
        lines = hands.codes[rows, : int(counts.max(initial=0)) + 1]
        _, first, line_of = np.unique(_keys(lines), return_index=True, return_inverse=True)
        places = [self._place_of(hands, int(row)) for row in rows[first]]
        width = max([3, *(len(place.actions) for place in places if place is not None)])
        codes = np.full((len(rows), width), NO_CODE, np.int32)
        probabilities = np.zeros((len(rows), width, 1))
        buckets = self._held_buckets(hands, rows, held)
        known = np.array([place is not None for place in places])[line_of]
        for number, place in enumerate(places):
            if place is None:
                continue
            here = np.flatnonzero(line_of == number)
            codes[here, : len(place.actions)] = [action_code(action) for action in place.actions]
            begin, actions = int(policy.betting.arrays.row[place.decision]), len(place.columns)
            for action, column in enumerate(place.columns):
                probabilities[here, column, 0] += policy.probabilities[begin + buckets[here] * actions + action]
        if not known.all():
            others = np.flatnonzero(~known)
            answer = ask_held(self.blueprint.otherwise, hands, rows[others], held[others])
            codes[others, : answer.codes.shape[1]] = answer.codes
            probabilities[others, : answer.codes.shape[1]] = answer.probabilities
        return BatchPolicy(codes, probabilities)

    def _place_of(self, hands: HandBatch, row: int) -> _Place | None:
        """Returns where the line of one hand of a batch leads."""
        if hands.setup != self._setup or len(self._lines) > _LINES:
            self._setup, self._lines = hands.setup, {}
        key = hands.codes[row, : hands.num_actions[row]].tobytes()
        if key not in self._lines:
            self._lines[key] = self._place_at(hands.state(row))
        return self._lines[key]

    def _place_at(self, state: HandState) -> _Place | None:
        policy = self.blueprint.policy
        try:
            there = translated(state, policy.game)
        except AgentError:
            return None
        decision = policy.decision_at(there)
        if decision is None:
            return None
        first, end = policy.betting.arrays.first[decision : decision + 2]
        options = [self.blueprint.allowed(there, action) for action in policy.betting.actions[first:end]]
        back = [moved(action, there.betting, state.betting) for action in options]
        actions = tuple(dict.fromkeys(back))
        return _Place(decision, actions, np.array([actions.index(action) for action in back]))

    def _held_buckets(
        self, hands: HandBatch, rows: npt.NDArray[np.int64], held: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Returns the number of the held hand of each of some hands on its board, ``[R]``."""
        buckets, seen = np.empty(len(rows), np.int64), hands.num_board[rows]
        shown = np.where(np.arange(5) < seen[:, None], hands.board[rows], np.int8(-1))
        _, first, board_of = np.unique(_keys(shown), return_index=True, return_inverse=True)
        boards = [tuple(hands.board[rows[place], : seen[place]].tolist()) for place in first]
        order = np.argsort(board_of, kind="stable")
        ends = np.cumsum(np.bincount(board_of))
        for board, begin, end in zip(boards, (0, *ends[:-1]), ends, strict=True):
            here = order[begin:end]
            buckets[here] = self._buckets(board)[held[here]]
        return buckets

    def _buckets_on(self, board: tuple[int, ...]) -> npt.NDArray[np.int32]:
        return self.blueprint.policy.buckets.numbers(board).astype(np.int32)


def like_place(action: Action, known: Sequence[Action]) -> int | None:
    """Returns the place of the known action that is most like another one, None if none is like it."""
    like = [place for place, other in enumerate(known) if is_like(action, other)]
    return min(like, key=lambda place: abs(known[place].amount - action.amount), default=None)


def is_like(action: Action, taken_for: Action) -> bool:
    """Returns whether an action is of the kind of the one that it is taken for, and about as large."""
    if action.kind is not taken_for.kind or action.kind is not ActionKind.RAISE:
        return action.kind is taken_for.kind
    return 1 / MOST_TIMES <= action.amount / taken_for.amount <= MOST_TIMES


def _keys(rows: npt.NDArray[np.integer]) -> npt.NDArray[np.void]:
    """Returns each row as one value, equal for equal rows."""
    whole = np.ascontiguousarray(rows)
    return whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).ravel()
