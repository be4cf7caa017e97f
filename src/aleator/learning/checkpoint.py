"""A training run on disk: settings, metrics, and checkpoints from which it goes on as if it had never stopped.

A run is a directory:
    config.json         the settings and the device's kind
    metrics.jsonl       one JSON object per epoch
    checkpoint.run      everything that changes, in one file that is replaced atomically
    network.safetensors the value network (a `Model`), replaced with every checkpoint
On the CPU a resumed run is equal bit by bit to one that was never stopped. Metrics after the last checkpoint are dropped when
a run resumes, because they are made again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from aleator.learning.config import RebelConfig
from aleator.learning.model import Model
from aleator.learning.training import EpochMetrics, Trainer
from aleator.storage import ArrayFile, StorageError, replace_file, write_arrays

CONFIG, METRICS, CHECKPOINT, NETWORK = "config.json", "metrics.jsonl", "checkpoint.run", "network.safetensors"
_FORMAT = "aleator training run 1"


def _arrays(trainer: Trainer) -> dict[str, npt.NDArray[Any]]:
    """Returns all tensors of a run by name."""
    tensors: dict[str, torch.Tensor] = {}
    for name, value in trainer.network.state_dict().items():
        tensors[f"network.{name}"] = value
    for name, value in trainer.averaged.state_dict().items():
        tensors[f"averaged.{name}"] = value
    for number, state in trainer.optimizer.state_dict()["state"].items():
        for name, value in state.items():
            tensors[f"optimizer.{number}.{name}"] = value
    filled = min(trainer.replay.added, trainer.replay.capacity)
    tensors["replay.inputs"] = trainer.replay.inputs[:filled]
    tensors["replay.targets"] = trainer.replay.targets[:filled]
    tensors["replay.masks"] = trainer.replay.masks[:filled]
    tensors["play.root"] = trainer.self_play.root
    for player in (0, 1):
        tensors[f"play.reach{player}"] = trainer.self_play.reach[player]
    tensors["generator"] = trainer.generator.get_state()
    return {name: value.detach().cpu().numpy() for name, value in tensors.items()}


class RunDirectory:
    """The directory of one training run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def exists(self) -> bool:
        """Whether a run was begun here."""
        return (self.path / CONFIG).is_file()

    def create(self, config: RebelConfig) -> None:
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
        replace_file(self.path / CONFIG, [json.dumps({"kind": "rebel", **config.to_dict()}, indent=1).encode()])

    def config(self) -> RebelConfig:
        """Returns the settings of the run.

        Raises:
            StorageError: there is no run here, or its settings are damaged.
        """
        try:
            values = json.loads((self.path / CONFIG).read_text())
            values.pop("kind")
            return RebelConfig.from_dict(values)
        except OSError as error:
            raise StorageError(f"{self.path} holds no training run: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StorageError(f"{self.path / CONFIG} is damaged: {error}") from error

    def append(self, metrics: EpochMetrics, **more: Any) -> None:
        """Adds a line to the metrics."""
        with (self.path / METRICS).open("a") as file:
            file.write(json.dumps({**metrics.to_dict(), **more}) + "\n")

    def metrics(self) -> list[dict[str, Any]]:
        """Returns all whole lines of the metrics."""
        try:
            lines = (self.path / METRICS).read_text().splitlines()
        except FileNotFoundError:
            return []
        found = []
        for line in lines:
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError:
                break  # a line that a crash cut short
        return found

    def save(self, trainer: Trainer, report: dict[str, Any] | None = None) -> None:
        """Writes a checkpoint and the network."""
        facts = {
            "epoch": trainer.epoch,
            "steps": trainer.steps,
            "owed": trainer.owed,
            "seconds": trainer.seconds,
            "added": trainer.replay.added,
            "first": trainer.replay.first,
        }
        metadata = {"format": _FORMAT, "facts": json.dumps(facts), "config": json.dumps(trainer.config.to_dict())}
        write_arrays(self.path / CHECKPOINT, _arrays(trainer), metadata)
        Model(trainer.config, trainer.searcher, report or {}).save(self.path / NETWORK)

    def restore(self, trainer: Trainer) -> None:
        """Goes on from the checkpoint; without one, the run begins anew.

        Raises:
            StorageError: the checkpoint is damaged, or belongs to other settings.
        """
        path = self.path / CHECKPOINT
        if path.exists():
            _restore(trainer, ArrayFile(path), path)
        kept = [line for line in self.metrics() if line["epoch"] <= trainer.epoch]
        text = "".join(json.dumps(line) + "\n" for line in kept)
        if kept or (self.path / METRICS).exists():
            replace_file(self.path / METRICS, [text.encode()])


def _restore(trainer: Trainer, file: ArrayFile, path: Path) -> None:
    """Puts a run into the state of a checkpoint."""
    if file.metadata.get("format") != _FORMAT:
        raise StorageError(f"{path} is not a checkpoint of a training run")
    if RebelConfig.from_dict(json.loads(file.metadata["config"])) != trainer.config:
        raise StorageError(f"{path} belongs to a run with other settings")
    arrays = {name: torch.from_numpy(np.array(file.read(name))) for name in file.names}

    def part(prefix: str) -> dict[str, torch.Tensor]:
        return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}

    trainer.network.load_state_dict(part("network."))
    trainer.averaged.load_state_dict(part("averaged."))
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in part("optimizer.").items():
        number, _, field = name.partition(".")
        moments.setdefault(int(number), {})[field] = value
    trainer.optimizer.load_state_dict({**trainer.optimizer.state_dict(), "state": moments})
    facts = json.loads(file.metadata["facts"])
    trainer.epoch, trainer.steps = facts["epoch"], facts["steps"]
    trainer.owed, trainer.seconds = facts["owed"], facts["seconds"]
    replay, play = trainer.replay, trainer.self_play
    replay.added, replay.first = facts["added"], facts["first"]
    for name, tensor in (("inputs", replay.inputs), ("targets", replay.targets), ("masks", replay.masks)):
        saved = arrays[f"replay.{name}"]
        tensor[: len(saved)] = saved.to(tensor.device)
    play.root = arrays["play.root"].to(trainer.device)
    play.reach = (arrays["play.reach0"].to(trainer.device), arrays["play.reach1"].to(trainer.device))
    trainer.generator.set_state(arrays["generator"].to(torch.uint8))
