"""Networks in files, written and read by the safetensors library, with checksums in the metadata."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.errors import MissingExtraError, one_line
from aleator.storage import checksums
from aleator.storage.arrays import raw_bytes, type_name
from aleator.storage.files import StorageError, check_regular, replace_file
from aleator.storage.header import MAX_HEADER, Entry, layout


def write_tensors(path: Path | str, arrays: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Writes named arrays and text metadata to one file, atomically."""
    save = _library("numpy").save
    whole = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    entries = layout((name, type_name(name, array), array.shape) for name, array in whole.items())
    replace_file(Path(path), [save(whole, checksums.sealed(whole, entries, metadata))])


class TensorFile:
    """A file of named arrays, opened by the safetensors library.

    Attributes:
        path: the file.
        metadata: its text metadata.
        shapes: of the arrays, by name.
        checked: whether a change anywhere in the file is noticed.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = path = Path(path)
        library = _library()
        check_regular(path)
        try:
            with path.open("rb") as file:
                if int.from_bytes(file.read(8), "little") > MAX_HEADER:
                    raise ValueError(f"its header is longer than {MAX_HEADER:,} bytes")
            self._file = library.safe_open(str(path), framework="np").__enter__()
            parts = {name: self._file.get_slice(name) for name in self._file.keys()}  # noqa: SIM118 (it is no dict)
            metadata: dict[str, str] = self._file.metadata() or {}
            entries = {name: Entry(part.get_dtype(), tuple(part.get_shape()), 0, 0) for name, part in parts.items()}
            self.checked = checksums.SEAL in metadata
            if self.checked:
                checksums.check_seal(entries, metadata)
        except OSError as error:
            raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
        except (library.SafetensorError, ValueError) as error:
            raise StorageError(f"{path} is not a file of tensors, or it is damaged: {one_line(error)}") from error
        self.shapes = {name: entry.shape for name, entry in entries.items()}
        self.metadata, self._sums = checksums.split(metadata)

    def read(self, name: str) -> npt.NDArray[Any]:
        """Returns an array in memory, after its checksum has been compared.

        Raises:
            StorageError: the content is not what was written, or of a type that NumPy does not have.
        """
        try:
            array: npt.NDArray[Any] = self._file.get_tensor(name)
        except (TypeError, KeyError, _library().SafetensorError) as error:
            raise StorageError(f"{self.path} is damaged: {one_line(error)}") from error
        if name in self._sums and str(zlib.crc32(raw_bytes(array))) != self._sums[name]:
            raise StorageError(f"{self.path} is damaged: the content of {name} has changed since it was written")
        return array


def _library(module: str | None = None) -> Any:
    """Returns the safetensors library, or a module of it."""
    import importlib

    try:
        return importlib.import_module(f"safetensors.{module}" if module else "safetensors")
    except ImportError:
        raise MissingExtraError("safetensors", "neural") from None
