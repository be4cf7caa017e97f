"""The arithmetic of one node: kernels on a row of hands or a block [A, H], given by offsets into flat vectors.

`width` is the padded number of hands, so that a block's rows lie `width` apart; `count` is the number of actions (or
children). `legal` is a policy-shaped vector of 1 and 0; an empty one stands for "everything is legal".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aleator.games.base import FloatArray
from aleator.jit import kernel
from aleator.kernels.simd import LANES, gather, if_positive, largest, load, splat, store
from aleator.solvers.engines.cpu.layout import Index, Places, Vector


@kernel(forceinline=True)
def apply_matrix(
    matrix: Vector,
    matrix_at: int,
    rows: int,
    reach: Vector,
    reach_at: int,
    stake: float,
    values: Vector,
    at: int,
    width: int,
) -> None:
    """Writes values = stake x reach [rows] @ matrix [rows, width]."""
    factor = splat(values.dtype.type(stake))
    for i in range(0, width, LANES):
        value = splat(values.dtype.type(0.0))
        entry = matrix_at + i
        for row in range(rows):
            value = value + splat(reach[reach_at + row]) * load(matrix, entry)
            entry += width
        store(values, at + i, value * factor)


@kernel(forceinline=True)
def apply_sparse(
    slices: Index, slice_at: int, columns: Places, entries: Vector, reach: Vector, reach_at: int, stake: float,
    values: Vector, at: int, width: int,
) -> None:  # fmt: skip
    """Writes values [width] = stake x sparse matrix @ reach; in slices of LANES rows (`layout.SparseSlices`)."""
    factor = splat(values.dtype.type(stake))
    for i in range(0, width, LANES):
        value = splat(values.dtype.type(0.0))
        for k in range(slices[slice_at], slices[slice_at + 1], LANES):
            value = value + gather(reach, reach_at, columns, k) * load(entries, k)
        store(values, at + i, value * factor)
        slice_at += 1


@kernel(forceinline=True)
def sum_rows(values: Vector, rows_at: int, count: int, at: int, width: int) -> None:
    """Writes the sum of `count` consecutive rows."""
    for i in range(0, width, LANES):
        entry = rows_at + i
        value = load(values, entry)
        for _ in range(1, count):
            entry += width
            value = value + load(values, entry)
        store(values, at + i, value)


@kernel(forceinline=True)
def collect(slices: Index, slice_at: int, places: Places, values: Vector, to: Vector, to_at: int, size: int) -> None:
    """Writes to each of `size` entries the sum of the values of those children's hands that come from it."""
    for i in range(0, size, LANES):
        value = splat(values.dtype.type(0.0))
        for k in range(slices[slice_at], slices[slice_at + 1], LANES):
            value = value + gather(values, 0, places, k)
        store(to, to_at + i, value)
        slice_at += 1


@kernel(forceinline=True)
def gather_row(reach: Vector, origin: Places, origin_at: int, to_at: int, width: int) -> None:
    """Writes a child's row from the places of its hands in the parent."""
    for i in range(0, width, LANES):
        store(reach, to_at + i, gather(reach, 0, origin, origin_at + i))


@kernel(forceinline=True)
def update_regrets(
    regret: Vector, policy: Vector, reach: Vector, policy_sum: Vector, instant: Vector, legal: Vector, block: int,
    actions: Vector, actions_at: int, values: Vector, at: int, count: int, width: int, discounts: FloatArray,
) -> None:  # fmt: skip
    """Writes the cfv of a decision of the traverser, updates regrets and the sum of policies, writes the next policy.

    `actions[actions_at:]` are the cfvs [A, H] of the actions; `discounts` is a row of `RegretRule.schedule`.
    """
    number = values.dtype.type
    zero, one = splat(number(0.0)), splat(number(1.0))
    positive, negative = splat(number(discounts[0])), splat(number(discounts[1]))
    decay, floor = splat(number(discounts[2])), splat(number(discounts[3]))
    prediction = splat(number(discounts[4]))
    nothing = splat(number(-1e-30))  # negative regrets smaller than this are dropped: denormal numbers are slow
    for i in range(0, width, LANES):
        value = zero
        entry, offset = actions_at + i, block + i
        for _ in range(count):
            value = value + load(policy, offset) * load(actions, entry)
            entry += width
            offset += width
        store(values, at + i, value)
        entry, offset = actions_at + i, block + i
        total, choices = zero, zero
        for _ in range(count):
            gain = load(actions, entry) - value
            if len(legal) > 0:
                gain = if_positive(load(legal, offset), gain, zero)
            old = load(regret, offset)
            old = old * if_positive(old, positive, if_positive(nothing - old, negative, zero))
            new = largest(old + gain, floor)
            store(regret, offset, new)
            store(policy_sum, offset, load(policy_sum, offset) * decay + load(reach, offset))
            if len(instant) > 0:
                store(instant, offset, gain)
                new = new * prediction + gain
            weight = largest(new, zero)
            total = total + weight
            choices = choices + (load(legal, offset) if len(legal) > 0 else one)
            store(policy, offset, weight)
            entry += width
            offset += width
        _normalise(policy, block + i, legal, count, width, total, choices)


