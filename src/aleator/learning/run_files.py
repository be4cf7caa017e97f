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
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch

from aleator.errors import SolveError, one_line, shown
from aleator.learning.seeds import derived_seed
from aleator.storage import (
    ArrayFile,
    StorageError,
    check_regular,
    exclusive,
    make_folder,
    parse_json,
    remove_stale,
    replace_file,
)
from aleator.trees.fingerprint import Fingerprint, parse_fingerprint

Config = TypeVar("Config")
Entry = TypeVar("Entry")

CONFIG, METRICS, CHECKPOINT, NETWORK = "config.json", "metrics.jsonl", "checkpoint.run", "network.safetensors"
_LOCK = ".lock"
_KIND, _FINGERPRINT, _CHECKSUM = "kind", "fingerprint", "crc32"  # what the settings have besides the settings
_MAX_CONFIG = 1 << 20


class RunFiles(ABC, Generic[Config]):
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
        make_folder(self.path)
        self._write_settings(settings, fingerprint)

    def _write_settings(self, settings: dict[str, Any], fingerprint: Fingerprint | None) -> None:
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

    @abstractmethod
    def parse_config(self, values: Any) -> Config:
        """Returns the settings that a file has as JSON values.

        Raises:
            ValueError: the values are not settings.
        """

    def is_of(self, saved: Config, now: Config) -> bool:
        """Returns whether a checkpoint with some settings belongs to a run that has others now."""
        return saved == now

    def config(self) -> Config:
        """Returns the settings of the run.

        Raises:
            StorageError: there is no run of this kind here, or its settings are damaged.
        """
        return self._settings()[0]

    def _settings(self) -> tuple[Config, Fingerprint | None]:
        """Returns the settings of the run, and the fingerprint of its game if it is known."""
        path = self.path / CONFIG
        if not path.exists():
            raise StorageError(f"{self.path} holds no training run: it has no {CONFIG}")
        check_regular(path)
        try:
            with path.open("rb") as file:
                values = parse_json(file.read(_MAX_CONFIG))
            if not isinstance(values, dict) or not isinstance(values.get(_KIND), str):
                raise ValueError(f"it is not a run of {self._name}")
            if values[_KIND] != self._kind:
                raise StorageError(
                    f"{self.path} holds a run of another kind, {shown(values[_KIND])}, not of {self._name}"
                )
            if _CHECKSUM in values and values.pop(_CHECKSUM) != _checksum(values):
                raise ValueError("the settings have changed since the run began")
            fingerprint = parse_fingerprint(values.pop(_FINGERPRINT)) if _FINGERPRINT in values else None
            del values[_KIND]
            return self.parse_config(values), fingerprint
        except StorageError:
            raise
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
        metrics = []
        for line in lines:
            try:
                values = json.loads(line)
            except ValueError:
                break  # a line that a crash cut short
            if not (isinstance(values, dict) and isinstance(values.get("epoch"), int)):
                break
            metrics.append(values)
        return metrics

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

    def go_on(
        self, trainer: Any, game: Fingerprint, formats: Sequence[str], restore: Callable[[ArrayFile], None]
    ) -> None:
        """Goes on from the checkpoint; without one, the run begins anew. What a crash left behind is removed.

        Args:
            trainer: a new one, with the settings of the run.
            game: the fingerprint of its game.
            formats: of checkpoints, the present one first.
            restore: puts the trainer into the state of a checkpoint.

        Raises:
            StorageError: the checkpoint is damaged, or belongs to other settings or another game.
        """
        self.remove_leftovers()
        self._check_game(self._settings()[1], game, trainer)
        path = self.path / CHECKPOINT
        if path.exists():
            file = ArrayFile(path)
            if file.metadata.get("format") not in formats:
                raise StorageError(f"{path} is not a checkpoint of a training run of {self._name}")
            try:
                if file.metadata["format"] == formats[0]:
                    if not file.checked:
                        raise ValueError("its checksums are missing")
                    self._check_game(parse_fingerprint(parse_json(file.metadata["fingerprint"])), game, trainer)
                if not self.is_of(self.parse_config(parse_json(file.metadata["config"])), trainer.config):
                    raise StorageError(f"{path} belongs to a run with other settings")
                restore(file)
            except StorageError:
                raise
            except (KeyError, ValueError, TypeError, AttributeError, RuntimeError, OverflowError) as error:
                raise StorageError(f"{path} is damaged: {one_line(error)}") from error
        self.forget_after(trainer.epoch)

    def _check_game(self, known: Fingerprint | None, game: Fingerprint, trainer: Any) -> None:
        """Raises StorageError if the run was begun with another game than the trainer's."""
        began, name = trainer.config.game, trainer.game.name
        if known is not None and not known.fits(game):
            which = "another game of that name" if began == name else name
            raise StorageError(f"the run in {self.path} is of {one_line(began)}, not of {which}: the rules differ")


def without_prefix(entries: Mapping[str, Entry], prefix: str) -> dict[str, Entry]:
    """Returns the entries whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): entry for name, entry in entries.items() if name.startswith(prefix)}


def read_tensors(file: ArrayFile) -> dict[str, torch.Tensor]:
    """Returns the tensors of a checkpoint.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    tensors = {name: torch.from_numpy(file.read(name)) for name in file.names}
    for name, tensor in tensors.items():
        if not bool(tensor.isfinite().all()):
            raise ValueError(f"{name} has numbers that are NaN or infinite")
    return tensors


def restore_generator(trainer: Any, state: torch.Tensor, device: str) -> None:
    """Goes on with the random numbers of a run on a device; states of generators do not fit other devices."""
    if device == trainer.device.type:
        trainer.generator.set_state(state)
    else:
        trainer.generator.manual_seed(derived_seed(trainer.config.seed, trainer.epoch))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPace:
    """How often a run stops to save and to measure itself.

    Attributes:
        checkpoint_seconds: time between checkpoints; there is one at the end in any case.
        evaluate_epochs: epochs between evaluations; 0 for one at the end only.
    """

    checkpoint_seconds: float = 60.0
    evaluate_epochs: int = 0

    def __post_init__(self) -> None:
        if not self.checkpoint_seconds >= 0.0:  # nor is it NaN
            raise SolveError(f"seconds between checkpoints must be at least 0, not {self.checkpoint_seconds}")
        if self.evaluate_epochs < 0:
            raise SolveError(f"epochs between evaluations must be at least 0, not {self.evaluate_epochs}")

    def due(self, epoch: int, last: int) -> bool:
        """Returns whether to evaluate after an epoch of `last`."""
        return epoch == last or bool(self.evaluate_epochs and epoch % self.evaluate_epochs == 0)


def _checksum(values: dict[str, Any]) -> int:
    """Returns the checksum of settings."""
    return zlib.crc32(json.dumps(values, sort_keys=True).encode())
