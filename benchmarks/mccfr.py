"""Iterations per second of MCCFR against OpenSpiel's C++ in the same run."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from aleator.apps.benchmarking import Progress, Result
from aleator.games import load_game
from aleator.solvers.algorithms import rule_of
from aleator.solvers.mccfr import MCCFR
from aleator.solvers.sampling_rule import SamplingRule
from aleator.trees import build_tree
from aleator.trees.public_tree import PublicTree

SUMMARY = "MCCFR iterations per second, against OpenSpiel in the same run"

# our name, OpenSpiel's name, scheme
GAMES = [
    ("kuhn", "kuhn_poker", "external"),
    ("leduc", "leduc_poker", "external"),
    ("liars-dice:1x6", "liars_dice(numdice=1,dice_sides=6)", "external"),
    ("leduc", "leduc_poker", "outcome"),
    ("liars-dice:1x6", "liars_dice(numdice=1,dice_sides=6)", "outcome"),
]
RECORDED = (
    "OpenSpiel's external sampling as recorded on an idle machine of this kind (2 vCPU Sapphire Rapids, one thread, "
    "November 2026): 26,000 it/s on leduc, 6,300 on liars-dice:1x6"
)
ROUNDS, SECONDS = 5, 0.6
BATCH = 5000


def run(progress: Progress) -> Result:
    """Returns rates from the uniform policy on; an iteration updates both players, in both programs.

    The two take turns for `ROUNDS` x `SECONDS`; the best round counts, since other work on the machine only slows down.
    """
    rows: list[dict[str, Any]] = []
    for place, (name, peer_name, scheme) in enumerate(GAMES):
        progress(place / (len(GAMES) + 1), f"{name}, {scheme}")
        ours = MCCFR(build_tree(load_game(name)), SamplingRule(scheme=scheme))
        ours.run(1)
        theirs = _openspiel(peer_name, scheme)
        best, peer = 0.0, 0.0
        for _ in range(ROUNDS):
            best = max(best, _rate(ours.run, 2000))
            peer = max(peer, _rate(theirs, 50)) if theirs else 0.0
        rows.append(
            {
                "game": name,
                "scheme": scheme,
                "it/s": best,
                "nodes/it": ours.nodes_touched / ours.iteration,
                "ns/node": 1e9 * ours.iteration / (best * ours.nodes_touched),
                "OpenSpiel C++ it/s": peer or None,
                "ratio": best / peer if peer else None,
            }
        )
    progress(len(GAMES) / (len(GAMES) + 1), "threads")
    return Result(
        title="MCCFR, iterations per second (each updates both players), float64, one thread",
        rows=rows,
        notes=[RECORDED, _threads(build_tree(load_game("leduc:nolimit")))],
    )


def _rate(run: Any, chunk: int) -> float:
    """Returns the iterations per second of about `SECONDS`."""
    started, done = perf_counter(), 0
    while perf_counter() - started < SECONDS:
        run(chunk)
        done += chunk
    return done / (perf_counter() - started)


def _openspiel(name: str, scheme: str) -> Any:
    """Returns a function that runs so many iterations of OpenSpiel's solver, or None if it is not installed."""
    try:
        import pyspiel
    except ImportError:
        return None
    solvers = {"external": pyspiel.ExternalSamplingMCCFRSolver, "outcome": pyspiel.OutcomeSamplingMCCFRSolver}
    solver = solvers[scheme](pyspiel.load_game(name))

    def iterate(count: int) -> None:
        for _ in range(count):
            solver.run_iteration()

    return iterate


def _threads(tree: PublicTree) -> str:
    """Returns what a second thread brings to a batch."""
    rates: dict[int, float] = {}
    solvers = {
        threads: MCCFR(tree, rule_of(SamplingRule, f"mccfr:batch={BATCH}"), threads=threads) for threads in (1, 2)
    }
    for _ in range(ROUNDS):
        for threads, solver in solvers.items():
            rates[threads] = max(rates.get(threads, 0.0), _rate(solver.run, 5))
    return (
        f"batches of {BATCH:,} on leduc:nolimit: {BATCH * rates[1]:,.0f} traversals per player and second on one "
        f"thread, {rates[2] / rates[1]:.2f} times as many on two; the results are equal bit by bit"
    )
