"""Double Neural CFR, Fig. 4 and the neural part of Fig. 5: both networks, either of them, or tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.apps.papers.double_neural import SAME
from aleator.apps.papers.kept import plain_name, run_file, run_once
from aleator.apps.papers.parallel import SeedsCurve, run_beside
from aleator.games.registry import load_game
from aleator.learning.sampled.double_neural import TABLE, DoubleNeuralCFR, DoubleNeuralConfig
from aleator.learning.sampled.nfsp import NFSP, NfspConfig
from aleator.solvers.best_response import exploitability
from aleator.solvers.fictitious_play import FictitiousPlay
from aleator.storage import check_object
from aleator.trees.public_tree import build_tree

_LEDUC, _ONE_CARD = "leduc:nolimit5", "one-card:5"
_DOUBLE, _RSN, _ASN, _TABLES = "RSN and ASN", "RSN only", "ASN only", "tables (RS-MCCFR+)"
_WARM, _NFSP, _XFP = "RSN and ASN, warm start after 10", "NFSP", "XFP (tables, no sampling)"
_KINDS: Mapping[str, Mapping[str, Any]] = {
    _DOUBLE: {},
    _RSN: {"average": TABLE},
    _ASN: {"regrets": TABLE},
    _TABLES: {"regrets": TABLE, "average": TABLE},
    _WARM: {"warm": 10},
}
_SEEDS = 3
_EARLY, _GOAL_EARLY, _LATE, _GOAL_LATE = 200, 0.06, 1000, 0.02
_POINTS = (1, 2, 5, 10, 20, 30, 50, 70, 100, 150, 200, 300, 400, 500, 700, 1000)
_XFP_ITERATIONS = 1000  # what the paper says it needs; NFSP a million, each of so many decisions:
_NFSP_DECISIONS, _NFSP_EPOCHS = 128, 1000  # an epoch of ours has about a thousand times as many


class Task(NamedTuple):
    """A run: settings of Double Neural CFR or of NFSP, the iterations to look at, and the file that keeps it."""

    config: DoubleNeuralConfig | NfspConfig
    points: tuple[int, ...]
    file: Path | None = None


class Looks(NamedTuple):
    """What was seen of a run: iterations (of NFSP: 128 decisions each), seconds, exploitability."""

    iterations: list[float]
    seconds: list[float]
    quality: list[float]


def tasks(settings: Settings) -> dict[str, Task]:
    """Returns the runs of the experiment, by game, method and seed."""
    last = int(settings.choose(4, _EARLY, _LATE))
    points = tuple(point for point in _POINTS if point <= last)
    changes: dict[str, Any] = {"iterations": last}
    other = NfspConfig(game=_LEDUC, iterations=_NFSP_EPOCHS)
    if settings.quick:
        changes |= {"traversals": 100, "steps": 3, "policy_steps": 3, "policy_every": 2, "first_steps": 10, "warm": 0}
        other = replace(other, iterations=4, games=100)
    runs: dict[str, Task] = {}
    for seed in _seeds(settings):
        for game, kinds in ((_LEDUC, list(_KINDS)), (_ONE_CARD, [_DOUBLE, _TABLES])):
            for kind in kinds:
                config = replace(DoubleNeuralConfig(game=game, seed=seed), **{**changes, **_KINDS[kind]})
                runs[_name(game, kind, seed)] = Task(
                    replace(config, warm=min(config.warm, 2)) if settings.quick else config, points
                )
        looks = tuple(sorted({max(other.iterations * look // 10, 1) for look in range(1, 11)}))
        runs[_name(_LEDUC, _NFSP, seed)] = Task(replace(other, seed=seed), looks)
    return {name: task._replace(file=run_file(settings.keep, plain_name(name))) for name, task in runs.items()}


def _name(game: str, kind: str, seed: int) -> str:
    return f"{game}: {kind}, seed {seed}"


def _seeds(settings: Settings) -> range:
    return range(settings.seed, settings.seed + (1 if settings.quick else _SEEDS))


def run_task(task: Task) -> Looks:
    """Returns what is seen of a run, or what was kept of it."""
    about = {"experiment": "double-neural", "config": asdict(task.config), "points": task.points}
    return run_once(task.file, about, lambda: _train(task), _decode, Looks._asdict)


def _decode(value: Any) -> Looks:
    fields = check_object(value, dict.fromkeys(Looks._fields, list))
    return Looks(*(list(map(float, fields[name])) for name in Looks._fields))


def _train(task: Task) -> Looks:
    """Returns what is seen of a run."""
    config = task.config
    trainer = NFSP(config) if isinstance(config, NfspConfig) else DoubleNeuralCFR(config)
    seen = Looks([], [], [])
    while not trainer.done:
        line = trainer.run_epoch()
        if trainer.epoch in task.points:
            decisions = line.get("transitions", trainer.epoch * _NFSP_DECISIONS)
            seen.iterations.append(decisions / _NFSP_DECISIONS)
            seen.seconds.append(trainer.seconds)
            seen.quality.append(exploitability(trainer.average_policy()))
    return seen


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns exploitability over iterations; the usual run has 200, --full 1,000."""
    found = run_beside(run_task, tasks(settings), on_progress, settings.workers)
    return report(settings, found)


