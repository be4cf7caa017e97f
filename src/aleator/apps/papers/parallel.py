"""Runs of an experiment beside each other, and curves of runs with several seeds.

Each run has one thread; there are as many at a time as there are workers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from aleator.apps.papers.base import Band, OnProgress, Points
from aleator.games.base import FloatArray
from aleator.workers.base import Result, Task, Workers


class SeedsCurve(NamedTuple):
    """Runs with several seeds, [runs, looks].

    Attributes:
        at: where they were looked at: nodes touched, iterations or seconds.
        quality: exploitability there.
    """

    at: FloatArray
    quality: FloatArray

    @property
    def final(self) -> FloatArray:
        """[runs] at the end."""
        final: FloatArray = self.quality[:, -1]
        return final

    def points(self) -> Points:
        """Returns the mean over runs."""
        return list(zip(self.at.mean(axis=0).tolist(), self.quality.mean(axis=0).tolist(), strict=True))

    def band(self) -> Band:
        """Returns the lowest and the highest run."""
        low, high = self.quality.min(axis=0), self.quality.max(axis=0)
        return list(zip(self.at.mean(axis=0).tolist(), low.tolist(), high.tolist(), strict=True))

    def interval(self) -> Band:
        """Returns the 95 % confidence interval of the mean over runs."""
        mean = self.quality.mean(axis=0)
        error = 1.96 * self.quality.std(axis=0, ddof=1) / len(self.quality) ** 0.5
        return list(zip(self.at.mean(axis=0).tolist(), (mean - error).tolist(), (mean + error).tolist(), strict=True))


def run_beside(
    function: Callable[[Task], Result], tasks: Mapping[str, Task], on_progress: OnProgress, workers: Workers
) -> dict[str, Result]:
    """Returns what a function of a module makes of each task, by the tasks' names.

    Args:
        function: must not depend on what other tasks did.
        tasks: by names, which are shown as they end.
        on_progress: told the share of tasks that are done.
        workers: who runs them.
    """
    names, results = list(tasks), dict[str, Result]()
    on_progress(0.0, f"{len(tasks)} runs, {min(workers.count, len(tasks))} at a time")
    for number, result in workers.run(partial(_on_one_thread, function), list(tasks.values())):
        results[names[number]] = result
        on_progress(len(results) / len(tasks), names[number])
    return {name: results[name] for name in tasks}


def _on_one_thread(function: Callable[[Task], Result]) -> Callable[[Task], Result]:
    with suppress(ImportError):  # whoever has no networks to run needs no torch
        import torch

        torch.set_num_threads(1)
    return function
