"""Equilibria of small games, solved once and kept in a file."""

from __future__ import annotations

from typing import Any

from aleator.apps.web.worker.channel import Channel
from aleator.caching import lru_cache
from aleator.solvers.limits import Limits
from aleator.solvers.solution import Solution, open_solution
from aleator.solvers.solve import solve

LIMITS = Limits(exploitability=1e-5, seconds=20.0)


def solve_game(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the exploitability of the equilibrium of `game` that is written to `output`."""
    channel.report(stage="solving")
    solution = solve(params["game"], limits=LIMITS, keep_state=False)
    solution.save(params["output"])
    return {"exploitability": solution.summary.exploitability, "value": solution.summary.value}


@lru_cache(maxsize=8)
def open_game(file: str) -> Solution:
    """Returns the equilibrium in a file."""
    return open_solution(file)
