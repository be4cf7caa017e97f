"""`--processes` and `--ray`: who plays, runs and makes examples."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from aleator.workers.base import WorkerError, Workers
from aleator.workers.processes import local_workers

Processes = Annotated[int | None, typer.Option(min=1, max=64, help="How many processes do it.")]
Ray = Annotated[str | None, typer.Option(help="A Ray cluster that does it: auto, or HOST:PORT of its head.")]


def chosen_workers(processes: int | None, ray: str | None, *, usual: int | None = None) -> Workers:
    """Returns who works.

    Args:
        processes: of this machine, if they were asked for.
        ray: the address of a cluster, if there is to be one.
        usual: processes if nothing was asked for; None for as many as there are cores.

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

    return RayWorkers(ray)
