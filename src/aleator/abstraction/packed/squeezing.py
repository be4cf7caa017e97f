"""Arrays as few bytes: compressed, and read back with care, since a file may say anything."""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from aleator.storage import ArrayFile

_FILTERS: Final = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 3, "lp": 0, "pb": 0}]


def squeezed(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Returns the bytes of an array, compressed: the lowest byte of all numbers first, then the next one of all."""
    data = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False))
    planes = data.reshape(-1, 1).view(np.uint8).T
    return np.frombuffer(lzma.compress(planes.tobytes(), lzma.FORMAT_RAW, filters=_FILTERS), np.uint8)


def unsqueezed(file: ArrayFile, name: str, dtype: npt.DTypeLike, shape: Sequence[int]) -> npt.NDArray[Any]:
    """Returns an array of a file that `squeezed` made of one of that type and shape.

    Raises:
        ValueError: it was made of another, or of none.
    """
    kind, packed = np.dtype(dtype).newbyteorder("<"), np.asarray(file[name])
    if packed.dtype != np.uint8 or packed.ndim != 1:
        raise ValueError(f"its {name} are {packed.dtype} {list(packed.shape)}, not bytes")
    size, reader = kind.itemsize * prod(shape), lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=_FILTERS)
    try:
        data = reader.decompress(packed.tobytes(), size + 1)  # no more, whatever it says
    except lzma.LZMAError as error:
        raise ValueError(f"its {name} cannot be decompressed") from error
    if len(data) != size:
        raise ValueError(f"its {name} are not {list(shape)}")
    planes = np.frombuffer(data, np.uint8).reshape(kind.itemsize, -1)
    return np.ascontiguousarray(planes.T).view(kind).reshape(shape).astype(np.dtype(dtype), copy=False)
