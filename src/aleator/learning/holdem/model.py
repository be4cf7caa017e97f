"""A hold'em value network in a file: parameters in float16, and as metadata its sizes and what made it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from aleator.errors import AleatorError, one_line
from aleator.learning.holdem.network import HoldemValueNetwork, NetworkShape
from aleator.storage import ArrayFile, StorageError, write_arrays

_FORMAT = "aleator hold'em value network 1"
LARGEST = 16 << 20  # bytes of a file


@dataclass(frozen=True, eq=False)
class HoldemModel:
    """A network and what it was made of.

    Attributes:
        network: the network.
        report: slices, examples, seconds, device, errors.
    """

    network: HoldemValueNetwork
    report: dict[str, Any] = field(default_factory=dict)

    def save(self, path: Path | str) -> None:
        """Writes the model to a file, replacing it atomically.

        Raises:
            StorageError: it would take more than 16 MiB, or cannot be written.
        """
        arrays = {
            name: value.detach().cpu().numpy().astype(np.float16) for name, value in self.network.state_dict().items()
        }
        size = sum(array.nbytes for array in arrays.values())
        if size > LARGEST:
            raise StorageError(
                f"a network of {size / 2**20:.1f} MiB is over the 16 MiB of a file: lower its width or layers"
            )
        metadata = {
            "format": _FORMAT,
            "shape": json.dumps(self.network.shape.to_dict()),
            "cards": str(self.network.num_cards),
            "report": json.dumps(self.report),
        }
        write_arrays(path, arrays, metadata)


def load_holdem_model(path: Path | str, *, device: torch.device | str = "cpu") -> HoldemModel:
    """Returns the model in a file.

    Raises:
        StorageError: the file cannot be read, or is not such a model.
    """
    file = ArrayFile(path)
    if file.metadata.get("format") != _FORMAT:
        kind = file.metadata.get("format")
        raise StorageError(f"{path} is not a hold'em value network: its format is {kind!r}, not {_FORMAT!r}")
    try:
        shape = NetworkShape(**json.loads(file.metadata["shape"]))
        network = HoldemValueNetwork(shape, int(file.metadata["cards"]))
        network.load_state_dict({name: torch.from_numpy(file.read(name)).float() for name in file.names})
        return HoldemModel(network.to(device), json.loads(file.metadata["report"]))
    except StorageError:
        raise
    except (KeyError, ValueError, TypeError, AttributeError, RuntimeError, AleatorError) as error:
        raise StorageError(f"{path} is damaged: {one_line(error)}") from error
