"""Files of named arrays: one JSON header, then the arrays, read lazily and replaced atomically.

The layout is that of safetensors (8 bytes little-endian length, JSON header, raw data), so that other software can read
the arrays. Nothing in such a file is ever executed or unpickled.
"""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.errors import AleatorError

_TYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"), "F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I64": np.dtype("<i8"), "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"), "I8": np.dtype("i1"), "U8": np.dtype("u1"), "BOOL": np.dtype("?"),
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in _TYPES.items()}
_MAX_HEADER = 64 << 20


class StorageError(AleatorError):
    """A file that cannot be read or written as what it should be."""


def check_writable(path: Path) -> None:
    """Raises StorageError unless a file can be created or replaced at `path`; leaves nothing there."""
    folder = path.parent
    if path.is_dir():
        raise StorageError(f"cannot write {path}: it is a directory")
    if not folder.is_dir():
        raise StorageError(f"cannot write {path}: the directory {folder} does not exist")
    if path.exists() and not os.access(path, os.W_OK):
        raise StorageError(f"cannot write {path}: permission denied")
    try:
        tempfile.TemporaryFile(dir=folder).close()  # file systems have more reasons to refuse than permissions say
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error


def replace_file(path: Path, content: list[Any]) -> None:
    """Writes buffers to a file such that at every moment either the old or the whole new content is there."""
    check_writable(path)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        with os.fdopen(handle, "wb") as file:
            for part in content:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise StorageError(f"cannot write {path}: {error.strerror}") from error
        raise


@contextmanager
def exclusive(path: Path, refusal: str) -> Iterator[None]:
    """Holds the lock of a file until the end of the block or of this process.

    Raises:
        StorageError: another process holds it (the message is `refusal`), or the file cannot be written.
    """
    try:
        import fcntl
    except ImportError:  # a system without such locks
        yield
        return
    try:
        file = path.open("w")
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StorageError(refusal) from None
        except OSError as error:
            raise StorageError(f"cannot lock {path}: {error.strerror}") from error
        yield


def write_arrays(path: Path | str, arrays: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Writes named arrays and text metadata to one file, atomically."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    parts: list[memoryview] = []
    offset = 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array)
        dtype = data.dtype.newbyteorder("<")
        if dtype not in _NAMES:
            raise StorageError(f"cannot store {name}: type {array.dtype} is not among {sorted(_TYPES)}")
        raw = data.astype(dtype, copy=False).reshape(-1).view(np.uint8).data
        header["__metadata__"][f"crc32:{name}"] = str(zlib.crc32(raw))
        header[name] = {
            "dtype": _NAMES[dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + data.nbytes],
        }
        parts.append(raw)
        padding = -data.nbytes % 8
        parts.append(memoryview(bytes(padding)))
        offset += data.nbytes + padding
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    replace_file(Path(path), [len(text).to_bytes(8, "little"), text, *parts])


class ArrayFile:
    """A file of named arrays, opened without reading them.

    Attributes:
        path: the file.
        metadata: its text metadata.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = path = Path(path)
        try:
            size = path.stat().st_size
            with path.open("rb") as file:
                length = int.from_bytes(file.read(8), "little")
                if size < 8 or length > min(size - 8, _MAX_HEADER):
                    raise StorageError(f"{path} is not a file of arrays, or it is cut short")
                header = json.loads(file.read(length))
            self._entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
            metadata: dict[str, str] = dict(header.get("__metadata__", {}))
            self._checksums = {
                name.removeprefix("crc32:"): text for name, text in metadata.items() if name.startswith("crc32:")
            }
            self.metadata = {name: text for name, text in metadata.items() if not name.startswith("crc32:")}
            for name, entry in self._entries.items():
                begin, end = entry["data_offsets"]
                expected = int(np.prod(entry["shape"], dtype=np.int64)) * _TYPES[entry["dtype"]].itemsize
                if not 0 <= begin <= end <= size - 8 - length or end - begin != expected:
                    raise StorageError(f"{path} is damaged: {name} does not fit the file")
        except (
            OSError,
            UnicodeDecodeError,
            json.JSONDecodeError,
            AttributeError,
            KeyError,
            TypeError,
            ValueError,
        ) as error:
            if isinstance(error, StorageError):
                raise
            reason = error.strerror if isinstance(error, OSError) else "it is not a file of arrays, or it is damaged"
            raise StorageError(f"cannot read {path}: {reason}") from error
        self._start = 8 + length

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    @property
    def names(self) -> list[str]:
        """The names of the arrays."""
        return list(self._entries)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Returns an array, mapped from the file: only the parts that are used are read."""
        entry = self._entries.get(name)
        if entry is None:
            raise StorageError(f"{self.path} has no array {name!r}; it has {', '.join(self._entries) or 'none'}")
        shape = tuple(entry["shape"])
        dtype = _TYPES[entry["dtype"]]
        if 0 in shape:
            return np.zeros(shape, dtype)
        return np.memmap(self.path, dtype=dtype, mode="r", offset=self._start + entry["data_offsets"][0], shape=shape)

    def read(self, name: str) -> npt.NDArray[Any]:
        """Returns an array in memory, after its checksum has been compared.

        Raises:
            StorageError: the content is not what was written.
        """
        array = np.array(self[name])
        found = zlib.crc32(array.reshape(-1).view(np.uint8).data) if array.size else 0
        if name in self._checksums and str(found) != self._checksums[name]:
            raise StorageError(f"{self.path} is damaged: the content of {name} has changed since it was written")
        return array
