"""A training run on disk: settings, metrics, and checkpoints from which it goes on as if it had never stopped.

A run is a directory:
    config.json         the settings, and the fingerprint of the game
    metrics.jsonl       one JSON object per epoch
    checkpoint.run      everything that changes, in one file that is replaced atomically
    network.safetensors the value network (a `Model`), replaced with every checkpoint
On the CPU a resumed run is equal bit by bit to one that was never stopped. Metrics after the last checkpoint are
dropped when a run resumes, because they are made again. A run can move to another kind of device; it then goes on with
other random numbers. A game of one's own is given by who resumes the run; its code is never run because a file names
it.
"""

from __future__ import annotations

import json
import zlib
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy.typing as npt
import torch

from aleator.errors import one_line
from aleator.learning.config import RebelConfig
from aleator.learning.learner import Learner
from aleator.learning.training import EpochMetrics, Trainer
from aleator.learning.value_network.model import Model
from aleator.storage import (
    ArrayFile,
    StorageError,
    check_object,
    check_regular,
    exclusive,
    parse_json,
    remove_stale,
    replace_file,
    write_arrays,
)
from aleator.trees.fingerprint import Fingerprint, parse_fingerprint

CONFIG, METRICS, CHECKPOINT, NETWORK = "config.json", "metrics.jsonl", "checkpoint.run", "network.safetensors"
_LOCK = ".lock"
_FORMAT, _EARLIER = "aleator training run 2", "aleator training run 1"
_KIND, _FINGERPRINT, _CHECKSUM = "kind", "fingerprint", "crc32"  # what the settings have besides the settings
_MAX_CONFIG = 1 << 20


