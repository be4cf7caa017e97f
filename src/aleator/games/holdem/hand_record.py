"""Whole hands as records: who held what, which cards came, who did what. Everything else is replayed from them.

A `HandRecord` is the one thing that is stored, sent and shown: JSON lines, ACPC match states, PHH files and the screen
are ways to write it. What a player may see of one is `HandRecord.view(player)`.

Actions as text: ``f`` folds, ``c`` checks or calls, ``r300`` bets or raises to 300 chips on this street; ``/`` ends a
street: ``r300 c / c r600 f``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from aleator.errors import AleatorError
from aleator.games.holdem.betting import CALL, FOLD, Action, ActionKind, BettingRules, raise_to
from aleator.games.holdem.cards import HANDS, format_cards, format_hand, parse_cards, parse_hand
from aleator.games.holdem.evaluator import evaluate
from aleator.games.holdem.hand_state import BOARD_CARDS, HandSetup, HandState

HIDDEN: Final = "-"
"""How a hand that is not known is written."""


class RecordError(AleatorError):
    """A record that cannot be read or replayed; the message names the bad part and what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandRecord:
    """One hand: how it began and all that happened.

    Attributes:
        setup: rules, stacks and where betting began.
        hands: the hand of each player, 0..1325, or None where it is not known, ``[P]``.
        board: the cards dealt so far, those that the hand began with included.
        actions: of all players on all streets.
        names: who sat where, ``[P]``, or nothing.
        number: of the hand in its match or file.
    """

    setup: HandSetup
    hands: tuple[int | None, ...]
    board: tuple[int, ...] = ()
    actions: tuple[Action, ...] = ()
    names: tuple[str, ...] = ()
    number: int = 0

    def __post_init__(self) -> None:
        players = self.setup.num_players
        if len(self.hands) != players:
            raise RecordError(f"{players} players need {players} hands, not {len(self.hands)}")
        if self.names and len(self.names) != players:
            raise RecordError(f"{players} players need {players} names, not {', '.join(self.names)}")
        dealt = [int(card) for hand in self.hands if hand is not None for card in HANDS[hand]] + list(self.board)
        twice = sorted({card for card in dealt if dealt.count(card) > 1})
        if twice:
            raise RecordError(f"dealt twice: {format_cards(twice)}")
        if len(self.board) not in BOARD_CARDS:
            raise RecordError(f"a board has 0, 3, 4 or 5 cards, not {len(self.board)} ({format_cards(self.board)})")

    def states(self) -> Iterator[HandState]:
        """Yields the state before the first event and after each action or deal of board cards.

        Raises:
            RecordError: an action that is not legal, or more of anything than the hand has room for.
        """
        state, turn, dealt = self.setup.start(), 0, len(self.setup.board)
        if self.board[:dealt] != self.setup.board:
            raise RecordError(
                f"the hand began on {format_cards(self.setup.board)}, but its board is {format_cards(self.board)}"
            )
        yield state
        while not state.is_over:
            if due := state.cards_due:
                if dealt + due > len(self.board):
                    break
                state, dealt = state.deal(self.board[dealt : dealt + due]), dealt + due
            elif turn < len(self.actions):
                try:
                    state = state.act(self.actions[turn])
                except AleatorError as error:
                    raise RecordError(f"action {turn + 1} ({self.actions[turn]}): {error}") from None
                turn += 1
            else:
                break
            yield state
        if turn < len(self.actions):
            raise RecordError(
                f"action {turn + 1} ({self.actions[turn]}) comes after the end of the hand or lacks cards"
            )
        if dealt < len(self.board):
            raise RecordError(f"the board {format_cards(self.board)} has cards that were never due")

    def state(self) -> HandState:
        """Returns the state after all that is recorded."""
        *_, last = self.states()
        return last

    def payoffs(self) -> tuple[int, ...]:
        """Returns what each player won or lost, ``[P]``; they sum to the pot that the hand began with, mostly 0.

        Raises:
            RecordError: the hand is not over, or a hand that decides it is not known.
        """
        state = self.state()
        if not state.is_over:
            raise RecordError(f"hand {self.number} is not over: there is no result yet")
        if not state.is_showdown:
            return state.betting.payoffs()
        live = state.betting.live_players
        hidden = [player for player in live if self.hands[player] is None]
        if hidden:
            raise RecordError(f"hand {self.number} goes to showdown, but the hand of player {hidden[0]} is not known")
        if len(self.board) < 3:
            raise RecordError("a showdown needs a board of at least three cards")
        cards = [[*HANDS[self.hands[player]], *self.board] for player in live]
        strengths = [-1.0] * self.setup.num_players
        for player, strength in zip(live, evaluate(np.array(cards, dtype=np.int8)), strict=True):
            strengths[player] = float(strength)
        return state.betting.payoffs([strengths])

    def view(self, player: int | None) -> HandRecord:
        """Returns what ``player`` (None: the public) may see: others' hands are hidden unless shown down.

        At a showdown all hands that have not folded are shown.
        """
        state = self.state()
        shown = state.betting.live_players if state.is_showdown else ()
        hands = (hand if seat == player or seat in shown else None for seat, hand in enumerate(self.hands))
        return replace(self, hands=tuple(hands))

    def to_dict(self, *, with_setup: bool = True) -> dict[str, Any]:
        """Returns the record as JSON values; without its setup if that is written once for many hands."""
        document: dict[str, Any] = {"hand": self.number}
        if with_setup:
            document["setup"] = setup_to_dict(self.setup)
        if self.names:
            document["names"] = list(self.names)
        document["hands"] = [HIDDEN if hand is None else format_hand(hand) for hand in self.hands]
        document["board"] = format_cards(self.board)
        document["actions"] = format_actions(self)
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], setup: HandSetup | None = None) -> HandRecord:
        """Returns the record that `to_dict` wrote.

        Args:
            document: as of `to_dict`.
            setup: of hands that were written without it.

        Raises:
            RecordError: a key is missing or has an impossible value; the message names it.
        """
        try:
            if setup is None:
                setup = setup_from_dict(_entry(document, "setup", dict))
            hands = [None if text == HIDDEN else parse_hand(text) for text in _entry(document, "hands", list)]
            record = cls(
                setup=setup,
                hands=tuple(hands),
                board=parse_cards(_entry(document, "board", str)),
                actions=parse_actions(_entry(document, "actions", str)),
                names=tuple(str(name) for name in document.get("names", ())),
                number=_entry(document, "hand", int),
            )
            record.state()
        except RecordError:
            raise
        except (AleatorError, TypeError, AttributeError) as error:
            raise RecordError(f"not a hand: {error}") from None
        return record


