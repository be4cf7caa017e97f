"""The directory of a training run, whatever is trained: settings, metrics, a lock.

    config.json         what is trained ("kind"), the settings, the fingerprint of the game, a checksum
    metrics.jsonl       one JSON object per epoch
    checkpoint.run      everything that changes, in one file that is replaced atomically
    network.safetensors what was trained, replaced with every checkpoint

Metrics after the last checkpoint are dropped when a run resumes, because they are made again.
"""

from __future__ import annotations

import json
import zlib
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from aleator.errors import one_line
from aleator.storage import StorageError, check_regular, exclusive, parse_json, remove_stale, replace_file
from aleator.trees.fingerprint import Fingerprint, parse_fingerprint

CONFIG, METRICS, CHECKPOINT, NETWORK = "config.json", "metrics.jsonl", "checkpoint.run", "network.safetensors"
_LOCK = ".lock"
_KIND, _FINGERPRINT, _CHECKSUM = "kind", "fingerprint", "crc32"  # what the settings have besides the settings
_MAX_CONFIG = 1 << 20


class RunFiles:
    """The files of one training run.

    Args:
        path: the directory.
        kind: what is trained there.
        name: the same in words, for messages.
    """

    def __init__(self, path: Path | str, kind: str, name: str) -> None:
        self.path, self._kind, self._name = Path(path), kind, name

    @property
    def exists(self) -> bool:
        """Whether a run was begun here."""
        return (self.path / CONFIG).is_file()

    def begin(self, settings: dict[str, Any], fingerprint: Fingerprint | None) -> None:
        """Begins a run.

        Raises:
            StorageError: there is a run already, or the directory cannot be written.
        """
        if self.exists:
            raise StorageError(f"{self.path} holds a training run already; resume it, or choose another directory")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"cannot create {self.path}: {error.strerror}") from error
        values = {_KIND: self._kind, **settings}
        if fingerprint is not None:
            values[_FINGERPRINT] = fingerprint.to_dict()
        values[_CHECKSUM] = _checksum(values)
        replace_file(self.path / CONFIG, [json.dumps(values, indent=1).encode()])

    def locked(self) -> AbstractContextManager[None]:
        """Keeps other processes from writing here, until the end of the block or of this process.

        Raises:
            StorageError: another process trains here.
        """
        return exclusive(self.path / _LOCK, f"another process is training in {self.path}")

    def settings(self) -> tuple[dict[str, Any], Fingerprint | None]:
        """Returns the settings of the run, and the fingerprint of its game if it is known.

        Raises:
            StorageError: there is no run of this kind here, or its settings are damaged.
        """
        path = self.path / CONFIG
        if not path.exists():
            raise StorageError(f"{self.path} holds no training run: it has no {CONFIG}")
        check_regular(path)
        try:
            with path.open("rb") as file:
                values = parse_json(file.read(_MAX_CONFIG))
            if not isinstance(values, dict) or values.get(_KIND) != self._kind:
                raise ValueError(f"it is not a run of {self._name}")
            if _CHECKSUM in values and values.pop(_CHECKSUM) != _checksum(values):
                raise ValueError("the settings have changed since the run began")
            fingerprint = parse_fingerprint(values.pop(_FINGERPRINT)) if _FINGERPRINT in values else None
            del values[_KIND]
            return values, fingerprint
        except OSError as error:
            raise StorageError(f"cannot read {path}: {error.strerror}") from error
        except ValueError as error:
            raise StorageError(f"{path} is damaged: {one_line(error)}") from error

    def append(self, line: dict[str, Any]) -> None:
        """Adds a line to the metrics."""
        try:
            with (self.path / METRICS).open("a") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise StorageError(f"cannot write {self.path / METRICS}: {error.strerror}") from error

    def metrics(self) -> list[dict[str, Any]]:
        """Returns all whole lines of the metrics."""
        try:
            lines = (self.path / METRICS).read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StorageError(f"cannot read {self.path / METRICS}: {error.strerror}") from error
        found = []
        for line in lines:
            try:
                values = json.loads(line)
            except ValueError:
                break  # a line that a crash cut short
            if not (isinstance(values, dict) and isinstance(values.get("epoch"), int)):
                break
            found.append(values)
        return found

    def remove_leftovers(self) -> None:
        """Removes what a crash left behind."""
        for name in (CONFIG, METRICS, CHECKPOINT, NETWORK):
            remove_stale(self.path / name)

    def forget_after(self, epoch: int) -> None:
        """Drops the metrics after an epoch."""
        kept = [line for line in self.metrics() if line["epoch"] <= epoch]
        text = "".join(json.dumps(line) + "\n" for line in kept)
        if kept or (self.path / METRICS).exists():
            replace_file(self.path / METRICS, [text.encode()])

    def check_game(self, known: Fingerprint | None, found: Fingerprint, began: str, name: str) -> None:
        """Raises StorageError if the run, begun with the game `began`, is resumed with another game, `name`."""
        if known is not None and not known.fits(found):
            which = "another game of that name" if began == name else name
            raise StorageError(f"the run in {self.path} is of {one_line(began)}, not of {which}: the rules differ")


def _checksum(values: dict[str, Any]) -> int:
    """Returns the checksum of settings."""
    return zlib.crc32(json.dumps(values, sort_keys=True).encode())
