"""Files of JSON lines that can be cut off anywhere: one line that says what the file is, then one line per result.

A result is in the file or it is not: a last line that was cut off is dropped when the file is opened again.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from aleator.storage.files import StorageError, check_writable


class LineFile(ABC):
    """An open file of lines, at its end.

    Attributes:
        path: where it is.
    """

    def __init__(self, path: Path, kind: str, header: dict[str, Any]) -> None:
        """Opens a file, which is made if it is not there.

        Args:
            path: where it is.
            kind: what it is in a word, such as ``match``.
            header: what its results are of, as JSON values; must be what the file says.

        Raises:
            StorageError: the file is of another kind, or of something else.
        """
        self.path, self.kind = path, kind
        check_writable(path)
        whole = {"kind": f"aleator {kind}", "version": 1} | header
        end = self._read(whole) if path.exists() else 0
        self._file = path.open("r+b" if end else "wb", buffering=0)
        self._file.truncate(end)
        self._file.seek(end)
        if not end:
            self.write([json.dumps(whole)])

    @abstractmethod
    def take(self, number: int, document: dict[str, Any]) -> None:
        """Takes a result that is there when the file is opened.

        Args:
            number: of its line.
            document: what it says.

        Raises:
            StorageError: it is no such result.
        """

    def write(self, lines: Iterable[str]) -> None:
        """Appends results, each as a JSON document in one line.

        Raises:
            StorageError: they cannot be written; a part of a line that was is dropped when the file is opened again.
        """
        left = memoryview("".join(f"{line}\n" for line in lines).encode())
        try:
            while left:  # the last part that fits is written without an error
                left = left[self._file.write(left) :]
        except OSError as error:
            raise StorageError(f"cannot write {self.path}: {error.strerror}") from error

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _read(self, header: dict[str, Any]) -> int:
        """Reads what is there; returns where the last whole line ends."""
        end = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    break
                document = _parse(self.path, number, line)
                if number == 1:
                    self._check_header(document, header)
                else:
                    self.take(number, document)
                end += len(line)
        return end

    def _check_header(self, recorded: dict[str, Any], header: dict[str, Any]) -> None:
        if recorded.get("kind") != header["kind"]:
            raise StorageError(f"{self.path}: not a {self.kind} file; choose another name or delete it")
        for name, value in header.items():
            if json.loads(json.dumps(value)) != recorded.get(name):
                was, now = _shown(recorded.get(name)), _shown(value)
                raise StorageError(f"{self.path} is another {self.kind}: {name} {was}, not {now}")


def read_lines(path: Path, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the header of a file of lines and then its results, each with the number of its line.

    Raises:
        StorageError: it cannot be read, or is another kind of file; the message names the line.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    with file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            document = _parse(path, number, line)
            if number == 1 and document.get("kind") != f"aleator {kind}":
                raise StorageError(f"{path}: not a {kind} file")
            yield number, document


def _parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise StorageError(f"{path}, line {number}: not a JSON object")
    return document


def _shown(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= 200 else f"{text[:200]} ..."
