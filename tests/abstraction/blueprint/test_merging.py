"""Blueprints by workers: the same table whoever works, sums that lose nothing, and a policy that learns."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from aleator.abstraction.blueprint import merging
from aleator.abstraction.blueprint.file import Progress
from aleator.abstraction.blueprint.merging import Chunk, DealMaker, News, Walked, train_by_workers, usual_chunk
from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
from aleator.abstraction.buckets import AbstractionError, Buckets
from aleator.abstraction.ring.training import RingConfig, RingTrainer
from aleator.workers.base import Here, Workers
from aleator.workers.processes import Processes
from tests.abstraction.blueprint.small import GAME, whole_buckets


@pytest.fixture
def place(buckets: Buckets, tmp_path: Path) -> Path:
    buckets.save(tmp_path / "small.bin")
    return tmp_path / "small.bin"


def trained(buckets: Buckets, place: Path, workers: Workers, **sizes: int) -> BlueprintTrainer:
    """Returns a blueprint of 8,000 deals in four periods."""
    trainer = BlueprintTrainer(BlueprintConfig.of(GAME, period=2000), buckets, place)
    told: list[Progress] = []
    work = train_by_workers(
        trainer, workers, deals=8000, report=lambda progress: bool(told.append(progress)), **sizes
    )  # fmt: skip
    assert work.workers == workers.count and work.replaced == 0 and told[-1] == trainer.progress
    assert trainer.progress.deals == 8000 and trainer.progress.visits > 8000
    return trainer


def test_who_works_does_not_matter_but_the_size_of_rounds_does(buckets: Buckets, place: Path) -> None:
    here = trained(buckets, place, Here(), chunk=600, chunks=2)
    there = trained(buckets, place, Processes(2), chunk=600)
    np.testing.assert_array_equal(here.table, there.table)
    assert here.progress.visits == there.progress.visits
    assert not np.array_equal(here.table, trained(buckets, place, Here(), chunk=600, chunks=3).table)


class Counted(DealMaker):
    """Remembers the chunks that it makes."""

    made: ClassVar[list[Chunk]] = []

    def __call__(self, chunk: Chunk) -> Walked:
        self.made.append(chunk)
        return super().__call__(chunk)


@pytest.mark.parametrize("chunks", [1, 2, 3])
def test_every_deal_is_made_once(buckets: Buckets, place: Path, chunks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "DealMaker", Counted)
    Counted.made.clear()
    trained(buckets, place, Here(), chunk=600, chunks=chunks)
    deals = np.concatenate([np.arange(first, first + count) for first, count in Counted.made])
    np.testing.assert_array_equal(np.sort(deals), np.arange(8000))


def test_chunks_grow_with_the_run_and_with_the_table() -> None:
    firsts = (0, 200_000, 2_000_000, 10**8)
    assert [usual_chunk(first, 1_000, 2) for first in firsts] == [1_000, 10_000, 64_000, 64_000]
    assert [usual_chunk(first, 7_694_038, 2) for first in firsts] == [7_513, 10_000, 100_000, 480_832]
    assert [usual_chunk(first, 7_694_038, 8) for first in firsts] == [7_513, 7_513, 25_000, 480_832]


def test_the_usual_chunks_of_a_run(buckets: Buckets, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds are a tenth of what was dealt before; whoever works, and whoever goes on, cuts a run alike."""
    monkeypatch.setattr(merging, "DealMaker", Counted)
    monkeypatch.setattr(merging, "_FEWEST", 50)
    Counted.made.clear()
    here = trained(buckets, place, Here(), chunks=2)
    whole = list(Counted.made)
    assert whole[0] == (0, 50) and max(deals for _, deals in whole) > 250
    assert all(deals <= 1.1 * max(50, 0.05 * first) for first, deals in whole)
    assert {2000, 4000, 6000} < {first for first, _ in whole}, "no chunk is in two periods"
    there = trained(buckets, place, Processes(2))
    np.testing.assert_array_equal(here.table, there.table)


def test_a_chunk_that_would_nearly_fill_its_period_does() -> None:
    for size, deals in ((920, 1_000), (900, 500), (1_000, 1_000), (500, 500), (5_000, 1_000)):
        chunks = merging._chunks(0, 5_000, 1_000, lambda _, size=size: size)  # type: ignore[misc]
        assert {chunk.deals for chunk in chunks} == {deals}


