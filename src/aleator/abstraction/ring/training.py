"""Training a blueprint for several players: threads on one table, linear discounts, snapshots.

Algorithm:
    Deals are numbered, and made by `walk.run_ring`. Linear CFR weighs iteration t by t: after each of the first periods
    of deals everything is multiplied by T / (T + 1). Once these are over, after each period a snapshot of the current
    policy of the later streets is added to their sums; on the first street sums are kept all the time.

Reference: N. Brown, T. Sandholm (Science 2019), supplement: regrets of 32 bits, discounts by time in the beginning,
    the average of the first round alone, snapshots of the others; thesis 6.6.
Deviations: periods are of deals, not of minutes, so that one thread's result follows from the seed alone; snapshots are
    summed in memory and not kept apart on disk.
Status: tests/abstraction/ring/test_training.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.changes import Marks, marks_of, no_marks
from aleator.abstraction.blueprint.deals import deal_tables
from aleator.abstraction.blueprint.periods import PeriodTrainer, RunDeals, check_table_fits, parse_settings
from aleator.abstraction.blueprint.walk import walk_room
from aleator.abstraction.buckets import AbstractionError, Buckets
from aleator.abstraction.ring.betting import RING_MENU, build_ring_betting
from aleator.abstraction.ring.deals import ring_room
from aleator.abstraction.ring.file import RingBlueprint
from aleator.abstraction.ring.walk import RingRule, run_ring, take_snapshot
from aleator.games.holdem.variants import HoldemVariant, load_hand_game

_UNITS = 10_000  # in a stack, as Pluribus counts
NO_PRUNING = 1e9  # stacks


@dataclass(frozen=True, slots=True, kw_only=True)
class RingConfig:
    """How a blueprint of several players is trained.

    Attributes:
        game: of whole hands, for three and more players.
        menu: sizes of bets, one text per street (`LevelMenu.parse`); None for limit.
        most_to_flop: players who see a flop.
        period: deals between two discounts, and later between two snapshots.
        linear_periods: discounts there are.
        threshold: regrets this many stacks below 0 are pruned, in 95 % of the deals; `NO_PRUNING`: nothing is.
        seed: of all randomness.
    """

    game: str = "ring:6"
    menu: tuple[str, ...] | None = RING_MENU
    most_to_flop: int = 2
    period: int = 100_000
    linear_periods: int = 40
    threshold: float = 1000.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.period < 1 or self.linear_periods < 0:
            raise AbstractionError(f"periods must be at least 1 deal, not {self.period}; {self.linear_periods} of them")
        if not self.threshold > 0.0:
            raise AbstractionError(f"the threshold of pruning must be positive, in stacks, not {self.threshold}")

    def to_json(self) -> str:
        """Returns it as text."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> RingConfig:
        """Returns the settings of a text that `to_json` gave.

        Raises:
            ValueError: it is another text.
        """
        kinds = {
            "game": str,
            "most_to_flop": int,
            "period": int,
            "linear_periods": int,
            "threshold": float,
            "seed": int,
        }
        return cls(**parse_settings(text, kinds))