def report(settings: Settings, found: Mapping[str, Looks]) -> Report:
    """Returns the report of runs."""
    curves: dict[tuple[str, str], SeedsCurve] = {}
    for game, kind in dict.fromkeys(_parts(name) for name in found):
        runs = [found[_name(game, kind, seed)] for seed in _seeds(settings)]
        curves[game, kind] = SeedsCurve(
            np.array([looks.iterations for looks in runs]), np.array([looks.quality for looks in runs])
        )
    curves[_LEDUC, _XFP] = _fictitious_play(settings)
    panels = {
        "A: no-limit Leduc": [(_LEDUC, kind) for kind in (_DOUBLE, _TABLES, _XFP, _NFSP)],
        "B: what each network does": [(_LEDUC, kind) for kind in (_DOUBLE, _RSN, _ASN, _TABLES)],
        "C: warm start": [(_LEDUC, kind) for kind in (_DOUBLE, _WARM)],
        "one-card poker (Fig. 5 C)": [(_ONE_CARD, kind) for kind in (_DOUBLE, _TABLES)],
    }
    usual = DoubleNeuralConfig()
    return Report(
        title="Exploitability of Double Neural CFR, and of tables in place of its networks (Fig. 4 and 5)",
        setting=(
            f"{int(settings.choose(4, _EARLY, _LATE)):,} iterations of {usual.traversals:,} traversals a player, "
            f"k = 3, RSN of {usual.width} and ASN of {usual.policy_width} units, {usual.steps} steps a fit, "
            f"{len(_seeds(settings))} seeds from {settings.seed}{settings.mode}"
        ),
        convention=(
            "An iteration updates both players; one of NFSP is 128 decisions, as in its authors' code. Exploitability "
            "is NashConv / 2 in antes, exact. Bands are the lowest and the highest run."
        ),
        columns=("game", "method", "after", "paper", "ours", "lowest", "highest"),
        rows=tuple(row for key, curve in curves.items() for row in _rows(*key, curve)),
        claims=_claims(curves),
        panels={title: {kind: curves[game, kind].points() for game, kind in keys} for title, keys in panels.items()},
        bands={title: {kind: curves[game, kind].band() for game, kind in keys} for title, keys in panels.items()},
        x_label="iterations (of NFSP: 128 decisions)",
        y_label="exploitability (NashConv / 2, chips)",
        deviations=(
            "Fits have a given number of steps over all infostates, go on with Adam's moments of the last fit, and "
            "solve the last layer; the paper's stop when the error is small, after at most 2,000 epochs. The ASN is "
            "half as wide as the paper's, answers square roots of sums and is fitted once in ten iterations; averages "
            "weigh iteration t by its square. Sequences that begin alike share their cells."
        ),
    )


def _parts(name: str) -> tuple[str, str]:
    """Returns game and method of the name of a run."""
    game, _, rest = name.partition(": ")
    return game, rest.rsplit(", seed", 1)[0]


def _fictitious_play(settings: Settings) -> SeedsCurve:
    """Returns the curve of fictitious play with tables and without sampling."""
    solver = FictitiousPlay(build_tree(load_game(_LEDUC)))
    at, quality = [], []
    for point in (point for point in _POINTS if point <= (4 if settings.quick else _XFP_ITERATIONS)):
        solver.run(point - solver.iteration)
        at.append(float(point))
        quality.append(solver.nash_conv() / 2)
    return SeedsCurve(np.array([at]), np.array([quality]))


def _rows(game: str, kind: str, curve: SeedsCurve) -> list[tuple[Cell, ...]]:
    """Returns the rows of a method: at 200 iterations and at the end."""
    said: dict[str, dict[float, float]] = {
        _DOUBLE: {_EARLY: _GOAL_EARLY, _LATE: _GOAL_LATE},
        _XFP: {_XFP_ITERATIONS: _GOAL_EARLY},
    }
    last = float(curve.at[0, -1])
    said |= {_NFSP: {last: _GOAL_EARLY}}
    table: list[tuple[Cell, ...]] = []
    for at in dict.fromkeys((_EARLY, last)):
        if at in curve.at[0]:
            quality = curve.quality[:, list(curve.at[0]).index(at)]
            paper = said.get(kind, {}).get(at) if game == _LEDUC else None
            table.append(
                (game, kind, round(at), paper, float(quality.mean()), float(quality.min()), float(quality.max()))
            )
    return table


def _claims(curves: Mapping[tuple[str, str], SeedsCurve]) -> tuple[Claim, ...]:
    """Returns what the paper says, checked."""
    final = {key: float(curve.final.mean()) for key, curve in curves.items()}
    double = curves[_LEDUC, _DOUBLE]
    claims = []
    for at, goal in ((_EARLY, _GOAL_EARLY), (_LATE, _GOAL_LATE)):
        if at in double.at[0]:
            mean = float(double.quality[:, list(double.at[0]).index(at)].mean())
            claims.append(
                Claim(text=f"{goal} after {at:,} iterations", measured=f"{mean:.4f}", agrees=round(mean, 2) <= goal)
            )
    for kind in (_RSN, _ASN):
        claims.append(
            Claim(
                text=f"{kind} is only slightly better than both networks",
                measured=f"{final[_LEDUC, kind]:.4f} against {final[_LEDUC, _DOUBLE]:.4f}",
                agrees=final[_LEDUC, _DOUBLE] < SAME * final[_LEDUC, kind],
            )
        )
    for game in (_LEDUC, _ONE_CARD):
        claims.append(
            Claim(
                text=f"both networks match tables on {game}",
                measured=f"{final[game, _DOUBLE]:.4f} against {final[game, _TABLES]:.4f}",
                agrees=final[game, _DOUBLE] < SAME * final[game, _TABLES],
            )
        )
    warm = curves[_LEDUC, _WARM]
    begun = float(warm.quality[:, min(3, warm.quality.shape[1] - 1)].mean())
    claims.append(
        Claim(
            text="networks that clone tables after 10 iterations go on improving",
            measured=f"from {begun:.4f} to {final[_LEDUC, _WARM]:.4f}",
            agrees=final[_LEDUC, _WARM] < begun / 2,
        )
    )
    return tuple(claims)
