"""Match states of the ACPC protocol as text, and back: ``MATCHSTATE:0:12:r300c/:AsAh|/2c7d9h``.

Fields: the position of who is told, the number of the hand, the betting with a slash after each round, and the cards:
hole cards by position with bars between them (empty if hidden), then the board round by round. Positions are our
players. A no-limit raise says how many chips the player has put in *in the whole hand*; ours count from the start of
the street.

Reference: ACPC protocol, version 2.0.0 (project_acpc_server, protocol.pdf).
Status: every random hand survives both ways (tests/arena/acpc/test_match_state.py).
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, NamedTuple

from aleator.errors import AleatorError
from aleator.games.holdem.betting import CALL, FOLD, Action, ActionKind, raise_to
from aleator.games.holdem.cards import CardError, format_cards, format_hand, parse_cards, parse_hand
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import BOARD_CARDS, HandSetup, HandState

VERSION: Final = "VERSION:2.0.0"
MAX_LINE: Final = 4096
_ACTION = re.compile(r"f|c|r\d{0,10}", re.ASCII)


class AcpcError(AleatorError):
    """A line of the ACPC protocol that cannot be understood; the message shows it and says what is wrong."""


class MatchState(NamedTuple):
    """What a dealer tells a player: its position, and the hand as far as that player may see it."""

    position: int
    record: HandRecord


def format_match_state(record: HandRecord, position: int) -> str:
    """Returns the line that tells ``position`` about a hand; what it may not see must be hidden already."""
    return f"MATCHSTATE:{position}:{record.number}:{format_betting(record)}:{format_dealt(record)}"


def format_betting(record: HandRecord) -> str:
    """Returns the betting of a hand, with a slash where a new round began."""
    text, before = "", None
    for state in record.states():
        if before is not None and len(state.actions) > len(before.actions):
            text += format_action(before, state.actions[-1])
        elif before is not None:
            text += "/"
        before = state
    return text


def format_action(state: HandState, action: Action) -> str:
    """Returns an action of the acting player: ``f``, ``c``, ``r`` in limit, ``r`` and chips of the hand in no-limit."""
    if action.kind is not ActionKind.RAISE:
        return action.kind.value[0]
    if state.setup.rules.fixed_bets is not None:
        return "r"
    return f"r{action.amount + _before_street(state)}"


def format_dealt(record: HandRecord) -> str:
    """Returns hole cards by position and the board round by round."""
    hole = "|".join("" if hand is None else format_hand(hand) for hand in record.hands)
    board, text = record.board, ""
    for start, end in pairwise(BOARD_CARDS):
        if len(board) >= end:
            text += "/" + format_cards(board[start:end], "")
    return hole + text


def parse_match_state(line: str, setup: HandSetup) -> MatchState:
    """Returns what a line says.

    Raises:
        AcpcError: it is not a match state of this game; nothing illegal is accepted.
    """
    line = line.rstrip("\r\n")
    if len(line) > MAX_LINE:
        raise AcpcError(f"a line of {len(line)} characters: a match state has at most {MAX_LINE}")
    fields = line.split(":")
    if len(fields) != 5 or fields[0] != "MATCHSTATE":
        raise AcpcError(f"{_shown(line)} is not MATCHSTATE:position:hand:betting:cards")
    position = _whole(fields[1], "position", setup.num_players - 1)
    record = parse_hand_fields(fields[2], fields[3], fields[4], setup)
    return MatchState(position, record)


def parse_hand_fields(number: str, betting: str, cards: str, setup: HandSetup) -> HandRecord:
    """Returns the record of a hand given by its number, betting and cards as text."""
    hands, board = _parse_cards(cards, setup)
    actions = _parse_betting(betting, setup, board)
    record = HandRecord(
        setup=setup, hands=hands, board=board, actions=actions, number=_whole(number, "hand", 2**63 - 1)
    )
    try:
        written = format_betting(record)
    except AleatorError as error:
        raise AcpcError(f"betting {_shown(betting)} with cards {_shown(cards)}: {error}") from None
    if written != betting:
        raise AcpcError(f"betting {_shown(betting)} does not fit the rounds of the board {_shown(cards)}")
    return record


def _before_street(state: HandState) -> int:
    """Returns the chips that the acting player put in on earlier streets, blinds and antes of this one left out."""
    betting = state.betting
    assert betting.player is not None
    return betting.contributions[betting.player] - betting.bets[betting.player]


def _parse_cards(text: str, setup: HandSetup) -> tuple[tuple[int | None, ...], tuple[int, ...]]:
    hole, *rounds = text.split("/")
    hands = hole.split("|")
    if len(hands) != setup.num_players:
        raise AcpcError(f"cards {_shown(text)}: {setup.num_players} players need {setup.num_players - 1} bars")
    counts = [end - start for start, end in pairwise(BOARD_CARDS)]
    if len(rounds) >= setup.rules.num_streets:
        raise AcpcError(f"cards {_shown(text)}: more rounds than the game has")
    try:
        board = [parse_cards(part) for part in rounds]
        parsed = tuple(None if not hand else parse_hand(hand) for hand in hands)
    except CardError as error:
        raise AcpcError(f"cards {_shown(text)}: {error}") from None
    for part, count in zip(board, counts, strict=False):
        if len(part) != count:
            raise AcpcError(f"cards {_shown(text)}: {count} cards are dealt in this round, not {len(part)}")
    dealt = tuple(card for part in board for card in part)
    try:
        HandRecord(setup=setup, hands=parsed, board=dealt)
    except AleatorError as error:
        raise AcpcError(f"cards {_shown(text)}: {error}") from None
    return parsed, dealt


def _parse_betting(text: str, setup: HandSetup, board: tuple[int, ...]) -> tuple[Action, ...]:
    state, actions = setup.start(), list[Action]()
    for part in text.split("/"):
        state = state.deal_from(board)
        for word in _ACTION.findall(part) if _ACTION.sub("", part) == "" else [part]:
            if _ACTION.fullmatch(word) is None:
                raise AcpcError(f"betting {_shown(text)}: unknown action {_shown(word)}: f, c, r or r and chips")
            try:
                action = parse_action(state, word)
                state = state.act(action)
            except AcpcError:
                raise
            except AleatorError as error:
                raise AcpcError(f"betting {_shown(text)}: {error}") from None
            actions.append(action)
    return tuple(actions)


def parse_action(state: HandState, word: str) -> Action:
    """Returns an action of the acting player from its text; legality is for `HandState.act` to say."""
    if word in ("f", "c"):
        return FOLD if word == "f" else CALL
    if _ACTION.fullmatch(word) is None:
        raise AcpcError(f"unknown action {_shown(word)}: f, c, r in limit, r and chips in no-limit")
    legal = state.legal_actions()
    if state.setup.rules.fixed_bets is not None:
        if word != "r":
            raise AcpcError(f"{_shown(word)}: a raise in limit has no amount")
        return raise_to(legal.min_raise_to or 0)
    if word == "r":
        raise AcpcError("'r': a raise in no-limit says how many chips")
    return raise_to(int(word[1:]) - _before_street(state))


def _whole(text: str, what: str, most: int) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 19 or int(text) > most:
        raise AcpcError(f"{what} {_shown(text)}: a whole number from 0 to {most}")
    return int(text)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
