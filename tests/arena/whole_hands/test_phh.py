from __future__ import annotations

from pathlib import Path

import numpy as np
import pokerkit
import pytest

from aleator.arena.whole_hands.phh import format_phh, parse_phh, read_phh, write_phhs
from aleator.errors import AleatorError
from aleator.games.holdem.hand_record import HandRecord, RecordError
from aleator.games.holdem.hand_state import HandSetup
from aleator.games.holdem.variants import TURN_ENDGAME
from tests.games.holdem.test_betting_referee import random_rules, random_stacks
from tests.games.holdem.test_hand_batch import play

# the hand of the format's own documentation (phh.readthedocs.io): Dwan against Ivey, Full Tilt Million Dollar Cash Game
DWAN_IVEY = """
variant = "NT"
ante_trimming_status = true
antes = [500, 500, 500]
blinds_or_straddles = [1000, 2000, 0]
min_bet = 2000
starting_stacks = [1125600, 2000000, 553500]
actions = [
  "d dh p1 Ac2d",
  "d dh p2 ????",
  "d dh p3 7h6h",
  "p3 cbr 7000",
  "p1 cbr 23000",
  "p2 f",
  "p3 cc",
  "d db Jc3d5c",
  "p1 cbr 35000",
  "p3 cc",
  "d db 4h",
  "p1 cbr 90000",
  "p3 cbr 232600",
  "p1 cbr 1067100",
  "p3 cc",
  "p1 sm Ac2d",
  "p3 sm 7h6h",
  "d db Jh",
]
players = ["Phil Ivey", "Patrik Antonius", "Tom Dwan"]
"""


def test_a_televised_hand_is_read() -> None:
    ((_, record),) = read_phh(DWAN_IVEY)
    assert isinstance(record, HandRecord)
    assert record.payoffs() == (-553_500, -2_500, 556_000)  # a pot of 1,109,500
    assert record.names[2] == "Tom Dwan"


def random_record(rng: np.random.Generator) -> HandRecord:
    rules = random_rules(rng)
    while rules.num_streets != 4 or rules.fixed_bets:
        rules = random_rules(rng)
    batch, _ = play(HandSetup(rules=rules, stacks=random_stacks(rules, rng)), rng, 1)
    return batch.record(0, number=int(rng.integers(100)), names=tuple(f'"p\\{k}' for k in range(rules.num_players)))


def test_what_is_written_is_read_back_and_replayed_by_pokerkit() -> None:
    rng, replayed = np.random.default_rng(2), 0
    for _ in range(60):
        record = random_record(rng)
        text = format_phh(record)
        ((_, back),) = read_phh(text)
        assert back == record
        states = []
        try:
            states = list(pokerkit.HandHistory.loads(text))
        except ValueError:  # pokerkit asks for a check that decides nothing; see test_betting_referee
            continue
        apart = np.array(states[-1].stacks) - record.setup.stacks - record.payoffs()
        assert np.abs(apart).max() < record.setup.num_players  # odd chips of merged pots
        replayed += 1
    assert replayed > 40


def test_files_of_many_hands_are_written_and_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    records = [random_record(rng) for _ in range(5)]
    path = tmp_path / "hands.phhs"
    assert write_phhs(path, records) == 5
    assert [record for _, record in read_phh(path.read_text())] == records
    assert len(list(pokerkit.HandHistory.loads_all(path.read_text()))) == 5
    with pytest.raises(RecordError, match=r"name it \.phhs"):
        write_phhs(tmp_path / "hands.phh", records)
    setup = TURN_ENDGAME.setup
    with pytest.raises(RecordError, match="four streets"):
        format_phh(HandRecord(setup=setup, hands=(None, None), board=setup.board))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"variant": "PO"}, "variant 'PO'"),
        ({"antes": [1, 2, 3]}, "antes"),
        ({"starting_stacks": "x"}, "starting_stacks must be a list"),
        ({"starting_stacks": [1, 2, float("nan")]}, "must be a number"),
        ({"actions": ["p9 cc"]}, "unknown player 'p9'"),
        ({"actions": ["p1 zz"]}, "unknown action 'p1 zz'"),
        ({"actions": ["p1 cbr 1e300"]}, "an amount must be"),
        ({"actions": [3]}, "list of texts"),
    ],
)
def test_what_cannot_be_read_is_named(change: dict[str, object], message: str) -> None:
    import tomllib

    with pytest.raises(AleatorError, match=message):
        parse_phh(tomllib.loads(DWAN_IVEY) | change)


def test_what_is_not_toml_is_named_with_its_line() -> None:
    with pytest.raises(RecordError, match="line 2"):
        list(read_phh("a = 1\nb = [1 2]\n"))
