"""The header of a safetensors file: 8 bytes with its length, then JSON with type, shape and place of every array.

Arrays lie one behind the other without gaps, those with the widest numbers first, so that each is aligned; the
safetensors library reads such files. Files of earlier versions have gaps of up to 7 bytes, which are read here all the
same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from aleator.errors import shown
from aleator.storage.values import parse_json

TYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"), "F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"), "I16": np.dtype("<i2"), "I8": np.dtype("i1"), "U64": np.dtype("<u8"),
    "U32": np.dtype("<u4"), "U16": np.dtype("<u2"), "U8": np.dtype("u1"), "BOOL": np.dtype("?"),
}  # fmt: skip
NAMES = {dtype: name for name, dtype in TYPES.items()}
MAX_HEADER = 16 << 20
_METADATA = "__metadata__"
_MAX_DIMENSIONS = 16
_MAX_GAP = 7


class Entry(NamedTuple):
    """An array in a file.

    Attributes:
        dtype: its type, a key of `TYPES`.
        shape: its shape.
        begin, end: its bytes, counted from the end of the header.
    """

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int

    @property
    def nbytes(self) -> int:
        """Its size."""
        return self.end - self.begin


def layout(arrays: Iterable[tuple[str, str, tuple[int, ...]]]) -> dict[str, Entry]:
    """Returns where arrays of given names, types and shapes lie, in the order in which they are given."""
    sizes = {name: (dtype, shape, math.prod(shape) * TYPES[dtype].itemsize) for name, dtype, shape in arrays}
    entries: dict[str, Entry] = {}
    offset = 0
    for name in sorted(sizes, key=lambda name: -TYPES[sizes[name][0]].itemsize):
        dtype, shape, size = sizes[name]
        entries[name] = Entry(dtype, shape, offset, offset + size)
        offset += size
    return {name: entries[name] for name in sizes}


def format_header(entries: Mapping[str, Entry], metadata: Mapping[str, str]) -> bytes:
    """Returns the bytes in front of the arrays."""
    header: dict[str, Any] = {_METADATA: dict(metadata)}
    for name, entry in entries.items():
        header[name] = {"dtype": entry.dtype, "shape": list(entry.shape), "data_offsets": [entry.begin, entry.end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def parse_header(text: bytes, size: int) -> tuple[dict[str, Entry], dict[str, str]]:
    """Returns the arrays and the metadata of a header; `size` bytes follow it.

    Raises:
        ValueError: it is no header of such a file; the message is one line.
    """
    header = parse_json(text)
    if not isinstance(header, dict):
        raise ValueError(f"the header is {shown(header)}, not an object")
    metadata = header.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError("the metadata are not texts by name")
    entries = {name: _entry(name, value) for name, value in header.items()}
    offset = 0
    for name, entry in sorted(entries.items(), key=lambda item: item[1][2:]):
        if not offset <= entry.begin <= offset + _MAX_GAP:
            raise ValueError(f"{shown(name)} does not begin where the array before it ends")
        offset = entry.end
    if not offset <= size <= offset + _MAX_GAP:
        raise ValueError(f"its arrays take {offset:,} bytes, but it has {size:,}")
    return entries, metadata


def _entry(name: str, value: Any) -> Entry:
    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{shown(name)} is {shown(value)}, not an array")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in TYPES:
        raise ValueError(f"{shown(name)} is of type {shown(dtype)}, not one of {', '.join(TYPES)}")
    if not _counts(shape) or len(shape) > _MAX_DIMENSIONS:
        raise ValueError(f"{shown(name)} has the shape {shown(shape)}")
    if not _counts(offsets) or len(offsets) != 2:
        raise ValueError(f"{shown(name)} lies at {shown(offsets)}")
    if math.prod(shape) * TYPES[dtype].itemsize != offsets[1] - offsets[0]:
        raise ValueError(
            f"{shown(name)} has {offsets[1] - offsets[0]:,} bytes, which does not fit its shape {shown(shape)}"
        )
    return Entry(dtype, tuple(shape), offsets[0], offsets[1])


def _counts(value: Any) -> bool:
    return isinstance(value, list) and all(type(entry) is int and 0 <= entry < 2**48 for entry in value)
