"""A hold'em value network in a file: matrices in 8 bits, other parameters in float16; as metadata what made it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from aleator.errors import AleatorError, one_line, shown
from aleator.learning.holdem.eight_bits import EightBits, scales_shape
from aleator.learning.holdem.network import HoldemValueNetwork, NetworkShape
from aleator.learning.holdem.networks import make_network, num_parameters
from aleator.storage import ArrayFile, StorageError, check_object, parse_json, write_arrays

_FORMAT = "aleator hold'em value network 3"
_ALL_FLOAT16 = ("aleator hold'em value network 1", "aleator hold'em value network 2")  # earlier files; 1: no checksums
_SCALES = ".scales"  # behind the name of a matrix
_SIZES: dict[str, type] = {"street": str, "by_class": bool} | dict.fromkeys(
    ("width", "layers", "buckets", "knots", "levels", "bands", "band_knots"), int
)
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
            StorageError: it would take more than 16 MiB, has parameters that no file can hold, or cannot be written.
        """
        arrays: dict[str, npt.NDArray[Any]] = {}
        for name, value in self.network.state_dict().items():
            parameters = value.detach().float().cpu().numpy()
            if not (np.abs(parameters) <= np.finfo(np.float16).max).all():
                raise StorageError(f"{name!r} of the network is not finite, or too large for float16; {path} stays")
            if parameters.ndim == 2:
                arrays[name], arrays[name + _SCALES] = EightBits.of(parameters)
            else:
                arrays[name] = parameters.astype(np.float16)
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
    """Returns the model in a file. Nothing is taken from memory before the file is seen to be as large as it says.

    Raises:
        StorageError: the file cannot be read, or is not such a model.
    """
    file = ArrayFile(path)
    if file.metadata.get("format") not in (_FORMAT, *_ALL_FLOAT16):
        kind = shown(file.metadata.get("format"))
        raise StorageError(f"{path} is not a hold'em value network: its format is {kind}, not {_FORMAT!r}")
    try:
        if file.metadata["format"] != _ALL_FLOAT16[0] and not file.checked:
            raise ValueError("its checksums are missing")
        shape = NetworkShape(
            **check_object(parse_json(file.metadata["shape"]), _SIZES, optional={"by_class", "buckets"})
        )
        network = make_network(shape, _num_cards(file, shape))
        network.load_state_dict({name: _parameters(file, name) for name in _parameter_names(file)})
        return HoldemModel(network.to(device), _report(file))
    except StorageError:
        raise
    except (KeyError, ValueError, TypeError, AttributeError, RuntimeError, OverflowError, AleatorError) as error:
        raise StorageError(f"{path} is damaged: {one_line(error)}") from error


def _num_cards(file: ArrayFile, shape: NetworkShape) -> int:
    """Returns the number of live cards.

    Raises:
        ValueError: there are no such decks, or a network of these sizes has not as many parameters as the file.
    """
    text = file.metadata["cards"]
    if not (text.isascii() and text.isdecimal() and len(text) <= 2 and 2 <= int(text) <= 52):
        raise ValueError(f"{shown(text)} is not a number of cards")
    there = sum(math.prod(file.shapes[name]) for name in _parameter_names(file))
    if (wanted := num_parameters(shape, int(text))) != there:
        raise ValueError(f"it has {there:,} parameters, and a network of its sizes {wanted:,}")
    return int(text)


def _parameter_names(file: ArrayFile) -> list[str]:
    return [name for name in file.names if not name.endswith(_SCALES)]


def _parameters(file: ArrayFile, name: str) -> torch.Tensor:
    array, shape = file.read(name), file.shapes[name]
    if file.metadata["format"] == _FORMAT and len(shape) == 2:
        if array.dtype != np.int8 or file.shapes.get(name + _SCALES) != scales_shape(*shape):
            raise ValueError(f"{shown(name)} is not a matrix of 8 bits with its scales")
        scales = file.read(name + _SCALES)
        if scales.dtype != np.float32 or not (np.isfinite(scales).all() and (scales >= 0.0).all()):
            raise ValueError(f"the scales of {shown(name)} are not finite numbers of 32 bits")
        return torch.from_numpy(EightBits(array, scales).weights())
    if array.dtype != np.float16 or not np.isfinite(array).all():
        raise ValueError(f"{shown(name)} is not made of finite numbers of 16 bits")
    return torch.from_numpy(array).float()


def _report(file: ArrayFile) -> dict[str, Any]:
    report = parse_json(file.metadata["report"])
    if not isinstance(report, dict):
        raise ValueError(f"its report is {shown(report)}")
    return report
