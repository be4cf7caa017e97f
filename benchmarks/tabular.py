"""Iterations per second of tabular CFR+ against OpenSpiel's C++ in the same run, and against recorded peers."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from aleator.apps.benchmarking import Progress, Result, best_seconds, memory_bandwidth
from aleator.games import load_game
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import CFR_PLUS
from aleator.trees import build_tree
from aleator.trees.public_tree import PublicTree

SUMMARY = "CFR+ iterations per second on the small games, against OpenSpiel in the same run"

# our name, OpenSpiel's name, the fastest peer recorded on such a machine (2 vCPU Sapphire Rapids, one thread,
# November 2026) in iterations per second: LiteEFG and OpenSpiel JAX CFR+, OpenSpiel C++ CFR
GAMES = [
    ("kuhn", "kuhn_poker", 60_000, "LiteEFG"),
    ("leduc", "leduc_poker", 604, "OpenSpiel JAX"),
    ("liars-dice:1x4", "liars_dice(numdice=1,dice_sides=4)", 389, "OpenSpiel JAX"),
    ("liars-dice:1x5", "liars_dice(numdice=1,dice_sides=5)", 63, "OpenSpiel JAX"),
    ("liars-dice:1x6", "liars_dice(numdice=1,dice_sides=6)", 12.9, "OpenSpiel C++ CFR"),
    (
        "goofspiel:5,descending",
        "turn_based_simultaneous_game(game=goofspiel(imp_info=True,num_cards=5,points_order=descending))",
        445,
        "OpenSpiel JAX",
    ),
    (
        "leduc:nolimit",
        "universal_poker(betting=nolimit,numPlayers=2,numRounds=2,blind=1 1,firstPlayer=1 1,numSuits=2,numRanks=3,"
        "numHoleCards=1,numBoardCards=0 1,stack=5 5,bettingAbstraction=fullgame)",
        25,
        "OpenSpiel C++ CFR",
    ),
]
ITERATIONS = 1000


def run(progress: Progress) -> Result:
    """Returns rates over the first 1,000 iterations (OpenSpiel's: as many of them as fit in three seconds)."""
    rows: list[dict[str, Any]] = []
    for place, (name, peer_name, recorded, recorded_peer) in enumerate(GAMES):
        progress(place / len(GAMES), name)
        tree = build_tree(load_game(name))
        ours = _our_rate(tree)
        peer = _openspiel_rate(peer_name)
        rows.append(
            {
                "game": name,
                "infostates": tree.num_infostates,
                "it/s": ours,
                "OpenSpiel C++ CFR+ it/s": peer,
                "ratio": ours / peer if peer else None,
                "fastest recorded": float(recorded),
                "ratio to it": ours / recorded,
                "by": recorded_peer,
                "exploitability ms": 1e3 * _evaluation_seconds(tree),
            }
        )
    progress(0.9, "roofline")
    return Result(
        title=f"Alternating CFR+, first {ITERATIONS:,} iterations (each updates both players), float64, one thread",
        rows=rows,
        notes=[_roofline()],
    )


def _our_rate(tree: PublicTree) -> float:
    CFR(tree, CFR_PLUS).run(1)

    def solve() -> None:
        CFR(tree, CFR_PLUS).run(ITERATIONS)

    overhead = best_seconds(lambda: CFR(tree, CFR_PLUS), repeats=3)
    return ITERATIONS / (best_seconds(solve) - overhead)


def _openspiel_rate(name: str) -> float | None:
    try:
        import pyspiel
    except ImportError:
        return None
    solver = pyspiel.CFRPlusSolver(pyspiel.load_game(name))
    started, done = perf_counter(), 0
    while done < ITERATIONS and perf_counter() - started < 3.0:
        solver.evaluate_and_update_policy()
        done += 1
    return done / (perf_counter() - started)


def _evaluation_seconds(tree: PublicTree) -> float:
    solver = CFR(tree, CFR_PLUS)
    solver.run(10)
    solver.nash_conv()
    return best_seconds(solver.nash_conv, repeats=20, at_most=0.5)


def _roofline() -> str:
    """Returns how close the largest game comes to what memory allows.

    Per iteration and player the walk must read and write regrets, policies, sums of policies and cfvs, read the reach
    once and write it once, and read the policy once more.
    """
    tree = build_tree(load_game("liars-dice:1x9"))
    solver = CFR(tree, CFR_PLUS, dtype=np.float32)
    solver.run(1)
    seconds = best_seconds(lambda: solver.run(1), repeats=7)
    layout = solver._engine.layout
    moved = 4 * sum(9 * size for size in layout.vector_size) + 4 * sum(2 * size for size in layout.value_size)
    bandwidth = memory_bandwidth()
    return (
        f"roofline: liars-dice:1x9 ({tree.num_infostates:,} infostates, float32) moves {moved / 1e6:.0f} MB per "
        f"iteration in {1e3 * seconds:.1f} ms = {moved / seconds / 1e9:.1f} GB/s, "
        f"{100 * moved / seconds / bandwidth:.0f} % of the {bandwidth / 1e9:.1f} GB/s that one thread moves in this run"
    )
