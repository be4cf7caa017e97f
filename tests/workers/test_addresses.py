"""Addresses of clusters that there are not: a line, at once."""

from __future__ import annotations

import pytest

from aleator.apps.cli.workers import chosen_workers
from aleator.workers.base import WorkerError
from aleator.workers.ray_cluster import _check_reachable
from tests.apps.web.running import free_port


def test_no_cluster_is_said_in_a_line() -> None:
    with pytest.raises(WorkerError, match=r"there is no Ray cluster at '127.0.0.1:"):
        _check_reachable(f"127.0.0.1:{free_port()}")
    for address in ("nowhere", "host:", ":1", "host:99999", "host:x"):
        with pytest.raises(WorkerError, match="must be auto or HOST:PORT"):
            _check_reachable(address)


def test_processes_and_a_cluster_contradict_each_other() -> None:
    with pytest.raises(WorkerError, match="--processes 2 and --ray auto contradict"):
        chosen_workers(2, "auto")
