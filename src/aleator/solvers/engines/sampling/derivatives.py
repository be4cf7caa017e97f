"""Sampled CFR that also keeps how its regrets change with the stakes: each traversal is repeated with other stakes.

Random numbers depend on iteration, player and traversal alone, and policies on regrets, which a repetition only reads:
it samples the same histories.
"""

from __future__ import annotations

from typing import Any

from aleator.jit import kernel
from aleator.solvers.engines.sampling.histories import Histories
from aleator.solvers.engines.sampling.iterate import Plan, Span, iterate
from aleator.solvers.engines.sampling.rows import Tables, ThreadSlices, Vector
from aleator.solvers.engines.sampling.walk import Options


@kernel()
def iterate_derivatives(
    game: Histories, directions: tuple[Histories, ...], tables: Tables, derivatives: tuple[Tables, ...],
    slices: ThreadSlices, work: Any, options: Options, plan: Plan, first: int, count: int, touched: int,
) -> int:  # fmt: skip
    """Runs iterations `first`, `first` + 1, ... with all derivatives; returns how many nodes have been touched."""
    for t in range(first, first + count):
        for traverser in range(2):
            span = Span(t, 1, traverser, traverser + 1, 0, 1)
            for d in range(len(directions)):
                iterate(directions[d], derivatives[d], slices, work, options, plan, span, 0)
            touched = iterate(game, tables, slices, work, options, plan, span, touched)
        if tables.floor == 0.0:
            forget(tables.regret, derivatives)
    return touched


@kernel()
def forget(regret: Vector, derivatives: tuple[Tables, ...]) -> None:
    """Sets derivatives to 0 where the floor has cut regrets off."""
    for entry in range(len(regret)):
        if regret[entry] <= 0.0:
            for d in range(len(derivatives)):
                derivatives[d].regret_to[entry] = 0.0
