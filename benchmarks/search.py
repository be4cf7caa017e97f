"""Search at play time: seconds of a river and a turn decision of hold'em with a gadget at the root, and bounds."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any

from aleator.apps.benchmarking import Progress, Result, load_benchmark
from aleator.games.holdem.spot_file import parse_spot
from aleator.search.holdem_resolving import HoldemReSolver
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.regret_rule import CFR_PLUS

SUMMARY = "search: a river and a turn decision of hold'em with a gadget at the root, against the same solve without"

# decision, spot of the hold'em benchmark, iterations, threads, seconds that are allowed
_DECISIONS = (("river decision", 0, 1000, 1, 1.0), ("turn decision, to the end of the game", 1, 100, 2, 5.0))


def run(progress: Progress) -> Result:
    """Returns a row per decision and gadget, tree building included."""
    spots = load_benchmark("holdem").SPOTS
    rows: list[dict[str, Any]] = []
    for place, (name, spot, iterations, threads, allowed) in enumerate(_DECISIONS):
        text = spots[spot][1]
        blueprint = HoldemSolver(parse_spot(text), CFR_PLUS, threads=threads)
        blueprint.run(10)
        constraint = blueprint.root_cfvs(best=True)[1]
        for number, gadget in enumerate(("resolve", "maxmargin")):
            progress((place + number / 2) / len(_DECISIONS), f"{name}, {gadget}")
            HoldemReSolver(parse_spot(text), 0, constraint, gadget=gadget, threads=threads).run(1)
            wall, processor = perf_counter(), process_time()
            HoldemSolver(parse_spot(text), CFR_PLUS, threads=threads).run(iterations)
            plain = perf_counter() - wall, process_time() - processor
            wall, processor = perf_counter(), process_time()
            HoldemReSolver(parse_spot(text), 0, constraint, gadget=gadget, threads=threads).run(iterations)
            found = perf_counter() - wall, process_time() - processor
            rows.append(
                {
                    "decision": name,
                    "gadget": gadget,
                    "iterations": iterations,
                    "threads": threads,
                    "seconds": found[0],
                    "processor seconds / threads": found[1] / threads,
                    "allowed": allowed,
                    "without gadget": plain[0],
                    "processor, without": plain[1] / threads,
                }
            )
    return Result(
        title="CFR+, full ranges, spots of `aleator bench holdem`; an iteration updates both players",
        rows=rows,
        notes=["On a busy machine the processor's time says more than the clock's."],
    )
