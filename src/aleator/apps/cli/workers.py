"""`--processes`, `--ray` and `--in-step`: who plays, runs and makes examples."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from aleator.workers.base import Here, WorkerError, Workers
from aleator.workers.processes import local_workers

Processes = Annotated[int | None, typer.Option(min=1, max=64, help="How many processes share the work.")]
Ray = Annotated[str | None, typer.Option(help="A Ray cluster for the work: auto, or HOST:PORT of its head.")]
InStep = Annotated[
    bool,
    typer.Option("--in-step", help="With workers: all wait for each other; the result equals that of one process."),
]


def chosen_workers(processes: int | None, ray: str | None, *, usual: int | None = None, gpus: bool = False) -> Workers:
    """Returns who works.

    Args:
        processes: of this machine, if they were asked for.
        ray: the address of a cluster, if there is to be one.
        usual: processes if nothing was asked for; None for as many as there are cores.
        gpus: of a cluster the GPUs, instead of the cores.

    Raises:
        WorkerError: both were asked for, or there is no such cluster.
    """
    if ray is None:
        return local_workers(processes or usual or os.cpu_count() or 1)
    if processes is not None:
        raise WorkerError(
            f"--processes {processes} and --ray {ray} contradict each other: a cluster uses all its cores"
        )
    from aleator.workers.ray_cluster import RayWorkers

    return RayWorkers(ray, gpus=gpus)


def check_in_step(in_step: bool, workers: Workers) -> None:
    """Raises WorkerError if workers are to wait for each other where there are none."""
    if in_step and isinstance(workers, Here):
        raise WorkerError("--in-step is for workers: name them by --ray or --processes")


def work_text(line: Mapping[str, Any]) -> str:
    """Returns who worked, given a line of metrics; empty if nobody else did."""
    if not line.get("workers"):
        return ""
    stale = f", {line['staleness']:,.0f} steps behind" if "staleness" in line else ""
    died = f", {line['replaced']:,} died" if line["replaced"] else ""
    return f"{line['workers']} workers {line['busy']:.0%} busy{stale}{died}"
