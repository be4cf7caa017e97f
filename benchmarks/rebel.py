"""Searches per second of ReBeL's self-play with the paper's settings, against the authors' release and the network's roofline."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from aleator.apps.benchmarking import Progress, Result, best_seconds
from aleator.errors import AleatorError

try:
    import torch
except ModuleNotFoundError as missing:
    raise AleatorError("this benchmark needs torch: pip install 'aleator[neural]'") from missing

from aleator.learning.config import preset
from aleator.learning.training import Trainer

SUMMARY = "ReBeL self-play: searches per second on this CPU or GPU"

# subgames per second of the authors' C++ release on one core of a 2 vCPU Sapphire Rapids machine, depth 2, 1,024 iterations
RELEASE = {"liars-dice:1x4": 12.4, "liars-dice:1x5": 7.2, "liars-dice:1x6": 7.8, "liars-dice:2x3": 7.8}
ITERATIONS = 1024


def run(progress: Progress) -> Result:
    """Returns searches per second of games in the midst of play, float32 and bfloat16, one thread on a CPU."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        rows = [
            _measure(name, device, low, progress, (2 * place + low) / 8)
            for place, name in enumerate(RELEASE)
            for low in ((True,) if device == "cuda" else (False, True))
        ]
    finally:
        torch.set_num_threads(threads)
    return Result(
        title=f"ReBeL self-play on {device}: depth 2, 1,024 iterations of one player, a network of 2 x 256 units",
        rows=rows,
        notes=[
            "release: the authors' C++ code as recorded on one core of an idle machine of this kind (2 vCPU Sapphire Rapids)",
            "network share: time that the network's matrix products alone take at the rate measured in this run",
        ],
    )


def _measure(name: str, device: str, low: bool, progress: Progress, part: float) -> dict[str, Any]:
    """Returns one row of the table."""
    progress(part, f"{name}, {'bfloat16' if low else 'float32'}")
    games = 16_384 if device == "cuda" else 128
    config = preset("paper", game=name, games=games, iterations=8, searches=10 * games)
    trainer = Trainer(config, device=device, low_precision=low)
    for _ in range(5):  # into the midst of games
        trainer.self_play.play(trainer.leaf_values())
    share = 1.0 if device == "cuda" else 1 / 16  # of the iterations: a CPU's rate does not change on the way
    trainer.self_play.iterations = int(ITERATIONS * share)
    best = float("inf")
    for _ in range(3):
        before = perf_counter()
        trainer.self_play.play(trainer.leaf_values())
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, (perf_counter() - before) / share)
    leaves = float((trainer.subgames.shapes.leaf >= 0).sum()) / len(trainer.subgames.roots)
    return {
        "game": name,
        "precision": "bfloat16" if low else "float32",
        "searches/s": games / best,
        "release": RELEASE[name],
        "ratio": games / best / RELEASE[name],
        "network share": games * leaves * ITERATIONS / _network_rate(trainer, low) / best,
    }


def _network_rate(trainer: Trainer, low: bool) -> float:
    """Returns how many inputs per second the network's largest matrix product takes in this run."""
    dtype = torch.bfloat16 if low else torch.float32
    rows = torch.randn((4096, 256), device=trainer.device, dtype=dtype)
    weights = torch.randn((256, 256), device=trainer.device, dtype=dtype)

    def multiply() -> None:
        torch.mm(rows, weights)
        if trainer.device.type == "cuda":
            torch.cuda.synchronize()

    return len(rows) / best_seconds(multiply, repeats=20)