def format_actions(record: HandRecord) -> str:
    """Returns the actions of a record as text, streets with slashes between them."""
    words: list[str] = []
    before: HandState | None = None
    for state in record.states():
        if before is not None and len(state.actions) > len(before.actions):
            words.append(format_action(state.actions[-1]))
        elif before is not None and not before.betting.is_over and before.actions:
            words.append("/")
        before = state
    return " ".join(words)


def format_action(action: Action) -> str:
    """Returns ``f``, ``c`` or ``r300``."""
    return f"r{action.amount}" if action.kind is ActionKind.RAISE else action.kind.value[0]


def parse_actions(text: str) -> tuple[Action, ...]:
    """Returns the actions that ``text`` names; slashes are for readers and mean nothing.

    Raises:
        RecordError: a word other than f, c, r300 and /.
    """
    return tuple(_parse_action(word) for word in text.split() if word != "/")


def _parse_action(word: str) -> Action:
    if word in ("f", "c"):
        return FOLD if word == "f" else CALL
    if word[:1] == "r" and word[1:].isascii() and word[1:].isdigit() and len(word) <= 12:
        return raise_to(int(word[1:]))
    raise RecordError(f"unknown action {word[:20]!r}: write f, c or r and the chips on this street, as in r300")


def setup_to_dict(setup: HandSetup) -> dict[str, Any]:
    """Returns a setup as JSON values; what is as usual is left out."""
    usual = BettingRules(num_players=setup.num_players, small_blind=1, big_blind=1)
    rules = asdict(setup.rules)
    document = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in rules.items()
        if name in ("num_players", "small_blind", "big_blind") or value != getattr(usual, name)
    }
    document["stacks"] = list(setup.stacks)
    if setup.first_street:
        document |= {"first_street": setup.first_street, "pot": setup.pot, "board": format_cards(setup.board)}
    return document


def setup_from_dict(document: Mapping[str, Any]) -> HandSetup:
    """Returns the setup that `setup_to_dict` wrote.

    Raises:
        RecordError: a key that is missing, unknown or of another type.
    """
    rules: dict[str, Any] = {}
    for name, value in document.items():
        if name in ("stacks", "first_street", "pot", "board"):
            continue
        if name not in BettingRules.__dataclass_fields__:
            raise RecordError(f"unknown key {name!r} in the setup of a hand")
        whole = [entry for entry in (value if isinstance(value, list) else [value]) if entry is not None]
        if not all(type(entry) is int for entry in whole):
            raise RecordError(f"{name} must be whole numbers, not {value!r}")
        rules[name] = tuple(value) if isinstance(value, list) else value
    stacks = _entry(document, "stacks", list)
    if not all(type(stack) is int for stack in stacks):
        raise RecordError(f"stacks must be whole numbers, not {stacks}")
    begins: dict[str, Any] = {"first_street": 0, "pot": 0, "board": "", **document}
    try:
        return HandSetup(
            rules=BettingRules(**rules),
            stacks=tuple(stacks),
            first_street=_entry(begins, "first_street", int),
            pot=_entry(begins, "pot", int),
            board=parse_cards(_entry(begins, "board", str)),
        )
    except (AleatorError, TypeError) as error:
        raise RecordError(f"not the setup of a hand: {error}") from None


def _entry(document: Mapping[str, Any], name: str, kind: type[Any]) -> Any:
    value = document.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise RecordError(f"{name} must be of type {kind.__name__}, not {value!r}")
    return value
