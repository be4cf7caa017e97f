"""What ReBeL needs: self-play instead of random beliefs, and which searches learn (ReBeL section 8, App. D and E)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.errors import AleatorError

try:
    import torch
except ModuleNotFoundError as missing:
    raise AleatorError("this experiment needs torch: pip install 'aleator[neural]'") from missing

from aleator.learning.config import RebelConfig, preset
from aleator.learning.training import Trainer

_VARIANTS: dict[str, dict[str, Any]] = {
    "self-play, CFR-D": {},
    "random beliefs, CFR-D": {"random_beliefs": True},
    "self-play, modified CFR-AVE": {"search": "modified-cfr-ave"},
    "self-play, FLOP": {"search": "flop"},
}
_DEVIATIONS = (
    "The paper shows that random beliefs fail in turn endgame hold'em, without a number for Liar's Dice. Random beliefs are "
    "drawn here uniformly, the public state from all roots of subgames. Runs are short: what counts is the order."
)


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns exploitability after equal training, measured several times on the way."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    searches = int(settings.choose(3_000, 12_000, 800_000))
    config = preset(
        "demo", game="liars-dice:1x3" if settings.quick else "liars-dice:1x4", seed=settings.seed, searches=searches
    )
    if settings.full:
        config = replace(config, games=8192, iterations=256)
    if settings.quick:
        config = replace(config, iterations=32, games=64, batch=128, draws=16.0)
    playthroughs = int(settings.choose(16, 48, 1024))
    rows: list[tuple[Cell, ...]] = []
    curves, last = {}, {}
    variants = list(_VARIANTS.items())[: 2 if settings.quick else None]
    for number, (label, changes) in enumerate(variants):
        show = partial(_show, on_progress, number / len(variants), 1 / len(variants), label)
        points = _train(replace(config, **changes), device, playthroughs, show)
        curves[label], last[label] = points, points[-1][1]
        rows.append((label, points[0][1], points[-1][1]))
    plays, random = last["self-play, CFR-D"], last["random beliefs, CFR-D"]
    return Report(
        title=f"Training on {config.game}: exploitability of the policy that search plays",
        setting=(
            f"{searches:,} searches of {config.iterations} iterations, {playthroughs} playthroughs on {device}{settings.mode}"
        ),
        convention="Exploitability is NashConv / 2 of the average of the playthroughs. An iteration updates one player.",
        columns=("training", "untrained", "trained"),
        rows=tuple(rows),
        claims=(
            Claim(
                text="a network trained on random beliefs is worse than one trained by self-play",
                measured=f"{random:.3f} against {plays:.3f}",
                agrees=random > plays,
            ),
        ),
        panels={config.game: curves},
        x_label="subgames searched",
        y_label="exploitability (NashConv / 2)",
        deviations=_DEVIATIONS,
    )


def _show(on_progress: OnProgress, before: float, share: float, label: str, part: float) -> None:
    """Passes on how much of one of the runs is done."""
    on_progress(before + share * part, label)


def _train(
    config: RebelConfig, device: str, playthroughs: int, on_part: Callable[[float], None]
) -> list[tuple[float, float]]:
    """Returns (searches, exploitability) before, during and after a training run."""
    trainer = Trainer(config, device=device)
    measure = {round(config.epochs * part / 3) for part in (1, 2, 3)}
    points = [(0.0, trainer.play(playthroughs=playthroughs, seed=1).exploitability)]
    for metrics in trainer.run():
        on_part(metrics.epoch / config.epochs)
        if metrics.epoch in measure:
            points.append((float(metrics.searches), trainer.play(playthroughs=playthroughs, seed=1).exploitability))
    return points
