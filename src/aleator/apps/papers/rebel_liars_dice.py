"""ReBeL Table 2, its own rows: what search with a trained value network plays on Liar's Dice."""

from __future__ import annotations

import json
from typing import Any

import torch

from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.apps.papers.rebel import GAMES, TABLE_2_ITERATIONS, TABLE_2_REBEL
from aleator.learning.rebel.evaluation import Played, play_out
from aleator.learning.rebel.model import ModelSearch
from aleator.learning.rebel.shipped import shipped_model, shipped_path
from aleator.trees.public_tree import build_tree

_CONVENTION = (
    "Exploitability is NashConv / 2 of the average of playthroughs, each of which draws one update per subgame, evenly "
    "among them; with finitely many it is an upper estimate. An update (the paper's iteration) is of one player. "
    "Subgames are two moves deep."
)
_DEVIATIONS = (
    "The networks have four hidden layers instead of two. They were trained with 512 updates per search instead of "
    "1,024, an exploration of 0.5, batches of 4,096 examples from a buffer of 400,000, a moving average of the "
    "parameters, and a learning rate of 3e-3 that is halved seven times. Searches are by sharp-cfr-d, which converges "
    "faster than the paper's linear weights; the column 'linear' has those. Both were recorded after training on the "
    "machine named there, with 1,024 updates and at least 1,024 playthroughs. 1x7f is not in the paper. Without a GPU "
    "the numbers are measured anew on the two smaller games only, with less search and fewer playthroughs, which makes "
    "them higher; what agrees with the paper is then what was recorded, and with --full, or on a GPU, what is measured."
)
_BIGGER = {"1x7f": "liars-dice:1x7"}


def _measure(
    name: str, updates: int, playthroughs: int, device: str, seed: int, progress: OnProgress, share: tuple[float, float]
) -> Played:
    searcher = ModelSearch(shipped_model(name), device=device)
    tree = build_tree(searcher.game)
    # every second bid sequence is the root of a subgame, and some are never reached
    expected = playthroughs * len(searcher.subgames.states) ** 2
    return play_out(
        tree,
        searcher.subgames,
        searcher.leaf_values,
        searcher.config.rule,
        updates=updates,
        playthroughs=playthroughs,
        generator=torch.Generator(device).manual_seed(seed),
        start=searcher.warm_start,
        chunk=32768 if device == "cuda" else 1024,
        on_progress=lambda done: progress(share[0] + share[1] * min(done / expected, 1.0), name),
    )


def _claim(label: str, paper: float, played: Played | None, report: dict[str, Any]) -> Claim:
    """Returns how a game compares with the paper: as measured now with the paper's effort, otherwise as recorded."""
    score, error = (played.exploitability, played.error) if played else (report["exploitability"], report["error"])
    return Claim(
        text=f"{label}: at most the paper's {paper}",
        measured=f"{score:.4f} ± {error:.4f} (standard error), {'measured now' if played else 'as recorded'}",
        agrees=score <= paper,
    )


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns the table: all games with the paper's effort on a GPU, the smaller ones with less on a CPU."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    whole = device == "cuda" or settings.full
    updates, playthroughs = (TABLE_2_ITERATIONS, 1024) if whole else (64, 32) if settings.quick else (256, 64)
    games = {**GAMES, **_BIGGER}
    measured = list(games) if whole else ["1x4f"] if settings.quick else ["1x4f", "1x5f"]
    rows: list[tuple[Cell, ...]] = []
    claims, panels = [], {}
    for label, name in games.items():
        report, paper = shipped_model(name).report, TABLE_2_REBEL["cfr-d"].get(label)
        played = None
        if label in measured:
            share = (measured.index(label) / len(measured), 1 / len(measured))
            played = _measure(name, updates, playthroughs, device, settings.seed, on_progress, share)
        rows.append(
            (
                label,
                played.exploitability if played else None,
                played.error if played else None,
                report["exploitability"],
                report["error"],
                report["linear"]["exploitability"],
                paper,
                report["searches"],
                report["seconds"],
                report["device"],
            )
        )
        if paper:
            claims.append(_claim(label, paper, played if whole else None, report))
        log = [json.loads(line) for line in shipped_path(name).with_suffix(".jsonl").read_text().splitlines()]
        panels[label] = {"loss": [(line["searches"], line["loss"]) for line in log if line["loss"]]}
    return Report(
        title="Exploitability of ReBeL (CFR-D) on Liar's Dice (ReBeL Table 2)",
        setting=f"{playthroughs:,} games, {updates:,} updates ({updates // 2:,} each), on {device}{settings.mode}",
        convention=_CONVENTION,
        columns=("game", "ours", "±", "recorded", "± ", "linear", "paper", "searches", "training s", "machine"),
        rows=tuple(rows),
        claims=tuple(claims),
        panels=panels,
        x_label="subgames searched in training",
        y_label="loss",
        deviations=_DEVIATIONS,
    )
