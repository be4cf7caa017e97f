"""A hundred thousand damaged lines, files and typed words: each is read or refused in one line, quickly."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.apps.amounts import parse_typed
from aleator.arena.acpc.match_state import format_match_state, parse_match_state
from aleator.arena.whole_hands.phh import format_phh, read_phh
from aleator.errors import AleatorError
from aleator.games.holdem.betting import raise_to
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.variants import HULH, HUNL
from tests.games.holdem.test_hand_batch import play

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
