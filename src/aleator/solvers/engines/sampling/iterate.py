"""Iterations: batches of traversals for each player in turn, merged in a fixed order, discounted by periods.

A traversal updates each row of the traverser at most once, so that alone it may write to the regrets themselves. The
traversals of a larger batch, and those of chance sampling, which can come to a row twice, all look at the same regrets:
they write to slices of their own, which are merged when all are done. A batch is cut into the same slices whatever the
number of threads, so that sums are taken in the same order and results are equal bit by bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from aleator.jit import kernel
from aleator.solvers.engines.sampling.histories import Histories
from aleator.solvers.engines.sampling.public import PublicWork, traverse_public
from aleator.solvers.engines.sampling.random import stream
from aleator.solvers.engines.sampling.rows import Tables, ThreadSlices, merge
from aleator.solvers.engines.sampling.walk import Options, traverse

NO_DISCOUNT, LINEAR, INITIAL = 0, 1, 2
_INITIAL_FACTOR = 0.1


class Plan(NamedTuple):
    """What holds for all iterations.

    Attributes:
        seed: of all random numbers.
        batch: traversals per player and iteration.
        gamma, unit: iteration t has weight (t / unit)^gamma in the average policy.
        discount: NO_DISCOUNT, LINEAR or INITIAL.
        period: of the discount, in nodes touched.
    """

    seed: np.uint64
    batch: int
    gamma: float
    unit: float
    discount: int
    period: int


class Span(NamedTuple):
    """A part of the work.

    Attributes:
        iteration, iterations: number `iteration` and those that follow.
        traverser, traversers: players `traverser` to `traversers` - 1.
        first, step: slices `first`, `first + step`, ... of each batch. With a step of 1 it is all of them, and they are
            merged; otherwise that is left to the caller.
    """

    iteration: int
    iterations: int
    traverser: int
    traversers: int
    first: int
    step: int


def sample(
    game: Histories, tables: Tables, work: Any, options: Options, traverser: int, state: np.uint64, share: float
) -> int:
    """Runs one traversal, of the kind that `work` is for, and returns how many nodes it touched."""
    if isinstance(work, PublicWork):
        return traverse_public(game, tables, work, traverser, state, share)
    return traverse(game, tables, work, options, traverser, state, share)


@overload(sample, jit_options={"error_model": "numpy", "_nrt": False, "fastmath": {"contract"}})  # type: ignore[untyped-decorator]
def _sample(game: Any, tables: Any, work: Any, options: Any, traverser: Any, state: Any, share: Any) -> Any:
    """Returns what stands for `sample` in compiled code: the kind of work decides."""
    if work.instance_class is PublicWork:

        def public(game: Any, tables: Any, work: Any, options: Any, traverser: Any, state: Any, share: Any) -> Any:
            return traverse_public(game, tables, work, traverser, state, share)

        return public

    def single(game: Any, tables: Any, work: Any, options: Any, traverser: Any, state: Any, share: Any) -> Any:
        return traverse(game, tables, work, options, traverser, state, share)

    return single


@kernel()
def iterate(
    game: Histories,
    tables: Tables,
    slices: ThreadSlices,
    work: Any,
    options: Options,
    plan: Plan,
    span: Span,
    touched: int,
) -> int:
    """Runs a part of the work and returns how many nodes have been touched, `touched` before."""
    count = max(len(slices.filled), 1)
    for t in range(span.iteration, span.iteration + span.iterations):
        before, share = touched, (t / plan.unit) ** plan.gamma
        for traverser in range(span.traverser, span.traversers):
            for s in range(span.first, count, span.step):
                to = tables
                if len(slices.filled):
                    regret, policy_sum, marked = slices.regret[s], slices.policy_sum[s], slices.marked[s]
                    to = Tables(tables.regret, regret, policy_sum, -np.inf, marked, slices.touched[s], slices.filled[s])
                for number in range(s * plan.batch // count, (s + 1) * plan.batch // count):
                    state = stream(plan.seed, t, traverser, number)
                    touched += sample(game, to, work, options, traverser, state, share)
            if span.step == 1:
                merge(slices, plan.batch, tables)
        if span.step == 1:
            discount(tables, plan, before, touched)
    return touched


@kernel()
def discount(tables: Tables, plan: Plan, before: int, touched: int) -> None:
    """Multiplies regrets and sums of policies by n / (n + 1) if period n has ended, or by 1/10 if the first has."""
    if plan.discount == NO_DISCOUNT:
        return
    factor = 1.0
    for n in range(before // plan.period + 1, touched // plan.period + 1):
        if plan.discount == LINEAR:
            factor *= n / (n + 1.0)
        elif n == 1:
            factor *= _INITIAL_FACTOR
    if factor < 1.0:
        for entry in range(len(tables.regret)):
            tables.regret[entry] *= factor
            tables.policy_sum_to[entry] *= factor
