"""Many whole hands at once, in arrays: what matches, local best response and self-play run on.

All hands of a batch begin alike (one `HandSetup`). The rules are those of `games.holdem.betting`, written once more for
arrays because a hand takes microseconds here and milliseconds there; tests/games/holdem/test_hand_batch.py plays
random hands of 2 to 10 players both ways and compares every number.

An action is one number, its code: `FOLD_CODE`, `CALL_CODE` (0, a check too), or the chips of the player on this street
after a bet or raise; `NO_CODE` fills rows of actions that are shorter than others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.games.holdem.betting import CALL, FOLD, Action, ActionKind, BettingRules, raise_to
from aleator.games.holdem.cards import HANDS, format_cards, format_hand
from aleator.games.holdem.evaluator import EvaluatorTables, evaluator_tables, strength_of
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import BOARD_CARDS, HandSetup, HandState
from aleator.jit import njit

IntArray = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]

FOLD_CODE: Final = -1
CALL_CODE: Final = 0
NO_CODE: Final = -2
OVER: Final = -1
"""The player of a hand that is over."""

_FIRST_ROOM: Final = 16  # actions that there is room for at first


class ArrayRules(NamedTuple):
    """`BettingRules` as numbers for compiled code; per street, -1 for no cap of raises."""

    num_streets: int
    is_limit: bool
    min_bets: IntArray
    max_raises: IntArray


class BettingArrays(NamedTuple):
    """The betting of B hands of P players; see `BettingState` for what each means."""

    street: npt.NDArray[np.int8]  # [B]
    player: npt.NDArray[np.int8]  # [B], OVER when nobody has anything left to decide
    stacks: Int32Array  # [B, P]
    bets: Int32Array  # [B, P]
    contributions: Int32Array  # [B, P]
    folded: npt.NDArray[np.bool_]  # [B, P]
    acted: npt.NDArray[np.bool_]  # [B, P]
    num_raises: Int32Array  # [B]
    full_raise: Int32Array  # [B]


class LegalArrays(NamedTuple):
    """What the acting players of some hands may do; see `LegalActions`."""

    can_fold: npt.NDArray[np.bool_]  # [R]
    call_amount: Int32Array  # [R]
    min_raise_to: Int32Array  # [R], 0 if no raise is legal
    max_raise_to: Int32Array  # [R], 0 if no raise is legal


@dataclass(slots=True)
class HandBatch:
    """B hands in progress.

    Attributes:
        setup: how all of them began.
        betting: chips and turns.
        hands: of each player, 0..1325, ``[B, P]``; -1 where it is not known.
        board: all cards that come or will come, ``[B, 5]``; what players see is `num_board`. -1 where it is not known.
        codes: the actions so far, ``[B, room]``.
        action_streets: the street of each of them, ``[B, room]``.
        num_actions: how many of them, ``[B]``.
    """

    setup: HandSetup
    betting: BettingArrays
    hands: npt.NDArray[np.int16]
    board: npt.NDArray[np.int8]
    codes: Int32Array
    action_streets: npt.NDArray[np.int8]
    num_actions: Int32Array

    @classmethod
    def start(cls, setup: HandSetup, hands: npt.NDArray[np.integer], board: npt.NDArray[np.integer]) -> HandBatch:
        """Returns hands before their first action, with blinds posted.

        Args:
            setup: how they begin.
            hands: of each player, ``[B, P]``.
            board: all five cards, ``[B, 5]``; those the setup fixes come first.
        """
        count, first = len(hands), setup.betting()
        players = setup.num_players

        def repeated(values: Sequence[int] | Sequence[bool], dtype: type[np.generic]) -> npt.NDArray[Any]:
            return np.tile(np.asarray(values, dtype=dtype), (count, 1))

        betting = BettingArrays(
            street=np.full(count, first.street, np.int8),
            player=np.full(count, OVER if first.player is None else first.player, np.int8),
            stacks=repeated(first.stacks, np.int32),
            bets=repeated(first.bets, np.int32),
            contributions=repeated(first.contributions, np.int32),
            folded=repeated(first.folded, np.bool_),
            acted=repeated(first.acted, np.bool_),
            num_raises=np.full(count, first.num_raises, np.int32),
            full_raise=np.full(count, first.full_raise, np.int32),
        )
        return cls(
            setup=setup,
            betting=betting,
            hands=np.ascontiguousarray(hands, dtype=np.int16).reshape(count, players),
            board=np.ascontiguousarray(board, dtype=np.int8).reshape(count, 5),
            codes=np.full((count, _FIRST_ROOM), NO_CODE, np.int32),
            action_streets=np.zeros((count, _FIRST_ROOM), np.int8),
            num_actions=np.zeros(count, np.int32),
        )

    @classmethod
    def of_states(cls, states: Sequence[HandState]) -> HandBatch:
        """Returns a batch of hands in progress that began alike; hands and cards to come are unknown (-1)."""
        setup = states[0].setup
        batch = cls.start(setup, np.full((len(states), setup.num_players), -1), np.full((len(states), 5), -1))
        for row, state in enumerate(states):
            batch.board[row, : len(state.board)] = state.board
        longest = max(len(state.actions) for state in states)
        for place in range(longest):
            rows = np.array([row for row, state in enumerate(states) if place < len(state.actions)])
            batch.act(rows, np.array([action_code(states[row].actions[place]) for row in rows]))
        return batch

    def __len__(self) -> int:
        return len(self.hands)

    @property
    def rules(self) -> BettingRules:
        """The rules of the betting."""
        return self.setup.rules

    @property
    def num_board(self) -> npt.NDArray[np.int64]:
        """How many board cards players see in each hand, ``[B]``: the street's; after an all-in all come later."""
        return np.asarray(_BOARD_CARDS[self.betting.street])

    @property
    def pot(self) -> npt.NDArray[np.int64]:
        """All chips in the middle of each hand, ``[B]``."""
        return np.asarray(self.betting.contributions.sum(axis=1, dtype=np.int64) + self.dead)

    @property
    def dead(self) -> int:
        """Chips in every pot that count as nobody's bet."""
        return self.setup.betting().dead

    def legal(self, rows: npt.NDArray[np.integer]) -> LegalArrays:
        """Returns what the acting players of some hands may do; none of them is over."""
        count = len(rows)
        found = LegalArrays(np.zeros(count, np.bool_), *(np.zeros(count, np.int32) for _ in range(3)))
        _legal(array_rules(self.rules), self.betting, np.asarray(rows, np.int64), found)
        return found

    def act(self, rows: npt.NDArray[np.integer], codes: npt.NDArray[np.integer]) -> None:
        """Lets the acting player of each of some hands do what its code says; nothing is checked.

        Args:
            rows: the hands, each once and none of them over.
            codes: one per hand, legal there.
        """
        if len(rows) and int(self.num_actions[rows].max()) >= self.codes.shape[1]:
            self.codes = np.concatenate([self.codes, np.full_like(self.codes, NO_CODE)], axis=1)
            self.action_streets = np.concatenate([self.action_streets, np.zeros_like(self.action_streets)], axis=1)
        self.codes[rows, self.num_actions[rows]] = codes
        self.action_streets[rows, self.num_actions[rows]] = self.betting.street[rows]
        self.num_actions[rows] += 1
        _act(array_rules(self.rules), self.betting, np.asarray(rows, np.int64), np.asarray(codes, np.int32))

    def take(self, rows: npt.NDArray[np.integer]) -> HandBatch:
        """Returns copies of some hands, in this order; a row may come several times."""
        return HandBatch(
            setup=self.setup,
            betting=BettingArrays(*(array[rows] for array in self.betting)),
            hands=self.hands[rows],
            board=self.board[rows],
            codes=self.codes[rows],
            action_streets=self.action_streets[rows],
            num_actions=self.num_actions[rows],
        )

    def payoffs(self) -> IntArray:
        """Returns the chips that each player of each hand won or lost, ``[B, P]``; all hands are over and known."""
        found = np.zeros((len(self), self.setup.num_players), np.int64)
        starts = np.asarray(self.setup.stacks, np.int64)
        boards = np.ascontiguousarray(self.board[:, : self.setup.last_board])
        _payoffs(self.betting, self.hands, boards, HANDS, starts, self.dead, evaluator_tables(), found)
        return found

    def state(self, row: int) -> HandState:
        """Returns one hand as the public sees it."""
        return self._record(row, (None,) * self.setup.num_players).state()

    def record(self, row: int, *, number: int = 0, names: tuple[str, ...] = ()) -> HandRecord:
        """Returns one hand as a record; an all-in shows all board cards, a fold those dealt before it."""
        hands = tuple(None if hand < 0 else int(hand) for hand in self.hands[row])
        return self._record(row, hands, number, names)

    def _record(
        self, row: int, hands: tuple[int | None, ...], number: int = 0, names: tuple[str, ...] = ()
    ) -> HandRecord:
        return HandRecord(
            setup=self.setup,
            hands=hands,
            board=tuple(int(card) for card in self.board[row, : self._num_seen(row)]),
            actions=tuple(code_action(int(code)) for code in self.codes[row, : self.num_actions[row]]),
            names=names,
            number=number,
        )

    def to_dict(self, row: int, number: int) -> dict[str, Any]:
        """Returns one hand as `HandRecord.to_dict` without its setup does, without replaying it."""
        words: list[str] = []
        street = int(self.setup.first_street)
        for place in range(int(self.num_actions[row])):
            if self.action_streets[row, place] != street:
                street = int(self.action_streets[row, place])
                words.append("/")
            code = int(self.codes[row, place])
            words.append("f" if code == FOLD_CODE else "c" if code == CALL_CODE else f"r{code}")
        return {
            "hand": number,
            "hands": [format_hand(int(hand)) for hand in self.hands[row]],
            "board": format_cards(self.board[row, : self._num_seen(row)]),
            "actions": " ".join(words),
        }

    def _num_seen(self, row: int) -> int:
        """Returns how many board cards everybody has seen: all of them after an all-in."""
        is_showdown = self.betting.player[row] == OVER and (~self.betting.folded[row]).sum() > 1
        return self.setup.last_board if is_showdown else int(self.num_board[row])


