from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction.blueprint.betting import FOLDED, Betting
from aleator.abstraction.blueprint.deals import deal_room, deal_tables
from aleator.abstraction.blueprint.duel import duel, duel_tables, play_deals, play_hand, same_betting
from aleator.abstraction.blueprint.file import Blueprint
from aleator.abstraction.blueprint.policy import BlueprintPolicy
from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
from aleator.abstraction.buckets import AbstractionError, Buckets
from aleator.solvers.engines.sampling.random import stream
from tests.abstraction.blueprint.small import GAME, small_buckets


def some_table(betting: Betting, seed: int) -> np.ndarray:
    """Returns a table whose policies are random; some rows were never met, some actions are never played."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(betting.size) < 0.3, 0.0, rng.random(betting.size)).astype(np.float32)


def expected(betting: Betting, tables: list[np.ndarray], numbers: np.ndarray, winner: int, node: int = 0) -> float:
    """What player 0 wins on average, by following all actions: the recursive reference."""
    arrays = betting.arrays
    player, edges = int(arrays.player[node]), range(arrays.first[node], arrays.first[node + 1])
    begin = int(arrays.row[node] + 2 * len(edges) * numbers[player, arrays.street[node]]) + len(edges)
    sums = tables[player][begin : begin + len(edges)].astype(float)
    policy = sums / sums.sum() if sums.any() else np.full(len(edges), 1.0 / len(edges))
    value = 0.0
    for chance, edge in zip(policy, edges, strict=True):
        if not chance:
            continue
        target = int(arrays.target[edge])
        if target >= 0:
            value += chance * expected(betting, tables, numbers, winner, target)
        else:
            value += chance * float(arrays.stake[edge]) * (1 if target == FOLDED else winner)
    return value


@pytest.mark.parametrize("winner", [1, 0, -1])
def test_a_hand_is_worth_what_all_its_actions_are_worth_on_average(betting: Betting, winner: int) -> None:
    tables = [some_table(betting, 1), some_table(betting, 2)]
    numbers = np.array([[5, 3, 0, 0], [80, 7, 0, 0]])
    draws = 20_000
    won = [
        play_hand(np.uint64(stream(np.uint64(5), draw, 0, 0)), winner, betting.arrays, numbers, *tables)
        for draw in range(draws)
    ]
    error = float(np.std(won)) / math.sqrt(draws)
    assert error > 0.0
    assert abs(float(np.mean(won)) - expected(betting, tables, numbers, winner)) < 4.0 * error  # z = 4


def test_blueprints_that_are_alike_win_nothing_and_seats_are_shared(betting: Betting, buckets: Buckets) -> None:
    one, other, tables = some_table(betting, 1), some_table(betting, 2), deal_tables(buckets)
    assert duel_tables(one, one, betting, tables, 500)[1:] == (0.0, 0.0)
    there, back = (duel_tables(*pair, betting, tables, 5000, seed=3) for pair in ((one, other), (other, one)))
    assert there.chips == pytest.approx(-back.chips) and there.ci95 == pytest.approx(back.ci95) and there.chips != 0.0
    threads = duel_tables(one, other, betting, tables, 5000, seed=3, threads=3)
    assert threads.chips == pytest.approx(there.chips) and threads.ci95 == pytest.approx(there.ci95)


def test_the_error_is_that_of_the_mean(betting: Betting, buckets: Buckets) -> None:
    one, other, tables = some_table(betting, 1), some_table(betting, 2), deal_tables(buckets)
    score = duel_tables(one, other, betting, tables, 2000, seed=3)
    single = [play_deals(np.uint64(3), n, 1, betting.arrays, tables, one, other, deal_room())[0] for n in range(2000)]
    assert score.chips == pytest.approx(np.mean(single))
    assert score.ci95 == pytest.approx(1.96 * np.std(single, ddof=1) / math.sqrt(2000))


def test_training_wins(buckets: Buckets, tmp_path: Path) -> None:
    policies = []
    for deals in (2000, 100_000):
        trainer = BlueprintTrainer(BlueprintConfig.of(GAME, period=10_000), buckets, tmp_path / "small.bin")
        trainer.run(deals=deals)
        trainer.save(tmp_path / f"{deals}.blueprint")
        policies.append(BlueprintPolicy(Blueprint(tmp_path / f"{deals}.blueprint"), buckets))
    score = duel(policies[1], policies[0], deal_tables(buckets), 20_000)
    assert score.chips - 2.0 * score.ci95 > 0.0


def test_other_buckets_or_menus_are_refused(buckets: Buckets, betting: Betting, tmp_path: Path) -> None:
    policies = []
    for count in (10, 12):
        own = buckets if count == 10 else small_buckets(count)
        trainer = BlueprintTrainer(BlueprintConfig.of(GAME, period=1000), own, tmp_path / "small.bin")
        trainer.save(tmp_path / f"{count}.blueprint")
        policies.append(BlueprintPolicy(Blueprint(tmp_path / f"{count}.blueprint"), own))
    with pytest.raises(AbstractionError, match="different buckets"):
        duel(policies[0], policies[1], deal_tables(buckets), 10)
    stakes = betting.arrays.stake.copy()
    stakes[0] += 1.0
    changed = dataclasses.replace(betting, arrays=betting.arrays._replace(stake=stakes))
    assert same_betting(betting, betting) and not same_betting(betting, changed)
    policies[1].blueprint.fingerprint, policies[1].betting = policies[0].blueprint.fingerprint, changed
    with pytest.raises(AbstractionError, match="different bet menus"):
        duel(policies[0], policies[1], deal_tables(buckets), 10)
