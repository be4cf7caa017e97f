"""Hold'em: milliseconds per iteration against the memory roofline of the run, time to a target, memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from aleator.apps.benchmarking import Progress, Result, best_seconds, memory_bandwidth
from aleator.games.holdem.spot import DEFAULT_RULE
from aleator.games.holdem.spot_file import parse_spot
from aleator.solvers.holdem.problem import prepare_spots
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve

SUMMARY = "hold'em: time per iteration against the memory roofline, time to 0.3 % and 0.1 % of the pot, memory"

_REPEATS, _SECONDS = 40, 25.0
_BETS = 'bet = ["50%", "100%", "all-in"]\nraise = ["75%", "all-in"]'
_RIVER_BETS = 'bet = ["50%", "100%", "all-in"]\nraise = ["100%", "all-in"]'
_OOP = "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s"
_IP = "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+"
_FLOP_BETS = 'bet = ["60%", "geometric", "all-in"]\nraise = ["2.5x"]'

# name, spot, and the best time per iteration recorded of postflop-solver on one thread of such a machine (2 vCPU
# Sapphire Rapids at 27 to 29 GB/s, November 2026)
SPOTS: list[tuple[str, str, float]] = [
    (
        "river, full ranges",
        f'board = "QsJh2h8c3d"\npot = 1000\nstack = 9000\noop = "random"\nip = "random"\n'
        f"[river.oop]\n{_RIVER_BETS}\n[river.ip]\n{_RIVER_BETS}\n",
        0.411,
    ),
    (
        "turn endgame, full ranges",
        'board = "3s7hTdKs"\npot = 2000\nstack = 19000\noop = "random"\nip = "random"\n'
        + "".join(f"[{street}.{player}]\n{_BETS}\n" for street in ("turn", "river") for player in ("oop", "ip")),
        157.0,
    ),
    (
        "turn endgame, typical ranges",
        f'board = "3s7hTdKs"\npot = 2000\nstack = 19000\noop = "{_OOP}"\nip = "{_IP}"\n'
        + "".join(f"[{street}.{player}]\n{_BETS}\n" for street in ("turn", "river") for player in ("oop", "ip")),
        34.0,
    ),
]


def run(progress: Progress) -> Result:
    """Returns a row per spot; the turn endgame also to 0.3 % and 0.1 % of the pot, and what a first run takes."""
    rows: list[dict[str, Any]] = []
    flop = Path(__file__).parents[1] / "examples" / "flop.toml"
    spots = [*SPOTS, *([("flop, typical ranges", flop.read_text(), 910.0)] if flop.exists() else [])]
    progress(0.0, "compiling (first run only)")
    for dtype in ("float32", "float16"):
        prepare_spots(DEFAULT_RULE, dtype)
    for place, (name, text, recorded) in enumerate(spots):
        progress(place / (len(spots) + 2), name)
        rows.append(_measure(name, text, recorded))
    progress(0.7, "time to a target")
    notes = [_time_to_target(SPOTS[1][1])]
    progress(0.9, "a first run")
    return Result(title=f"{DEFAULT_RULE}; an iteration updates both players", rows=rows, notes=[*notes, _first_run()])


def _measure(name: str, text: str, recorded: float) -> dict[str, Any]:
    """Returns the best times of an iteration in 32 and 16 bits, on one thread and on two, measured in turn."""
    spot = parse_spot(text)
    solvers = {
        "32": HoldemSolver(spot),
        "16": HoldemSolver(spot, bits=16),
        "32, two threads": HoldemSolver(spot, threads=2),
        "16, two threads": HoldemSolver(spot, bits=16, threads=2),
    }
    count = 200 if len(solvers["32"].plan.boards) == 1 else 1
    best = dict.fromkeys(solvers, float("inf"))
    bandwidth, started = 0.0, perf_counter()
    for solver in solvers.values():
        solver.run(2)
    for _ in range(_REPEATS):
        for key, solver in solvers.items():
            before = perf_counter()
            solver.run(count)
            best[key] = min(best[key], (perf_counter() - before) / count)
        bandwidth = max(bandwidth, memory_bandwidth())
        if perf_counter() - started > _SECONDS:
            break
    # regrets and sums are read and written once, regrets once more for the opponent's traversal
    moved = 5 * solvers["32"].engine.memory()["storage"] / 2
    return {
        "spot": name,
        "nodes": " + ".join(f"{nodes:,}" for nodes in solvers["32"].plan.num_nodes()),
        "ms": 1e3 * best["32"],
        "roofline ms": 1e3 * moved / bandwidth,
        "ratio": best["32"] * bandwidth / moved,
        "GB/s": bandwidth / 1e9,
        "16-bit ms": 1e3 * best["16"],
        "2 threads ms": 1e3 * best["32, two threads"],
        "speed-up": best["32"] / best["32, two threads"],
        "16-bit, 2 threads ms": 1e3 * best["16, two threads"],
        "MB": sum(solvers["32"].engine.memory().values()) / 1e6,
        "16-bit MB": sum(solvers["16"].engine.memory().values()) / 1e6,
        "postflop-solver ms": recorded,
    }


def _time_to_target(text: str) -> str:
    """Returns how long `aleator holdem solve` takes, tree building and checks of the exploitability included."""
    lines, value = [], 0.0
    for target in (0.003, 0.001):
        spot = parse_spot(text)
        found = solve(spot, limits=Limits(exploitability=target * spot.pot, iterations=5000)).summary
        lines.append(f"{100 * target:g} % of the pot after {found.iterations} iterations, {found.seconds:.1f} s")
        value = found.values[0]
    return f"turn endgame, one thread, with tree building: {'; '.join(lines)}; value {value:.1f} chips (-77.9 is known)"


def _first_run() -> str:
    """Returns what a process spends before it can solve, when kernels must be compiled and when they come from disk."""
    command = [sys.executable, "-c", "from aleator.solvers.holdem.problem import prepare_spots; prepare_spots()"]
    with TemporaryDirectory() as folder:
        seconds = [
            best_seconds(
                lambda: subprocess.run(command, check=True, env={**os.environ, "NUMBA_CACHE_DIR": folder}), repeats=1
            )
            for _ in range(2)
        ]
    return f"kernels compiled in {seconds[0]:.1f} s at the first run; later runs start solving after {seconds[1]:.1f} s"
