"""One thread per test process, since several share the cores; the same examples on every machine, at any speed.

Tests that need the same kernels run in one process, which compiles them once: of some folders all tests, of others
those of a file.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")

TOGETHER = ("solvers", "solvers/multiplayer", "search", "search/ring", "abstraction", "abstraction/blueprint",
            "abstraction/growing", "abstraction/ring", "learning/sampled")  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Says which tests run in one process, where they do not say so themselves."""
    here = Path(__file__).parent
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            file = item.path.relative_to(here)
            folder = file.parent.as_posix()
            item.add_marker(pytest.mark.xdist_group(folder if folder in TOGETHER else file.as_posix()))
