"""The arithmetic of one decision on one board, WIDE hands at a time: policies from regrets, reach, values, updates.

Policies are not kept: they follow from regrets wherever they are needed. `regret_at` is the offset of a decision's
first row; rows of its actions lie `width` apart. `instant` holds the regrets of the last iteration for rules that predict
(else it is empty), and `discount` is what regrets are multiplied by before that prediction is added.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aleator.jit import kernel
from aleator.solvers.engines.cpu.simd import WIDE, if_positive, largest, load_wide, splat_wide, store

Float32Array = npt.NDArray[np.float32]


@kernel(forceinline=True)
def _weight(regret: Float32Array, instant: Float32Array, place: int, discount: object) -> object:
    """Returns the positive part of regrets, or of their prediction."""
    weight = load_wide(regret, place)
    if len(instant) > 0:
        weight = weight * discount + load_wide(instant, place)
    return largest(weight, splat_wide(np.float32(0.0)))


@kernel(forceinline=True)
def push_reach(
    regret: Float32Array, instant: Float32Array, regret_at: int, discount: np.float32, count: int, width: int,
    reach: Float32Array, from_at: int, to_at: int, policy_sum: Float32Array, decay: np.float32,
) -> None:  # fmt: skip
    """Writes the reach after each action: the reach before times the policy that matches the regrets.

    Unless `policy_sum` is empty, it decays and the new reach is added to it: that is the sum which becomes the average.
    """
    zero, one, even = splat_wide(np.float32(0.0)), splat_wide(np.float32(1.0)), splat_wide(np.float32(count))
    factor, old_share = splat_wide(discount), splat_wide(decay)
    for i in range(0, width, WIDE):
        total = zero
        place = regret_at + i
        for _ in range(count):
            total = total + _weight(regret, instant, place, factor)
            place += width
        share = load_wide(reach, from_at + i) / if_positive(total, total, even)
        place, target = regret_at + i, to_at + i
        for _ in range(count):
            after = if_positive(total, _weight(regret, instant, place, factor), one) * share
            store(reach, target, after)
            if len(policy_sum) > 0:
                store(policy_sum, place, load_wide(policy_sum, place) * old_share + after)
            place += width
            target += width


@kernel(forceinline=True)
def update(
    regret: Float32Array, instant: Float32Array, regret_at: int, count: int, width: int, values: Float32Array,
    actions_at: int, value_at: int, discounts: npt.NDArray[np.float32], locked: bool,
) -> None:  # fmt: skip
    """Writes the value of a decision of the traverser and updates its regrets; `values[actions_at:]` are the actions' cfvs.

    A locked decision keeps its policy.
    """
    zero, one, even = splat_wide(np.float32(0.0)), splat_wide(np.float32(1.0)), splat_wide(np.float32(count))
    positive, negative, floor = splat_wide(discounts[0]), splat_wide(discounts[1]), splat_wide(discounts[3])
    nothing = splat_wide(np.float32(-1e-20))  # smaller negative regrets are dropped: denormal numbers are slow
    for i in range(0, width, WIDE):
        total = zero
        place = regret_at + i
        for _ in range(count):
            total = total + _weight(regret, instant, place, positive)
            place += width
        divisor = if_positive(total, total, even)
        inverse = one / divisor
        value = zero
        place, entry = regret_at + i, actions_at + i
        for _ in range(count):
            weight = if_positive(total, _weight(regret, instant, place, positive), one)
            share = weight * inverse
            # one step of Newton's method rounds as a division would: a pure action gets exactly 1
            value = value + (share + (weight - share * divisor) * inverse) * load_wide(values, entry)
            place += width
            entry += width
        store(values, value_at + i, value)
        if locked:
            continue
        place, entry = regret_at + i, actions_at + i
        for _ in range(count):
            gain = load_wide(values, entry) - value
            old = load_wide(regret, place)
            old = old * if_positive(old, positive, if_positive(nothing - old, negative, zero))
            store(regret, place, largest(old + gain, floor))
            if len(instant) > 0:
                store(instant, place, gain)
            place += width
            entry += width


@kernel(forceinline=True)
def average(
    policy_sum: Float32Array, sum_at: int, count: int, width: int, values: Float32Array, actions_at: int, value_at: int
) -> None:
    """Writes the value of a decision under the average policy."""
    zero, one, even = splat_wide(np.float32(0.0)), splat_wide(np.float32(1.0)), splat_wide(np.float32(count))
    for i in range(0, width, WIDE):
        total, weighted = zero, zero
        plain = zero
        place, entry = sum_at + i, actions_at + i
        for _ in range(count):
            weight, action = load_wide(policy_sum, place), load_wide(values, entry)
            total = total + weight
            weighted = weighted + weight * action
            plain = plain + action
            place += width
            entry += width
        store(values, value_at + i, if_positive(total, weighted, plain) / if_positive(total, total, even) * one)


@kernel(forceinline=True)
def best(count: int, width: int, values: Float32Array, actions_at: int, value_at: int) -> None:
    """Writes the value of the best action."""
    for i in range(0, width, WIDE):
        entry = actions_at + i
        value = load_wide(values, entry)
        for _ in range(1, count):
            entry += width
            value = largest(value, load_wide(values, entry))
        store(values, value_at + i, value)


@kernel(forceinline=True)
def add_rows(count: int, width: int, values: Float32Array, rows_at: int, value_at: int) -> None:
    """Writes the sum of `count` consecutive rows."""
    for i in range(0, width, WIDE):
        entry = rows_at + i
        value = load_wide(values, entry)
        for _ in range(1, count):
            entry += width
            value = value + load_wide(values, entry)
        store(values, value_at + i, value)
