"""Files of whole hands: read from what a user drops, written as PHH."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from aleator.apps.web.worker.channel import Channel
from aleator.apps.web.worker.hand_view import hand_view
from aleator.arena.whole_hands.files import read_hands
from aleator.arena.whole_hands.phh import format_phh
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.variants import load_recorded_hand_game
from aleator.storage import StorageError

_SUFFIXES = (".phh", ".phhs", ".log", ".txt", ".jsonl")
MAX_PROBLEMS, MAX_PLAYERS = 200, 50
_NEARLY_ALL = 0.9  # of a file's hands


def read(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the hands of a file whose name and text are given, its players, and what could not be read.

    The `hero` is the player whose file it is, if it shows whose that is; they are the first of the players.

    Raises:
        StorageError: a file of another kind.
        GameError: no such game, or one that is in another file.
    """
    name, text = params["name"], params["text"]
    suffix = Path(name).suffix.lower()
    if suffix not in _SUFFIXES:
        raise StorageError(f"{name[:60]!r} is not a file of hands: it must end in {', '.join(_SUFFIXES)}")
    if params["game"]:
        load_recorded_hand_game(params["game"])  # whoever asks names no file of the server's
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"hands{suffix}"
        path.write_text(text, encoding="utf-8")
        try:
            records, problems = read_hands(path, params["game"] or None)
        except StorageError as error:
            raise StorageError(str(error).replace(str(path), name[:60])) from None
        problems = [problem.replace(str(path), name[:60]) for problem in problems]
    named = [_named(record) for record in records]
    players, hero = Counter(player for record in named for player in record.names), _hero(named)
    order = sorted(players.most_common(), key=lambda entry: entry[0] != hero)
    return {
        "records": [record.to_dict() for record in named],
        "players": [[player, count] for player, count in order[:MAX_PLAYERS]],
        "hero": hero,
        "problems": problems[:MAX_PROBLEMS],
    }


def _hero(records: list[HandRecord]) -> str | None:
    """Returns the one player whose cards nearly all hands show; None if there is none, or more than one."""
    shown = Counter(
        player
        for record in records
        for player, hand in zip(record.names, record.hands, strict=True)
        if hand is not None
    )
    known = [player for player, count in shown.items() if count >= _NEARLY_ALL * len(records)]
    return known[0] if len(known) == 1 else None


def _named(record: HandRecord) -> HandRecord:
    """Returns a record in which everybody has a name."""
    if record.names:
        return record
    names = tuple(f"player {seat + 1}" for seat in range(record.setup.num_players))
    return HandRecord(
        setup=record.setup, hands=record.hands, board=record.board, actions=record.actions, names=names,
        number=record.number,
    )  # fmt: skip


def write(params: dict[str, Any], channel: Channel) -> str:
    """Returns `records` as the text of a .phhs file."""
    texts = [format_phh(HandRecord.from_dict(record)) for record in params["records"]]
    return "\n".join(f"[{number}]\n{text}" for number, text in enumerate(texts, start=1))


def view(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the hand `record` step by step, as the player in `seat` sees it at the end."""
    return hand_view(HandRecord.from_dict(params["record"]), params["seat"], reveal=True)
