"""Files of whole hands by the end of their names: our JSON lines, PHH, ACPC logs, and the texts of poker sites."""

from __future__ import annotations

import contextlib
import io
import json
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aleator.arena.acpc.dealer import read_log
from aleator.arena.acpc.game_file import read_game_file
from aleator.arena.whole_hands.match_file import read_match
from aleator.arena.whole_hands.phh import parse_phh, read_phh, write_phhs
from aleator.errors import AleatorError, MissingExtraError, one_line
from aleator.games.holdem.hand_record import HandRecord, RecordError
from aleator.games.holdem.variants import load_hand_game
from aleator.storage import StorageError, replace_file

_MOST_OF_A_HAND, _MOST_OF_A_LINE = 20_000, 1000
_READ = ".jsonl, .phh, .phhs, .log (ACPC) or .txt (a site's hand histories)"


def read_hands(path: Path, game: str | None = None) -> tuple[list[HandRecord], list[str]]:
    """Returns the hands of a file, and what could not be read, each with its place in the file.

    Args:
        path: its name's end says what it is.
        game: of an ACPC log, which does not say it itself.

    Raises:
        StorageError: a file that is not there or of no known kind.
    """
    records, problems = _read(path, game)
    return records, [one_line(problem) for problem in problems]


def _read(path: Path, game: str | None) -> tuple[list[HandRecord], list[str]]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from None
    text = content.decode("utf-8-sig", "replace")
    if path.suffix == ".jsonl":
        return _read_lines(path, text)
    if path.suffix in (".phh", ".phhs"):
        try:
            read = list(read_phh(text))
        except RecordError as error:
            raise StorageError(f"{path}: {error}") from None
        records = [record for _, record in read if isinstance(record, HandRecord)]
        return records, [f"{path}, hand [{name}]: {error}" for name, error in read if not isinstance(error, HandRecord)]
    if path.suffix == ".log":
        if game is None:
            raise StorageError(f"{path}: an ACPC log does not say its game: give --game hunl, hulh or FILE.game")
        setup = read_game_file(Path(game)) if game.endswith(".game") else load_hand_game(game).setup
        hands = read_log(text, setup)
        return [hand for hand in hands if isinstance(hand, HandRecord)], [
            f"{path}, {error}" for error in hands if not isinstance(error, HandRecord)
        ]
    if path.suffix == ".txt":
        return _read_site(path, text)
    raise StorageError(f"{path}: unknown kind of file; read are {_READ}")


def write_hands(path: Path, records: list[HandRecord]) -> int:
    """Writes hands to a `.jsonl`, `.phh` or `.phhs` file; returns how many."""
    if path.suffix in (".phh", ".phhs"):
        return write_phhs(path, records)
    if path.suffix == ".jsonl":
        replace_file(path, [f"{json.dumps(record.to_dict())}\n".encode() for record in records])
        return len(records)
    raise StorageError(f"{path}: unknown kind of file; written are .jsonl, .phh and .phhs")


def _read_lines(path: Path, text: str) -> tuple[list[HandRecord], list[str]]:
    first = text.partition("\n")[0]
    if '"aleator match"' in first:
        return list(read_match(path)), []
    records, errors = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            document: Any = json.loads(line)
            if not isinstance(document, dict):
                raise RecordError("not a JSON object")
            records.append(HandRecord.from_dict(document))
        except RecordError as error:
            errors.append(f"{path}, line {number}: {error}")
        except (ValueError, RecursionError):
            errors.append(f"{path}, line {number}: not JSON")
    return records, errors


def _read_site(path: Path, text: str) -> tuple[list[HandRecord], list[str]]:
    """Reads PokerStars' texts by pokerkit's parser, hand by hand."""
    try:
        import pokerkit
    except ImportError:
        raise MissingExtraError("pokerkit", "poker") from None
    records, errors, line = [], [], 1
    for part in _hands_of_text(text):
        start, line = line, line + part.count("\n")
        if not part.strip():
            continue
        try:
            _check_length(part)
            with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):  # it prints what it raises
                warnings.simplefilter("ignore")
                histories = list(
                    pokerkit.HandHistory.from_pokerstars(_ZOOM.sub(r"\1", part, count=1), error_status=True)
                )
            if not histories:
                raise RecordError("no hand of PokerStars' kind")
            for history in histories:
                fields = {name: getattr(history, name) for name in _FIELDS if getattr(history, name) is not None}
                fields |= _antes(part, history.players)
                record = parse_phh({name: _plain(value) for name, value in fields.items()})
                if not record.state().is_over:
                    raise RecordError(_BREAKS_OFF)
                records.append(record)
        except Exception as error:  # pokerkit's parser fails in its own ways
            reason = str(error) if isinstance(error, AleatorError) else _why_unread(part, error)
            errors.append(f"{path}, line {start}: {reason}")
    return records, errors


