"""Which method should one take? Tables, and five ways to train networks, by seconds of a core of the same machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.apps.papers.kept import plain_name, run_file, run_once
from aleator.apps.papers.parallel import SeedsCurve, run_beside
from aleator.games.registry import load_game
from aleator.learning.rebel.config import preset
from aleator.learning.rebel.training import Trainer
from aleator.learning.sampled.deep_cfr import DeepCFR
from aleator.learning.sampled.deep_cfr_config import NETWORK
from aleator.learning.sampled.methods import find_method
from aleator.solvers.algorithms import rule_of
from aleator.solvers.best_response import exploitability
from aleator.solvers.mccfr import MCCFR
from aleator.solvers.sampling_rule import SamplingRule
from aleator.trees.public_tree import build_tree

_GAMES = ("leduc", "liars-dice:1x4")
_MCCFR, _SD, _DEEP, _NFSP, _DOUBLE, _REBEL = (
    "MCCFR (tables)",
    "SD-CFR",
    "Deep CFR",
    "NFSP",
    "Double Neural CFR",
    "ReBeL",
)
_KINDS = {_SD: "deep-cfr", _NFSP: "nfsp", _DOUBLE: "double-neural"}
_TABULAR = "mccfr:batch=100"
_LOOKS, _FIRST = 8, 1 / 32  # looks at times that double about every second one, the first at this share of the time
_LATE = 1.25  # a look counts for a time if it was at most so much later
_ENDLESS = 10**9
_SEEDS = 3
_PILOT = 3  # epochs of ReBeL from which the length of its schedule is guessed


class Task(NamedTuple):
    """A run: a method on a game for some seconds of its own, and the file that keeps it."""

    game: str
    method: str
    seconds: float
    seed: int
    quick: bool
    file: Path | None = None

    @property
    def times(self) -> list[float]:
        """When to look."""
        return [self.seconds * _FIRST ** (1 - look / (_LOOKS - 1)) for look in range(_LOOKS)]


Curves = dict[str, list[tuple[float, float]]]  # by method: (seconds of training, exploitability)


def tasks(settings: Settings) -> dict[str, Task]:
    """Returns the runs of the experiment. That of SD-CFR is Deep CFR's, too: they differ in their averages only."""
    seconds = settings.choose(0.2, 60.0, 400.0)
    wanted = {
        f"{method} on {game}, seed {seed}": Task(game, method, seconds, seed, settings.quick)
        for seed in _seeds(settings)
        for game in _GAMES
        for method in (_MCCFR, *_KINDS, _REBEL)
    }
    return {name: task._replace(file=run_file(settings.keep, plain_name(name))) for name, task in wanted.items()}


def _seeds(settings: Settings) -> range:
    return range(settings.seed, settings.seed + (1 if settings.quick else _SEEDS))


def run_task(task: Task) -> Curves:
    """Returns what is seen of a run, or what was kept of it."""
    about = {"experiment": "neural-comparison", **task._replace(file=None)._asdict()}
    return run_once(task.file, about, lambda: _train(task), _decode)


def _decode(value: Any) -> Curves:
    return {str(method): [(float(at), float(quality)) for at, quality in points] for method, points in value.items()}


def _train(task: Task) -> Curves:
    """Returns what is seen of a run, without the time that looking takes."""
    train = {_MCCFR: _tables, _REBEL: _rebel}.get(task.method, _sampled)
    times = iter(task.times)
    curves: Curves = {}
    due = next(times)
    for seconds, look in train(task):
        if seconds < due:
            continue
        for method, quality in look().items():
            curves.setdefault(method, []).append((seconds, quality))
        following = [time for time in times if time > seconds]
        if not following:
            break
        due, times = following[0], iter(following[1:])
    return curves


Look = Callable[[], dict[str, float]]


def _tables(task: Task) -> Iterator[tuple[float, Look]]:
    """Yields the processor seconds that tabular MCCFR has run, and how to look at it."""
    solver = MCCFR(build_tree(load_game(task.game)), rule_of(SamplingRule, _TABULAR), seed=task.seed)
    solver.run(1)  # compiles
    seconds = 0.0
    while True:
        begin = process_time()
        solver.run(10)
        seconds += process_time() - begin
        yield seconds, lambda: {_MCCFR: solver.nash_conv() / 2}


def _sampled(task: Task) -> Iterator[tuple[float, Look]]:
    """Yields the same of a method that samples histories."""
    method = find_method(_KINDS[task.method])
    changes: dict[str, Any] = {"average": NETWORK} if task.method == _SD else {}
    if task.quick:
        short = {
            _SD: ("traversals",),
            _NFSP: ("games",),
            _DOUBLE: ("traversals", "first_steps", "width", "policy_width"),
        }
        changes |= dict.fromkeys(short[task.method], 20) | {"steps": 2, "policy_steps": 2}
    config = method.preset(None, game=task.game, seed=task.seed, iterations=_ENDLESS, **changes)
    trainer = method.trainer(config)

    def look() -> dict[str, float]:
        if isinstance(trainer, DeepCFR):
            both = {_SD: trainer.mixture_policy(), _DEEP: trainer.average_policy()}
            return {name: exploitability(policy) for name, policy in both.items()}
        return {task.method: exploitability(trainer.average_policy())}

    seconds = 0.0
    while True:
        begin = process_time()
        trainer.run_epoch()
        seconds += process_time() - begin
        yield seconds, look


