"""Runs of an experiment beside each other, and curves of runs with several seeds.

Each run has a process of one thread; there are as many at a time as there are cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import NamedTuple, TypeVar

from aleator.apps.papers.base import Band, OnProgress, Points
from aleator.games.base import FloatArray

Task = TypeVar("Task")
Result = TypeVar("Result")


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
    function: Callable[[Task], Result], tasks: Mapping[str, Task], on_progress: OnProgress, *, processes: int = 0
) -> dict[str, Result]:
    """Returns what a function of a module makes of each task, by the tasks' names.

    Args:
        function: must not depend on what other tasks did.
        tasks: by names, which are shown as they end.
        on_progress: told the share of tasks that are done.
        processes: at most so many; 0 for as many as there are cores. With one everything runs here.
    """
    processes = min(processes or os.cpu_count() or 1, len(tasks))
    results: dict[str, Result] = {}
    if processes <= 1:
        for done, (name, task) in enumerate(tasks.items()):
            on_progress(done / len(tasks), name)
            results[name] = function(task)
        return results
    on_progress(0.0, f"{len(tasks)} runs, {processes} at a time")
    with ProcessPoolExecutor(processes, get_context("spawn"), _prepare) as pool:
        waiting = {pool.submit(function, task): name for name, task in tasks.items()}
        try:
            for done, future in enumerate(as_completed(waiting), 1):
                results[waiting[future]] = future.result()
                on_progress(done / len(tasks), waiting[future])
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return {name: results[name] for name in tasks}


def _prepare() -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that collects
    import torch

    torch.set_num_threads(1)
