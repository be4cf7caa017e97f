"""A training run of a method that samples histories: its directory, its checkpoints, and its loop.

On a CPU a resumed run is equal bit by bit to one that was never stopped, whenever it is evaluated or saved. On a GPU
it goes on from the same memories and networks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from aleator.errors import SolveError
from aleator.learning.run_files import CHECKPOINT, NETWORK, RunFiles, RunPace, read_tensors, restore_generator
from aleator.learning.sampled.methods import Method, to_dict
from aleator.learning.sampled.model import SampledModel
from aleator.learning.sampled.trainer import SampledConfig, SampledTrainer
from aleator.storage import ArrayFile, StorageError, check_object, parse_json, write_arrays

_FORMAT = "aleator sampled run 1"
_GENERATOR = "generator"


class SampledRun(RunFiles[SampledConfig]):
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

    def parse_config(self, values: Any) -> SampledConfig:
        """Returns the settings that a file has as JSON values."""
        return self._method.settings(values)

    def lengthen(self, iterations: int) -> None:
        """Has the run go on to more iterations than it was begun for; the lock must be held.

        Raises:
            SolveError: it was begun for more.
            StorageError: there is no run of this kind here, or its settings are damaged.
        """
        config, fingerprint = self._settings()
        if iterations < config.iterations:
            raise SolveError(f"the run has {config.iterations:,} iterations: it can get more, not {iterations:,}")
        self._write_settings(to_dict(replace(config, iterations=iterations)), fingerprint)

    def is_of(self, saved: SampledConfig, now: SampledConfig) -> bool:
        """Returns whether a checkpoint belongs to the run; it may be from before the run was lengthened."""
        return saved.iterations <= now.iterations and replace(saved, iterations=now.iterations) == now

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
        """Goes on from the checkpoint, if there is one; see `go_on`."""
        self.go_on(trainer, trainer.fingerprint, (_FORMAT,), partial(_restore, trainer))


def _restore(trainer: SampledTrainer, file: ArrayFile) -> None:
    """Puts a new run into the state of a checkpoint."""
    if file.metadata.get("kind") != trainer.kind:
        raise StorageError(f"{file.path} is not a checkpoint of {trainer.title}")
    kinds: dict[str, type] = {"epoch": int, "nodes": int, "seconds": float, "device": str}
    facts = check_object(parse_json(file.metadata["facts"]), kinds)
    if not (0 <= facts["epoch"] <= trainer.config.epochs and facts["nodes"] >= 0 and facts["seconds"] >= 0):
        raise ValueError(f"{facts['epoch']} epochs with {facts['nodes']} nodes do not fit the settings")
    tensors = read_tensors(file)
    state = tensors.pop(_GENERATOR)
    trainer.load(tensors)
    trainer.epoch, trainer.nodes, trainer.seconds = facts["epoch"], facts["nodes"], facts["seconds"]
    restore_generator(trainer, state, facts["device"])


def train_sampled(
    trainer: SampledTrainer,
    run: SampledRun | None,
    pace: RunPace,
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
        stopped: asked after every epoch, and on the way through long evaluations, whether to stop; then a checkpoint is
            written. An evaluation that was given up is made first when the run goes on.
    """
    saved = time.monotonic()
    metrics = run.metrics() if run else []
    measured = [line for line in metrics if line.get("exploitability") is not None]
    report = {"exploitability": measured[-1]["exploitability"] if measured else None}

    def evaluate(line: dict[str, Any]) -> bool:
        """Adds the exploitability to a line of metrics; returns whether it did, and was not stopped."""
        quality = trainer.exploitability(stopped)
        if quality is not None:
            report["exploitability"] = line["exploitability"] = quality
        return quality is not None

    due = partial(pace.due, last=trainer.config.epochs)
    if run and metrics and metrics[-1]["epoch"] == trainer.epoch and due(trainer.epoch):
        line = metrics[-1]
        if "exploitability" not in line:  # it was given up
            if not evaluate(line):
                return
            run.forget_after(trainer.epoch - 1)
            run.append(line)
            run.save(trainer, report)
            if on_epoch:
                on_epoch(line)
    while not trainer.done:
        line = trainer.run_epoch()
        if due(trainer.epoch):
            evaluate(line)
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
