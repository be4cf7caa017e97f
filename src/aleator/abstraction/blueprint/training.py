"""Training a blueprint: linear Monte Carlo CFR on one table, by as many threads as there are, in periods.

Algorithm:
    A period is a number of deals, each of which updates both players (`walk`). After period p everything in the table
    is multiplied by p / (p + 1): so what period p adds counts p times, which is linear CFR in steps, for regrets and
    for the average policy alike. After a number of periods the factor is next to 1, and left out.
    Pruning may begin after a number of deals: Libratus sampled actions by their regrets in the second half only.

Reference: N. Brown, T. Sandholm (Science 2019), supplement: discounts every ten minutes for the first 400; N. Brown's
thesis (2020), 3.1.5 (linear Monte Carlo CFR), 6.3 (regret-based sampling) and 6.4 (when it begins).
Deviations: periods are deals and not minutes, so that one thread's result follows from the seed alone. Averages are
kept on all streets; Pluribus keeps those of the first one and takes snapshots of the others.
Status: tests/abstraction/blueprint/test_training.py.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.betting import STANDARD_MENU, Betting, build_betting
from aleator.abstraction.blueprint.changes import Marks, marks_of
from aleator.abstraction.blueprint.deals import deal_room, deal_tables
from aleator.abstraction.blueprint.file import Blueprint, Progress
from aleator.abstraction.blueprint.periods import PeriodTrainer, RunDeals, check_table_fits, parse_settings
from aleator.abstraction.blueprint.walk import Pruning, Table, run_deals, walk_room
from aleator.abstraction.buckets import AbstractionError, Buckets
from aleator.errors import shown
from aleator.games.holdem.variants import load_hand_game
from aleator.parsing import MAX_SEED

PRUNING = ("pluribus", "libratus", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class BlueprintConfig:
    """What a blueprint is trained by.

    Attributes:
        game: a heads-up game of whole hands.
        menu: sizes of bets, one text per street (`LevelMenu.parse`); None for limit.
        period: deals between two discounts.
        linear_periods: discounts there are.
        pruning: `pluribus`, `libratus` or `none`.
        threshold: regrets this many stacks below 0 are pruned.
        prune_after: deals in which nothing is pruned yet.
        seed: of all randomness.
    """

    game: str = "hunl"
    menu: tuple[str, ...] | None = STANDARD_MENU
    period: int = 500_000
    linear_periods: int = 400
    pruning: str = "pluribus"
    threshold: float = 25.0
    prune_after: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.pruning not in PRUNING:
            raise AbstractionError(f"unknown pruning {shown(self.pruning)}; allowed: {', '.join(PRUNING)}")
        counts = {"period": (1, 10**12), "linear_periods": (0, 10**9), "prune_after": (0, 10**12)}
        limits = counts | {"seed": (0, MAX_SEED)}
        for name, (least, most) in limits.items():
            if not least <= getattr(self, name) <= most:
                raise AbstractionError(f"{name} must be from {least} to {most:,}, not {shown(getattr(self, name))}")
        if not 0.0 < self.threshold < math.inf:
            raise AbstractionError(f"threshold must be a positive number of stacks, not {self.threshold}")

    @classmethod
    def of(cls, game: str, **changes: object) -> BlueprintConfig:
        """Returns the usual settings for a game, with changes."""
        limit = load_hand_game(game).rules.fixed_bets is not None
        return cls(game=game, **{"menu": None if limit else STANDARD_MENU, **changes})  # type: ignore[arg-type]

    def to_json(self) -> str:
        """Returns it as text; what is pruned from the start on says nothing about when, as files always did."""
        values = asdict(self)
        if not self.prune_after:
            del values["prune_after"]
        return json.dumps(values)

    @classmethod
    def parse(cls, text: str) -> BlueprintConfig:
        """Returns the settings of a text that `to_json` gave.

        Raises:
            ValueError: it is another text.
        """
        kinds = {"game": str, "period": int, "linear_periods": int, "pruning": str, "threshold": float, "seed": int}
        return cls(**parse_settings(text, kinds | {"prune_after": int}, optional={"prune_after"}))

    def rule(self, betting: Betting, last_street: int) -> tuple[Pruning, float]:
        """Returns when actions are pruned, and in which share of the deals."""
        if self.pruning == "none":
            return Pruning(-math.inf, -math.inf, 0.0, last_street), 0.0
        threshold = -self.threshold * betting.stack
        libratus = self.pruning == "libratus"
        floor = -math.inf if libratus else threshold * (31.0 / 30.0)
        return Pruning(threshold, floor, -threshold / 4.0 if libratus else 0.0, last_street), 1.0 if libratus else 0.95


class BlueprintTrainer(PeriodTrainer):
    """A blueprint in training.

    Args:
        config: how it is trained.
        buckets: hands that are taken for one another.
        place: where the buckets lie, for who plays the blueprint later.

    Attributes:
        betting: its decisions.
        table: regrets and sums of policies.
        progress: how far it is.
    """

    config: BlueprintConfig

    def __init__(self, config: BlueprintConfig, buckets: Buckets, place: Path) -> None:
        self.config, self.buckets, self.place = config, buckets, place
        self.betting = build_betting(config.game, config.menu, buckets.config)
        check_table_fits(4 * self.betting.size)
        self._deals = deal_tables(buckets)
        self.table: Table = np.zeros(self.betting.size, np.float32)

    def restore(self, blueprint: Blueprint) -> None:
        """Goes on from a blueprint.

        Raises:
            AbstractionError: it was trained by other settings or with other buckets.
        """
        if blueprint.config_text != self.config.to_json() or blueprint.fingerprint != self.buckets.fingerprint:
            raise AbstractionError("the blueprint in the file has other settings or buckets: write to another file")
        if blueprint.size != len(self.table):
            raise AbstractionError(f"{blueprint.path} is damaged: its table does not fit its bet menu")
        self.table[:] = blueprint.table()
        self.progress = blueprint.progress

    def begin_with(self, table: Table, progress: Progress) -> None:
        """Goes on from a table that was made for this betting out of another one's, and how far that was."""
        self.table[:] = table
        self.progress = progress

    @property
    def period(self) -> int:
        """Deals between two discounts."""
        return self.config.period

    def tables(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the table."""
        return {"table": self.table}

    def floors(self) -> dict[str, float]:
        """Returns the least regret; sums of policies are never below 0."""
        return {"table": self.config.rule(self.betting, self.buckets.config.last_street)[0].floor}

    def deal_runner(self, threads: int, *, divisor: int = 1) -> RunDeals:
        """Returns what makes deals."""
        pruning, share = self.config.rule(self.betting, self.buckets.config.last_street)
        pruning = pruning._replace(
            threshold=pruning.threshold / divisor, floor=pruning.floor / divisor, scale=pruning.scale / divisor
        )
        rooms, seed = [(deal_room(), walk_room()) for _ in range(threads)], np.uint64(self.config.seed)

        def run(thread: int, first: int, count: int) -> int:
            rest = (pruning, self.betting.arrays, self._deals, self.table, *rooms[thread])
            plain = min(max(self.config.prune_after - first, 0), count)
            visits = run_deals(seed, first, plain, 0.0, *rest)
            return visits + run_deals(seed, first + plain, count - plain, share, *rest)

        return run

    def regret_marks(self) -> dict[str, Marks]:
        """Returns which numbers of the table are regrets: those of a row before its sums of policies."""
        flags = np.zeros(self.betting.size, np.bool_)
        for decision in range(self.betting.decisions):
            self._block(flags, decision)[:, 0] = True
        return {"table": marks_of(flags)}

    def discount(self, number: int, tables: Mapping[str, npt.NDArray[Any]], threads: int = 1) -> None:
        """Discounts everything after one of the first periods."""
        if number <= self.config.linear_periods:
            factor = np.float32(number / (number + 1.0))
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(partial(_scale, factor), np.array_split(tables["table"], threads)))

    def count_met(self) -> int:
        """Returns how many infostates have a sum of policies, because their player was the opponent there."""
        blocks = (self._block(self.table, decision) for decision in range(self.betting.decisions))
        return sum(int((block[:, 1].max(axis=1) > 0.0).sum()) for block in blocks)

    def _block(self, table: npt.NDArray[Any], decision: int) -> npt.NDArray[Any]:
        """Returns the rows of a decision in an array like the table: regrets and sums, ``[numbers, 2, actions]``."""
        arrays = self.betting.arrays
        begin, actions = int(arrays.row[decision]), int(arrays.first[decision + 1] - arrays.first[decision])
        numbers = self.buckets.config.count(int(arrays.street[decision]))
        return table[begin : begin + numbers * 2 * actions].reshape(numbers, 2, actions)

    def save(self, path: Path) -> None:
        """Writes the blueprint, which is a checkpoint, too, to a file, atomically."""
        Blueprint.write_tables(path, self.config.to_json(), self.buckets, self.place, self.progress, self.tables())


def _scale(factor: np.float32, part: Table) -> None:
    part *= factor
