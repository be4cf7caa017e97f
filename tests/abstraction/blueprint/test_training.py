from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction.blueprint.file import Blueprint
from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
from aleator.abstraction.buckets import AbstractionError, Buckets
from aleator.storage import StorageError
from tests.abstraction.blueprint.small import GAME, small_buckets

PLACE = Path("small.bin")


def config(**changes: object) -> BlueprintConfig:
    return BlueprintConfig.of(GAME, **{"period": 2000, **changes})


def trained(buckets: Buckets, deals: int, **changes: object) -> BlueprintTrainer:
    trainer = BlueprintTrainer(config(**changes), buckets, PLACE)
    trainer.run(deals=deals)
    return trainer


def policy(trainer: BlueprintTrainer, decision: int) -> np.ndarray:
    """The average policy of a decision by number, [numbers, actions]."""
    arrays = trainer.betting.arrays
    actions = int(arrays.first[decision + 1] - arrays.first[decision])
    count, begin = trainer.buckets.config.count(int(arrays.street[decision])), int(arrays.row[decision])
    sums = trainer.table[begin : begin + count * 2 * actions].reshape(count, 2, actions)[:, 1]
    return np.asarray(sums / sums.sum(axis=1, keepdims=True))


def test_training_that_was_stopped_goes_on_as_if_it_never_was(buckets: Buckets, tmp_path: Path) -> None:
    straight = trained(buckets, 7000)
    stopped = trained(buckets, 4321)
    stopped.save(tmp_path / "one.blueprint")
    resumed = BlueprintTrainer(config(), buckets, PLACE)
    resumed.restore(Blueprint(tmp_path / "one.blueprint"))
    resumed.run(deals=7000)
    np.testing.assert_array_equal(resumed.table, straight.table)
    assert resumed.progress[:2] == straight.progress[:2] and straight.progress.deals == 7000


def test_discounts_make_weights_linear(buckets: Buckets) -> None:
    linear, plain = trained(buckets, 2000), trained(buckets, 2000, linear_periods=0)
    np.testing.assert_allclose(linear.table, plain.table / 2.0, rtol=1e-6)  # after period 1 of 1
    assert trained(buckets, 1999).table.max() == trained(buckets, 1999, linear_periods=0).table.max()


def test_pruning_begins_after_some_deals(buckets: Buckets, tmp_path: Path) -> None:
    low = {"threshold": 0.01, "pruning": "libratus"}  # so low that pruning shows at once
    plain, pruned = trained(buckets, 3000, pruning="none"), trained(buckets, 3000, **low)
    assert (plain.table != pruned.table).any() and pruned.progress.visits < plain.progress.visits
    late = trained(buckets, 3000, prune_after=3000, **low)
    np.testing.assert_array_equal(late.table, plain.table)
    from_half = trained(buckets, 3000, prune_after=1500, **low)
    assert pruned.progress.visits < from_half.progress.visits < plain.progress.visits
    stopped = trained(buckets, 1000, prune_after=1500, **low)
    stopped.save(tmp_path / "half.blueprint")
    resumed = BlueprintTrainer(config(prune_after=1500, **low), buckets, PLACE)
    resumed.restore(Blueprint(tmp_path / "half.blueprint"))
    resumed.run(deals=3000)
    np.testing.assert_array_equal(resumed.table, from_half.table)


def test_settings_of_files_that_know_no_start_of_pruning_are_read() -> None:
    assert "prune_after" not in config().to_json() and BlueprintConfig.parse(config().to_json()) == config()
    later = config(prune_after=7)
    assert BlueprintConfig.parse(later.to_json()) == later != config()
    with pytest.raises(AbstractionError, match="prune_after must be from 0"):
        config(prune_after=-1)


def test_a_blueprint_learns_what_is_obvious(buckets: Buckets) -> None:
    trainer = trained(buckets, 150_000, period=10_000)
    first = policy(trainer, 0)  # fold, call, raise of the small blind by class; aces are class 0
    assert first[0, 0] < 0.01 and first[0, 2] > 0.5
    arrays = trainer.betting.arrays
    facing = [
        d
        for d in range(trainer.betting.decisions)
        if arrays.street[d] == 1 and arrays.first[d + 1] - arrays.first[d] > 1
    ]
    bet_to = next(d for d in facing if arrays.target[arrays.first[d]] == -1)  # somebody bets the flop
    answers = policy(trainer, bet_to)
    assert answers[0, 0] > 0.7 and answers[-1, 0] < 0.02  # the worst bucket folds, the best does not
    assert trainer.count_met() > 0.9 * trainer.betting.infostates


def test_threads_on_one_table_find_the_same_policy(buckets: Buckets) -> None:
    one, two = trained(buckets, 400_000, period=20_000), BlueprintTrainer(config(period=20_000), buckets, PLACE)
    two.run(deals=400_000, threads=2)
    assert two.progress.deals == 400_000
    folds = np.abs(policy(one, 0) - policy(two, 0))[:, 0]
    assert folds.mean() < 0.05  # uniform and trained differ by a fifth and more


def test_a_report_can_stop_it(buckets: Buckets) -> None:
    trainer = BlueprintTrainer(config(), buckets, PLACE)
    trainer.run(deals=10**9, report=lambda progress: progress.deals >= 4000)
    assert trainer.progress.deals == 4000


def test_other_settings_or_buckets_are_refused(buckets: Buckets, tmp_path: Path) -> None:
    path = tmp_path / "one.blueprint"
    trained(buckets, 1000).save(path)
    for trainer in (
        BlueprintTrainer(config(seed=1), buckets, PLACE),
        BlueprintTrainer(config(), small_buckets(11), PLACE),
    ):
        with pytest.raises(AbstractionError, match="other settings or buckets"):
            trainer.restore(Blueprint(path))


def test_damage_is_noticed(buckets: Buckets, tmp_path: Path) -> None:
    path = tmp_path / "one.blueprint"
    trained(buckets, 1000).save(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "two.blueprint").write_bytes(content)
    with pytest.raises(StorageError, match="damaged"):
        Blueprint(tmp_path / "two.blueprint").table()
    buckets.save(tmp_path / "buckets.bin")
    with pytest.raises(StorageError, match="is not a blueprint"):
        Blueprint(tmp_path / "buckets.bin")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pruning": "some"}, "allowed: pluribus, libratus, none"),
        ({"threshold": 0.0}, "positive number of stacks"),
        ({"period": 0}, "period must be from 1"),
    ],
)
def test_mistakes_are_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(AbstractionError, match=message):
        config(**changes)