class RingTrainer(PeriodTrainer):
    """A blueprint of several players in training.

    Args:
        config: how it is trained.
        buckets: hands that are taken for one another.
        place: where the buckets lie, for who plays the blueprint later.
        game: in place of the one that the settings name.

    Attributes:
        betting: its decisions.
        regrets: of all streets.
        sums: of policies: of the first street all the time, of the others at snapshots.
        progress: how far it is.
    """

    config: RingConfig
    chunk = 5_000

    def __init__(
        self, config: RingConfig, buckets: Buckets, place: Path = Path(), *, game: HoldemVariant | None = None
    ) -> None:
        self.config, self.buckets, self.place = config, buckets, place
        self.game = load_hand_game(config.game) if game is None else game
        self.betting = build_ring_betting(self.game, config.menu, buckets.config, most_to_flop=config.most_to_flop)
        check_table_fits(8 * self.betting.size)
        self._tables = deal_tables(buckets)
        self.regrets = np.zeros(self.betting.size, np.int32)
        self.sums = np.zeros(self.betting.size, np.float32)
        streets = self.betting.arrays.street
        self._numbers = np.array([buckets.config.count(street) for street in range(4) if street <= streets.max()])[
            streets
        ]

    def rule(self) -> RingRule:
        """Returns how regrets are kept and pruned."""
        unit, last = max(1.0, _UNITS / self.game.stack), self.game.rules.num_streets - 1
        least = -self.config.threshold * self.game.stack * unit
        if least < -1.9e9:
            return RingRule(unit, -2_000_000_000, -2_000_000_000, 0.0, last)
        return RingRule(unit, int(least), int(least * 31 / 30), 0.95, last)

    @property
    def period(self) -> int:
        """Deals between two discounts or snapshots."""
        return self.config.period

    def tables(self) -> dict[str, npt.NDArray[Any]]:
        """Returns regrets and sums."""
        return {"regrets": self.regrets, "sums": self.sums}

    def floors(self) -> dict[str, float]:
        """Returns the least regret; sums of policies are never below 0."""
        return {"regrets": self.rule().floor, "sums": 0.0}

    def deal_runner(self, threads: int, *, divisor: int = 1) -> RunDeals:
        """Returns what makes deals."""
        rule, seed = self.rule(), np.uint64(self.config.seed)
        rule = rule._replace(threshold=rule.threshold // divisor, floor=rule.floor // divisor)
        rooms = [(ring_room(self.betting.players), walk_room()) for _ in range(threads)]
        return lambda thread, first, count: run_ring(
            seed, first, count, rule, self.betting.arrays, self._tables, self.regrets, self.sums, *rooms[thread]
        )

    def regret_marks(self) -> dict[str, Marks]:
        """Returns all numbers of the one table and none of the other."""
        every = np.ones(len(self.regrets), np.bool_)
        return {"regrets": marks_of(every), "sums": no_marks(len(self.sums))}

    def discount(self, number: int, tables: Mapping[str, npt.NDArray[Any]], threads: int = 1) -> None:
        """Discounts everything after one of the first periods."""
        if number <= self.config.linear_periods:
            factor = number / (number + 1.0)
            for start in range(0, len(tables["regrets"]), 1 << 20):
                part = tables["regrets"][start : start + (1 << 20)]
                part[:] = np.rint(part * factor)
            tables["sums"][:] *= np.float32(factor)

    def end_period(self, number: int, threads: int) -> None:
        """Discounts after one of the first periods, takes a snapshot after the others."""
        super().end_period(number, threads)
        if number > self.config.linear_periods:
            arrays = self.betting.arrays
            decisions = np.flatnonzero(arrays.street > 0)
            take_snapshot(arrays.first, arrays.row, self._numbers, decisions, self.regrets, self.sums)

    def count_met(self) -> int:
        """Returns how many infostates have a regret, because their player has traversed them."""
        met, arrays = 0, self.betting.arrays
        for decision in range(self.betting.decisions):
            actions, begin = int(arrays.first[decision + 1] - arrays.first[decision]), int(arrays.row[decision])
            count = int(self._numbers[decision])
            met += int(self.regrets[begin : begin + count * actions].reshape(count, actions).any(axis=1).sum())
        return met

    def restore(self, blueprint: RingBlueprint) -> None:
        """Goes on from a blueprint.

        Raises:
            AbstractionError: it was trained by other settings or with other buckets.
        """
        if blueprint.config_text != self.config.to_json() or blueprint.fingerprint != self.buckets.fingerprint:
            raise AbstractionError("the blueprint in the file has other settings or buckets: write to another file")
        if len(blueprint.regrets) != len(self.regrets):
            raise AbstractionError(f"{blueprint.path} is damaged: its table does not fit its bet menu")
        self.regrets[:], self.sums[:] = blueprint.tables()
        self.progress = blueprint.progress

    def save(self, path: Path) -> None:
        """Writes the blueprint, which is a checkpoint, too, to a file, atomically."""
        RingBlueprint.write_tables(path, self.config.to_json(), self.buckets, self.place, self.progress, self.tables())
