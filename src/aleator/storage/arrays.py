"""Files of named arrays: a header, then the arrays, read lazily, checked where they are read, and replaced atomically.

The layout is that of safetensors, so that other software can read the arrays (`header`). Checksums are compared before
a number is used, block by block (`checksums`).
"""

from __future__ import annotations

import mmap
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import EllipsisType
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.storage import checksums
from aleator.storage.files import StorageError, check_regular, check_writable, replacing
from aleator.storage.header import MAX_HEADER, NAMES, TYPES, Entry, format_header, layout, parse_header


def write_arrays(path: Path | str, arrays: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Writes named arrays and text metadata to one file, atomically."""
    assert checksums.TABLE not in arrays
    plan = [(name, type_name(name, array), tuple(array.shape)) for name, array in arrays.items()]
    blocks = sum(checksums.count_blocks(array.nbytes) for array in arrays.values())
    entries = layout([*plan, (checksums.TABLE, "U8", (blocks + 1, 4))])  # bytes, and the last of them: it comes last
    sums: dict[str, list[int]] = {}
    with replacing(Path(path)) as file:
        file.write(format_header(entries, metadata))
        for name in sorted(arrays, key=lambda name: entries[name][2:]):
            raw = raw_bytes(arrays[name])
            sums[name] = list(checksums.block_sums(raw))
            file.write(raw)
        file.write(checksums.table(sums, entries, metadata))


def check_replaceable(path: Path | str) -> None:
    """Raises StorageError unless a file of arrays can be written at `path`, and no file of another kind is lost by it.

    Of a file that is there only the first bytes are looked at, so one that is cut short or damaged can be replaced.
    """
    path = Path(path)
    check_writable(path)
    if not path.is_file():
        return
    with path.open("rb") as file:
        start = file.read(9)
    if start and (start[8:] != b"{" or int.from_bytes(start[:8], "little") > MAX_HEADER):
        raise StorageError(
            f"cannot write {path}: the file there is of another kind, and would be lost; choose a new name"
        )


def type_name(name: str, array: npt.NDArray[Any]) -> str:
    """Returns what the type of an array is called in a file.

    Raises:
        StorageError: it cannot be stored.
    """
    dtype = array.dtype.newbyteorder("<")
    if dtype not in NAMES:
        raise StorageError(f"cannot store {name}: type {array.dtype} is not among {', '.join(TYPES)}")
    return NAMES[dtype]


def raw_bytes(array: npt.NDArray[Any]) -> memoryview:
    """Returns the bytes of an array as a file has them."""
    data = np.ascontiguousarray(array)
    return data.astype(data.dtype.newbyteorder("<"), copy=False).reshape(-1).view(np.uint8).data


class StoredArray:
    """An array in a file. Indexing returns an array of what was asked for, after its checksums have been compared.

    Attributes:
        shape, dtype: of the whole array.
    """

    def __init__(self, path: Path, name: str, data: npt.NDArray[Any], sums: checksums.Blocks, block: int) -> None:
        self.shape, self.dtype = data.shape, data.dtype
        self._path, self._name, self._data, self._sums, self._block = path, name, data, sums, block
        self._left = np.ones(len(sums), np.bool_)  # blocks that have not been compared yet

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, index: Any) -> Any:
        index = index if isinstance(index, tuple) else (index,)
        if not all(isinstance(part, int | np.integer | slice | EllipsisType) for part in index):
            return np.asarray(self)[index]
        part = self._data[index if Ellipsis in index else (*index, ...)]  # always a view
        if self._left.any():
            self._check(self._blocks_of(part))
        return part[()] if part.ndim == 0 else part

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        self.verify()
        if copy or (dtype is not None and dtype != self.dtype):
            return self._data.astype(dtype or self.dtype)
        return self._data

    def verify(self) -> None:
        """Raises StorageError if anything in the array is not what was written."""
        self._check(np.flatnonzero(self._left))

    def _blocks_of(self, part: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """Returns the blocks that a view of the array lies in."""
        if not part.size:
            return np.zeros(0, np.intp)
        address, run = part.__array_interface__["data"][0], part.itemsize
        starts = np.array([address - self._data.__array_interface__["data"][0]], np.intp)
        sizes = [(size, stride) for size, stride in zip(part.shape, part.strides, strict=True) if size > 1]
        while sizes and sizes[-1][1] == run:
            run *= sizes.pop()[0]
        for size, stride in sizes:
            starts = np.add.outer(starts, np.arange(size, dtype=np.intp) * stride).ravel()
        first, last = starts // self._block, (starts + run - 1) // self._block
        spans = [np.minimum(first + further, last) for further in range(int((last - first).max()) + 1)]
        return np.unique(np.concatenate(spans))

    def _check(self, blocks: npt.NDArray[np.intp]) -> None:
        raw = self._data.reshape(-1).view(np.uint8).data
        for block in blocks[self._left[blocks]].tolist():
            if zlib.crc32(raw[block * self._block : (block + 1) * self._block]) != self._sums[block]:
                raise StorageError(
                    f"{self._path} is damaged: the content of {self._name} has changed since it was written"
                )
            self._left[block] = False


class ArrayFile:
    """A file of named arrays, opened without reading them.

    Attributes:
        path: the file.
        metadata: its text metadata.
        checked: whether a change anywhere in the file is noticed; in files of earlier versions, only one in an array.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = path = Path(path)
        check_regular(path)
        try:
            with path.open("rb") as file:
                length = int.from_bytes(file.read(8), "little")
                size = file.seek(0, 2)
                if size < 8 or length > min(size - 8, MAX_HEADER):
                    raise StorageError(f"{path} is not a file of arrays (a solution, a network), or it is cut short")
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._start = 8 + length
            self._entries, metadata = parse_header(self._map[8 : self._start], size - self._start)
            self._sums = self._checksums(metadata)
        except OSError as error:
            raise StorageError(f"cannot read {path}: {error.strerror}") from error
        except ValueError as error:
            if isinstance(error, StorageError):
                raise
            raise StorageError(f"{path} is not a file of arrays, or it is damaged: {error}") from error
        self.checked = checksums.TABLE in self._entries or checksums.SEAL in metadata
        self._entries.pop(checksums.TABLE, None)
        self.metadata = checksums.split(metadata)[0]
        self._arrays: dict[str, StoredArray] = {}

    def _checksums(self, metadata: dict[str, str]) -> dict[str, tuple[checksums.Blocks, int]]:
        """Returns the checksums of each array, and the size of the blocks that they are of."""
        if entry := self._entries.get(checksums.TABLE):
            raw = self._map[self._start + entry.begin : self._start + entry.end]
            tables = checksums.parse_table(raw, self._entries, metadata)
            return {name: (sums, checksums.BLOCK) for name, sums in tables.items()}
        if checksums.SEAL in metadata:
            checksums.check_seal(self._entries, metadata)
        sizes = {name: entry.nbytes for name, entry in self._entries.items()}
        texts = checksums.split(metadata)[1]
        return {name: (checksums.parse_sum(text), sizes[name]) for name, text in texts.items() if sizes.get(name)}

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the arrays, by name."""
        return {name: entry.shape for name, entry in self._entries.items()}

    @property
    def names(self) -> list[str]:
        """The names of the arrays."""
        return list(self._entries)

    def __getitem__(self, name: str) -> StoredArray:
        """Returns an array, mapped from the file: only the parts that are used are read, and checked."""
        if name not in self._arrays:
            entry = self._entries.get(name)
            if entry is None:
                raise StorageError(f"{self.path} has no array {name!r}; it has {', '.join(self._entries) or 'none'}")
            sums, block = self._sums.get(name, (np.zeros(0, np.uint32), 1))
            self._arrays[name] = StoredArray(self.path, name, self._mapped(entry), sums, block)
        return self._arrays[name]

    def _mapped(self, entry: Entry) -> npt.NDArray[Any]:
        dtype = TYPES[entry.dtype]
        if not entry.nbytes:
            return np.zeros(entry.shape, dtype)
        count = entry.nbytes // dtype.itemsize
        return np.frombuffer(self._map, dtype, count, self._start + entry.begin).reshape(entry.shape)

    def read(self, name: str) -> npt.NDArray[Any]:
        """Returns an array in memory, after its checksums have been compared.

        Raises:
            StorageError: the content is not what was written.
        """
        return np.array(np.asarray(self[name]))

    def verify(self) -> None:
        """Raises StorageError if anything in the file is not what was written."""
        for name in self.names:
            self[name].verify()
