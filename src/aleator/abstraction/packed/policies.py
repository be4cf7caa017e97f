"""Blueprints in a small file: average policies in a few bits each, to play by; they cannot be trained further.

A packed blueprint is asked as one that was trained: it has a table with sums of policies, which are its levels, and no
regrets.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.file import Blueprint, TrainedFile
from aleator.abstraction.buckets import BucketConfig
from aleator.abstraction.packed.coding import LEAST_BITS, MOST_BITS, Levels, Shape, decode
from aleator.abstraction.packed.squeezing import unsqueezed
from aleator.abstraction.ring.file import RingBlueprint
from aleator.games.base import FloatArray
from aleator.storage import ArrayFile, StorageError

_MOST_DECISIONS: Final = 20_000_000
_MOST_LEVELS: Final = 2**31


class PackedFile(TrainedFile):
    """A blueprint of any kind in a few bits.

    Attributes:
        bits: of a probability.
        shape: of its decisions.
    """

    def _take(self, file: ArrayFile) -> None:
        numbers, self._code = np.asarray(file["shape"]), np.asarray(file["code"])
        if numbers.dtype != np.int64 or numbers.shape != (2,) or not 0 <= numbers[1] <= _MOST_DECISIONS:
            raise ValueError(f"its shape is {numbers.dtype} {list(numbers.shape)}")
        self.bits, count = int(numbers[0]), int(numbers[1])
        if not LEAST_BITS <= self.bits <= MOST_BITS:
            raise ValueError(f"its probabilities have {self.bits} bits")
        self.shape = Shape(*(unsqueezed(file, name, np.int32, (count,)) for name in Shape._fields))
        if count and (min(row.min() for row in self.shape) < 1 or self.shape.actions.max() > 255):
            raise ValueError("its decisions have no actions or no buckets")
        if self._code.dtype != np.uint8 or self._code.ndim != 1 or self.shape.size > _MOST_LEVELS:
            raise ValueError("its policies are of another kind")

    @cached_property
    def levels(self) -> Levels:
        """The policies, as `coding.to_levels` has them, ``[size]``.

        Raises:
            StorageError: they are damaged.
        """
        try:
            return decode(self.shape, self._code, self.bits)
        except ValueError as error:
            raise StorageError(f"{self.path} is damaged: {error}") from error

    def fits(
        self, size: int, first: npt.NDArray[np.int32], rows: npt.NDArray[np.int64], street: npt.NDArray[np.int8],
        config: BucketConfig,
    ) -> bool:  # fmt: skip
        """Returns whether it is a blueprint of some betting."""
        wanted = Shape.of(first, rows, street, config)
        return self.size == size and all(map(np.array_equal, self.shape, wanted))

    @property
    def is_met(self) -> npt.NDArray[np.bool_]:
        """Whether each level belongs to a policy, ``[size]``."""
        return np.asarray(self.levels < 1 << self.bits)


class PackedBlueprint(PackedFile, Blueprint):
    """A blueprint of two players in a few bits."""

    format = "aleator packed blueprint 1"
    kind = "packed blueprint"

    @property
    def size(self) -> int:
        """How many numbers its table would have."""
        return 2 * self.shape.size

    def table(self) -> npt.NDArray[np.float32]:
        """Returns a table as training has it, with no regrets, and levels as sums of policies."""
        sums = np.where(self.is_met, self.levels, 0).astype(np.float32)
        return np.concatenate([np.stack((np.zeros_like(block), block), axis=1).ravel() for block in self._blocks(sums)])

    def _blocks(self, sums: npt.NDArray[np.float32]) -> list[npt.NDArray[np.float32]]:
        sizes = self.shape.actions * self.shape.buckets
        parts = np.split(sums, np.cumsum(sizes)[:-1])
        return [part.reshape(-1, actions) for part, actions in zip(parts, self.shape.actions.tolist(), strict=True)]

    def average_policy(self, row: int, numbers: int, actions: int) -> FloatArray:
        """Returns the policy of a decision for each number that hands have, ``[numbers, actions]``."""
        block = self.levels[row // 2 : row // 2 + numbers * actions].reshape(numbers, actions).astype(np.float64)
        return np.asarray(np.where(block < 1 << self.bits, block, 0.0) / ((1 << self.bits) - 1))


class PackedRingBlueprint(PackedFile, RingBlueprint):
    """A blueprint of several players in a few bits."""

    format = "aleator packed ring blueprint 1"
    kind = "packed blueprint of several players"

    @property
    def size(self) -> int:
        """How many numbers each of its tables would have."""
        return self.shape.size

    def tables(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Returns tables as training has them: no regrets, and levels as sums of policies."""
        return np.zeros(self.size, np.int32), np.where(self.is_met, self.levels, 0).astype(np.float32)
