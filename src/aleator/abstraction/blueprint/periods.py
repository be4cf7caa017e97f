"""Training in periods of deals, by threads on one table: what blueprints of two and of several players share."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from aleator.abstraction.blueprint.changes import Marks, Table
from aleator.abstraction.blueprint.file import Progress
from aleator.abstraction.buckets import Buckets
from aleator.errors import TooBigError, shown
from aleator.games.holdem.variants import load_recorded_hand_game
from aleator.memory import available_memory, format_gib
from aleator.storage import check_object, parse_json

Report = Callable[[Progress], bool]
RunDeals = Callable[[int, int, int], int]
"""Makes deals: which thread, the number of the first one, and how many; returns how many nodes it visited."""


class PeriodTrainer(ABC):
    """A blueprint in training.

    Attributes:
        config, buckets, place: how it is trained, with which buckets, and where these lie.
        progress: how far it is.
        chunk: deals of a thread between two looks at the clock.
    """

    config: Any
    buckets: Buckets
    place: Path
    progress = Progress()
    chunk = 20_000

    @property
    @abstractmethod
    def period(self) -> int:
        """Deals of a period."""

    @abstractmethod
    def tables(self) -> dict[str, Table]:
        """Returns what is trained, by name: flat arrays that deals change in place."""

    @abstractmethod
    def floors(self) -> dict[str, float]:
        """Returns what the numbers of each table never fall below."""

    @abstractmethod
    def deal_runner(self, threads: int, *, divisor: int = 1) -> RunDeals:
        """Returns what makes deals, with working memory for so many threads.

        Args:
            threads: on the one table.
            divisor: what the table was divided by, and so are the limits of its regrets.
        """

    @abstractmethod
    def regret_marks(self) -> dict[str, Marks]:
        """Returns which numbers of each table are regrets; deals read no others."""

    @abstractmethod
    def discount(self, number: int, tables: Mapping[str, Table], threads: int = 1) -> None:
        """Multiplies tables, of those that are trained or like them, as is due after a period, from 1."""

    def end_period(self, number: int, threads: int) -> None:
        """Does what is due after a period, from 1, on so many threads."""
        self.discount(number, self.tables(), threads)

    def run(
        self, *, seconds: float = math.inf, deals: float = math.inf, threads: int = 1, report: Report | None = None
    ) -> None:
        """Trains for some seconds or until so many deals were made in all, whichever comes first.

        Args:
            seconds: from now on.
            deals: in all, those of earlier runs included.
            threads: on the one table.
            report: is told how far it is, now and then; training stops if it returns True.
        """
        run, period = self.deal_runner(threads), self.period
        progress, began, before = self.progress, time.perf_counter(), self.progress.seconds
        with ThreadPoolExecutor(threads) as pool:
            while time.perf_counter() - began < seconds and progress.deals < deals:
                left = int(min(period - progress.deals % period, deals - progress.deals, threads * self.chunk))
                firsts = np.linspace(progress.deals, progress.deals + left, threads + 1).astype(int)
                visits = sum(pool.map(run, range(threads), firsts[:-1].tolist(), np.diff(firsts).tolist()))
                done = progress.deals + left
                if done % period == 0:
                    self.end_period(done // period, threads)
                progress = Progress(done, progress.visits + visits, before + time.perf_counter() - began)
                self.progress = progress
                if report is not None and report(progress):
                    break


def check_table_fits(need: int) -> None:
    """Raises TooBigError, with advice, if a table of so many bytes does not fit the memory."""
    free = available_memory()
    if need > 0.8 * free:
        raise TooBigError(
            f"the blueprint takes {format_gib(need)} and {format_gib(free)} are free: use fewer buckets or sizes"
        )


def parse_settings(text: str, kinds: Mapping[str, type], *, optional: Set[str] = frozenset()) -> dict[str, Any]:
    """Returns settings with a menu from JSON.

    Args:
        text: what `json.dumps` made of them.
        kinds: the others' types by name.
        optional: those that may be missing.

    Raises:
        ValueError: it is another text.
    """
    values = check_object(parse_json(text), {**kinds, "menu": list}, optional={"menu", *optional})
    load_recorded_hand_game(values["game"])
    if values.setdefault("menu", None) is not None:
        if not all(isinstance(street, str) for street in values["menu"]):
            raise ValueError(f"its menu is {shown(values['menu'])}")
        values["menu"] = tuple(values["menu"])
    return values
