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
        floor: regrets written to `regret_to` never fall below it.
        marked: which rows have been written to (at their first entry); empty if nobody asks.
        touched: [infostates, 2] int32: the marked rows: first entry, number of actions.
        filled: [1] how many rows of `touched` are in use.
    """

    regret: Vector
    regret_to: Vector
    policy_sum_to: Vector
    floor: float
    marked: npt.NDArray[np.bool_]
    touched: npt.NDArray[np.int32]
    filled: npt.NDArray[np.int64]


class ThreadSlices(NamedTuple):
    """What the S slices of a batch have added up so far; empty if traversals write to the regrets themselves.

    Attributes:
        regret, policy_sum: [S, entries].
        marked: [S, entries], touched: [S, infostates, 2], filled: [S, 1]; as in `Tables`.
    """

    regret: Vector
    policy_sum: Vector
    marked: npt.NDArray[np.bool_]
    touched: npt.NDArray[np.int32]
    filled: npt.NDArray[np.int64]


def new_slices(slices: int, entries: int, infostates: int, dtype: npt.DTypeLike) -> ThreadSlices:
    """Returns empty slices."""
    return ThreadSlices(
        regret=np.zeros((slices, entries), dtype),
        policy_sum=np.zeros((slices, entries), dtype),
        marked=np.zeros((slices, entries), np.bool_),
        touched=np.zeros((slices, infostates, 2), np.int32),
        filled=np.zeros((slices, 1), np.int64),
    )


@kernel()
def wide(number: int) -> int:
    """Returns a number as 64 bits, so that what it is passed to is compiled once, not for each width."""
    return np.int64(number)  # type: ignore[return-value]


@kernel()
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


@kernel()
def mark(tables: Tables, row: int, actions: int) -> None:
    """Notes that a row is written to, if somebody asks."""
    if len(tables.marked) and not tables.marked[row]:
        tables.marked[row] = True
        tables.touched[tables.filled[0], 0] = row
        tables.touched[tables.filled[0], 1] = actions
        tables.filled[0] += 1


@kernel()
def merge(slices: ThreadSlices, batch: int, tables: Tables) -> None:
    """Adds the slices' sums, divided by the size of the batch, in the order of the slices, and empties them."""
    regret, policy_sum = tables.regret_to, tables.policy_sum_to
    for s in range(len(slices.filled)):
        for offset in range(slices.filled[s, 0]):
            row = slices.touched[s, offset, 0]
            for entry in range(row, row + slices.touched[s, offset, 1]):
                regret[entry] += slices.regret[s, entry] / batch
                policy_sum[entry] += slices.policy_sum[s, entry] / batch
                slices.regret[s, entry] = 0.0
                slices.policy_sum[s, entry] = 0.0
            slices.marked[s, row] = False
    for s in range(len(slices.filled)):
        for offset in range(slices.filled[s, 0]):
            row = slices.touched[s, offset, 0]
            for entry in range(row, row + slices.touched[s, offset, 1]):
                regret[entry] = max(regret[entry], tables.floor)
        slices.filled[s, 0] = 0
