"""A training run on disk: settings, metrics, and checkpoints from which it goes on as if it had never stopped.

`run_files` has the directory. On the CPU a resumed run is equal bit by bit to one that was never stopped. A run can
move to another kind of device; it then goes on with other random numbers. A game of one's own is given by who resumes
the run; its code is never run because a file names it.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from aleator.learning.rebel.blocks import LocalBlocks, block_sizes
from aleator.learning.rebel.config import RebelConfig
from aleator.learning.rebel.learner import Learner
from aleator.learning.rebel.model import Model
from aleator.learning.rebel.training import Trainer
from aleator.learning.run_files import CHECKPOINT, NETWORK, RunFiles, read_tensors, restore_generator, without_prefix
from aleator.storage import ArrayFile, check_object, parse_json, write_arrays
from aleator.trees.fingerprint import Fingerprint

_FORMAT, _EARLIER = "aleator training run 2", "aleator training run 1"


class RunDirectory(RunFiles[RebelConfig]):
    """The directory of one training run of ReBeL."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(path, "rebel", "ReBeL")

    def create(self, config: RebelConfig, fingerprint: Fingerprint | None = None) -> None:
        """Begins a run.

        Args:
            config: the settings.
            fingerprint: of the game's subgames.

        Raises:
            StorageError: there is a run already, or the directory cannot be written.
        """
        self.begin(config.to_dict(), fingerprint)

    def parse_config(self, values: Any) -> RebelConfig:
        """Returns the settings that a file has as JSON values."""
        return RebelConfig.from_dict(values)

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
        """Goes on from the checkpoint, if there is one; see `go_on`."""
        self.go_on(trainer, trainer.subgames.fingerprint, (_FORMAT, _EARLIER), partial(_restore, trainer))


def _learners(trainer: Trainer) -> dict[str, Learner[Any]]:
    """Returns the networks of a run by what the names of their arrays begin with."""
    return dict(zip(("", "policy."), trainer.learners, strict=False))


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
    tensors["generator"] = trainer.generator.get_state()
    arrays = {name: value.detach().cpu().numpy() for name, value in tensors.items()}
    standings = trainer.source.standings()
    longest = max(standing.moves.shape[1] for standing in standings)
    padded = [np.pad(moves, ((0, 0), (0, longest - moves.shape[1])), constant_values=-1) for _, moves, _ in standings]
    arrays["play.moves"] = np.concatenate(padded)
    for player in (0, 1):
        arrays[f"play.reach{player}"] = np.concatenate([standing.reach[player] for standing in standings])
    arrays["play.stints"] = np.array([standing.stints for standing in standings])
    return arrays


def _restore(trainer: Trainer, file: ArrayFile) -> None:
    """Puts a new run into the state of a checkpoint."""
    arrays = read_tensors(file)

    def fill(target: torch.Tensor, name: str) -> torch.Tensor:
        """Returns a tensor that was stored, on the device of `target`, whose shape it must have."""
        if arrays[name].shape != target.shape:
            raise ValueError(f"{name} has shape {list(arrays[name].shape)}, not {list(target.shape)}")
        return arrays[name].to(device=target.device, dtype=target.dtype)

    learners, games, device = _learners(trainer), trainer.config.games, trainer.device
    kinds: dict[str, type] = {"epoch": int, "steps": int, "owed": float, "seconds": float, "device": str}
    kinds |= {f"{prefix}{name}": int for prefix in learners for name in ("added", "first")}
    facts = _check_facts(trainer.config, check_object(parse_json(file.metadata["facts"]), kinds), list(learners))
    for prefix, learner in learners.items():
        learner.network.load_state_dict(without_prefix(arrays, f"{prefix}network."))
        learner.averaged.load_state_dict(without_prefix(arrays, f"{prefix}averaged."))
        moments = _moments(learner, without_prefix(arrays, f"{prefix}optimizer."))
        learner.optimizer.load_state_dict({**learner.optimizer.state_dict(), "state": moments})
        replay = learner.replay
        replay.added, replay.first = facts[f"{prefix}added"], facts[f"{prefix}first"]
        filled = min(replay.added, replay.capacity)
        for name in ("inputs", "targets", "masks"):
            kept = getattr(replay, name)[:filled]
            kept.copy_(fill(kept, f"{prefix}replay.{name}"))
    if "play.root" in arrays:  # in files of earlier versions: numbers among all subgames, in their order
        trainer.subgames.complete()
        root = fill(torch.zeros(games, dtype=torch.int64, device=device), "play.root")
        if bool(((root < 0) | (root >= len(trainer.subgames.states))).any()):
            raise ValueError("play.root names a subgame that is not there")
    else:
        rows = [[move for move in row if move >= 0] for row in arrays["play.moves"].tolist()]
        root = torch.tensor([trainer.subgames.find(row) for row in rows], device=device)
        if len(root) != games:
            raise ValueError(f"play.moves has {len(root):,} games, not {games:,}")
    reach = torch.ones((games, trainer.subgames.shapes.num_hands), device=device)
    first, second = fill(reach, "play.reach0"), fill(reach, "play.reach1")
    sizes = block_sizes(games, trainer.config.blocks)
    stints = arrays.get("play.stints", torch.full((len(sizes),), facts["epoch"]))
    if stints.dtype != torch.int64 or stints.shape != (len(sizes),) or bool((stints < 0).any()):
        raise ValueError(f"play.stints are {stints.tolist()}, not one of each of {len(sizes)} blocks")
    assert isinstance(trainer.source, LocalBlocks)  # workers take over from there
    reached = list(zip(torch.split(first, sizes), torch.split(second, sizes), strict=True))
    trainer.source.stand(torch.split(root, sizes), reached, stints.tolist())
    trainer.epoch, trainer.steps = facts["epoch"], facts["steps"]
    trainer.owed, trainer.seconds = facts["owed"], facts["seconds"]
    restore_generator(trainer, arrays["generator"], facts["device"])


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