def _rebel(task: Task) -> Iterator[tuple[float, Look]]:
    """Yields the same of ReBeL, whose schedule is made to fill the time."""
    config = preset("demo", game=task.game, seed=task.seed)
    if task.quick:
        config = replace(config, updates=8, games=8, batch=16, draws=1.0)
    pilot = Trainer(replace(config, searches=_PILOT * config.games, warm_up=0.0))
    pilot.run_epoch()
    begin = process_time()
    for _ in range(1, _PILOT):
        pilot.run_epoch()
    epochs = max(round(task.seconds * (_PILOT - 1) / (process_time() - begin)), _LOOKS)
    trainer = Trainer(replace(config, searches=epochs * config.games))
    plays = 16 if task.quick else 256

    def look() -> dict[str, float]:
        return {_REBEL: trainer.play(playthroughs=plays, seed=1).exploitability}

    seconds = 0.0
    while not trainer.done:
        begin = process_time()
        trainer.run_epoch()
        seconds += process_time() - begin
        yield seconds, look


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns exploitability over seconds of training; 60 of each run, with --full 400."""
    wanted = tasks(settings)
    return report(settings, run_beside(run_task, wanted, on_progress, settings.workers))


def report(settings: Settings, found: Mapping[str, Curves]) -> Report:
    """Returns the report of runs."""
    wanted = tasks(settings)
    runs: dict[tuple[str, str], list[list[tuple[float, float]]]] = {}
    for name, task in wanted.items():
        for method, points in found[name].items():
            runs.setdefault((task.game, method), []).append(points)
    times = next(iter(wanted.values())).times
    curves = {key: _mean(points, times) for key, points in runs.items()}
    seconds = times[-1]
    return Report(
        title=f"Exploitability after {seconds:g} seconds of training on one core",
        setting=(
            f"{seconds:g} seconds of each run on one core of {os.cpu_count()}, default settings, "
            f"{len(_seeds(settings))} seeds from {settings.seed}{settings.mode}"
        ),
        convention=(
            "Exploitability is NashConv / 2 in antes or games, exact; that of ReBeL is of the average of 256 "
            "playthroughs, which is a little too high. Seconds are processor time of training, without evaluations: "
            "what else the machine did does not count. Bands are the lowest and the highest run."
        ),
        columns=("game", "method", "seconds", "exploitability", "lowest", "highest"),
        rows=tuple(_row(*key, curve) for key, curve in curves.items()),
        claims=tuple(_claim(game, curves) for game in _GAMES),
        panels={game: {key[1]: curve.points() for key, curve in curves.items() if key[0] == game} for game in _GAMES},
        bands={game: {key[1]: curve.band() for key, curve in curves.items() if key[0] == game} for game in _GAMES},
        x_label="seconds of training",
        y_label="exploitability (NashConv / 2)",
        deviations=(
            "Our own question. Deep CFR and SD-CFR are averages of the same run. ReBeL trains values to search with, "
            "and the others whole policies: it spends time when it plays, too."
        ),
    )


def _mean(runs: Sequence[Sequence[tuple[float, float]]], times: Sequence[float]) -> SeedsCurve:
    """Returns what all runs have reached at some times: at each the last look until then, or a little later."""
    reached = [[[look for look in looks if look[0] <= _LATE * time] for looks in runs] for time in times]
    last = [[looks[-1] for looks in here] for here in reached if all(here)]
    if not last:  # a single epoch took longer than all the time there was
        last = [[looks[-1] for looks in runs]]
    return SeedsCurve(*np.array(last).transpose(2, 1, 0))


def _row(game: str, method: str, curve: SeedsCurve) -> tuple[Cell, ...]:
    """Returns a row of the table: the end of a curve."""
    final = curve.final
    return game, method, float(curve.at[:, -1].mean()), float(final.mean()), float(final.min()), float(final.max())


def _claim(game: str, curves: Mapping[tuple[str, str], SeedsCurve]) -> Claim:
    """Returns whether tables are the best where they fit."""
    final = {method: float(curve.final.mean()) for (where, method), curve in curves.items() if where == game}
    tables = final.pop(_MCCFR)
    best = min(final, key=lambda method: final[method])
    return Claim(
        text=f"on {game} tables are better than any network",
        measured=f"{tables:.4f} against {final[best]:.4f} ({best})",
        agrees=tables < final[best],
    )
