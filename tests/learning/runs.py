"""Tiny training runs, and what is left of them on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from aleator.learning.rebel.checkpoint import RunDirectory
from aleator.learning.rebel.config import RebelConfig
from aleator.learning.run_files import CHECKPOINT
from aleator.learning.value_network.networks import ValueNetwork
from aleator.learning.value_network.numba_network import NumbaNetwork
from aleator.solvers.engines.batched.forest import Forest
from aleator.storage import ArrayFile

TINY: dict[str, Any] = {
    "game": "liars-dice:1x2", "updates": 8, "games": 8, "searches": 96, "batch": 16, "layers": 1, "width": 8,
    "replay": 64, "averaging": 0.9, "seed": 3,
}  # fmt: skip


class Nothing:
    """A value function that says zero everywhere."""

    def bind(self, forest: Forest) -> Any:
        """Returns the value function for the leaves of one forest."""
        return lambda player, reach: torch.zeros((len(forest.leaves), forest.shapes.num_hands))


def tiny(**changes: Any) -> RebelConfig:
    """Returns settings of a run that takes a fraction of a second: 12 epochs, and a buffer that overflows."""
    return RebelConfig(**{**TINY, **changes})


def ask(network: ValueNetwork, inputs: torch.Tensor, only: slice = slice(None)) -> npt.NDArray[np.float32]:
    """Returns the values [n, H] that the kernels find for inputs [n, size], or some of them, without an outer layer."""
    quick, beliefs = NumbaNetwork(network), 2 * network.num_hands
    values = np.full((len(inputs), network.num_hands), np.nan, dtype=np.float32)
    every = np.arange(len(inputs))
    begins = quick.beginnings(inputs[:, :-beliefs])
    quick.perceive(every[only].copy(), inputs[:, -beliefs:].numpy().copy(), every, begins, values)
    return values[only]


def contents(run: RunDirectory) -> tuple[dict[str, bytes], dict[str, Any], list[dict[str, Any]]]:
    """Returns arrays, facts and metrics of a run, without what depends on the clock."""
    file = ArrayFile(run.path / CHECKPOINT)
    facts = json.loads(file.metadata["facts"])
    facts.pop("seconds")
    lines = [
        {name: value for name, value in line.items() if not name.startswith(("seconds", "searches_per"))}
        for line in run.metrics()
    ]
    return {name: np.array(file.read(name)).tobytes() for name in file.names}, facts, lines


def leftovers(folder: Path) -> list[str]:
    """Returns the names of temporary files in a directory."""
    return [path.name for path in folder.iterdir() if path.suffix == ".tmp"]
