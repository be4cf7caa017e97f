"""One thread per test process, since several share the cores; the same examples on every machine, at any speed."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Returns one process more than there are cores: some tests wait for servers, browsers and other processes."""
    return len(os.sched_getaffinity(0)) + 1
