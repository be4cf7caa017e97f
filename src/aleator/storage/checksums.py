"""Checksums of a file of arrays, which are compared with what is read, and only with that.

Two ways to keep them. Our own files have a last array, `checksums`: the CRC-32 of every block of 32 KiB of each array,
by their names, and at the end one of the header and of those before it. So a part of a large file is checked without
reading the rest. Networks, which other software reads too, have the CRC-32 of each array in the metadata, and one of
the whole header (`seal`).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from aleator.errors import shown
from aleator.storage.header import Entry

BLOCK = 32 << 10
TABLE = "checksums"
SEAL = "seal"
PREFIX = "crc32:"  # of the names of checksums in the metadata

Blocks = npt.NDArray[np.uint32]


def count_blocks(size: int) -> int:
    """Returns how many blocks an array of `size` bytes has."""
    return -(-size // BLOCK)


def block_sums(data: memoryview) -> Iterator[int]:
    """Yields the checksum of every block of an array's bytes."""
    for start in range(0, len(data), BLOCK):
        yield zlib.crc32(data[start : start + BLOCK])


def describe(entries: Mapping[str, Entry], metadata: Mapping[str, str]) -> bytes:
    """Returns what a header says, in a form that does not depend on order and places."""
    arrays = {name: [entry.dtype, *entry.shape] for name, entry in entries.items()}
    rest = {name: text for name, text in metadata.items() if name != SEAL}
    return json.dumps([rest, arrays], sort_keys=True).encode()


def table(sums: Mapping[str, list[int]], entries: Mapping[str, Entry], metadata: Mapping[str, str]) -> bytes:
    """Returns the bytes of the array of checksums [blocks + 1, 4]."""
    flat = np.array([value for name in sorted(sums) for value in sums[name]], "<u4").tobytes()
    last = zlib.crc32(flat, zlib.crc32(describe(entries, metadata)))
    return flat + last.to_bytes(4, "little")


def parse_table(raw: bytes, entries: Mapping[str, Entry], metadata: Mapping[str, str]) -> dict[str, Blocks]:
    """Returns the checksums of the blocks of each array.

    Args:
        raw: the bytes of the table.
        entries: all arrays, the table among them.
        metadata: of the file.

    Raises:
        ValueError: the header or the table have changed since they were written.
    """
    counts = {name: count_blocks(entry.nbytes) for name, entry in sorted(entries.items()) if name != TABLE}
    if entries[TABLE].shape != (sum(counts.values()) + 1, 4) or entries[TABLE].dtype != "U8":
        raise ValueError("its checksums do not fit its arrays")
    if zlib.crc32(raw[:-4], zlib.crc32(describe(entries, metadata))) != int.from_bytes(raw[-4:], "little"):
        raise ValueError("its header has changed since it was written")
    flat, blocks, start = np.frombuffer(raw, "<u4").astype(np.uint32), {}, 0
    for name, count in counts.items():
        blocks[name] = flat[start : start + count]
        start += count
    return blocks


def parse_sum(text: str) -> Blocks:
    """Returns the checksum of one block, as the metadata have it.

    Raises:
        ValueError: the text is not a checksum.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) < 2**32):
        raise ValueError(f"{shown(text)} is not a checksum")
    return np.array([int(text)], np.uint32)


def sealed(
    arrays: Mapping[str, npt.NDArray[np.generic]], entries: Mapping[str, Entry], metadata: Mapping[str, str]
) -> dict[str, str]:
    """Returns the metadata with the checksum of each array and the seal."""
    sealed_metadata = dict(metadata)
    for name, array in arrays.items():
        sealed_metadata[PREFIX + name] = str(zlib.crc32(array.reshape(-1).view(np.uint8).data) if array.size else 0)
    return sealed_metadata | {SEAL: str(zlib.crc32(describe(entries, sealed_metadata)))}


def split(metadata: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Returns the metadata without checksums, and the checksums of arrays by their names."""
    sums = {name.removeprefix(PREFIX): text for name, text in metadata.items() if name.startswith(PREFIX)}
    rest = {name: text for name, text in metadata.items() if name != SEAL and not name.startswith(PREFIX)}
    return rest, sums


def check_seal(entries: Mapping[str, Entry], metadata: Mapping[str, str]) -> None:
    """Raises ValueError if the header has changed since it was sealed."""
    if metadata.get(SEAL) != str(zlib.crc32(describe(entries, metadata))):
        raise ValueError("its header has changed since it was written")
    if missing := [name for name in entries if PREFIX + name not in metadata]:
        raise ValueError(f"{missing[0]} has no checksum")