_BOARD_CARDS: Final = np.array(BOARD_CARDS)


def action_code(action: Action) -> int:
    """Returns the code of an action."""
    return {ActionKind.FOLD: FOLD_CODE, ActionKind.CALL: CALL_CODE}.get(action.kind, action.amount)


def code_action(code: int) -> Action:
    """Returns the action with this code."""
    return FOLD if code == FOLD_CODE else CALL if code == CALL_CODE else raise_to(code)


def array_rules(rules: BettingRules) -> ArrayRules:
    """Returns rules as numbers for compiled code."""
    streets = range(rules.num_streets)
    caps = [rules.max_raises_on(street) for street in streets]
    return ArrayRules(
        rules.num_streets,
        rules.fixed_bets is not None,
        np.array([rules.min_bet(street) for street in streets], np.int64),
        np.array([-1 if cap is None else cap for cap in caps], np.int64),
    )


@njit()
def _someone_can_call_more(betting: BettingArrays, row: int, player: int, highest: int) -> bool:
    for other in range(betting.bets.shape[1]):
        can_call = betting.bets[row, other] + betting.stacks[row, other] > highest
        if other != player and not betting.folded[row, other] and can_call:
            return True
    return False


@njit()
def _highest(betting: BettingArrays, row: int) -> int:
    highest = 0
    for player in range(betting.bets.shape[1]):
        highest = max(highest, betting.bets[row, player])
    return highest