@pytest.mark.parametrize("divisor", [1, 3])
def test_who_was_told_all_the_time_makes_chunks_as_who_comes_late(buckets: Buckets, place: Path, divisor: int) -> None:
    """To the last bit, although discounts and changes of three rounds come to the one, and the result to the other."""
    trainer = BlueprintTrainer(BlueprintConfig.of(GAME, period=500), buckets, place)
    first, second = (DealMaker(BlueprintTrainer, trainer.config, place, buckets.fingerprint, divisor) for _ in range(2))
    news = News(trainer)
    first.receive(news.whole())
    for begin in range(0, 1500, 500):
        changes = first(Chunk(begin, 500)).changes
        changes["table"].add_to(trainer.table, trainer.floors()["table"])
        news.add(changes)
        trainer.end_period(begin // 500 + 1, 1)
        news.end(begin // 500 + 1)
        first.amend(news.take())
    second.receive(news.whole())
    early, late = (maker(Chunk(1500, 500)) for maker in (first, second))
    assert early.visits == late.visits and len(early.changes["table"].added) > 1000
    np.testing.assert_array_equal(early.changes["table"].marks, late.changes["table"].marks)
    np.testing.assert_array_equal(early.changes["table"].added, late.changes["table"].added)


def test_a_chunk_counts_for_those_of_the_others_too(buckets: Buckets, place: Path) -> None:
    """If four workers changed the same, policies would be those that each of them had come to."""
    trainer = BlueprintTrainer(BlueprintConfig.of(GAME, threshold=8.0), buckets, place)
    trainer.run(deals=3000)
    maker = DealMaker(BlueprintTrainer, trainer.config, place, buckets.fingerprint, 4)
    maker.receive(News(trainer).whole())
    walked = maker(Chunk(3000, 500))
    for _ in range(4):
        walked.changes["table"].add_to(trainer.table, trainer.floors()["table"])
    alone = BlueprintTrainer(BlueprintConfig.of(GAME, threshold=2.0), buckets, place)
    plain = BlueprintTrainer(trainer.config, buckets, place)
    plain.run(deals=3000)
    alone.table[:] = plain.table / 4
    assert alone.deal_runner(1)(0, 3000, 500) == walked.visits
    np.testing.assert_allclose(trainer.table, 4 * alone.table, rtol=1e-4, atol=1e-2)
    assert not np.array_equal(trainer.table, plain.table)


def test_one_chunk_is_plain_training(buckets: Buckets, place: Path) -> None:
    """The first chunk begins with the table of the trainer: nothing is old yet, and the discount comes after it."""
    plain, merged = (BlueprintTrainer(BlueprintConfig.of(GAME, period=2000), buckets, place) for _ in range(2))
    plain.run(deals=2000)
    train_by_workers(merged, Here(), deals=2000, chunk=2000)
    np.testing.assert_array_equal(merged.table, plain.table)
    assert merged.progress[:2] == plain.progress[:2]


def test_a_merged_blueprint_learns_what_is_obvious(buckets: Buckets, place: Path) -> None:
    trainer = BlueprintTrainer(BlueprintConfig.of(GAME, period=10_000), buckets, place)
    train_by_workers(trainer, Here(), deals=150_000, chunk=2_500, chunks=2)
    arrays = trainer.betting.arrays
    actions, count = int(arrays.first[1] - arrays.first[0]), buckets.config.count(0)
    sums = trainer.table[: count * 2 * actions].reshape(count, 2, actions)[:, 1]
    policy = sums / sums.sum(axis=1, keepdims=True)
    assert policy[0, 0] < 0.01, "aces are not folded before the flop"


@pytest.mark.slow
def test_a_ring_is_merged_too(tmp_path: Path) -> None:
    buckets, place = whole_buckets(), tmp_path / "whole.bin"
    buckets.save(place)
    config = RingConfig(game="ring:3", menu=("100%",) * 4, period=400, linear_periods=1)
    plain, merged, two = (RingTrainer(config, buckets, place) for _ in range(3))
    plain.run(deals=400)
    train_by_workers(merged, Here(), deals=400, chunk=400)
    np.testing.assert_array_equal(merged.regrets, plain.regrets)
    np.testing.assert_array_equal(merged.sums, plain.sums)
    train_by_workers(two, Here(), deals=1200, chunk=200, chunks=2)
    assert two.progress.deals == 1200 and two.count_met() > plain.count_met()


def test_other_buckets_are_refused(place: Path) -> None:
    config = BlueprintConfig.of(GAME)
    with pytest.raises(AbstractionError, match=r"a worker has other buckets in .*small\.bin than the process"):
        DealMaker(BlueprintTrainer, config, place, "another")
