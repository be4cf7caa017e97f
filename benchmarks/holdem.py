"""Hold'em: milliseconds per iteration against the memory roofline of the run, time to a target, memory."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

from aleator.apps.benchmarking import Progress, Result, best_seconds, memory_bandwidth
from aleator.games.holdem.spot_file import parse_spot
from aleator.solvers.holdem import HoldemSolver

SUMMARY = "hold'em: time per iteration against the memory roofline, time to 0.3 % and 0.1 % of the pot, memory"

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
    """Returns a row per spot; the turn endgame also to 0.3 % and 0.1 % of the pot, tree building included."""
    rows: list[dict[str, Any]] = []
    flop = Path(__file__).parents[1] / "examples" / "flop.toml"
    spots = [*SPOTS, *([("flop, typical ranges", flop.read_text(), 910.0)] if flop.exists() else [])]
    for place, (name, text, recorded) in enumerate(spots):
        progress(place / (len(spots) + 1), name)
        rows.append(_measure(name, text, recorded))
    progress(0.8, "time to a target")
    return Result(
        title="DCFR, float32; an iteration updates both players",
        rows=rows,
        notes=[_time_to_target(SPOTS[1][1])],
    )


def _measure(name: str, text: str, recorded: float) -> dict[str, Any]:
    solver = HoldemSolver(parse_spot(text))
    solver.run(2)
    count = 200 if len(solver.plan.boards) == 1 else 1
    one = best_seconds(lambda: solver.run(count), repeats=12, at_most=6.0) / count
    # regrets and sums are read and written once, regrets once more for the opponent's traversal
    moved = 5 * solver.engine.memory()["storage"] / 2
    bandwidth = memory_bandwidth()
    two = HoldemSolver(parse_spot(text), threads=2)
    two.run(2)
    both = best_seconds(lambda: two.run(count), repeats=12, at_most=6.0) / count
    return {
        "spot": name,
        "nodes": " + ".join(f"{nodes:,}" for nodes in solver.plan.num_nodes()),
        "ms": 1e3 * one,
        "roofline ms": 1e3 * moved / bandwidth,
        "ratio": one * bandwidth / moved,
        "GB/s": bandwidth / 1e9,
        "2 threads ms": 1e3 * both,
        "speed-up": one / both,
        "MB": sum(solver.engine.memory().values()) / 1e6,
        "postflop-solver ms": recorded,
    }


def _time_to_target(text: str) -> str:
    started = perf_counter()
    spot = parse_spot(text)
    solver, lines = HoldemSolver(spot), []
    for target in (0.003, 0.001):
        while (quality := solver.quality()).exploitability > target * spot.pot or solver.iteration == 0:
            solver.run(10)
        lines.append(
            f"{100 * target:g} % of the pot after {solver.iteration} iterations, {perf_counter() - started:.1f} s"
        )
    return f"turn endgame, one thread, tree building included: {'; '.join(lines)}; value {quality.values[0]:.1f} chips"
