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
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from aleator.games.holdem.betting import CALL, FOLD, Action, ActionKind, BettingRules, raise_to
from aleator.games.holdem.cards import HANDS, format_cards, format_hand
from aleator.games.holdem.evaluator import evaluator_tables
from aleator.games.holdem.hand_kernels import (
    CALL_CODE,
    FOLD_CODE,
    NO_CODE,
    OVER,
    BettingArrays,
    Int32Array,
    IntArray,
    LegalArrays,
    act_in,
    array_rules,
    find_legal,
    find_payoffs,
)
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import BOARD_CARDS, HandSetup, HandState

__all__ = ["CALL_CODE", "FOLD_CODE", "NO_CODE", "OVER", "HandBatch", "LegalArrays", "action_code", "code_action"]

_FIRST_ROOM: Final = 16  # actions that there is room for at first


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
        for turn in range(longest):
            rows = np.array([row for row, state in enumerate(states) if turn < len(state.actions)])
            batch.act(rows, np.array([action_code(states[row].actions[turn]) for row in rows]))
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
        legal = LegalArrays(np.zeros(count, np.bool_), *(np.zeros(count, np.int32) for _ in range(3)))
        find_legal(array_rules(self.rules), self.betting, np.asarray(rows, np.int64), legal)
        return legal

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
        act_in(array_rules(self.rules), self.betting, np.asarray(rows, np.int64), np.asarray(codes, np.int32))

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
        payoffs = np.zeros((len(self), self.setup.num_players), np.int64)
        starts = np.asarray(self.setup.stacks, np.int64)
        boards = np.ascontiguousarray(self.board[:, : self.setup.last_board])
        find_payoffs(self.betting, self.hands, boards, HANDS, starts, self.dead, evaluator_tables(), payoffs)
        return payoffs

    def state(self, row: int) -> HandState:
        """Returns one hand as the public sees it."""
        return self._record(row, (None,) * self.setup.num_players).state()

    def public_key(self, row: int) -> tuple[bytes, bytes]:
        """Returns what is the same for all hands of the batch that look alike to the public: board and actions."""
        return self.board[row, : self._num_seen(row)].tobytes(), self.codes[row, : self.num_actions[row]].tobytes()

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
        for turn in range(int(self.num_actions[row])):
            if self.action_streets[row, turn] != street:
                street = int(self.action_streets[row, turn])
                words.append("/")
            code = int(self.codes[row, turn])
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