def _why_unread(hand: str, error: Exception) -> str:
    """Returns in words why pokerkit cannot read a hand of a site: what is wrong with the hand, else what it said."""
    game = _GAME.search(" ".join(hand.partition("\n")[0].split()))
    if game and game[1] != _READ_GAME:
        return f"{game[1]} is not read, only {_READ_GAME}"
    if twice := _dealt_twice(hand):
        return f"dealt twice: {' '.join(twice)}"
    if "*** SUMMARY ***" not in hand:
        return _BREAKS_OFF
    said = error.__context__ or error  # its own error quotes the whole hand, the one before it says why
    reason = f"nothing is known of {said}" if isinstance(said, KeyError) else str(said)
    return f"pokerkit cannot read it: {one_line(reason, 120)}"


def _antes(hand: str, players: Sequence[str] | None) -> dict[str, list[float]]:
    """Returns the antes of a hand as a field of PHH, if there are some: pokerkit does not read them."""
    posted = {name: float(amount.replace(",", "")) for name, amount in _ANTE.findall(hand)}
    return {"antes": [posted.get(name, 0.0) for name in players]} if posted and players else {}


def _dealt_twice(hand: str) -> list[str]:
    """Returns the cards that more than one player holds, or a player and the board, or one of them twice."""
    held = {dealt or shows: cards for dealt, shows, cards in _HELD.findall(hand)}
    board = _BOARD.findall(hand)[-1:]
    cards = Counter(re.findall(r"\w+", " ".join([*held.values(), *board])))
    return [card for card, count in cards.items() if count > 1]


def _check_length(hand: str) -> None:
    """Raises RecordError for a hand whose text is so long that pokerkit's patterns would take minutes."""
    longest = max(map(len, hand.splitlines()))
    if len(hand) > _MOST_OF_A_HAND or longest > _MOST_OF_A_LINE:
        raise RecordError(
            f"a hand of a site has at most {_MOST_OF_A_HAND:,} characters and {_MOST_OF_A_LINE:,} in a line, "
            f"not {len(hand):,} and {longest:,}"
        )


_READ_GAME = "Hold'em No Limit"
_GAME = re.compile(r"#\d+: (?:Tournament #\d+, \S+ (?:[A-Z]{3} )?)?(.+?) (?:- |\()")
_HELD = re.compile(r"^(?:Dealt to (.+)|(.+): shows) \[([^\]\n]+)\]", re.MULTILINE)
_BOARD = re.compile(r"^\*{3} (?:FLOP|TURN|RIVER) \*{3} (.+)", re.MULTILINE)
_ANTE = re.compile(r"^(.+): posts the ante \$?([\d,.]*\d)", re.MULTILINE)
_BREAKS_OFF = "the hand breaks off"
_ZOOM = re.compile(r"^(PokerStars )Zoom ")  # pokerkit finds no number behind it
_FIELDS = (
    "variant", "antes", "blinds_or_straddles", "min_bet", "small_bet", "big_bet", "starting_stacks", "actions",
    "players", "hand",
)  # fmt: skip


def _plain(value: Any) -> Any:
    """Returns a value of pokerkit as TOML would have it: Decimals become numbers."""
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value if isinstance(value, str | int | float) else float(value)


def _hands_of_text(text: str) -> list[str]:
    """Returns the hands of a site's file, each from its first line to the next one's, ends of lines included."""
    parts: list[list[str]] = [[]]
    for line in text.splitlines(keepends=True):
        if line.startswith("PokerStars ") and parts[-1]:
            parts.append([])
        parts[-1].append(line)
    return ["".join(part) for part in parts]
