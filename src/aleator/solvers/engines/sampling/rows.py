"""Rows of regrets: regret matching, and tables that many traversals write to before they are merged."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.jit import kernel

Vector = npt.NDArray[Any]


class Tables(NamedTuple):
    """What traversals read and write; vectors have one entry per action of each infostate.

    Attributes:
        regret: read only: cumulative regrets, from which current policies follow.
        regret_to: sampled regrets are added here; it may be `regret` itself.
        policy_sum_to: weighted policies are added here.
        marked: which rows have been written to (at their first entry); empty if nobody asks.
        touched: [infostates, 2] the marked rows: first entry, number of actions.
        count: [1] how many rows are marked.
    """

    regret: Vector
    regret_to: Vector
    policy_sum_to: Vector
    marked: npt.NDArray[np.bool_]
    touched: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]


@kernel(inline="always")
def match(
    regret: Vector, row: int, actions: int, legal: npt.NDArray[np.bool_], restricted: bool, policy: FloatArray, at: int
) -> None:
    """Writes to row `at` of `policy` the policy proportional to positive regrets, uniform where there are none."""
    total = 0.0
    for action in range(actions):
        positive = max(regret[row + action], 0.0)
        policy[at, action] = positive
        total += positive
    if total > 0.0:
        for action in range(actions):
            policy[at, action] /= total
        return
    allowed = actions
    if restricted:
        allowed = 0
        for action in range(actions):
            allowed += legal[row + action]
    for action in range(actions):
        policy[at, action] = 1.0 / allowed if not restricted or legal[row + action] else 0.0


@kernel(inline="always")
def mark(tables: Tables, row: int, actions: int) -> None:
    """Notes that a row is written to."""
    if len(tables.marked) and not tables.marked[row]:
        tables.marked[row] = True
        tables.touched[tables.count[0], 0] = row
        tables.touched[tables.count[0], 1] = actions
        tables.count[0] += 1