@njit()
def _legal(rules: ArrayRules, betting: BettingArrays, rows: IntArray, found: LegalArrays) -> None:
    for place in range(len(rows)):
        row = rows[place]
        player, street = betting.player[row], betting.street[row]
        highest, bet, stack = _highest(betting, row), betting.bets[row, player], betting.stacks[row, player]
        to_call, full = highest - bet, betting.full_raise[row]
        found.can_fold[place] = to_call > 0
        found.call_amount[place] = min(to_call, stack)
        is_reopened = not betting.acted[row, player] or to_call >= full
        is_capped = betting.num_raises[row] == rules.max_raises[street]
        if stack > to_call and is_reopened and not is_capped and _someone_can_call_more(betting, row, player, highest):
            lowest = min(bet + stack, highest + full)
            found.min_raise_to[place] = lowest
            found.max_raise_to[place] = lowest if rules.is_limit else bet + stack
        else:
            found.min_raise_to[place] = 0
            found.max_raise_to[place] = 0


@njit()
def _act(rules: ArrayRules, betting: BettingArrays, rows: IntArray, codes: Int32Array) -> None:
    players = betting.bets.shape[1]
    for place in range(len(rows)):
        row, code = rows[place], codes[place]
        player = betting.player[row]
        betting.acted[row, player] = True
        if code == FOLD_CODE:
            betting.folded[row, player] = True
        else:
            highest = _highest(betting, row)
            to = highest if code == CALL_CODE else code
            chips = min(to - betting.bets[row, player], betting.stacks[row, player])
            betting.stacks[row, player] -= chips
            betting.bets[row, player] += chips
            betting.contributions[row, player] += chips
            if code != CALL_CODE:
                betting.num_raises[row] += 1
                if code - highest >= betting.full_raise[row]:
                    betting.full_raise[row] = code - highest
                    for other in range(players):
                        betting.acted[row, other] = other == player
        _next_player(rules, betting, row, player)


