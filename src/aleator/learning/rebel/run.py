"""A training run from its beginning, or from its last checkpoint, to its end: what `aleator train rebel` does.

The loop writes metrics after every epoch and checkpoints from time to time, measures the exploitability now and then,
and can be stopped after any epoch without losing anything.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aleator.errors import SolveError
from aleator.learning.rebel.checkpoint import RunDirectory
from aleator.learning.rebel.evaluation import BLOCKS
from aleator.learning.rebel.training import EpochMetrics, Trainer
from aleator.learning.run_files import RunPace


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace(RunPace):
    """How often a run stops to save and to measure itself by playing what search plays.

    Attributes:
        playthroughs: how many an evaluation averages; 0 for no evaluation at all.
        last_playthroughs: the same for the evaluation at the end; None for as many as otherwise.
    """

    playthroughs: int = 256
    last_playthroughs: int | None = None

    def __post_init__(self) -> None:
        RunPace.__post_init__(self)
        for number in (self.playthroughs, self.last_playthroughs or 0):
            if number and number < BLOCKS:
                raise SolveError(f"an evaluation needs at least {BLOCKS} playthroughs (or 0: none), not {number}")

    def wanted(self, epoch: int, last: int) -> int:
        """Returns how many playthroughs to evaluate with after an epoch of `last`."""
        if epoch == last and self.last_playthroughs is not None:
            return self.last_playthroughs
        return self.playthroughs if self.due(epoch, last) else 0


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a run stands.

    Attributes:
        metrics: of the last epoch.
        exploitability: when it was measured last (NashConv / 2), None before.
        error: its standard error.
        activity: what is done at this moment: "training" or "evaluating".
    """

    metrics: EpochMetrics
    exploitability: float | None
    error: float | None
    activity: str = "training"


def train(
    trainer: Trainer,
    run: RunDirectory | None,
    pace: Pace,
    *,
    on_epoch: Callable[[Moment, dict[str, Any]], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Moment | None:
    """Trains to the end and returns where the run stands, None if there was nothing to do.

    Args:
        trainer: the run as it is now: new, or restored.
        run: where metrics and checkpoints are written; None for nowhere.
        pace: when to save and to evaluate.
        on_epoch: told after every epoch where the run stands and the line of metrics; before an evaluation, with an
            empty line.
        stopped: asked after every epoch whether to stop; then a checkpoint is written.
    """
    moment: Moment | None = None
    exploitability, error = _last_measured(run)
    saved = time.monotonic()
    while not trainer.done:
        metrics = trainer.run_epoch()
        measured: dict[str, Any] = {}
        if number := pace.wanted(trainer.epoch, trainer.config.epochs):
            if on_epoch:
                on_epoch(Moment(metrics, exploitability, error, "evaluating"), {})
            played = trainer.play(
                playthroughs=number, seed=trainer.config.seed, on_progress=lambda _: trainer.source.tend()
            )
            exploitability, error = played.exploitability, played.error
            measured = {"exploitability": exploitability, "error": error, "playthroughs": played.playthroughs}
        moment = Moment(metrics, exploitability, error)
        if run:
            run.append({**metrics.to_dict(), **measured})
        if on_epoch:
            on_epoch(moment, {**metrics.to_dict(), **measured})
        stop = stopped()
        if run and (stop or trainer.done or time.monotonic() - saved >= pace.checkpoint_seconds):
            run.save(trainer, _report(moment))
            saved = time.monotonic()
        if stop:
            break
    return moment


def _last_measured(run: RunDirectory | None) -> tuple[float | None, float | None]:
    """Returns the last exploitability in the metrics of a run, and its error."""
    lines = [line for line in run.metrics() if line.get("exploitability") is not None] if run else []
    return (lines[-1]["exploitability"], lines[-1].get("error")) if lines else (None, None)


def _report(moment: Moment) -> dict[str, Any]:
    """Returns what a model says about its quality."""
    return {"loss": moment.metrics.loss, "exploitability": moment.exploitability, "error": moment.error}
