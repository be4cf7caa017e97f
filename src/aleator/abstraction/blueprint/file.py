"""A blueprint in a file: what it was trained by, how far, and its table, of which only what is asked for is read."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.buckets import BucketConfig, Buckets
from aleator.errors import one_line, shown
from aleator.games.base import FloatArray
from aleator.storage import ArrayFile, StorageError, StoredArray, check_object, parse_json, write_arrays


class Progress(NamedTuple):
    """How far training is: deals, decisions and ends visited, seconds."""

    deals: int = 0
    visits: int = 0
    seconds: float = 0.0


class TrainedFile(ABC):
    """A blueprint of any kind that was opened.

    Args:
        path: its file.

    Attributes:
        format: what files of this kind say they are, and `kind` what messages call them.
        config_text: how it was trained.
        fingerprint: of its buckets.
        buckets_place: where they lay, as seen from the file.
        progress: of its training.

    Raises:
        StorageError: the file cannot be read, is damaged, or is something else.
    """

    format: ClassVar[str]
    kind: ClassVar[str]

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        file = ArrayFile(path)
        if file.metadata.get("format") != self.format:
            raise StorageError(f"{path} is not a {self.kind}: its format is {shown(file.metadata.get('format'))}")
        try:
            if not file.checked:
                raise ValueError("its checksums are missing")
            self.config_text = file.metadata["config"]
            about = check_object(parse_json(file.metadata["buckets"]), {"fingerprint": str, "place": str})
            kinds = {"deals": int, "visits": int, "seconds": float}
            self.progress = Progress(**check_object(parse_json(file.metadata["progress"]), kinds))
            if min(self.progress) < 0:
                raise ValueError(f"its progress is {self.progress}")
            self._take(file)
        except (KeyError, ValueError, TypeError) as error:
            if isinstance(error, StorageError):
                raise
            raise StorageError(f"{path} is damaged: {one_line(error)}") from error
        self.fingerprint, self.buckets_place = about["fingerprint"], about["place"]

    @abstractmethod
    def _take(self, file: ArrayFile) -> None:
        """Takes the tables; raises ValueError if they are of another kind."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers each of its tables has."""

    def fits(
        self, size: int, first: npt.NDArray[np.int32], rows: npt.NDArray[np.int64], street: npt.NDArray[np.int8],
        config: BucketConfig,
    ) -> bool:  # fmt: skip
        """Returns whether it is a blueprint of some betting.

        Args:
            size: of its tables.
            first: where the actions of each decision begin, ``[D + 1]``.
            rows: where its rows begin, ``[D]``.
            street: that it is on, ``[D]``.
            config: of the buckets.
        """
        return self.size == size

    @classmethod
    def write_tables(
        cls,
        path: Path,
        config: str,
        buckets: Buckets,
        place: Path,
        progress: Progress,
        tables: Mapping[str, npt.NDArray[Any]],
    ) -> None:
        """Writes a blueprint to a file, replacing it atomically."""
        relative = os.path.relpath(place, path.parent)
        metadata = {
            "format": cls.format,
            "config": config,
            "buckets": json.dumps({"fingerprint": buckets.fingerprint, "place": relative}),
            "progress": json.dumps(progress._asdict()),
        }
        write_arrays(path, dict(tables), metadata)


class Blueprint(TrainedFile):
    """A blueprint of two players; see `TrainedFile`."""

    format = "aleator blueprint 1"
    kind = "blueprint"

    def _take(self, file: ArrayFile) -> None:
        self._table: StoredArray = file["table"]
        if self._table.dtype != np.float32 or len(self._table.shape) != 1:
            raise ValueError("its table is of another kind")

    @property
    def size(self) -> int:
        """How many numbers its table has."""
        return len(self._table)

    def _finite(self, part: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        if part.size and not (np.isfinite(part.min()) and np.isfinite(part.max())):  # NaN is the least and the largest
            raise StorageError(f"{self.path} is damaged: it has numbers that are NaN or infinite")
        return part

    def table(self) -> npt.NDArray[np.float32]:
        """Returns the whole table, after its checksums were compared.

        Raises:
            StorageError: it has numbers that are NaN or infinite.
        """
        return self._finite(np.asarray(self._table))

    def average_policy(self, row: int, numbers: int, actions: int) -> FloatArray:
        """Returns the average policy of a decision for each number that hands have, ``[numbers, actions]``.

        Numbers that were never met have 0.

        Raises:
            StorageError: the policy is damaged.
        """
        block = self._finite(self._table[row : row + numbers * 2 * actions]).reshape(numbers, 2, actions)
        sums = block[:, 1].astype(np.float64)
        if sums.min() < 0.0:
            raise StorageError(f"{self.path} is damaged: its policies have negative sums")
        total = sums.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(sums, total, out=np.zeros_like(sums), where=total > 0.0))
