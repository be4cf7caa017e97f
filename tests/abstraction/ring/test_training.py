"""Training for several players: it learns, follows from its seed, and takes snapshots."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction.buckets import AbstractionError
from aleator.abstraction.ring.file import RingBlueprint
from aleator.abstraction.ring.training import RingConfig, RingTrainer
from tests.abstraction.blueprint.small import small_buckets
from tests.abstraction.ring.small import table_policy
from tests.abstraction.ring.test_walk import THREE


def test_training_learns_to_fold_and_raise_before_the_flop() -> None:
    buckets = small_buckets()
    trainer = RingTrainer(RingConfig(menu=None, period=2000, linear_periods=5, most_to_flop=3), buckets, game=THREE)
    trainer.run(deals=20_000)
    assert trainer.progress.deals == 20_000
    assert trainer.progress.visits > 20_000 * 3 * 5
    policy, classes = table_policy(trainer, 0), buckets.numbers([])
    assert trainer.betting.arrays.player[0] == 2  # the button opens
    aces, trash = policy[classes[-1]], policy[classes[_seven_two()]]
    assert aces[-1] > 0.9  # raises
    assert trash[0] > 0.5 > aces[0]
    later = trainer.sums[trainer.betting.arrays.first_size :]
    assert later.max() == pytest.approx(5.0, abs=1e-3)  # five snapshots after the five discounts
    np.testing.assert_allclose(policy.sum(axis=1), 1.0)


def _seven_two() -> int:
    from aleator.games.holdem.cards import hand_index, parse_cards

    high, low = parse_cards("7h 2s")
    return int(hand_index(high, low))


def test_one_thread_follows_from_the_seed_and_resumes(tmp_path: Path) -> None:
    buckets, config = small_buckets(), RingConfig(menu=None, period=500, linear_periods=1, seed=3)
    straight, parts = (RingTrainer(config, buckets, game=THREE) for _ in range(2))
    straight.run(deals=1500)
    parts.run(deals=700)
    parts.save(tmp_path / "three.blueprint")
    parts = RingTrainer(config, buckets, game=THREE)
    parts.restore(RingBlueprint(tmp_path / "three.blueprint"))
    parts.run(deals=1500)
    assert np.array_equal(straight.regrets, parts.regrets)
    assert np.array_equal(straight.sums, parts.sums)
    other = RingTrainer(RingConfig(menu=None, period=500, linear_periods=1, seed=4), buckets, game=THREE)
    other.run(deals=1500)
    assert not np.array_equal(straight.regrets, other.regrets)
    with pytest.raises(AbstractionError, match="other settings"):
        other.restore(RingBlueprint(tmp_path / "three.blueprint"))
    assert RingConfig.parse(config.to_json()) == config


def test_regrets_stay_above_the_floor_and_threads_share_a_table() -> None:
    trainer = RingTrainer(RingConfig(menu=None, linear_periods=0, threshold=0.5), small_buckets(), game=THREE)
    rule = trainer.rule()
    trainer.run(deals=4000, threads=2)
    assert trainer.progress.deals == 4000
    assert rule.threshold == -5_000
    assert rule.floor <= trainer.regrets.min() < rule.threshold
    with pytest.raises(AbstractionError, match="threshold"):
        RingConfig(threshold=0.0)
    with pytest.raises(AbstractionError, match="periods"):
        RingConfig(period=0)
