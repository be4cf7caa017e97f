"""The table that stands in for a network before the flop: interpolation, zero sums, files, and a small fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
import torch

from aleator.games.holdem.cards import HAND_CLASSES, parse_hand
from aleator.learning.holdem.preflop_fit import corrections_of, lines_of, solve_preflop
from aleator.learning.holdem.preflop_table import (
    FILE,
    ClassLeaves,
    PreflopTable,
    class_features,
    class_matrices,
    load_table,
    smoothed,
)
from aleator.learning.holdem.street_values import street_values
from aleator.learning.value_network.shipped import directory
from aleator.storage import StorageError, write_arrays

SIZES = np.bincount(HAND_CLASSES)


def some_table() -> PreflopTable:
    rng = np.random.default_rng(0)
    return PreflopTable(
        np.array([0.0, 1.0, 9.0]), np.concatenate([np.zeros((1, 2, 169)), rng.normal(size=(2, 2, 169))])
    )


def test_between_stacks_corrections_are_interpolated() -> None:
    table = some_table()
    at = table.at(np.array([0.0, 1.0, 9.0, 50.0, np.sqrt(20.0) - 1.0]))
    np.testing.assert_allclose(at[:4], table.corrections[[0, 1, 2, 2]])
    np.testing.assert_allclose(at[4], (table.corrections[1] + table.corrections[2]) / 2)


def test_leaves_are_zero_sum_and_all_in_ones_exact() -> None:
    reach = np.random.default_rng(1).uniform(0.0, 1.0, (2, 169))
    rows = torch.from_numpy(reach).float()[None, None].expand(1, 2, 2, 169)
    pots, stacks = np.array([[200.0, 600.0]]), np.array([[0.0, 3_000.0]])
    leaves = ClassLeaves(some_table(), torch.device("cpu")).leaves(pots, stacks)
    cfvs = leaves(rows)[0].numpy()
    total = (cfvs * reach * SIZES).sum(axis=(1, 2))
    mass = reach[0] * SIZES @ (class_matrices().counts @ reach[1])
    np.testing.assert_allclose(total / mass, 0.0, atol=1e-3)
    np.testing.assert_allclose(cfvs[0, 0], 100.0 * class_matrices().wins @ reach[1], rtol=1e-3, atol=0.05)
    assert np.abs(cfvs[1, 0] - 3.0 * cfvs[0, 0]).max() > 10.0


def test_every_hand_meets_1225_others() -> None:
    np.testing.assert_allclose(class_matrices().counts.sum(axis=1), 1225.0)
    assert np.abs(SIZES @ class_matrices().wins).sum() / 1326 > 0.0
    np.testing.assert_allclose((SIZES[:, None] * class_matrices().wins).sum(), 0.0, atol=1.0)


def test_smoothing_keeps_what_features_explain() -> None:
    features = class_features()
    values = features @ np.random.default_rng(2).normal(size=features.shape[1])
    np.testing.assert_allclose(smoothed(values, SIZES.astype(float)), values, atol=0.05)


def test_files_are_checked(tmp_path: Path) -> None:
    table, path = some_table(), tmp_path / "table.safetensors"
    table.save(path)
    np.testing.assert_allclose(load_table(path).corrections, table.corrections, rtol=1e-6)
    table._replace(stacks=np.array([0.0, 2.0, 1.0])).save(path)
    with pytest.raises(StorageError, match="damaged: stacks must rise from 0"):
        load_table(path)
    write_arrays(path, {"stacks": np.zeros(2)}, {"format": "another"})
    with pytest.raises(StorageError, match="is not a preflop table: its format is 'another'"):
        load_table(path)


def test_a_fit_on_one_flop_pays_aces_more_than_deuces() -> None:
    lines = lines_of(solve_preflop(None, 5))
    assert [line.stack for line in lines] == sorted(line.stack for line in lines)
    corrections = corrections_of(lines[len(lines) // 2], [(0, 13, 26)], street_values("flop"), 3)
    assert corrections.shape == (2, 169) and np.isfinite(corrections).all()
    for player in (0, 1):
        assert corrections[player, parse_class("AA")] > corrections[player, parse_class("72o")]


def test_the_shipped_table_is_used_and_knows_good_hands_and_position() -> None:
    assert "table of hand classes" in street_values("preflop").source
    deep = load_table(directory() / "holdem" / FILE).at(np.array([10.0, 40.0]))
    equity = class_matrices().wins.sum(axis=1)
    strong, weak = equity > np.quantile(equity, 0.8), equity < np.quantile(equity, 0.5)
    assert (deep[:, :, strong].mean(axis=2) > deep[:, :, weak].mean(axis=2)).all()
    assert (deep[:, 1] > deep[:, 0]).mean() > 0.75  # who acts last wins more
    assert deep[:, 1].mean() - deep[:, 0].mean() > 0.01


def parse_class(text: str) -> int:
    """Returns the number of a class such as AA, 72o or AKs."""
    suits = {"": "sh", "o": "sh", "s": "ss"}[text[2:]]
    return int(HAND_CLASSES[parse_hand(f"{text[0]}{suits[0]}{text[1]}{suits[1]}")])
