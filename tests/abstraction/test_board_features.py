from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from aleator.abstraction import build as building
from aleator.abstraction import features
from aleator.abstraction.board_features import (
    assign_boards,
    bucket_centres,
    feature_room,
    feature_tables,
    find_features,
)
from aleator.abstraction.boards import all_boards, board_indexer
from aleator.abstraction.buckets import BucketConfig
from aleator.abstraction.k_means import find_nearest
from aleator.games.holdem.cards import NUM_HANDS, blocked_hands
from tests.abstraction import plain_features as plain

Features = tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]


def plain_features(feature: str, board: npt.NDArray[np.int8], showdown: int) -> Features:
    won, met, bins = features.count_runouts(board, showdown)
    equity = plain.equities(won, met)
    if feature == "ochs":
        return plain.ochs(won, met), equity
    if feature == "histogram":
        return plain.cumulated(bins, (np.arange(features.BINS) + 0.5) / features.BINS, feature), equity
    return features.in_steps(equity, feature)[:, None], equity


@pytest.mark.parametrize(("feature", "street"), [("equity", 3), ("ochs", 3), ("histogram", 2), ("ochs", 2)])
def test_features_equal_the_plain_ones_to_the_last_bit(feature: str, street: int) -> None:
    tables = feature_tables(feature, street, 5)
    room = feature_room(tables)
    for board in all_boards(street)[:: 4000 if street == 3 else 3000]:
        find_features(board, tables, room)
        points, equity = plain_features(feature, board, 5)
        alive = ~blocked_hands(board)
        np.testing.assert_array_equal(room.points[alive], points[alive])
        np.testing.assert_array_equal(room.equity, equity)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_potential_equals_the_plain_one(kind: type[np.unsignedinteger]) -> None:
    rng = np.random.default_rng(5)
    following = rng.integers(0, 30, (len(board_indexer(2)), NUM_HANDS)).astype(kind)
    means = np.sort(rng.random(30)).astype(np.float32)
    tables = feature_tables("potential", 1, 5, following, means)
    room = feature_room(tables)
    for board in all_boards(1)[::400]:
        find_features(board, tables, room)
        counts = plain.count_next_buckets(board, following, 30)
        np.testing.assert_array_equal(room.points, plain.cumulated(counts, means))
        mean = counts @ means.astype(np.float64) / np.maximum(counts.sum(axis=1), 1)
        np.testing.assert_allclose(room.equity, mean, rtol=1e-12)


def test_every_hand_that_a_board_leaves_goes_to_its_nearest_centre() -> None:
    tables, boards = feature_tables("ochs", 3, 5), all_boards(3)[::20_000]
    rng = np.random.default_rng(6)
    rows = np.floor(rng.random((12, 8)) * features.STEPS["ochs"]).astype(np.float32)
    centres, numbers = bucket_centres(rows, "ochs", np.uint8)
    buckets = np.full((len(boards), NUM_HANDS), 255, np.uint8)
    assign_boards(boards, tables, centres, numbers, buckets, feature_room(tables))
    for board, row in zip(boards, buckets, strict=True):
        points, _ = plain_features("ochs", board, 5)
        labels, distances = np.empty(NUM_HANDS, np.int32), np.empty(NUM_HANDS, np.float32)
        find_nearest(points, centres, labels, distances)
        np.testing.assert_array_equal(row, np.where(blocked_hands(board), 255, numbers[labels]))
        exact = ((points[:, None].astype(np.int64) - rows.astype(np.int64)) ** 2).sum(axis=2)  # [1326, 12]
        alive = ~blocked_hands(board)
        np.testing.assert_array_equal(
            np.take_along_axis(exact, row[:, None] % 12, 1)[alive, 0], exact.min(axis=1)[alive]
        )


def test_buckets_of_a_street_are_the_same_whatever_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    following = building.Street(
        rng.integers(0, 20, (len(board_indexer(2)), NUM_HANDS)).astype(np.uint8),
        np.sort(rng.random(20)).astype(np.float32),
        np.zeros((20, 8), np.float32),
    )
    monkeypatch.setattr(building, "all_boards", lambda street: all_boards(street)[::9])
    monkeypatch.setattr(building, "random_boards", lambda street, count, rng: rng.integers(0, 195, count))
    config = BucketConfig(game="nolimit-turn", buckets=(25, 20), features=("potential", "ochs"), boards=30, hands=20)

    def build(threads: int) -> building.Street:
        return building._Builder(config, 1, following, threads, lambda share, text: None).build()

    alone = build(1)
    assert alone.table.shape == (195, NUM_HANDS) and len(set(alone.table.ravel().tolist())) == 25
    for threads in (2, 7):
        street = build(threads)
        np.testing.assert_array_equal(street.table, alone.table)
        np.testing.assert_array_equal(street.equity, alone.equity)