@njit()
def _next_player(rules: ArrayRules, betting: BettingArrays, row: int, after: int) -> None:
    """Finds who acts after a player, on a later street if need be."""
    players = betting.bets.shape[1]
    while True:
        live, with_chips = 0, 0
        for player in range(players):
            if not betting.folded[row, player]:
                live += 1
                with_chips += betting.stacks[row, player] > 0
        if live == 1:
            betting.player[row] = OVER
            return
        highest = _highest(betting, row)
        for step in range(1, players + 1):
            player = (after + step) % players
            if betting.folded[row, player] or betting.stacks[row, player] == 0:
                continue
            owes = betting.bets[row, player] < highest
            if owes or (not betting.acted[row, player] and _someone_can_call_more(betting, row, player, highest)):
                betting.player[row] = player
                return
        if with_chips < 2 or betting.street[row] == rules.num_streets - 1:
            betting.player[row] = OVER
            return
        betting.street[row] += 1
        betting.num_raises[row] = 0
        betting.full_raise[row] = rules.min_bets[betting.street[row]]
        for player in range(players):
            betting.bets[row, player] = 0
            betting.acted[row, player] = False
        after = players - 1


@njit()
def _payoffs(
    betting: BettingArrays, hands: npt.NDArray[np.int16], boards: npt.NDArray[np.int8], cards: npt.NDArray[np.int8],
    starts: IntArray, dead: int, tables: EvaluatorTables, found: IntArray,
) -> None:  # fmt: skip
    """Fills ``found`` ``[B, P]``: each level of contributions is a pot, odd chips to its first winner; see `pots`."""
    count, players = betting.bets.shape
    seven = np.empty(boards.shape[1] + 2, np.int8)
    strength = np.zeros(players, np.int64)
    for row in range(count):
        live = 0
        for player in range(players):
            live += not betting.folded[row, player]
        if live > 1:
            seven[2:] = boards[row]
        for player in range(players):
            found[row, player] = betting.stacks[row, player] - starts[player]
            strength[player] = -1
            if not betting.folded[row, player]:
                strength[player] = 0
                if live > 1:
                    seven[:2] = cards[hands[row, player]]
                    strength[player] = strength_of(seven, tables)
        _share_pots(betting.contributions[row], betting.folded[row], strength, dead, found[row])


@njit()
def _share_pots(
    contributions: Int32Array, folded: npt.NDArray[np.bool_], strength: IntArray, dead: int, found: IntArray
) -> None:
    """Adds to ``found`` ``[P]`` what each player takes out of the main pot and the side pots, lowest level first."""
    players = len(contributions)
    below, amount = -1, dead
    while True:
        level, above = -1, False  # where the chips of the next live player end; whether others go on
        for player in range(players):
            if not folded[player] and contributions[player] > below:
                if level < 0 or contributions[player] < level:
                    above, level = level >= 0, contributions[player]
                elif contributions[player] > level:
                    above = True
        best, winners = -1, 0
        for player in range(players):
            chips = contributions[player]
            amount += (min(chips, level) if above else chips) - max(min(chips, below), 0)
            if not folded[player] and chips >= level:
                if strength[player] > best:
                    best, winners = strength[player], 1
                elif strength[player] == best:
                    winners += 1
        rest = amount % winners
        for player in range(players):
            if not folded[player] and contributions[player] >= level and strength[player] == best:
                found[player] += amount // winners + rest
                rest = 0
        if not above:
            return
        below, amount = level, 0
