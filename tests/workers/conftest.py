"""A real Ray cluster of two nodes, processes of their own on this machine, with a core each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from aleator.workers.ray_cluster import RayWorkers

SMALL = {"num_cpus": 1, "object_store_memory": 100 << 20}


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="pip install aleator[ray]")
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args={**SMALL, "include_dashboard": False})
    found.add_node(**SMALL)
    yield found
    ray.shutdown()
    found.shutdown()


@pytest.fixture
def ray_workers(cluster: Any) -> RayWorkers:
    return RayWorkers(cluster.address)
