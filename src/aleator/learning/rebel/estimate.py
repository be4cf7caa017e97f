"""What a training run will take, before it begins: memory from the sizes, time from a short calibration."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from aleator.learning.rebel.learner import Learner
from aleator.learning.rebel.memory import kept_memory, search_memory
from aleator.learning.rebel.replay import Replay
from aleator.learning.rebel.self_play import SelfPlay
from aleator.learning.rebel.training import Trainer
from aleator.solvers.engines.torch_threads import one_thread

_ROUNDS = 3  # searches of a game in a calibration: from its root, and from where that leads


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What the rest of a run takes.

    Attributes:
        memory: bytes on the device, besides the program itself.
        seconds: wall time without evaluations.
        searches_per_second: of self-play alone.
    """

    memory: int
    seconds: float
    searches_per_second: float


def estimate(trainer: Trainer, *, games: int = 64, updates: int = 32) -> Estimate:
    """Returns what the rest of a run takes; the run itself is left as it is.

    Args:
        trainer: the run.
        games: games that a calibration on the CPU plays; on CUDA, where a search costs little more than a launch, all
            play.
        updates: of its searches; the time of a search is taken to grow in proportion beyond that.
    """
    config, on_cuda = trainer.config, trainer.device.type == "cuda"
    games = config.games if on_cuda else min(games, config.games)
    few, many = max(updates // 4, 1), max(updates, 2)
    _play(trainer, games, few)  # compiles
    seconds = [_play(trainer, games, number) for number in (few, many)]
    slope = max(seconds[1] - seconds[0], 0.0) / (many - few)
    search = (seconds[0] + slope * (config.updates - few)) / (games * _ROUNDS)
    searches = (config.epochs - trainer.epoch) * config.games
    steps = 2 * searches * config.draws / config.batch
    return Estimate(
        memory=kept_memory(config, trainer.subgames, trainer.decisions) + search_memory(config, trainer.subgames),
        seconds=searches * max(search, 1e-9) + steps * _step(trainer),
        searches_per_second=1.0 / max(search, 1e-9),
    )


def _play(trainer: Trainer, games: int, updates: int) -> float:
    """Returns the seconds that self-play takes for `_ROUNDS` searches of some games."""
    generator = torch.Generator(trainer.device).manual_seed(0)
    config = trainer.config.self_play(games)
    play = SelfPlay(trainer.subgames, trainer.config.rule, updates, config, generator, trainer.decisions)
    values, start = trainer.leaf_values(), trainer.warm_start()
    return _timed(trainer, lambda: [play.play(values, start) for _ in range(_ROUNDS)])


def _step(trainer: Trainer) -> float:
    """Returns the seconds of a training step of all networks."""
    learners = [
        Learner(copy.deepcopy(learner.network), _blank(learner.replay), trainer.config) for learner in trainer.learners
    ]
    places = torch.zeros(trainer.config.batch, dtype=torch.int64, device=trainer.device)

    def step() -> None:
        for learner in learners:
            learner.step(places)

    with one_thread():  # as the run itself trains
        step()
        return min(_timed(trainer, step) for _ in range(3))


def _blank(replay: Replay) -> Replay:
    """Returns a buffer of the same kind with one example that says nothing."""
    shape = replay.targets.shape[1:]
    blank = Replay(1, replay.inputs.shape[1], *shape, dtype=replay.targets.dtype, device=replay.inputs.device)
    blank.masks.fill_(True)
    return blank


def _timed(trainer: Trainer, work: Callable[[], object]) -> float:
    """Returns the seconds that some work takes on the device."""
    begin = time.perf_counter()
    work()
    if trainer.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - begin
