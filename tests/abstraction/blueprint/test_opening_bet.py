"""The opening bet that moves while a blueprint is trained."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction.blueprint.betting import Betting, build_betting
from aleator.abstraction.blueprint.deals import deal_hand, deal_room, deal_tables
from aleator.abstraction.blueprint.file import Blueprint
from aleator.abstraction.blueprint.opening_bet import (
    OpeningBet,
    OpeningRule,
    OpeningStep,
    optimise_opening,
    play_both_ways,
    self_play,
)
from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
from aleator.abstraction.buckets import AbstractionError, Buckets
from aleator.solvers.engines.sampling.random import stream
from tests.abstraction.blueprint.small import whole_buckets
from tests.abstraction.blueprint.test_duel import expected

AFTER = ("100%; all-in",) * 3
MENU = ("100% all-in; 100% all-in; all-in", *AFTER)


@pytest.fixture(scope="module")
def buckets() -> Buckets:
    return whole_buckets()


def betting(buckets: Buckets, first: str = MENU[0], game: str = "hunl") -> Betting:
    return build_betting(game, (first, *AFTER), buckets.config)


def trainer(buckets: Buckets, **changes: object) -> BlueprintTrainer:
    config = BlueprintConfig.of("hunl", menu=MENU, **{"period": 1000, **changes})
    return BlueprintTrainer(config, buckets, Path("whole.bin"))


@pytest.mark.parametrize("percent", [50, 75, 150])
def test_stakes_are_those_of_a_tree_that_is_built_with_the_size(buckets: Buckets, percent: int) -> None:
    menus = [f"{size}% all-in; 100% all-in; all-in" for size in (100, percent)]
    pot, other = (betting(buckets, menu, "hunl:stack=200000") for menu in menus)  # so deep that trees are alike
    np.testing.assert_array_equal(pot.arrays.target, other.arrays.target)
    opening = OpeningBet(pot)
    assert opening.size == 1.0 and opening.player == pot.arrays.player[0]
    begin, end = (int(pot.arrays.first[pot.arrays.target[edge]]) for edge in (2, 3))  # behind the raise, behind all-in
    found = opening.stakes(percent / 100)
    np.testing.assert_allclose(found[begin:end], other.arrays.stake[begin:end])
    assert (found[begin:end] != pot.arrays.stake[begin:end]).sum() > 100
    for outside in (slice(begin), slice(end, None)):
        np.testing.assert_array_equal(found[outside], pot.arrays.stake[outside])
    np.testing.assert_array_equal(opening.stakes(1.0), pot.arrays.stake)


def test_slopes_are_differences_and_stacks_end_them(buckets: Buckets) -> None:
    pot = betting(buckets)
    opening = OpeningBet(pot)
    for size in (0.4, 1.0, 6.0):
        wide = opening.stakes(size + 0.01) - opening.stakes(size - 0.01)
        np.testing.assert_allclose(opening.slopes(size), wide / 0.02, rtol=1e-3, atol=0.5)
    large = opening.stakes(10.0)
    assert (
        np.abs(large).max() == pot.stack
        and (np.abs(large) == pot.stack).sum() > (np.abs(pot.arrays.stake) == pot.stack).sum()
    )
    assert (opening.slopes(10.0) != 0).sum() < (opening.slopes(1.0) != 0).sum()


def test_self_play_has_the_mean_over_both_ways_to_hold_the_cards(buckets: Buckets) -> None:
    pot, tables, room = betting(buckets), deal_tables(buckets), deal_room()
    arrays = pot.arrays._replace(stake=OpeningBet(pot).slopes(1.0))
    slopes = replace(pot, arrays=arrays)
    table, rng = np.zeros(pot.size, np.float32), np.random.default_rng(1)
    for decision in range(pot.decisions):  # every infostate plays one action, so that nothing depends on draws
        actions, begin = int(np.diff(arrays.first)[decision]), int(arrays.row[decision])
        count = buckets.config.count(int(arrays.street[decision]))
        rows = table[begin : begin + 2 * actions * count].reshape(count, 2, actions)
        rows[np.arange(count), 1, rng.integers(0, actions, count)] = 1.0
    means = []
    for number in range(300):
        _, winner = deal_hand(np.uint64(stream(np.uint64(4), number, 2, 0)), tables, room)
        numbers = room.numbers.copy()
        mean = 0.5 * expected(slopes, [table, table], numbers, winner)
        means.append(mean + 0.5 * expected(slopes, [table, table], numbers[::-1], -winner))
        found = play_both_ways(np.uint64(4), number, 1, arrays, tables, table, room)
        assert found == pytest.approx((means[-1], means[-1] ** 2))
    assert np.count_nonzero(means) > 20
    for threads in (1, 2):
        mean, error = self_play(table, arrays, tables, 0, 300, seed=4, threads=threads)
        assert mean == pytest.approx(np.mean(means)) and error == pytest.approx(1.96 * np.std(means, ddof=1) / 300**0.5)


def test_the_size_goes_along_the_gradient_and_stays_where_it_is_told_to(buckets: Buckets) -> None:
    rule = OpeningRule(steps=6, deals=1000, sample=2000, rate=1.0)
    seen: list[OpeningStep] = []
    steps = optimise_opening(trainer(buckets), 1.0, rule, on_step=seen.append)
    assert list(steps) == seen and len(steps) == 6 and steps[0].size == 1.0
    played = [1.0]
    for step, after in pairwise(steps):
        played.append(step.size + float(np.clip(step.gradient[0], -0.3 * step.size, 0.3 * step.size)))
        assert 0.1 < played[-1] < 10.0
        assert after.size == pytest.approx(np.average(played, weights=np.arange(1, len(played) + 1)))
    assert len(set(played)) == 6
    assert optimise_opening(trainer(buckets), 1.0, rule) == steps
    stopped = optimise_opening(trainer(buckets), 1.0, rule, on_step=lambda step: step.number == 2)
    assert stopped == steps[:2]
    own = trainer(buckets)
    held = optimise_opening(own, 2.0, OpeningRule(steps=2, deals=1000, sample=1000, rate=0.0))
    assert [step.size for step in held] == [2.0, 2.0]
    np.testing.assert_array_equal(own.betting.arrays.stake, OpeningBet(betting(buckets)).stakes(2.0))


def test_steps_go_on_behind_those_that_are_done(buckets: Buckets, tmp_path: Path) -> None:
    rule, own = OpeningRule(steps=4, deals=1000, sample=2000, rate=2.0), trainer(buckets)
    whole = optimise_opening(trainer(buckets), 1.0, rule)
    done = optimise_opening(own, 1.0, replace(rule, steps=2))
    own.save(tmp_path / "two.blueprint")
    with pytest.raises(AbstractionError, match="2,000 deals is not one of 1 steps of 1,000"):
        optimise_opening(own, 1.0, rule, done=done[:1])
    later = trainer(buckets)
    later.restore(Blueprint(tmp_path / "two.blueprint"))
    assert optimise_opening(later, 1.0, rule, done=done) == whole
    assert optimise_opening(later, 1.0, rule, done=whole) == whole


def test_what_is_refused(buckets: Buckets) -> None:
    with pytest.raises(AbstractionError, match="one raise below all-in, not 2"):
        OpeningBet(betting(buckets, "75% 150%; all-in"))
    with pytest.raises(AbstractionError, match=r"0\.1 to 10 pots, not 20"):
        optimise_opening(trainer(buckets), 20.0, OpeningRule())
    for settings, words in (({"steps": 0}, "at least 1"), ({"rate": -1.0}, "0 or more")):
        with pytest.raises(AbstractionError, match=words):
            OpeningRule(**settings)
