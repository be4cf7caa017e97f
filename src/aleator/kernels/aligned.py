"""Memory that begins at a cache line."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

CACHE_LINE = 64


def aligned_zeros(size: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Returns zeros `[size]` whose first byte begins a cache line.

    Rows of a multiple of 64 bytes then begin cache lines too. A vector of 64 bytes that straddles two lines costs two
    accesses, and what was just written cannot be forwarded to the next read.
    """
    kind = np.dtype(dtype)
    raw = np.zeros(size * kind.itemsize + CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % CACHE_LINE
    return raw[start : start + size * kind.itemsize].view(kind)


def aligned_copy(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns a contiguous copy of an array whose first byte begins a cache line."""
    result = aligned_zeros(array.size, array.dtype).reshape(array.shape)
    result[:] = array
    return result
