"""A blueprint of several players in a file: what it was trained by, how far, and its tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.file import TrainedFile
from aleator.storage import ArrayFile, StorageError


class RingBlueprint(TrainedFile):
    """A blueprint of several players; see `TrainedFile`.

    Attributes:
        regrets, sums: its tables.
    """

    format = "aleator ring blueprint 1"
    kind = "blueprint of several players"

    def _take(self, file: ArrayFile) -> None:
        self.regrets, self.sums = file["regrets"], file["sums"]
        if self.regrets.dtype != np.int32 or self.sums.dtype != np.float32 or len(self.regrets.shape) != 1:
            raise ValueError("its tables are of another kind")
        if self.regrets.shape != self.sums.shape:  # kernels read both at the same places
            raise ValueError(f"its regrets are {list(self.regrets.shape)}, its sums {list(self.sums.shape)}")

    @property
    def size(self) -> int:
        """How many numbers each of its tables has."""
        return len(self.regrets)

    def tables(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Returns both whole tables, after their checksums were compared.

        Raises:
            StorageError: sums are negative, NaN or infinite.
        """
        regrets, sums = np.asarray(self.regrets), np.asarray(self.sums)
        if sums.size and not (sums.min() >= 0.0 and np.isfinite(sums.max())):
            raise StorageError(f"{self.path} is damaged: its sums of policies are negative, NaN or infinite")
        return regrets, sums


def open_ring_blueprint(path: Path | str) -> RingBlueprint:
    """Returns the blueprint of several players in a file, as it was trained or packed.

    Raises:
        StorageError: there is none, or it is damaged.
    """
    from aleator.abstraction.packed.policies import PackedRingBlueprint

    is_packed = ArrayFile(path).metadata.get("format") == PackedRingBlueprint.format
    return PackedRingBlueprint(path) if is_packed else RingBlueprint(path)


def is_ring_blueprint(path: Path | str) -> bool:
    """Returns whether a file is a blueprint of several players.

    Raises:
        StorageError: it is not a file of arrays.
    """
    from aleator.abstraction.packed.policies import PackedRingBlueprint

    return ArrayFile(path).metadata.get("format") in (RingBlueprint.format, PackedRingBlueprint.format)
