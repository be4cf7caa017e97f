"""Hands in the Poker Hand History format (PHH): written, and read into records.

A file is TOML with one hand (`.phh`) or a table per hand (`.phhs`). No-limit (NT) and limit (FT) hold'em from the
blinds to the river can be written; other variants are refused by name. Amounts with decimals are read as cents.

Reference: J. Kim, "Recording and Describing Poker Hands" (2024), https://phh.readthedocs.io.
Status: pokerkit replays what is written to the same stacks (tests/arena/whole_hands/test_phh.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from aleator.errors import AleatorError
from aleator.games.holdem.betting import CALL, FOLD, Action, ActionKind, BettingRules, raise_to
from aleator.games.holdem.cards import format_cards, format_hand, parse_cards, parse_hand
from aleator.games.holdem.hand_record import HandRecord, RecordError
from aleator.games.holdem.hand_state import HandSetup
from aleator.parsing import parse_toml
from aleator.storage import replace_file

_UNKNOWN = "????"
_MAX_CHIPS = 10**12


def format_phh(record: HandRecord) -> str:
    """Returns a hand as PHH.

    Raises:
        RecordError: a hand that the format has no variant for.
    """
    setup, rules = record.setup, record.setup.rules
    if setup.first_street or rules.num_streets != 4:
        raise RecordError(f"hand {record.number}: PHH has whole hands of four streets only")
    limit = rules.fixed_bets
    if limit is not None and not (limit[0] == limit[1] and limit[2] == limit[3]):
        raise RecordError(f"hand {record.number}: PHH has a small and a big bet, not {limit}")
    players = setup.num_players
    antes = [rules.ante] * players
    antes[1] += rules.big_blind_ante  # blinds and antes are listed as they go round, heads-up too
    blinds = [rules.small_blind, rules.big_blind, *rules.straddles]
    fields: dict[str, Any] = {
        "variant": "NT" if limit is None else "FT",
        "ante_trimming_status": rules.big_blind_ante == 0,
        "antes": antes,
        "blinds_or_straddles": blinds + [0] * (players - len(blinds)),
    }
    fields |= {"min_bet": rules.big_blind} if limit is None else {"small_bet": limit[0], "big_bet": limit[2]}
    fields |= {"starting_stacks": list(setup.stacks), "actions": _actions(record), "hand": record.number}
    if record.names:
        fields["players"] = list(record.names)
    return "".join(f"{name} = {_toml(value)}\n" for name, value in fields.items())


def _actions(record: HandRecord) -> list[str]:
    words = [
        f"d dh p{player + 1} {_UNKNOWN if hand is None else format_hand(hand)}"
        for player, hand in enumerate(record.hands)
    ]
    before = None
    for state in record.states():
        if before is not None and len(state.actions) > len(before.actions):
            action = state.actions[-1]
            name = {ActionKind.FOLD: "f", ActionKind.CALL: "cc"}.get(action.kind, f"cbr {action.amount}")
            words.append(f"p{(before.player or 0) + 1} {name}")
        elif before is not None:
            words.append(f"d db {format_cards(state.board[len(before.board) :], '')}")
        live = state.betting.live_players
        if state.betting.is_over and len(live) > 1 and (before is None or not before.betting.is_over):
            shown = [(player, record.hands[player]) for player in live]  # before the board is run out
            words += [f"p{player + 1} sm {format_hand(hand)}" for player, hand in shown if hand is not None]
        before = state
    return words


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(_toml(entry) for entry in value)}]"
    if isinstance(value, str):
        escaped = "".join(
            f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else "\\" + c if c in '"\\' else c for c in value
        )
        return f'"{escaped}"'
    return str(value)


def write_phhs(path: Path, records: Iterable[HandRecord]) -> int:
    """Writes hands to a file, one table each (one hand alone if the name ends in .phh); returns how many."""
    texts = [format_phh(record) for record in records]
    if path.suffix == ".phh":
        if len(texts) != 1:
            raise RecordError(f"{path}: a .phh file has one hand, not {len(texts)}; name it .phhs")
        replace_file(path, [texts[0].encode()])
    else:
        replace_file(path, [f"[{number}]\n{text}\n".encode() for number, text in enumerate(texts, start=1)])
    return len(texts)


def read_phh(text: str) -> Iterator[tuple[str, HandRecord | AleatorError]]:
    """Yields for each hand of a PHH text its name and the record, or what is wrong with it.

    Raises:
        RecordError: the text is not TOML; the message has the line.
    """
    document = parse_toml(text, "a hand", RecordError)
    tables = document if document and all(isinstance(value, dict) for value in document.values()) else {"1": document}
    for name, table in tables.items():
        try:
            yield name, parse_phh(table)
        except AleatorError as error:
            yield name, error


def parse_phh(table: Mapping[str, Any]) -> HandRecord:
    """Returns the record of one hand.

    Raises:
        RecordError: another variant, a missing field, or a hand that cannot be replayed.
    """
    variant = table.get("variant")
    if variant not in ("NT", "FT"):
        raise RecordError(f"variant {variant!r} is not hold'em of 52 cards; allowed: NT, FT")
    stacks, blinds, antes = (_numbers(table, name) for name in ("starting_stacks", "blinds_or_straddles", "antes"))
    bets = [_number(table, name) for name in (("min_bet",) if variant == "NT" else ("small_bet", "big_bet"))]
    actions = table.get("actions")
    if not isinstance(actions, list) or not all(isinstance(word, str) for word in actions):
        raise RecordError("actions must be a list of texts")
    amounts = [
        _amount(word.split()[2])
        for word in map(_bare, actions)
        if word.split()[1:2] == ["cbr"] and len(word.split()) > 2
    ]
    cents = 1 if all(value == int(value) for value in (*stacks, *blinds, *antes, *bets, *amounts)) else 100
    setup = _setup([_chips(value, cents) for value in stacks], [_chips(value, cents) for value in blinds],
                   [_chips(value, cents) for value in antes], [_chips(value, cents) for value in bets],
                   variant)  # fmt: skip
    hands: list[int | None] = [None] * setup.num_players
    board: list[int] = []
    taken: list[Action] = []
    for text in actions:
        _take(_bare(text).split(), hands, board, taken, cents)
    names = table.get("players", [])
    if not isinstance(names, list) or len(names) not in (0, setup.num_players):
        raise RecordError(f"players must be {setup.num_players} names, not {names!r}")
    number = table.get("hand", 0)
    record = HandRecord(
        setup=setup,
        hands=tuple(hands),
        board=tuple(board),
        actions=tuple(taken),
        names=tuple(str(name) for name in names),
        number=number if isinstance(number, int) and not isinstance(number, bool) else 0,
    )
    record.state()
    return record


def _take(words: list[str], hands: list[int | None], board: list[int], actions: list[Action], cents: int) -> None:
    """Takes one action into what is known so far."""
    match words:
        case []:
            return
        case ["d", "dh", player, cards]:
            hands[_player(player, len(hands))] = None if "?" in cards else parse_hand(cards)
        case ["d", "db", cards]:
            board.extend(parse_cards(cards))
        case [player, "f"]:
            _player(player, len(hands))
            actions.append(FOLD)
        case [player, "cc"]:
            _player(player, len(hands))
            actions.append(CALL)
        case [player, "cbr", amount]:
            _player(player, len(hands))
            actions.append(raise_to(_chips(_amount(amount), cents)))
        case [player, "sm", *shown]:
            seat = _player(player, len(hands))
            if shown and "?" not in shown[0] and shown[0] != "-":
                hands[seat] = parse_hand(shown[0])
        case _:
            raise RecordError(f"unknown action {' '.join(words)[:40]!r}")


def _bare(text: str) -> str:
    return text.partition("#")[0]


def _player(text: str, players: int) -> int:
    if text[:1] != "p" or not text[1:].isdecimal() or len(text) > 3 or not 1 <= int(text[1:]) <= players:
        raise RecordError(f"unknown player {text[:20]!r}: p1 to p{players}")
    return int(text[1:]) - 1


def _setup(stacks: list[int], blinds: list[int], antes: list[int], bets: list[int], variant: str) -> HandSetup:
    players = len(stacks)
    if not 2 <= players <= 10 or len(antes) != players or len(blinds) != players:
        raise RecordError(f"{players} stacks, {len(blinds)} blinds and {len(antes)} antes make no table of 2 to 10")
    small, big, *others = blinds
    straddles = [amount for amount in others if amount]
    if others[: len(straddles)] != straddles:
        raise RecordError(f"blinds {blinds}: straddles follow the big blind without a gap")
    is_even = len(set(antes)) == 1
    if not is_even and any(ante for player, ante in enumerate(antes) if player != 1):
        raise RecordError(f"antes {antes}: all alike, or the big blind's alone")
    rules = BettingRules(
        num_players=players,
        small_blind=small,
        big_blind=big,
        ante=antes[0] if is_even else 0,
        big_blind_ante=0 if is_even else antes[1],
        straddles=tuple(straddles),
        fixed_bets=(bets[0], bets[0], bets[1], bets[1]) if variant == "FT" else None,
        max_raises=(4, 4, 4, 4) if variant == "FT" else None,
    )
    if variant == "NT" and bets[0] != big:
        raise RecordError(f"a minimum bet of {bets[0]} with a big blind of {big} is not read")
    return HandSetup(rules=rules, stacks=tuple(stacks))


def _numbers(table: Mapping[str, Any], name: str) -> list[float]:
    values = table.get(name)
    if not isinstance(values, list):
        raise RecordError(f"{name} must be a list of numbers, not {values!r}"[:200])
    return [_checked(value, name) for value in values]


def _number(table: Mapping[str, Any], name: str) -> float:
    return _checked(table.get(name), name)


def _checked(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MAX_CHIPS:
        raise RecordError(f"{name} must be a number from 0 to {_MAX_CHIPS}, not {value!r}"[:200])
    return value


def _amount(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise RecordError(f"{text[:20]!r} is not an amount") from None
    return _checked(value, "an amount")


def _chips(value: float, cents: int) -> int:
    chips = round(value * cents)
    if abs(chips - value * cents) > 1e-6:
        raise RecordError(f"{value} is not a whole number of chips or cents")
    return chips
