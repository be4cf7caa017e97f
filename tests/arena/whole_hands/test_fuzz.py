"""A hundred thousand damaged lines, files and typed words: each is read or refused in one line, quickly."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aleator.apps.amounts import parse_typed
from aleator.arena.acpc.match_state import format_match_state, parse_match_state
from aleator.arena.whole_hands.files import read_hands
from aleator.arena.whole_hands.match_file import MatchFile, PlayedLine
from aleator.arena.whole_hands.phh import format_phh, read_phh
from aleator.errors import MAX_MESSAGE, AleatorError
from aleator.games.holdem.betting import raise_to
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.variants import HULH, HUNL
from aleator.storage import StorageError
from tests.games.holdem.test_hand_batch import play
from tests.patience import patience

_LETTERS = "0123456789:/|fcrMATCHSTE_AsKhTd.-+ \t\"'[]={}#\\\x00é"


def damaged(text: str, rng: np.random.Generator) -> str:
    """Returns a text with some letters taken out, put in, changed, doubled, or cut off."""
    for _ in range(int(rng.integers(1, 4))):
        place, kind = int(rng.integers(len(text) + 1)), int(rng.integers(5))
        letter = _LETTERS[int(rng.integers(len(_LETTERS)))]
        part = text[place : place + int(rng.integers(1, 9))]
        text = (
            text[:place] + text[place + 1 :],
            text[:place] + letter + text[place:],
            text[:place] + letter + text[place + 1 :],
            text[:place] + part + text[place:],
            text[:place],
        )[kind]
    return text


def refused(error: AleatorError) -> None:
    assert "\n" not in str(error) and len(str(error)) < 600


def fuzz(lines: int, files: int, words: int) -> None:
    rng = np.random.default_rng(8)
    games = (HUNL.setup, HULH.setup)
    records = [batch.record(row) for setup in games for batch in [play(setup, rng, 20)[0]] for row in range(20)]
    for _ in range(lines):
        record = records[int(rng.integers(len(records)))]
        line = damaged(format_match_state(record.view(0), 0), rng)
        try:
            parse_match_state(line, record.setup)
        except AleatorError as error:
            refused(error)
    texts = [format_phh(record) for record in records]
    for _ in range(files):
        try:
            for _, found in read_phh(damaged(texts[int(rng.integers(len(texts)))], rng)):
                if not isinstance(found, HandRecord):
                    refused(found)
        except AleatorError as error:
            refused(error)
    states = (HUNL.setup.start(), HUNL.setup.start().act(raise_to(300)), HULH.setup.start())
    typed = ("b 300", "r 2.5x", "pot", "all-in", "75%", "raise to 1,200", "fold", "c", "3bb", "half")
    for _ in range(words):
        state = states[int(rng.integers(len(states)))]
        try:
            action = parse_typed(damaged(typed[int(rng.integers(len(typed)))], rng), state)
        except AleatorError as error:
            refused(error)
        else:
            assert state.legal_actions().allows(action)


def test_some_nonsense_is_refused() -> None:
    fuzz(300, 60, 1_000)


@pytest.mark.slow
def test_a_lot_of_nonsense_is_refused() -> None:
    fuzz(100_000, 100_000, 100_000)


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [
        (".phh", 'variant = "NT"\nantes = [' + "9" * 5_000 + "]\n", "names and numbers have at most 100 characters"),
        (".phh", "x = " + "[" * 5_000, "nested at most 16 deep"),
        (".phhs", "a." * 40_000 + "a = 1", "nested at most 16 deep"),
        (".jsonl", "[" * 5_000 + "\n", "line 1: not JSON"),
        (".jsonl", '{"setup": {"num_players": 2, "small_blind": %s}}\n' % ("9" * 3_000), "line 1: "),
        (".jsonl", '{"setup": {"stacks": [9, 9], "small_blind": 1, "big_blind": 2, "board": 2}}\n', "board must be"),
        (".txt", "PokerStars Hand #1:" + " " * 40_000, "at most 20,000 characters and 1,000 in a line"),
        (".log", "STATE:" + "9" * 5_000 + ":f:AsKs|QdQc:50|-50:a|b\n", "line 1: "),
    ],
)
def test_files_that_took_long_or_ended_in_a_traceback(suffix: str, text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / f"hands{suffix}"
    path.write_text(text, encoding="utf-8")
    with patience():
        try:
            records, problems = read_hands(path, "hunl")
        except AleatorError as error:
            records, problems = [], [str(error)]
    assert not records and len(problems) == 1
    assert message in problems[0] and len(problems[0]) <= MAX_MESSAGE and problems[0].isprintable()


@pytest.mark.parametrize(
    "changes", [{"hand": -1}, {"hand": 2**70}, {"hand": 0.5}, {"won": ["5", 1]}, {"won": None}, {"fair": float("nan")},
                {"weight": float("inf")}],
)  # fmt: skip
def test_lines_that_are_no_hands_of_a_match_are_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    path, header = tmp_path / "match.jsonl", {"agents": ["a", "b"]}
    good = {"hand": 3, "won": [50.0, -50.0], "fair": 1.5}
    with closing(MatchFile(path, header)) as file:
        file.write([json.dumps(good)])
    with closing(MatchFile(path, header)) as file:
        assert file.played == [PlayedLine(3, (50.0, -50.0), 1.5, 1.0)]
        file.write([json.dumps(good | changes)])
    with pytest.raises(StorageError, match="line 3: not a hand of a match"):
        MatchFile(path, header)
