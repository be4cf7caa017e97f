"""Match files: one JSON line that says what is played, then one line per hand, written as hands end.

A hand is in the file or it is not: a last line that was cut off is dropped, and its hand is played again. Since every
hand follows from the seed and its number, a match that goes on from a file ends as if it had never stopped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from aleator.errors import AleatorError
from aleator.games.holdem.hand_record import HandRecord, RecordError, setup_from_dict
from aleator.storage import StorageError, check_writable

_KIND = "aleator match"


class PlayedLine(NamedTuple):
    """What a match needs of a finished hand: its number, chips won by seat, and those of seat 0 by AIVAT, if any."""

    number: int
    won: tuple[float, ...]
    fair: float | None


class MatchFile:
    """An open match file, at its end.

    Args:
        path: made if it is not there.
        header: what is played, as JSON values; must be what the file says.

    Raises:
        StorageError: the file is not a match file, or one of another match.
    """

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        self.path = path
        self.played: list[PlayedLine] = []
        check_writable(path)
        whole = {"kind": _KIND, "version": 1} | header
        if path.exists() and path.stat().st_size:
            end = self._read(whole)
            self._file: IO[bytes] = path.open("r+b")
            self._file.truncate(end)
            self._file.seek(end)
            if not end:
                self._write_line(whole)
        else:
            self._file = path.open("wb")
            self._write_line(whole)

    def write(self, lines: Iterable[str]) -> None:
        """Appends hands, each as a JSON document in one line."""
        self._file.write("".join(f"{line}\n" for line in lines).encode())
        self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _write_line(self, document: dict[str, Any]) -> None:
        self.write([json.dumps(document)])

    def _read(self, header: dict[str, Any]) -> int:
        """Reads what is there; returns where the last whole line ends."""
        end = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    break
                document = _parse(self.path, number, line)
                if number == 1:
                    _check_header(self.path, document, header)
                else:
                    self.played.append(_played(self.path, number, document))
                end += len(line)
        return end


def read_match(path: Path) -> Iterator[HandRecord]:
    """Yields the hands of a match file as records.

    Raises:
        StorageError: the file is not a match file; the message names the line.
    """
    setup, agents = None, []
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            document = _parse(path, number, line)
            try:
                if setup is None:
                    if document.get("kind") != _KIND:
                        raise StorageError(f"{path}: not a match file")
                    setup = setup_from_dict(document.get("setup", {}))
                    agents = [str(name) for name in document.get("agents", [])]
                    continue
                seats = document.get("seats", [])
                names = [agents[seat] for seat in seats] if agents else []
                yield HandRecord.from_dict(document | {"names": names}, setup)
            except (RecordError, IndexError, TypeError) as error:
                raise StorageError(f"{path}, line {number}: {error}") from None


def _parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise StorageError(f"{path}, line {number}: not a JSON object")
    return document


def _check_header(path: Path, recorded: dict[str, Any], header: dict[str, Any]) -> None:
    if recorded.get("kind") != _KIND:
        raise StorageError(f"{path}: not a match file; choose another name or delete it")
    for name, value in header.items():
        if json.loads(json.dumps(value)) != recorded.get(name):
            raise StorageError(f"{path} is another match: {name} {_shown(recorded.get(name))}, not {_shown(value)}")


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _played(path: Path, number: int, document: dict[str, Any]) -> PlayedLine:
    try:
        won = tuple(float(chips) for chips in document["won"])
        fair = document.get("fair")
        return PlayedLine(int(document["hand"]), won, None if fair is None else float(fair))
    except (AleatorError, KeyError, TypeError, ValueError):
        raise StorageError(f"{path}, line {number}: not a hand of a match") from None
