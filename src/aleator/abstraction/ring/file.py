"""A blueprint of several players in a file: what it was trained by, how far, and its tables."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.file import Progress
from aleator.abstraction.buckets import Buckets
from aleator.abstraction.ring.betting import RingBetting
from aleator.errors import one_line, shown
from aleator.games.base import FloatArray
from aleator.storage import ArrayFile, StorageError, StoredArray, check_object, parse_json, write_arrays

FORMAT = "aleator ring blueprint 1"
Table = npt.NDArray[Any] | StoredArray


def is_ring_blueprint(path: Path | str) -> bool:
    """Returns whether a file is a blueprint of several players.

    Raises:
        StorageError: it is not a file of arrays.
    """
    return ArrayFile(path).metadata.get("format") == FORMAT


class RingBlueprint:
    """A blueprint that was opened.

    Args:
        path: its file.

    Attributes:
        config_text: how it was trained (`RingConfig.parse`).
        fingerprint: of its buckets.
        buckets_place: where they lay, as seen from the file.
        progress: of its training.
        regrets, sums: its tables.

    Raises:
        StorageError: the file cannot be read, is damaged, or is something else.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        file = ArrayFile(path)
        if file.metadata.get("format") != FORMAT:
            raise StorageError(
                f"{path} is no blueprint of several players: its format is {shown(file.metadata.get('format'))}"
            )
        try:
            if not file.checked:
                raise ValueError("its checksums are missing")
            self.config_text = file.metadata["config"]
            about = check_object(parse_json(file.metadata["buckets"]), {"fingerprint": str, "place": str})
            kinds = {"deals": int, "visits": int, "seconds": float}
            self.progress = Progress(**check_object(parse_json(file.metadata["progress"]), kinds))
            self.regrets, self.sums = file["regrets"], file["sums"]
            if self.regrets.dtype != np.int32 or self.sums.dtype != np.float32 or len(self.regrets.shape) != 1:
                raise ValueError("its tables are of another kind")
        except (KeyError, ValueError, TypeError) as error:
            if isinstance(error, StorageError):
                raise
            raise StorageError(f"{path} is damaged: {one_line(error)}") from error
        self.fingerprint, self.buckets_place = about["fingerprint"], about["place"]

    @staticmethod
    def write(
        path: Path, config: str, buckets: Buckets, place: Path, progress: Progress,
        regrets: npt.NDArray[np.int32], sums: npt.NDArray[np.float32],
    ) -> None:  # fmt: skip
        """Writes a blueprint to a file, replacing it atomically."""
        metadata = {
            "format": FORMAT,
            "config": config,
            "buckets": json.dumps({"fingerprint": buckets.fingerprint, "place": os.path.relpath(place, path.parent)}),
            "progress": json.dumps(progress._asdict()),
        }
        write_arrays(path, {"regrets": regrets, "sums": sums}, metadata)


def average_policy(betting: RingBetting, decision: int, count: int, regrets: Table, sums: Table) -> FloatArray:
    """Returns the policy of a decision, ``[buckets, actions]``: the average; the current one before a snapshot.

    Args:
        betting: the tree.
        decision: its number.
        count: of the buckets there.
        regrets, sums: the tables.
    """
    arrays = betting.arrays
    actions, begin = int(arrays.first[decision + 1] - arrays.first[decision]), int(arrays.row[decision])
    averaged, current = (
        np.maximum(np.asarray(table[begin : begin + count * actions]), 0).reshape(count, actions).astype(np.float64)
        for table in (sums, regrets)
    )
    weights = np.where(averaged.sum(axis=1, keepdims=True) > 0.0, averaged, current)
    total = weights.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(weights, total, out=np.full_like(weights, 1.0 / actions), where=total > 0.0))
