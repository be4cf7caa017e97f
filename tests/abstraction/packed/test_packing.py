"""Packed blueprints play nearly as those they were made of, and only what they were made for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction.blueprint.deals import deal_tables
from aleator.abstraction.blueprint.file import Blueprint
from aleator.abstraction.blueprint.policy import open_policy
from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
from aleator.abstraction.buckets import AbstractionError
from aleator.abstraction.packed import packing
from aleator.abstraction.packed.packing import pack_blueprint
from aleator.abstraction.packed.policies import PackedBlueprint
from aleator.abstraction.ring.deals import ring_room
from aleator.abstraction.ring.file import is_ring_blueprint
from aleator.abstraction.ring.policy import open_ring_policy
from aleator.abstraction.ring.training import RingConfig, RingTrainer
from aleator.storage import ArrayFile, StorageError, write_arrays
from tests.abstraction.blueprint.small import GAME, small_buckets, whole_buckets


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a blueprint of two players."""
    folder, buckets = tmp_path_factory.mktemp("two"), small_buckets()
    buckets.save(folder / "small.bin")
    trainer = BlueprintTrainer(BlueprintConfig.of(GAME, period=5_000), buckets, folder / "small.bin")
    trainer.run(deals=20_000)
    trainer.save(folder / "small.blueprint")
    return folder / "small.blueprint"


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a blueprint of three players."""
    folder, buckets = tmp_path_factory.mktemp("three"), whole_buckets()
    buckets.save(folder / "small.bin")
    config = RingConfig(game="ring:3", menu=("all-in",) * 4, period=1_000, linear_periods=3)
    trainer = RingTrainer(config, buckets, folder / "small.bin")
    trainer.run(deals=6_000)
    trainer.save(folder / "ring.blueprint")
    return folder / "ring.blueprint"


@pytest.mark.parametrize("bits", [3, 6])
def test_a_packed_blueprint_plays_nearly_as_before(bits: int, trained: Path) -> None:
    out = trained.with_name(f"{bits}.blueprint")
    report = pack_blueprint(trained, out, bits=bits, deals=5_000)
    before, after = open_policy(trained), open_policy(out)
    assert isinstance(after.blueprint, PackedBlueprint) and after.blueprint.progress == before.blueprint.progress
    largest = 0.0
    for number in np.flatnonzero(before.betting.decision_of >= 0).tolist():
        one, other = before.at(number), after.at(number)
        np.testing.assert_array_equal(one.sum(axis=1) > 0.0, other.sum(axis=1) > 0.0)
        largest = max(largest, float(np.abs(one - other).max()))
    assert largest == pytest.approx(report.largest, abs=1e-6) and largest < 1.0 / ((1 << bits) - 1)
    assert report.mean is not None and 0.0 < report.mean < 0.5 / ((1 << bits) - 1)
    assert report.bytes == out.stat().st_size


def test_tables_of_packed_blueprints_have_their_policies(trained: Path) -> None:
    out = trained.with_name("table.blueprint")
    pack_blueprint(trained, out, bits=4, deals=1)
    policy = open_policy(out)
    table, arrays = policy.blueprint.table(), policy.betting.arrays
    for number in np.flatnonzero(policy.betting.decision_of >= 0).tolist():
        decision = int(policy.betting.decision_of[number])
        actions = int(arrays.first[decision + 1] - arrays.first[decision])
        numbers = policy.buckets.config.count(int(arrays.street[decision]))
        row = int(arrays.row[decision])
        block = table[row : row + 2 * numbers * actions].reshape(numbers, 2, actions)
        assert not block[:, 0].any()
        np.testing.assert_allclose(block[:, 1] / 15.0, policy.at(number), atol=1e-6)


def test_a_packed_blueprint_of_several_players_plays_nearly_as_before(ring: Path) -> None:
    out = ring.with_name("packed.blueprint")
    report = pack_blueprint(ring, out, bits=5, deals=2_000)
    assert is_ring_blueprint(out)
    before, after = open_ring_policy(ring), open_ring_policy(out)
    change = np.abs(before.probabilities - after.probabilities)
    assert report.largest == pytest.approx(float(change.max()), abs=1e-6) and report.largest < 1 / 31
    assert report.mean is not None and 0.0 < report.mean < 1 / 31


def test_what_packing_changes_in_the_mean_is_counted_where_play_comes(trained: Path) -> None:
    opened = packing._opened(trained)
    rooms = deal_tables(opened.buckets), ring_room(2)
    changes = np.full(len(opened.weights), 7.0, np.float32)
    assert packing._mean_change(np.uint64(0), 100, opened.steps, *rooms, opened.weights, changes) == 7.0
    changes[:] = 0.0
    first = int(opened.shape.actions[0]) * 169
    changes[:first] = 1.0  # the first decision, to which every deal comes once
    assert 0.1 < packing._mean_change(np.uint64(0), 2_000, opened.steps, *rooms, opened.weights, changes) < 0.9


def test_what_cannot_be_packed_says_so(trained: Path, tmp_path: Path) -> None:
    out = trained.with_name("once.blueprint")
    pack_blueprint(trained, out, deals=1)
    with pytest.raises(AbstractionError, match="is packed already"):
        pack_blueprint(out, tmp_path / "twice")
    with pytest.raises(AbstractionError, match="2 to 6 bits, not 9"):
        pack_blueprint(trained, tmp_path / "nine", bits=9)
    small_buckets(7).save(tmp_path / "other.bin")
    with pytest.raises(AbstractionError, match="trained with other buckets than those of"):
        pack_blueprint(trained, tmp_path / "other", buckets=tmp_path / "other.bin")
    trainer = BlueprintTrainer(BlueprintConfig.of(GAME, period=5_000), small_buckets(), tmp_path / "small.bin")
    with pytest.raises(StorageError, match="is not a blueprint: its format is 'aleator packed blueprint 1'"):
        trainer.restore(Blueprint(out))


def test_a_packed_blueprint_of_another_betting_is_refused(trained: Path, tmp_path: Path) -> None:
    out = trained.with_name("shape.blueprint")
    pack_blueprint(trained, out, deals=1)
    file = ArrayFile(out)
    arrays = {name: file.read(name) for name in file.names}
    arrays["shape"] = np.array([7, 3], np.int64)
    write_arrays(tmp_path / "forged", arrays, dict(file.metadata))
    with pytest.raises(StorageError, match="its probabilities have 7 bits"):
        open_policy(tmp_path / "forged", trained.with_name("small.bin"))
