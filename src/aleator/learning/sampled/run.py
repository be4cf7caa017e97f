"""A training run of a method that samples histories: its directory, its checkpoints, and its loop.

On a CPU a resumed run is equal bit by bit to one that was never stopped, whenever it is evaluated or saved. On a GPU
it goes on from the same memories and networks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from aleator.errors import SolveError, one_line
from aleator.learning.run_files import CHECKPOINT, NETWORK, RunFiles
from aleator.learning.sampled.methods import Method, to_dict
from aleator.learning.sampled.model import SampledModel
from aleator.learning.sampled.trainer import SampledConfig, SampledTrainer
from aleator.solvers.best_response import exploitability
from aleator.storage import ArrayFile, StorageError, check_object, parse_json, write_arrays
from aleator.trees.fingerprint import parse_fingerprint

_FORMAT = "aleator sampled run 1"
_GENERATOR = "generator"


class SampledRun(RunFiles):
    """The directory of a run."""

    def __init__(self, path: Path | str, method: Method) -> None:
        super().__init__(path, method.kind, method.title)
        self._method = method

    def create(self, trainer: SampledTrainer) -> None:
        """Begins a run.

        Raises:
            StorageError: there is a run already, or the directory cannot be written.
        """
        self.begin(to_dict(trainer.config), trainer.fingerprint)

    def config(self) -> SampledConfig:
        """Returns the settings of the run.

        Raises:
            StorageError: there is no run of this method here, or its settings are damaged.
        """
        try:
            return self._method.settings(self.settings()[0])
        except StorageError:
            raise
        except ValueError as error:
            raise StorageError(f"the settings of the run in {self.path} are damaged: {one_line(error)}") from error

    def save(self, trainer: SampledTrainer, report: dict[str, Any]) -> None:
        """Writes a checkpoint and what has been trained so far."""
        tensors = {**trainer.tensors(), _GENERATOR: trainer.generator.get_state()}
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}
        facts = {"epoch": trainer.epoch, "nodes": trainer.nodes, "seconds": trainer.seconds}
        metadata = {
            "format": _FORMAT,
            "kind": trainer.kind,
            "config": json.dumps(to_dict(trainer.config)),
            "fingerprint": json.dumps(trainer.fingerprint.to_dict()),
            "facts": json.dumps({**facts, "device": trainer.device.type}),
        }
        write_arrays(self.path / CHECKPOINT, arrays, metadata)
        SampledModel.of(trainer, report).save(self.path / NETWORK)

    def restore(self, trainer: SampledTrainer) -> None:
        """Goes on from the checkpoint; without one the run begins anew. What a crash left behind is removed.

        Raises:
            StorageError: the checkpoint is damaged, or belongs to other settings or another game.
        """
        self.remove_leftovers()
        names = trainer.config.game, trainer.game.name
        self.check_game(self.settings()[1], trainer.fingerprint, *names)
        path = self.path / CHECKPOINT
        if path.exists():
            file = ArrayFile(path)
            if file.metadata.get("format") != _FORMAT or file.metadata.get("kind") != trainer.kind:
                raise StorageError(f"{path} is not a checkpoint of {trainer.title}")
            try:
                if not file.checked:
                    raise ValueError("its checksums are missing")
                self.check_game(
                    parse_fingerprint(parse_json(file.metadata["fingerprint"])), trainer.fingerprint, *names
                )
                if self._method.settings(parse_json(file.metadata["config"])) != trainer.config:
                    raise StorageError(f"{path} belongs to a run with other settings")
                _restore(trainer, file)
            except StorageError:
                raise
            except (KeyError, ValueError, TypeError, AttributeError, RuntimeError, OverflowError) as error:
                raise StorageError(f"{path} is damaged: {one_line(error)}") from error
        self.forget_after(trainer.epoch)


def _restore(trainer: SampledTrainer, file: ArrayFile) -> None:
    """Puts a new run into the state of a checkpoint."""
    kinds: dict[str, type] = {"epoch": int, "nodes": int, "seconds": float, "device": str}
    facts = check_object(parse_json(file.metadata["facts"]), kinds)
    if not (0 <= facts["epoch"] <= trainer.config.epochs and facts["nodes"] >= 0 and facts["seconds"] >= 0):
        raise ValueError(f"{facts['epoch']} epochs with {facts['nodes']} nodes do not fit the settings")
    tensors = {name: torch.from_numpy(file.read(name)) for name in file.names}
    for name, tensor in tensors.items():
        if not bool(tensor.isfinite().all()):
            raise ValueError(f"{name} has numbers that are NaN or infinite")
    state = tensors.pop(_GENERATOR)
    trainer.load(tensors)
    trainer.epoch, trainer.nodes, trainer.seconds = facts["epoch"], facts["nodes"], facts["seconds"]
    if facts["device"] == trainer.device.type:
        trainer.generator.set_state(state)
    else:  # states of generators do not fit other devices
        trainer.generator.manual_seed(trainer.config.seed + trainer.epoch)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledPace:
    """How often a run stops to save and to measure itself.

    Attributes:
        checkpoint_seconds: time between checkpoints; there is one at the end in any case.
        evaluate_epochs: epochs between evaluations; 0 for one at the end only.
    """

    checkpoint_seconds: float = 60.0
    evaluate_epochs: int = 0

    def __post_init__(self) -> None:
        if not self.checkpoint_seconds >= 0.0:
            raise SolveError(f"seconds between checkpoints must be at least 0, not {self.checkpoint_seconds}")
        if self.evaluate_epochs < 0:
            raise SolveError(f"epochs between evaluations must be at least 0, not {self.evaluate_epochs}")

    def wanted(self, epoch: int, last: int) -> bool:
        """Returns whether to evaluate after an epoch of `last`."""
        return epoch == last or bool(self.evaluate_epochs and epoch % self.evaluate_epochs == 0)


def train_sampled(
    trainer: SampledTrainer,
    run: SampledRun | None,
    pace: SampledPace,
    *,
    on_epoch: Callable[[dict[str, Any]], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> None:
    """Trains to the end.

    Args:
        trainer: the run as it is now: new, or restored.
        run: where metrics and checkpoints are written; None for nowhere.
        pace: when to save and to evaluate.
        on_epoch: told after every epoch its line of metrics, with the exact exploitability when that was measured.
        stopped: asked after every epoch whether to stop; then a checkpoint is written.
    """
    saved = time.monotonic()
    measured = [line for line in run.metrics() if line.get("exploitability") is not None] if run else []
    report = {"exploitability": measured[-1]["exploitability"] if measured else None}
    while not trainer.done:
        line = trainer.run_epoch()
        if pace.wanted(trainer.epoch, trainer.config.epochs):
            report["exploitability"] = line["exploitability"] = exploitability(trainer.average_policy())
        if run:
            run.append(line)
        if on_epoch:
            on_epoch(line)
        stop = stopped()
        if run and (stop or trainer.done or time.monotonic() - saved >= pace.checkpoint_seconds):
            run.save(trainer, report)
            saved = time.monotonic()
        if stop:
            break
