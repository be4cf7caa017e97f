"""Networks of these tests are tiny: more than one thread would only slow them down."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Runs torch on one thread."""
    torch.set_num_threads(1)
