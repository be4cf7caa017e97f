"""Random numbers of their own for whatever happens beside others: a chunk of examples, a block of games, a fit."""

from __future__ import annotations

import numpy as np
import torch


def derived_seed(*numbers: int) -> int:
    """Returns a seed that follows from some numbers, below 2^63 as torch wants it."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))


def new_generator(device: torch.device, *numbers: int) -> torch.Generator:
    """Returns a generator on a device with the seed that follows from some numbers."""
    return torch.Generator(device).manual_seed(derived_seed(*numbers))
