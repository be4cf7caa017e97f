"""Deep CFR and SD-CFR on limit flop hold'em with the whole deck, exactly evaluated: the thesis' Fig. 4.3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np
import torch

from aleator.apps.papers.base import Cell, Claim, OnProgress, PaperError, Report, Settings
from aleator.apps.papers.fhp_linear_cfr import PUBLISHED as EXACT
from aleator.apps.papers.kept import run_file, run_once
from aleator.apps.papers.parallel import SeedsCurve
from aleator.games.holdem.game import WholeHoldemGame
from aleator.games.holdem.whole_game import WholeGame, load_whole_game
from aleator.learning.sampled.deep_cfr import DeepCFR
from aleator.learning.sampled.deep_cfr_config import NETWORK, PRESETS, DeepCfrConfig

_GAME = "flop-holdem"
_SD, _DEEP, _TABLE = "SD-CFR (mixture of networks)", "Deep CFR (network of the average)", "exact linear CFR (thesis)"
_PUBLISHED = 37.0  # mbb/g after 450 iterations
_BAR = 40.0
_SEEDS = 3
_LOOKS = (1, 2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
_QUICK: dict[str, Any] = {"cards": 2000, "width": 16, "steps": 20, "policy_steps": 20, "batch": 512}
_QUICK_DECK = tuple(range(40, 52))  # the three highest ranks


class Run(NamedTuple):
    """What was seen of a run, in thousandths of a big blind (NashConv).

    Attributes:
        iterations, nodes, seconds: when the mixture was looked at.
        mixture: what it loses to best responses then.
        network: what the network of the average loses at the end.
    """

    iterations: list[int]
    nodes: list[float]
    seconds: list[float]
    mixture: list[float]
    network: float


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns NashConvs over iterations for each seed."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    config = DeepCfrConfig(game=_GAME, **PRESETS["fhp"] | {"average": NETWORK})
    if settings.quick:
        config = replace(config, iterations=4, **_QUICK)
    seeds = range(settings.seed, settings.seed + (1 if settings.quick else _SEEDS))
    runs = []
    for number, seed in enumerate(seeds):

        def say(share: float, what: str, number: int = number) -> None:
            on_progress((number + share) / len(seeds), what)

        runs.append(_run_once(settings, replace(config, seed=seed), device, say))
    return report(settings, config, runs)


def _run_once(settings: Settings, config: DeepCfrConfig, device: str, on_progress: OnProgress) -> Run:
    about = {"experiment": "fhp-deep-cfr", "quick": settings.quick, **asdict(config)}
    file = run_file(settings.keep, f"seed {config.seed}")
    return run_once(file, about, lambda: _train(settings, config, device, on_progress), _decode, Run._asdict)


def _decode(value: Any) -> Run:
    nodes, seconds, mixture = (list(map(float, value[name])) for name in ("nodes", "seconds", "mixture"))
    return Run(list(map(int, value["iterations"])), nodes, seconds, mixture, float(value["network"]))


def _train(settings: Settings, config: DeepCfrConfig, device: str, on_progress: OnProgress) -> Run:
    """Returns what is seen of a training run.

    Raises:
        PaperError: it would take days.
    """
    if device == "cpu" and not settings.quick:
        raise PaperError("training on flop hold'em with the whole deck takes a GPU; --quick plays with three ranks")
    game = WholeGame(variant=load_whole_game(_GAME).variant, **({"deck": _QUICK_DECK} if settings.quick else {}))
    trainer, unit = DeepCFR(config, WholeHoldemGame(game), device=device), 1000 * 2 / game.big_blind
    seen = Run([], [], [], [], 0.0)
    while not trainer.done:
        on_progress(trainer.epoch / (config.iterations + 1), f"seed {config.seed}, iteration {trainer.epoch + 1}")
        trainer.run_epoch()
        if trainer.epoch in _LOOKS or trainer.done:
            seen.iterations.append(trainer.epoch)
            seen.nodes.append(float(trainer.nodes))
            seen.seconds.append(trainer.seconds)
            seen.mixture.append(unit * _known(trainer.mixture_exploitability))
    on_progress(config.iterations / (config.iterations + 1), f"seed {config.seed}, the network of the average")
    return seen._replace(network=unit * _known(trainer.exploitability))


def _known(exploitability: Callable[[Callable[[], bool]], float | None]) -> float:
    found = exploitability(lambda: False)
    assert found is not None  # nobody stops it
    return found


def report(settings: Settings, config: DeepCfrConfig, runs: list[Run]) -> Report:
    """Returns the report of runs."""
    at = np.array([run.iterations for run in runs], float)
    mixture = SeedsCurve(at, np.array([run.mixture for run in runs]))
    networks = np.array([run.network for run in runs])
    seconds = float(np.mean([run.seconds[-1] for run in runs]))
    nodes = float(np.mean([run.nodes[-1] for run in runs]))
    rows: list[tuple[Cell, ...]] = [
        (int(at[0, look]), EXACT.get(int(at[0, look])), *_spread(mixture.quality[:, look]))
        for look in range(at.shape[1])
    ]
    rows.append(("network of the average", None, *_spread(networks)))
    return Report(
        title="NashConv of Deep CFR on limit flop hold'em, thousandths of a big blind",
        setting=(
            f"{config.iterations} iterations of both players by {config.rule}, {config.cards:,} cards, "
            f"{config.steps:,} steps of {config.batch:,} a fit, width {config.width}; {seconds:,.0f} seconds and "
            f"{nodes:.2g} nodes a run; {len(runs)} seeds from {settings.seed}{settings.mode}"
        ),
        convention=(
            "NashConv in thousandths of a big blind a hand, exact over all flops; exploitability is half of it. The "
            "mixture is that of all networks so far (SD-CFR); the network of the average policy (Deep CFR) is fitted "
            "at the end. Lowest and highest are of the seeds."
        ),
        columns=("iterations", "exact linear CFR, published", "mixture", "lowest", "highest"),
        rows=tuple(rows),
        claims=tuple(
            Claim(
                text=f"{name}: {_PUBLISHED:.0f} after 450 iterations, at most {_BAR:.0f} here",
                measured=f"{found.mean():.1f} after {config.iterations}",
                agrees=bool(found.mean() <= _BAR),
            )
            for name, found in ((_DEEP, networks), (_SD, mixture.final))
        ),
        panels={"flop hold'em": {_SD: mixture.points(), _TABLE: [(float(t), value) for t, value in EXACT.items()]}},
        bands={"flop hold'em": {_SD: mixture.band()}},
        x_label="iterations",
        y_label="NashConv, thousandths of a big blind",
        deviations=(
            "The thesis samples 10,000 traversals an iteration, sums regrets up as linear CFR does and fits from "
            f"scratch. Here all flops are walked, exact regrets are summed up as {config.rule} does at the decisions "
            "of a sample of flops and hands, and fits go on from the last parameters; networks are twice as wide and "
            "told how strong a hand is."
        ),
    )


def _spread(found: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    return float(found.mean()), float(found.min()), float(found.max())