class RunDirectory:
    """The directory of one training run."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    @property
    def exists(self) -> bool:
        """Whether a run was begun here."""
        return (self.path / CONFIG).is_file()

    def create(self, config: RebelConfig, fingerprint: Fingerprint | None = None) -> None:
        """Begins a run.

        Args:
            config: the settings.
            fingerprint: of the game's subgames.

        Raises:
            StorageError: there is a run already, or the directory cannot be written.
        """
        if self.exists:
            raise StorageError(f"{self.path} holds a training run already; resume it, or choose another directory")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"cannot create {self.path}: {error.strerror}") from error
        values = {_KIND: "rebel", **config.to_dict()}
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

    def config(self) -> RebelConfig:
        """Returns the settings of the run.

        Raises:
            StorageError: there is no run here, or its settings are damaged.
        """
        return self._settings()[0]

    def _settings(self) -> tuple[RebelConfig, Fingerprint | None]:
        """Returns the settings of the run, and the fingerprint of its game if it is known."""
        path = self.path / CONFIG
        if not path.exists():
            raise StorageError(f"{self.path} holds no training run: it has no {CONFIG}")
        check_regular(path)
        try:
            with path.open("rb") as file:
                values = parse_json(file.read(_MAX_CONFIG))
            if not isinstance(values, dict) or values.get(_KIND) != "rebel":
                raise ValueError("it is not a run of ReBeL")
            if _CHECKSUM in values and values.pop(_CHECKSUM) != _checksum(values):
                raise ValueError("the settings have changed since the run began")
            fingerprint = parse_fingerprint(values.pop(_FINGERPRINT)) if _FINGERPRINT in values else None
            del values[_KIND]
            return RebelConfig.from_dict(values), fingerprint
        except OSError as error:
            raise StorageError(f"cannot read {path}: {error.strerror}") from error
        except ValueError as error:
            raise StorageError(f"{path} is damaged: {one_line(error)}") from error

    def append(self, metrics: EpochMetrics, **more: Any) -> None:
        """Adds a line to the metrics."""
        try:
            with (self.path / METRICS).open("a") as file:
                file.write(json.dumps({**metrics.to_dict(), **more}) + "\n")
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

    def save(self, trainer: Trainer, report: dict[str, Any] | None = None) -> None:
        """Writes a checkpoint and the network."""
        facts = {
            "epoch": trainer.epoch,
            "steps": trainer.steps,
            "owed": trainer.owed,
            "seconds": trainer.seconds,
            "device": trainer.device.type,
        }
        for prefix, learner in _learners(trainer).items():
            facts |= {f"{prefix}added": learner.replay.added, f"{prefix}first": learner.replay.first}
        metadata = {
            "format": _FORMAT,
            "facts": json.dumps(facts),
            "config": json.dumps(trainer.config.to_dict()),
            "fingerprint": json.dumps(trainer.subgames.fingerprint.to_dict()),
        }
        write_arrays(self.path / CHECKPOINT, _arrays(trainer), metadata)
        cost = {
            "searches": trainer.epoch * trainer.config.games,
            "steps": trainer.steps,
            "seconds": round(trainer.seconds, 1),
            "device": trainer.device.type,
        }
        policy = trainer.policies.searcher if trainer.policies else None
        model = Model(
            trainer.config, trainer.searcher, {**cost, **(report or {})}, policy, trainer.subgames.fingerprint
        )
        model.save(self.path / NETWORK)

    def restore(self, trainer: Trainer) -> None:
        """Goes on from the checkpoint; without one, the run begins anew. What a crash left behind is removed.

        Args:
            trainer: a new one, with the settings of the run.

        Raises:
            StorageError: the checkpoint is damaged, or belongs to other settings or another game.
        """
        for name in (CONFIG, METRICS, CHECKPOINT, NETWORK):
            remove_stale(self.path / name)
        self._check_game(trainer, self._settings()[1])
        path = self.path / CHECKPOINT
        if path.exists():
            file = ArrayFile(path)
            if file.metadata.get("format") not in (_FORMAT, _EARLIER):
                raise StorageError(f"{path} is not a checkpoint of a training run")
            try:
                if file.metadata["format"] == _FORMAT:
                    if not file.checked:
                        raise ValueError("its checksums are missing")
                    self._check_game(trainer, parse_fingerprint(parse_json(file.metadata["fingerprint"])))
                config = RebelConfig.from_dict(parse_json(file.metadata["config"]))
                if config != trainer.config:
                    raise StorageError(f"{path} belongs to a run with other settings")
                _restore(trainer, file)
            except StorageError:
                raise
            except (KeyError, ValueError, TypeError, AttributeError, RuntimeError, OverflowError) as error:
                raise StorageError(f"{path} is damaged: {one_line(error)}") from error
        kept = [line for line in self.metrics() if line["epoch"] <= trainer.epoch]
        text = "".join(json.dumps(line) + "\n" for line in kept)
        if kept or (self.path / METRICS).exists():
            replace_file(self.path / METRICS, [text.encode()])

    def _check_game(self, trainer: Trainer, fingerprint: Fingerprint | None) -> None:
        """Raises StorageError if the run was begun with another game than `trainer` has."""
        if fingerprint is not None and not fingerprint.fits(trainer.subgames.fingerprint):
            began, name = trainer.config.game, trainer.game.name
            which = "another game of that name" if began == name else name
            raise StorageError(f"the run in {self.path} is of {one_line(began)}, not of {which}: the rules differ")


def _checksum(values: dict[str, Any]) -> int:
    """Returns the checksum of settings."""
    return zlib.crc32(json.dumps(values, sort_keys=True).encode())


def _learners(trainer: Trainer) -> dict[str, Learner[Any]]:
    """Returns the networks of a run by what the names of their arrays begin with."""
    return dict(zip(("", "policy."), trainer.learners, strict=False))


def _moves(trainer: Trainer) -> torch.Tensor:
    """Returns [G, longest]: the moves that lead to where each game stands, -1 behind them."""
    rows = [trainer.subgames.moves(number) for number in trainer.self_play.root.tolist()]
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[-1] * (longest - len(row))] for row in rows], dtype=torch.int32)


def _arrays(trainer: Trainer) -> dict[str, npt.NDArray[Any]]:
    """Returns all tensors of a run by name."""
    tensors: dict[str, torch.Tensor] = {}
    for prefix, learner in _learners(trainer).items():
        for name, value in learner.network.state_dict().items():
            tensors[f"{prefix}network.{name}"] = value
        for name, value in learner.averaged.state_dict().items():
            tensors[f"{prefix}averaged.{name}"] = value
        for number, state in learner.optimizer.state_dict()["state"].items():
            for name, value in state.items():
                tensors[f"{prefix}optimizer.{number}.{name}"] = value
        filled = min(learner.replay.added, learner.replay.capacity)
        for name in ("inputs", "targets", "masks"):
            tensors[f"{prefix}replay.{name}"] = getattr(learner.replay, name)[:filled]
    tensors["play.moves"] = _moves(trainer)
    for player in (0, 1):
        tensors[f"play.reach{player}"] = trainer.self_play.reach[player]
    tensors["generator"] = trainer.generator.get_state()
    return {name: value.detach().cpu().numpy() for name, value in tensors.items()}


def _restore(trainer: Trainer, file: ArrayFile) -> None:
    """Puts a new run into the state of a checkpoint."""
    arrays = {name: torch.from_numpy(file.read(name)) for name in file.names}
    for name, value in arrays.items():
        if not bool(value.isfinite().all()):
            raise ValueError(f"{name} has numbers that are NaN or infinite")

    def part(prefix: str) -> dict[str, torch.Tensor]:
        return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}

    def fill(target: torch.Tensor, name: str) -> torch.Tensor:
        """Returns a tensor that was stored, on the device of `target`, whose shape it must have."""
        if arrays[name].shape != target.shape:
            raise ValueError(f"{name} has shape {list(arrays[name].shape)}, not {list(target.shape)}")
        return arrays[name].to(device=target.device, dtype=target.dtype)

    learners, play = _learners(trainer), trainer.self_play
    kinds: dict[str, type] = {"epoch": int, "steps": int, "owed": float, "seconds": float, "device": str}
    kinds |= {f"{prefix}{name}": int for prefix in learners for name in ("added", "first")}
    facts = _check_facts(trainer.config, check_object(parse_json(file.metadata["facts"]), kinds), list(learners))
    for prefix, learner in learners.items():
        learner.network.load_state_dict(part(f"{prefix}network."))
        learner.averaged.load_state_dict(part(f"{prefix}averaged."))
        moments = _moments(learner, part(f"{prefix}optimizer."))
        learner.optimizer.load_state_dict({**learner.optimizer.state_dict(), "state": moments})
        replay = learner.replay
        replay.added, replay.first = facts[f"{prefix}added"], facts[f"{prefix}first"]
        filled = min(replay.added, replay.capacity)
        for name in ("inputs", "targets", "masks"):
            place = getattr(replay, name)[:filled]
            place.copy_(fill(place, f"{prefix}replay.{name}"))
    if "play.root" in arrays:  # of before: numbers among all subgames, in their order
        trainer.subgames.complete()
        root = fill(play.root, "play.root")
        if bool(((root < 0) | (root >= len(trainer.subgames.states))).any()):
            raise ValueError("play.root names a subgame that is not there")
    else:
        rows = [[move for move in row if move >= 0] for row in arrays["play.moves"].tolist()]
        root = torch.tensor([trainer.subgames.find(row) for row in rows], device=trainer.device)
        if root.shape != play.root.shape:
            raise ValueError(f"play.moves has {len(root):,} games, not {len(play.root):,}")
    play.root = root
    play.reach = (fill(play.reach[0], "play.reach0"), fill(play.reach[1], "play.reach1"))
    trainer.epoch, trainer.steps = facts["epoch"], facts["steps"]
    trainer.owed, trainer.seconds = facts["owed"], facts["seconds"]
    if facts["device"] == trainer.device.type:
        trainer.generator.set_state(arrays["generator"])
    else:  # states of generators do not fit other devices
        trainer.generator.manual_seed(trainer.config.seed + trainer.epoch)


def _check_facts(config: RebelConfig, facts: dict[str, Any], prefixes: list[str]) -> dict[str, Any]:
    """Returns what a checkpoint counts.

    Raises:
        ValueError: no run with these settings can have come there.
    """
    most = (facts["epoch"] + 1) * (2 * config.games * config.draws / config.batch + 1)
    if not (0 <= facts["epoch"] <= config.epochs and facts["steps"] >= 0 and 0.0 <= facts["owed"] <= most):
        raise ValueError(
            f"{facts['epoch']} epochs with {facts['steps']} steps and {facts['owed']} due do not fit the settings"
        )
    for prefix in prefixes:
        if not 0 <= facts[f"{prefix}first"] <= facts[f"{prefix}added"] < 2**48:
            raise ValueError(f"there is no example {facts[f'{prefix}first']} of {facts[f'{prefix}added']}")
    return facts


def _moments(learner: Learner[Any], arrays: dict[str, torch.Tensor]) -> dict[int, dict[str, torch.Tensor]]:
    """Returns Adam's state by the numbers of its parameters: none before the first step, or one for each of them.

    Raises:
        ValueError: it is something else.
    """
    parameters = [parameter for group in learner.optimizer.param_groups for parameter in group["params"]]
    shapes = {
        f"{number}.{field}": () if field == "step" else tuple(parameter.shape)
        for number, parameter in enumerate(parameters)
        for field in ("step", "exp_avg", "exp_avg_sq")
    }
    floats = all(value.dtype == torch.float32 for value in arrays.values())
    if arrays and not (floats and {name: tuple(value.shape) for name, value in arrays.items()} == shapes):
        raise ValueError("the state of the optimizer does not fit the network")
    if any(float(value) < 1.0 for name, value in arrays.items() if name.endswith(".step")):
        raise ValueError("the optimizer has taken less than one step")
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in arrays.items():
        number, _, field = name.partition(".")
        moments.setdefault(int(number), {})[field] = value
    return moments
