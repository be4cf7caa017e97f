"""The arithmetic of one decision on one board, WIDE hands at a time: policies from regrets, reach, values, updates.

Policies are not kept: they follow from regrets wherever they are needed. Rows of a decision's actions lie `width`
apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.jit import inner_kernel
from aleator.kernels.simd import (
    WIDE,
    if_positive,
    is_zero,
    largest,
    load_wide,
    prefetch,
    sharpened,
    smallest,
    splat_wide,
    store,
)
from aleator.solvers.engines.boards.kept import MOST_HALF, Kept, load_kept, store_kept

Float32Array = npt.NDArray[np.float32]
Instant = npt.NDArray[np.float32] | None  # regrets of the last iteration; none unless the rule predicts


@inner_kernel(forceinline=True)
def _weight(regret: Kept, instant: Instant, offset: int, discount: Any, ahead: Any, sharp: Any) -> Any:
    """Returns the positive part of regrets, or of their prediction: discounted again, plus `ahead` x the last one's.

    Where `sharp` is -1, it is taken to the power 1.5.
    """
    weight = load_kept(regret, offset)
    if instant is not None:
        weight = weight * discount + load_wide(instant, offset) * ahead
    return sharpened(weight, sharp)


@inner_kernel(forceinline=True)
def push_reach(
    regret: Kept, instant: Instant, regret_at: int, discount: np.float32, ahead: np.float32, count: int, width: int,
    sharp: bool, reach: Float32Array, from_at: int, to_at: int, policy_sum: Kept, sum_weight: np.float32, summed: bool,
) -> None:  # fmt: skip
    """Writes the reach after each action: the reach before times the policy that matches the regrets, sharply or not.

    If `summed`, it is also added to the sums of policies, times `sum_weight`; they lie as the regrets do. Where reach
    is zero, nothing is read or added.
    """
    zero, one, even = splat_wide(np.float32(0.0)), splat_wide(np.float32(1.0)), splat_wide(np.float32(count))
    factor, more, unit = splat_wide(discount), splat_wide(ahead), splat_wide(sum_weight)
    sharpen = splat_wide(np.int32(-1 if sharp else 0))
    size = count * width
    for i in range(0, width, WIDE):
        before = load_wide(reach, from_at + i)
        offset, target = regret_at + i, to_at + i
        if is_zero(before):
            for _ in range(count):
                store(reach, target, zero)
                target += width
            continue
        total = zero
        for _ in range(count):
            prefetch(regret, offset + size)  # the next decision's
            prefetch(policy_sum, offset + size)
            total = total + _weight(regret, instant, offset, factor, more, sharpen)
            offset += width
        share = before / if_positive(total, total, even)
        offset = regret_at + i
        for _ in range(count):
            after = if_positive(total, _weight(regret, instant, offset, factor, more, sharpen), one) * share
            store(reach, target, after)
            if summed and not is_zero(after):
                store_kept(policy_sum, offset, load_kept(policy_sum, offset) + after * unit)
            offset += width
            target += width


@inner_kernel(forceinline=True)
def shrink_sums(policy_sum: Kept, sum_at: int, size: int, factor: np.float32) -> None:
    """Multiplies the sums of policies of a decision."""
    multiple = splat_wide(factor)
    for i in range(sum_at, sum_at + size, WIDE):
        store_kept(policy_sum, i, load_kept(policy_sum, i) * multiple)


@inner_kernel(forceinline=True)
def _update(
    regret: Kept, instant: Instant, regret_at: int, count: int, width: int, values: Float32Array, actions_at: int,
    value_at: int, discounts: Float32Array, sharp: bool, locked: bool,
) -> None:  # fmt: skip
    zero, one, even = splat_wide(np.float32(0.0)), splat_wide(np.float32(1.0)), splat_wide(np.float32(count))
    positive, negative, floor = splat_wide(discounts[0]), splat_wide(discounts[1]), splat_wide(discounts[3])
    ahead = one if locked else positive
    sharpen = splat_wide(np.int32(-1 if sharp and not locked else 0))
    ceiling, size = splat_wide(MOST_HALF), count * width
    nothing = splat_wide(np.float32(-1e-20))  # smaller negative regrets are dropped: denormal numbers are slow
    for i in range(0, width, WIDE):
        total = zero
        offset = regret_at + i
        for _ in range(count):
            prefetch(regret, offset - size)  # the next decision's: they are taken from the last to the first
            total = total + _weight(regret, instant, offset, ahead, one, sharpen)
            offset += width
        divisor = if_positive(total, total, even)
        inverse = one / divisor
        value = zero
        offset, entry = regret_at + i, actions_at + i
        for _ in range(count):
            weight = if_positive(total, _weight(regret, instant, offset, ahead, one, sharpen), one)
            share = weight * inverse
            # one step of Newton's method rounds as a division would: a pure action gets exactly 1
            value = value + (share + (weight - share * divisor) * inverse) * load_wide(values, entry)
            offset += width
            entry += width
        store(values, value_at + i, value)
        if locked:
            continue
        offset, entry = regret_at + i, actions_at + i
        for _ in range(count):
            gain = load_wide(values, entry) - value
            old = load_kept(regret, offset)
            kept = old * if_positive(old, positive, if_positive(nothing - old, negative, zero))
            new = largest(kept + gain, floor)
            if regret.itemsize == 2:
                new = smallest(new, ceiling)
            store_kept(regret, offset, new)
            if instant is not None:
                store(instant, offset, gain)
            offset += width
            entry += width


@inner_kernel(forceinline=True)
def update(
    regret: Kept, instant: Instant, regret_at: int, count: int, width: int, values: Float32Array, actions_at: int,
    value_at: int, discounts: Float32Array, sharp: bool, locked: bool,
) -> None:  # fmt: skip
    """Writes the value of a decision of the traverser and updates its regrets; `values[actions_at:]` has action cfvs.

    A locked decision keeps its policy. With a number of actions that is known when it is compiled, all stay in
    registers.
    """
    if count == 2:
        _update(
            regret, instant, regret_at, 2, width, values, actions_at, value_at, discounts, sharp, locked,
        )  # fmt: skip
    elif count == 3:
        _update(
            regret, instant, regret_at, 3, width, values, actions_at, value_at, discounts, sharp, locked,
        )  # fmt: skip
    elif count == 4:
        _update(
            regret, instant, regret_at, 4, width, values, actions_at, value_at, discounts, sharp, locked,
        )  # fmt: skip
    else:
        _update(
            regret, instant, regret_at, count, width, values, actions_at, value_at, discounts, sharp,
            locked,
        )  # fmt: skip


@inner_kernel(forceinline=True)
def average(
    policy_sum: Kept, sum_at: int, count: int, width: int, values: Float32Array, actions_at: int, value_at: int
) -> None:  # fmt: skip
    """Writes the value of a decision under the average policy."""
    zero, even = splat_wide(np.float32(0.0)), splat_wide(np.float32(count))
    for i in range(0, width, WIDE):
        total, weighted, plain = zero, zero, zero
        offset, entry = sum_at + i, actions_at + i
        for _ in range(count):
            weight, action = load_kept(policy_sum, offset), load_wide(values, entry)
            total = total + weight
            weighted = weighted + weight * action
            plain = plain + action
            offset += width
            entry += width
        store(values, value_at + i, if_positive(total, weighted, plain) / if_positive(total, total, even))


@inner_kernel(forceinline=True)
def best(count: int, width: int, values: Float32Array, actions_at: int, value_at: int) -> None:
    """Writes the value of the best action."""
    for i in range(0, width, WIDE):
        entry = actions_at + i
        value = load_wide(values, entry)
        for _ in range(1, count):
            entry += width
            value = largest(value, load_wide(values, entry))
        store(values, value_at + i, value)


@inner_kernel(forceinline=True)
def add_rows(count: int, width: int, values: Float32Array, rows_at: int, value_at: int) -> None:
    """Writes the sum of `count` consecutive rows."""
    for i in range(0, width, WIDE):
        entry = rows_at + i
        value = load_wide(values, entry)
        for _ in range(1, count):
            entry += width
            value = value + load_wide(values, entry)
        store(values, value_at + i, value)
