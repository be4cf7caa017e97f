"""Deep CFR, SD-CFR and NFSP on Leduc over nodes touched, with several seeds; what each part of Deep CFR is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.apps.papers.parallel import SeedsCurve, run_beside
from aleator.learning.sampled.deep_cfr import DeepCFR
from aleator.learning.sampled.deep_cfr_config import NETWORK, DeepCfrConfig
from aleator.learning.sampled.nfsp import NFSP, NfspConfig
from aleator.solvers.best_response import exploitability

_SD, _DEEP, _NFSP = "SD-CFR (mixture of networks)", "Deep CFR (network of the average)", "NFSP"
_PUBLISHED = {_SD: 46.0, _DEEP: 80.0, _NFSP: 75.0}
# parts that are left out, as in Fig. 4.4; a window is seen once it is full
_WINDOW, _RESERVOIR = "window of 100,000", "reservoir of 100,000"
_PLAIN, _SCRATCH, _UNIFORM = "without linear weights", "from scratch", "uniform where no regret is positive"
_ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    _PLAIN: {"linear": False, "policy_power": 0.0},
    _SCRATCH: {"from_scratch": True, "iterations": 200, "traversals": 1250, "steps": 150, "learning_rate": 3e-3},
    _UNIFORM: {"best_action": False},
    _RESERVOIR: {"memory": 100_000},
    _WINDOW: {"memory": 100_000, "reservoir": False},
}
_SEEDS, _LOOKS = 3, 10


class Task(NamedTuple):
    """A run.

    Attributes:
        config: of Deep CFR or of NFSP.
        network: whether to look at the network of Deep CFR's average, too.
    """

    config: DeepCfrConfig | NfspConfig
    network: bool = False


class Looks(NamedTuple):
    """What was seen at some times of a run: nodes touched, seconds, exploitability x 1,000.

    Attributes:
        quality: of the mixture of Deep CFR, or of the average network of NFSP.
        network: of Deep CFR's network of the average, if it was asked for.
    """

    nodes: list[float]
    seconds: list[float]
    quality: list[float]
    network: list[float]


def tasks(settings: Settings) -> dict[str, Task]:
    """Returns the runs of the experiment, by what they are and their seeds."""
    usual, other = DeepCfrConfig(game="leduc", average=NETWORK), NfspConfig(game="leduc")
    short: dict[str, Any] = {}
    if settings.quick:
        short = {"iterations": 3, "traversals": 200, "steps": 8, "policy_steps": 20}
        other = replace(other, iterations=20, games=1000)
    usual = replace(usual, **short)
    kinds: dict[str, Task] = {_SD: Task(usual, network=True), _NFSP: Task(other)}
    if settings.full or settings.quick:
        kinds |= {name: Task(replace(usual, **{**changes, **short})) for name, changes in _ABLATIONS.items()}
    return {
        f"{name}, seed {seed}": task._replace(config=replace(task.config, seed=seed))
        for name, task in kinds.items()
        for seed in _seeds(settings)
    }


def _seeds(settings: Settings) -> range:
    return range(settings.seed, settings.seed + (1 if settings.quick else _SEEDS))


def run_task(task: Task) -> Looks:
    """Returns what is seen of a run."""
    config = task.config
    trainer = DeepCFR(config) if isinstance(config, DeepCfrConfig) else NFSP(config)
    looks = {round(config.iterations * (look + 1) / _LOOKS) for look in range(_LOOKS)} - {0}
    seen = Looks([], [], [], [])
    while not trainer.done:
        trainer.run_epoch()
        if trainer.epoch in looks:
            policy = trainer.mixture_policy() if isinstance(trainer, DeepCFR) else trainer.average_policy()
            seen.nodes.append(float(trainer.nodes))
            seen.seconds.append(trainer.seconds)
            seen.quality.append(1000 * exploitability(policy))
            if task.network:
                seen.network.append(1000 * exploitability(trainer.average_policy()))
    return seen


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns exploitability over nodes touched; with --full that of every ablation, too."""
    wanted = tasks(settings)
    found = run_beside(run_task, wanted, on_progress, settings.workers)
    return report(settings, found)