@kernel(forceinline=True)
def _normalise(policy: Vector, offset: int, legal: Vector, count: int, width: int, total: Any, choices: Any) -> None:
    """Divides LANES columns of weights by their totals; where those are zero every legal action gets the same.

    Totals so small that their inverse would overflow count as zero.
    """
    number = policy.dtype.type
    zero, one = splat(number(0.0)), splat(number(1.0))
    smallest = splat(number(1e-37 if policy.itemsize == 4 else 1e-300))
    total = if_positive(total - smallest, total, zero)
    divisor = if_positive(total, total, if_positive(choices, choices, one))
    inverse = one / divisor
    for _ in range(count):
        weight = if_positive(total, load(policy, offset), load(legal, offset) if len(legal) > 0 else one)
        share = weight * inverse
        # one step of Newton's method rounds as a division would: a pure action gets exactly 1
        store(policy, offset, share + (weight - share * divisor) * inverse)
        offset += width


@kernel(forceinline=True)
def update_moments(values: Vector, at: int, hands: int, moments: Vector, infostate: int, iteration: int) -> None:
    """Updates mean and sum of squared deviations of each hand's cfv (Welford); moments is [2, infostates]."""
    size = len(moments) // 2
    for hand in range(hands):
        value = values[at + hand]
        change = value - moments[infostate + hand]
        moments[infostate + hand] += change / iteration
        moments[size + infostate + hand] += change * (value - moments[infostate + hand])


@kernel(forceinline=True)
def average_actions(
    policy: Vector, block: int, actions: Vector, actions_at: int, values: Vector, at: int, count: int, width: int
) -> None:
    """Writes the cfv of a decision under a fixed policy."""
    for i in range(0, width, LANES):
        value = splat(values.dtype.type(0.0))
        entry, offset = actions_at + i, block + i
        for _ in range(count):
            value = value + load(policy, offset) * load(actions, entry)
            entry += width
            offset += width
        store(values, at + i, value)


@kernel(forceinline=True)
def best_actions(
    policy: Vector,
    legal: Vector,
    block: int,
    actions: Vector,
    actions_at: int,
    values: Vector,
    at: int,
    count: int,
    width: int,
) -> None:
    """Writes the cfv of the best action and, unless `policy` is empty, the policy that plays the first best one."""
    number = values.dtype.type
    zero, least = splat(number(0.0)), splat(number(-np.inf))
    for i in range(0, width, LANES):
        best = least
        entry, offset = actions_at + i, block + i
        for _ in range(count):
            value = load(actions, entry)
            if len(legal) > 0:
                value = if_positive(load(legal, offset), value, least)
                store(actions, entry, value)
            best = largest(value, best)
            entry += width
            offset += width
        if len(policy) > 0:
            left = splat(number(1.0))
            entry, offset = actions_at + i, block + i
            for _ in range(count):
                chosen = if_positive(best - load(actions, entry), zero, left)
                left = left - chosen
                store(policy, offset, chosen)
                entry += width
                offset += width
        if len(legal) > 0:  # padding has no legal action; −∞ − −∞ is NaN, which is not positive
            best = if_positive(best - least, best, zero)
        store(values, at + i, best)


@kernel(forceinline=True)
def match_regrets(regret: Vector, legal: Vector, policy: Vector, block: int, count: int, width: int) -> None:
    """Writes the policy proportional to positive regrets, uniform over legal actions where there are none."""
    number = policy.dtype.type
    zero, one = splat(number(0.0)), splat(number(1.0))
    for i in range(0, width, LANES):
        total, choices = zero, zero
        offset = block + i
        for _ in range(count):
            weight = largest(load(regret, offset), zero)
            total = total + weight
            choices = choices + (load(legal, offset) if len(legal) > 0 else one)
            store(policy, offset, weight)
            offset += width
        _normalise(policy, block + i, legal, count, width, total, choices)


@kernel(forceinline=True)
def sharpen(policy: Vector, block: int, count: int, width: int, hands: int) -> None:
    """Makes a policy proportional to its probabilities, and so to the weights behind them, to the power 1.5."""
    end = block + count * width
    for hand in range(hands):
        total = policy.dtype.type(0.0)
        for offset in range(block + hand, end, width):
            policy[offset] *= np.sqrt(policy[offset])
            total += policy[offset]
        for offset in range(block + hand, end, width):
            policy[offset] /= total


@kernel(forceinline=True)
def hedge(
    regret: Vector, moments: Vector, infostate: int, legal: Vector, policy: Vector, block: int, count: int, width: int,
    hands: int, iteration: int,
) -> None:  # fmt: skip
    """Writes the policy of Hedge: proportional to exp(step size x regret), with the step size of thesis 3.4.3."""
    size, end = len(moments) // 2, block + count * width
    for hand in range(hands):
        best, choices = -np.inf, 0
        for offset in range(block + hand, end, width):
            if len(legal) == 0 or legal[offset] > 0:
                best, choices = max(best, regret[offset]), choices + 1
        mean, squares = np.float64(moments[infostate + hand]), np.float64(moments[size + infostate + hand])
        # what is below the first is rounding; the second is there for values that are zero
        variance = max(squares / max(iteration, 1), 1e-30 * mean * mean, 1e-300)
        step = np.sqrt(np.log(max(choices, 1)) / (9.0 * variance * max(iteration, 1)))
        total = 0.0
        for offset in range(block + hand, end, width):
            policy[offset] = np.exp(step * (regret[offset] - best)) if len(legal) == 0 or legal[offset] > 0 else 0.0
            total += policy[offset]
        for offset in range(block + hand, end, width):
            policy[offset] /= total


@kernel(forceinline=True)
def push_reach(policy: Vector, reach: Vector, reach_at: int, block: int, count: int, width: int) -> None:
    """Writes the reach after each action: the reach before it times the action's probability."""
    for i in range(0, width, LANES):
        before = load(reach, reach_at + i)
        offset = block + i
        for _ in range(count):
            store(reach, offset, before * load(policy, offset))
            offset += width
