"""Searches of many subgames: on a GPU all at once, on a CPU in parts that fit its caches, side by side on its cores."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import torch

from aleator.solvers.engines.batched.engine import BatchedValue, Searched, make_engine
from aleator.solvers.engines.batched.forest import Forest
from aleator.solvers.engines.batched.warm_start import WarmStart
from aleator.solvers.engines.torch_threads import one_thread
from aleator.solvers.search_rule import SearchRule

Tensor = torch.Tensor
PART = 128  # subgames


def search(
    forest: Forest,
    leaf_values: BatchedValue | None,
    root_reach: tuple[Tensor, Tensor],
    rule: SearchRule,
    updates: int,
    keep: Tensor,
    start: WarmStart | None = None,
) -> Searched:
    """Returns what a search of every subgame of a forest found; the number of threads (torch's) does not change it.

    Args:
        forest: the subgames, G of them.
        leaf_values: the value function at leaves.
        root_reach: per player [G, H].
        rule: how to search.
        updates: of one player each.
        keep: [G] the update after which policies are kept.
        start: policies to begin with; None for uniform ones.
    """
    number = len(forest.shape)
    if forest.shapes.device.type != "cpu":
        return make_engine(forest, leaf_values, root_reach, rule, updates, start).search(keep)
    if number <= PART:
        with one_thread():
            return make_engine(forest, leaf_values, root_reach, rule, updates, start).search(keep)

    def search_part(begin: int) -> Searched:
        part = slice(begin, begin + PART)
        reach = (root_reach[0][part], root_reach[1][part])
        small = Forest.build(forest.shapes, forest.shape[part])
        return make_engine(small, leaf_values, reach, rule, updates, start).search(keep[part])

    begins = range(0, number, PART)
    with one_thread() as threads, ThreadPoolExecutor(min(threads, len(begins))) as pool:  # one for every part
        parts = list(pool.map(search_part, begins))

    def together(rows: Callable[[Searched], Tensor]) -> Tensor:
        """Returns [R, H] of all parts: rows are ordered by level, then by subgame."""
        levels = range(forest.num_levels)
        bounds = [part.forest.bounds for part in parts]
        results = [rows(part) for part in parts]
        return torch.cat([a[b[level] : b[level + 1]] for level in levels for a, b in zip(results, bounds, strict=True)])

    return Searched(
        forest,
        root_reach,
        (torch.cat([part.values[0] for part in parts]), torch.cat([part.values[1] for part in parts])),
        together(lambda part: part.policy),
        together(lambda part: part.beliefs_policy),
        together(lambda part: part.average),
    )