def report(settings: Settings, found: Mapping[str, Looks]) -> Report:
    """Returns the report of runs."""
    names = dict.fromkeys(name.rsplit(", seed", 1)[0] for name in found)
    curves: dict[str, SeedsCurve] = {}
    for name in names:
        runs = [found[f"{name}, seed {seed}"] for seed in _seeds(settings)]
        nodes = np.array([looks.nodes for looks in runs])
        curves[name] = SeedsCurve(nodes, np.array([looks.quality for looks in runs]))
        if name == _SD:
            curves[_DEEP] = SeedsCurve(nodes, np.array([looks.network for looks in runs]))
    parts = [name for name in curves if name not in (_DEEP, _NFSP)]
    panels = {"Leduc": [_SD, _DEEP, _NFSP], **({"what each part is worth": parts} if len(parts) > 1 else {})}
    usual, other = DeepCfrConfig(), NfspConfig()
    return Report(
        title="Exploitability x 1,000 of Deep CFR, SD-CFR and NFSP on Leduc",
        setting=(
            f"{usual.iterations:,} iterations of {usual.traversals:,} traversals a player, flat networks of 3 x "
            f"{usual.width}, {usual.steps} steps a fit; NFSP: {other.iterations:,} epochs of {other.games:,} games; "
            f"{len(_seeds(settings))} seeds from {settings.seed}{settings.mode}"
        ),
        convention=(
            "Exploitability is NashConv / 2 in antes, exact, times 1,000 (milli-antes a game). Nodes are histories "
            "visited, those of chance and terminal ones included. Both averages of Deep CFR are those of the same "
            "runs; bands are the lowest and the highest of them."
        ),
        columns=("method", "published", "ours", "lowest", "highest", "million nodes"),
        rows=tuple(_row(name, curve) for name, curve in curves.items()),
        claims=_claims(curves),
        panels={title: {name: curves[name].points() for name in names} for title, names in panels.items()},
        bands={title: {name: curves[name].band() for name in names} for title, names in panels.items()},
        x_label="nodes touched",
        y_label="exploitability x 1,000 (NashConv / 2)",
        deviations=(
            "The published numbers are 46 for SD-CFR with external sampling at 1e7 nodes, 80 for Deep CFR after 5,000 "
            "iterations, and 75 for NFSP after 3e6 iterations, which are 384 million decisions (a game has about "
            "four). Our fits look at the whole memory in every step (`batch=0`), with a falling learning rate, and go "
            "on from the last parameters; those from scratch have fewer iterations of more steps, which take as long. "
            "The average weighs iteration t by its square root. The thesis shows its ablations on flop hold'em."
        ),
    )


def _row(name: str, curve: SeedsCurve) -> tuple[Cell, ...]:
    """Returns a row of the table."""
    final = curve.final
    spread = float(final.mean()), float(final.min()), float(final.max())
    return (name, _PUBLISHED.get(name), *spread, float(curve.at[:, -1].mean()) / 1e6)


def _claims(curves: Mapping[str, SeedsCurve]) -> tuple[Claim, ...]:
    """Returns what was published, checked."""
    final = {name: float(curve.final.mean()) for name, curve in curves.items()}

    def against(text: str, better: str, worse: str) -> Claim:
        measured = f"{final[worse]:.1f} against {final[better]:.1f}"
        return Claim(text=text, measured=measured, agrees=final[worse] > final[better])

    claims = [
        Claim(
            text="SD-CFR with external sampling: 46 at 1e7 nodes",
            measured=f"{final[_SD]:.1f} at {curves[_SD].at[:, -1].mean():.2g} nodes",
            agrees=final[_SD] <= _PUBLISHED[_SD],
        ),
        Claim(
            text="NFSP: 75 after 3e6 iterations of 128 decisions",
            measured=f"{final[_NFSP]:.1f} at {curves[_NFSP].at[:, -1].mean():.2g} nodes",
            agrees=final[_NFSP] <= _PUBLISHED[_NFSP],
        ),
        against("the mixture is better than the network of the average", _SD, _DEEP),
    ]
    if _WINDOW in final:
        claims += [
            against("linear weights are faster, and end about the same", _SD, _PLAIN),
            against("a network that is fine-tuned ends 50 % higher than one from scratch", _SCRATCH, _SD),
            against("playing uniformly where no regret is positive ends 50 % higher", _SD, _UNIFORM),
            against(
                "with a window convergence stops once it is full; with a reservoir it goes on", _RESERVOIR, _WINDOW
            ),
        ]
    return tuple(claims)
