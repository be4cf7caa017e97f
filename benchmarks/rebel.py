"""ReBeL with the paper's settings: searches per second of self-play, against the authors' release; time per move."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from time import perf_counter, process_time
from typing import Any

import numpy as np

from aleator.apps.benchmarking import Progress, Result, best_seconds
from aleator.errors import AleatorError

try:
    import torch
except ModuleNotFoundError as missing:
    raise AleatorError("this benchmark needs torch: pip install 'aleator[neural]'") from missing

from aleator.agents.asking import ask_action
from aleator.agents.rebel import RebelAgent
from aleator.games import load_game
from aleator.games.table import Table
from aleator.learning.rebel.blocks import new_self_play
from aleator.learning.rebel.config import preset
from aleator.learning.rebel.shipped import shipped_model
from aleator.learning.rebel.training import Trainer
from aleator.learning.value_network.encoding import Encoding

SUMMARY = "ReBeL: searches per second of self-play on this CPU or GPU, seconds of the agent's moves"

# subgames per second of the authors' C++ release on one core of a 2 vCPU Sapphire Rapids machine, depth 2, 1,024
# updates
RELEASE = {"liars-dice:1x4": 12.4, "liars-dice:1x5": 7.2, "liars-dice:1x6": 7.8, "liars-dice:2x3": 7.8}
CASES = tuple(RELEASE)
UPDATES = 1024
LESSONS = 500
GAMES = 12


def run(progress: Progress, names: Sequence[str] = CASES) -> Result:
    """Returns searches per second of games in mid-play, one core on a CPU."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        rows = [_measure(name, device, progress, place / len(names)) for place, name in enumerate(names)]
    finally:
        torch.set_num_threads(threads)
    return Result(
        title=f"ReBeL self-play on {device}: depth 2, 1,024 updates (512 of each player), a network of 2 x 256 units",
        rows=rows,
        notes=[
            "release: the authors' C++ code as recorded on one core of an idle machine (2 vCPU Sapphire Rapids)",
            "products: searches/s if there were nothing but the network's products, for all leaves in all updates, at "
            "the rate that torch multiplies them in this run; on a CPU leaves are skipped that cannot have new values",
            f"moves: of the agent `rebel` with the shipped network and as many updates, on the CPU, in {GAMES} games "
            "against itself; first: the search of the game's beginning, once before the first game",
        ],
    )


def _measure(name: str, device: str, progress: Progress, part: float) -> dict[str, Any]:
    """Returns one row of the table."""
    progress(part, name)
    games = 16_384 if device == "cuda" else 128
    config = preset("paper", game=name, games=games, updates=8, searches=10 * games)
    trainer = Trainer(config, device=device)
    _teach(trainer)
    play = new_self_play(config, trainer.subgames, None, games)
    for _ in range(5):  # into the midst of games
        play.play(trainer.leaf_values())
    play.updates = UPDATES
    best, products = float("inf"), 0.0
    clock = perf_counter if device == "cuda" else process_time  # a core may be shared with other programs
    for _ in range(3):
        leaves = len(trainer.subgames.forest(play.root).leaves)
        before = clock()
        play.play(trainer.leaf_values())
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, clock() - before)
        products = _network_rate(trainer) * games / (leaves * UPDATES)
    return {
        "game": name,
        "precision": str(_precision(trainer)).removeprefix("torch."),
        "searches/s": games / best,
        "release": RELEASE[name],
        "ratio": games / best / RELEASE[name],
        "products": products,
        **_time_moves(name),
    }


def _time_moves(name: str) -> dict[str, float]:
    """Returns how long the agent takes: before the first game, for a move in the mean, for the slowest one."""
    game, rng = load_game(name), np.random.default_rng(0)
    RebelAgent(game, iterations=2).begin(0, rng)  # compiles
    agents = [RebelAgent(game, iterations=UPDATES // 2) for _ in range(2)]
    before = perf_counter()
    agents[0].begin(0, rng)
    first, moves = perf_counter() - before, []
    for _ in range(GAMES):
        table = Table(game, rng)
        for seat, agent in enumerate(agents):
            agent.begin(seat, rng)
        while not table.is_over:
            before = perf_counter()
            action = ask_action(agents[table.actor], table.observe())
            moves.append(perf_counter() - before)
            table.act(action)
    return {"first s": first, "move s": mean(moves), "slowest s": max(moves)}


def _teach(trainer: Trainer) -> None:
    """Trains the network briefly on what the shipped one says: searches take longer where hands are worth something."""
    teacher, device = shipped_model(trainer.config.game), trainer.device
    encoding, network = trainer.subgames.complete().encoding, teacher.network.to(device)
    other = Encoding(trainer.game, encoding.states, encoding.num_hands, kind=teacher.config.encoding, device=device)
    generator = torch.Generator(device).manual_seed(0)
    optimiser = torch.optim.Adam(trainer.network.parameters(), lr=1e-3)
    for _ in range(LESSONS):
        state = torch.randint(len(encoding.states), (512,), generator=generator, device=device)
        player = torch.randint(2, (512,), generator=generator, device=device)
        draws = torch.rand((2, 512, encoding.num_hands), generator=generator, device=device)
        reach = tuple(-torch.log(draws.clamp(min=1e-12)))
        with torch.no_grad():
            targets = network(other.encode(state, player, (reach[0], reach[1])))
        found = trainer.network(encoding.encode(state, player, (reach[0], reach[1])))
        optimiser.zero_grad()
        torch.autograd.backward(torch.nn.functional.smooth_l1_loss(found, targets))
        optimiser.step()


def _precision(trainer: Trainer) -> torch.dtype:
    """Returns what the network computes in at leaves."""
    return torch.float16 if trainer.device.type == "cuda" else torch.float32


def _network_rate(trainer: Trainer) -> float:
    """Returns how many inputs per second the network's largest matrix product takes in this run."""
    dtype = _precision(trainer)
    rows = torch.randn((4096, 256), device=trainer.device, dtype=dtype)
    weights = torch.randn((256, 256), device=trainer.device, dtype=dtype)

    def multiply() -> None:
        torch.mm(rows, weights)
        if trainer.device.type == "cuda":
            torch.cuda.synchronize()

    return len(rows) / best_seconds(multiply, repeats=20)
