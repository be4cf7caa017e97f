"""Packed buckets: the same as those of the whole file, on every board; what cannot be packed or read says so."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction.blueprint.chances import count_chances
from aleator.abstraction.boards import all_boards, board_indexer
from aleator.abstraction.buckets import AbstractionError, Buckets, open_buckets
from aleator.abstraction.build import build_buckets
from aleator.abstraction.made_rows import MadeRows
from aleator.abstraction.packed.buckets import pack_buckets
from aleator.abstraction.packed.squeezing import squeezed
from aleator.storage import ArrayFile, StorageError, write_arrays
from tests.abstraction.blueprint.small import whole_buckets


def test_boards_that_are_made_have_the_buckets_of_the_table(whole: Buckets, packed: Path) -> None:
    small, rng = open_buckets(packed), np.random.default_rng(2)
    assert whole.is_whole and not small.is_whole and small.fingerprint == whole.fingerprint
    np.testing.assert_array_equal(small.table(1), whole.table(1))
    for street in (1, 2):
        boards = all_boards(street)
        for row in rng.integers(0, len(boards), 150):
            board = rng.permutation(boards[row]) if street == 1 else boards[row]
            np.testing.assert_array_equal(small.numbers(board), whole.numbers(board))


def test_flops_could_be_made_from_their_turns(whole: Buckets) -> None:
    config, centres = whole.config, whole.centres
    assert centres is not None
    turns = MadeRows(config, 2, centres[1])
    flops = MadeRows(config, 1, centres[0], turns, np.asarray(whole.equities[1]), kept=128)
    table = whole.table(1)
    for row in np.random.default_rng(4).integers(0, 1755, 12).tolist():
        np.testing.assert_array_equal(flops[row], table[row])
    assert turns.made <= 12 * 49


def test_as_many_boards_are_kept_as_there_is_room_for(whole: Buckets) -> None:
    assert whole.centres is not None
    rows, table = MadeRows(whole.config, 2, whole.centres[1], kept=1), whole.table(2)
    asked = np.random.default_rng(5).permutation(len(board_indexer(2)))[:300].tolist()
    for row in [*asked, *asked[-10:]]:
        np.testing.assert_array_equal(rows[row], table[row])
    assert rows.made == 300, "the last ones are still there"
    np.testing.assert_array_equal(rows[asked[0]], table[asked[0]])
    assert rows.made == 301, "the first one is not"


def test_all_boards_can_be_made_again(built: Path, packed: Path, tmp_path: Path) -> None:
    small = open_buckets(packed)
    with pytest.raises(AbstractionError, match="abstraction build FILE --like"):
        small.table(2)
    again = build_buckets(small.config, tmp_path / "again.bin", threads=2, like=small)
    assert again.fingerprint == small.fingerprint
    first, second = ArrayFile(built), ArrayFile(tmp_path / "again.bin")
    assert all(np.array_equal(first.read(name), second.read(name)) for name in first.names)


def test_what_cards_do_to_numbers_is_kept_nearly_as_it_was_counted(whole: Buckets, packed: Path) -> None:
    kept, counted = open_buckets(packed).chances, count_chances(whole, deals=20_000)
    assert kept is not None
    for one, other in zip(kept.moves, counted.moves, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5)
        np.testing.assert_allclose(one.sum(axis=1), 1.0, atol=1e-5)
    for one, other in zip(kept.showdowns, counted.showdowns, strict=True):
        np.testing.assert_allclose(one, other, atol=0.004)


def test_buckets_without_centres_are_not_packed(tmp_path: Path) -> None:
    with pytest.raises(AbstractionError, match="without centres"):
        pack_buckets(whole_buckets(), tmp_path / "small")


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("flop", squeezed(np.zeros((1325, 1755), np.uint8)), "its flop are not"),
        ("flop", np.frombuffer(b"anything", np.uint8), "its flop"),
        ("turn centres", squeezed(np.full((8, 10), 1025, np.int32)), "no whole numbers of steps"),
        ("turn centres", squeezed(np.full((8, 10), -1, np.int32)), "no whole numbers of steps"),
        ("turn centres", squeezed(np.zeros((8, 11), np.int32)), "its turn centres are not"),
        ("turn equity", np.full(10, np.nan, np.float32), "are not from 0 to 1"),
        ("moves 1", squeezed(np.zeros((12, 11), np.uint16)), "its moves 1 are not"),
        ("showdowns 2", np.zeros(3, np.int8), "not bytes"),
    ],
)
def test_a_file_that_says_something_else_is_refused(
    name: str, array: np.ndarray, message: str, packed: Path, tmp_path: Path
) -> None:
    file = ArrayFile(packed)
    arrays = {known: file.read(known) for known in file.names} | {name: array}
    write_arrays(tmp_path / "forged", arrays, dict(file.metadata))
    with pytest.raises(StorageError, match=message):
        open_buckets(tmp_path / "forged")


def test_the_report_goes_with_them(whole: Buckets, packed: Path) -> None:
    assert json.loads(ArrayFile(packed).metadata["report"]) == whole.report
