"""What ReBeL needs: self-play instead of random beliefs, which searches learn, and what a policy network saves.

ReBeL section 5.3 and 8, App. D, E and J.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings, less
from aleator.learning.rebel.config import preset
from aleator.learning.rebel.evaluation import play_out
from aleator.learning.rebel.training import Trainer
from aleator.trees.public_tree import build_tree

_PLAIN, _RANDOM, _POLICY = "self-play, CFR-D", "random beliefs, CFR-D", "self-play, CFR-D, policy network"
_AVERAGE = "self-play, modified CFR-AVE"
_VARIANTS: dict[str, dict[str, Any]] = {
    _PLAIN: {},
    _RANDOM: {"random_beliefs": True},
    _POLICY: {"policy": True},
    _AVERAGE: {"search": "modified-cfr-ave"},
    "self-play, FLOP": {"search": "flop"},
}
_DEVIATIONS = (
    "The paper shows that random beliefs fail, and what a policy network saves, in turn endgame hold'em, without "
    "numbers for Liar's Dice. Random beliefs are drawn here uniformly, the public state from all roots of subgames. "
    "Runs are short: what counts is the order. With the policy network searches start as in App. J, in training, too: "
    "as if its policy had been played for 15 updates of each player, with the regrets of an exact best response. "
    "Updates are those that are run after that; the start itself costs as much as two of them. In a game as small as "
    "this 15 updates of each player find better policies than the network knows, so that it helps short searches only, "
    "whether it stands for 15 updates, 5 or 2. Modified CFR-AVE multiplies what the network gets wrong by about half "
    "the number of updates."
)


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns exploitability after equal training, measured several times on the way."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    searches = int(settings.choose(5_000, 8_000, 300_000))
    config = preset(
        "fast" if settings.full else "demo",
        game="liars-dice:1x4",  # on 1x3, where subgames are few, random beliefs do as well
        seed=settings.seed,
        searches=searches,
    )
    if settings.full:  # the paper's rule and exploration, with the network and the schedule of the shipped ones
        config = replace(config, search="cfr-d", updates=256, exploration=0.25, width=128)
    if settings.quick:
        config = replace(config, updates=32, games=64, batch=128, draws=16.0)
    playthroughs = int(settings.choose(16, 48, 1024))
    rows: list[tuple[Cell, ...]] = []
    curves, last, trainers = {}, {}, {}
    variants = list(_VARIANTS.items())[: 3 if settings.quick else None]
    for number, (label, changes) in enumerate(variants):
        show = partial(_show, on_progress, 0.9 * number / len(variants), 0.9 / len(variants), label)
        trainers[label] = Trainer(replace(config, **changes), device=device)
        points = _train(trainers[label], playthroughs, show)
        curves[label], last[label] = points, points[-1][1]
        rows.append((label, config.updates, points[0][1], points[-1][1]))
    on_progress(0.9, "fewer updates")
    plays = int(settings.choose(16, 64, 1024))
    saved = {
        _PLAIN: _fewer(trainers[_PLAIN], plays, started=False),
        f"{_POLICY}, not started with it": _fewer(trainers[_POLICY], plays, started=False),
        f"{_POLICY}, started with it": _fewer(trainers[_POLICY], plays, started=True),
    }
    without, started = list(saved.values())[1:]
    rows += [(label, int(number), None, score) for label, points in saved.items() for number, score in points]
    claims = [
        less(
            "a network trained by self-play is better than one trained on random beliefs", last[_PLAIN], last[_RANDOM]
        ),
        *(_saving(without, started, index) for index in sorted({1, len(without) // 2 - 1, len(without) - 1})),
    ]
    if _AVERAGE in last:
        claims.append(less("modified CFR-AVE does better than CFR-D", last[_AVERAGE], last[_PLAIN]))
    return Report(
        title=f"Training on {config.game}: exploitability of the policy that search plays",
        setting=(
            f"{searches:,} searches of {config.updates} updates, {playthroughs} playthroughs on {device}{settings.mode}"
        ),
        convention="Exploitability is NashConv / 2 of the average of the playthroughs. Updates are of one player.",
        columns=("training", "updates in a search", "untrained", "trained"),
        rows=tuple(rows),
        claims=tuple(claims),
        panels={config.game: curves, "updates in a search instead of subgames": saved},
        x_label="subgames searched",
        y_label="exploitability (NashConv / 2)",
        deviations=_DEVIATIONS,
    )


def _fewer(trainer: Trainer, playthroughs: int, *, started: bool) -> list[tuple[float, float]]:
    """Returns (updates in a search, exploitability) for as many as in training and for fewer."""
    points = []
    for shift in range(6, -1, -1):
        if (updates := trainer.config.updates >> shift) >= 2:
            played = play_out(
                build_tree(trainer.game),
                trainer.subgames,
                trainer.leaf_values(),
                trainer.config.rule,
                updates=updates,
                playthroughs=playthroughs,
                generator=torch.Generator(trainer.device).manual_seed(1),
                start=trainer.warm_start() if started else None,
            )
            points.append((float(updates), played.exploitability))
    return points


def _saving(without: list[tuple[float, float]], started: list[tuple[float, float]], index: int) -> Claim:
    """Returns whether a started search gets where another is at one of its points with fewer updates."""
    updates, target = without[index]
    enough = [number for number, score in started if score <= target]
    measured = f"{enough[0]:.0f} updates" if enough else f"not within {started[-1][0]:.0f} updates"
    return Claim(
        text=f"started with the policy network, fewer than {updates:.0f} updates are as good as {updates:.0f} without",
        measured=f"{target:.3f} is reached {'with ' if enough else ''}{measured}",
        agrees=bool(enough) and enough[0] < updates,
    )


def _show(on_progress: OnProgress, before: float, share: float, label: str, part: float) -> None:
    """Passes on how much of one of the runs is done."""
    on_progress(before + share * part, label)


def _train(trainer: Trainer, playthroughs: int, on_part: Callable[[float], None]) -> list[tuple[float, float]]:
    """Returns (searches, exploitability) before, during and after a training run."""
    epochs = trainer.config.epochs
    measure = {round(epochs * part / 3) for part in (1, 2, 3)}
    points = [(0.0, trainer.play(playthroughs=playthroughs, seed=1).exploitability)]
    for metrics in trainer.run():
        on_part(metrics.epoch / epochs)
        if metrics.epoch in measure:
            points.append((float(metrics.searches), trainer.play(playthroughs=playthroughs, seed=1).exploitability))
    return points
