"""The arithmetic of one decision on one board, WIDE hands at a time: policies from regrets, reach, values, updates.

Policies are not kept: they follow from regrets wherever they are needed. Rows of a decision's actions lie `width` apart.
Regrets and sums are kept as float32, or as int16 times a scale per decision. In 16 bits, new rows are written by the scale of
the last iteration, and also to `rows` (float32), from which they are written again if that scale turns out not to suit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.jit import kernel
from aleator.solvers.engines.cpu.simd import (
    WIDE,
    if_positive,
    is_zero,
    largest,
    load_wide,
    peak,
    read_scaled,
    sharpened,
    splat_wide,
    store,
    write_scaled,
)

Float32Array = npt.NDArray[np.float32]
Kept = npt.NDArray[Any]  # float32 or int16
Place = int | np.int64

LARGEST = np.float32(32767.0)
SMALLEST = np.float32(1e-30)  # the smallest scale of sums
ROOM = np.float32(0.5)  # sums of 16 bits may double until their scale is changed
SLACK = np.float32(0.75)  # numbers may grow by a third until their scale is changed


@kernel(forceinline=True)
def _weight(regret: Kept, scale: Any, instant: Float32Array, place: int, discount: Any, sharp: Any) -> Any:
    """Returns the positive part of regrets, or of their prediction: discounted once more, plus the last iteration's.

    Where `sharp` is -1, it is taken to the power 1.5.
    """
    weight = read_scaled(regret, place, scale)
    if len(instant) > 0:
        weight = weight * discount + load_wide(instant, place)
    return sharpened(weight, sharp)


@kernel(forceinline=True)
def _inverse(scale: Any) -> Any:
    """Returns what numbers are multiplied by before they are rounded to 16 bits."""
    return splat_wide(np.float32(1.0) / scale if scale > np.float32(0.0) else np.float32(0.0))


@kernel(forceinline=True)
def _compress(
    rows: Float32Array, kept: Kept, at: int, size: int, most: Any, scales: Float32Array, scale_at: Place
) -> None:
    """Writes rows to 16 bits once more, if the scale by which they have been written does not suit their largest entry."""
    top, limit = peak(most), scales[scale_at] * LARGEST
    if top > limit or top < limit * SLACK * SLACK:
        scale = top / (LARGEST * SLACK) if top > np.float32(1e-30) else np.float32(0.0)
        scales[scale_at] = scale
        inverse = _inverse(scale)
        for i in range(0, size, WIDE):
            write_scaled(kept, at + i, load_wide(rows, i), inverse)


@kernel(forceinline=True)
def push_reach(
    regret: Kept, scales: Float32Array, scale_at: Place, instant: Float32Array, regret_at: int, discount: np.float32, count: int,
    width: int, sharp: bool, reach: Float32Array, from_at: int, to_at: int, policy_sum: Kept, sum_scale: Any, summed: bool,
) -> None:  # fmt: skip
    """Writes the reach after each action: the reach before times the policy that matches the regrets, sharply or not.

    If `summed`, it is also added to the sums of policies, which lie as the regrets do and count in units of `sum_scale`. Where
    reach is zero, nothing is read or added.
    """
    zero, one, even = splat_wide(np.float32(0.0)), splat_wide(np.float32(1.0)), splat_wide(np.float32(count))
    factor, scale, unit = splat_wide(discount), splat_wide(scales[scale_at]), _inverse(sum_scale)
    sharpen = splat_wide(np.int32(-1 if sharp else 0))
    for i in range(0, width, WIDE):
        before = load_wide(reach, from_at + i)
        place, target = regret_at + i, to_at + i
        if is_zero(before):
            for _ in range(count):
                store(reach, target, zero)
                target += width
            continue
        total = zero
        for _ in range(count):
            total = total + _weight(regret, scale, instant, place, factor, sharpen)
            place += width
        share = before / if_positive(total, total, even)
        place = regret_at + i
        for _ in range(count):
            after = if_positive(total, _weight(regret, scale, instant, place, factor, sharpen), one) * share
            store(reach, target, after)
            if summed and not is_zero(after):
                write_scaled(policy_sum, place, read_scaled(policy_sum, place, one) + after * unit, one)
            place += width
            target += width


@kernel(forceinline=True)
def decay_sums(
    policy_sum: Kept, scales: Float32Array, peaks: Float32Array, scale_at: Place, sum_at: int, size: int, decay: np.float32,
    reach: Float32Array, reach_at: int, width: int,
) -> Any:  # fmt: skip
    """Returns the new scale of a decision's sums of policies: decay is a matter of the scale, until that does not suit.

    In float32 that is when it gets too small. In 16 bits it is when the sums might not hold the reach that is about to be
    added; `peaks` bounds the largest of them.
    """
    old, one = scales[scale_at], splat_wide(np.float32(1.0))
    scale = old * decay
    factor, rewrite = scale, scale < SMALLEST
    if policy_sum.itemsize == 2:
        most = splat_wide(np.float32(0.0))
        for i in range(0, width, WIDE):
            most = largest(most, load_wide(reach, reach_at + i))
        more = peak(most)
        bound = peaks[scale_at] * decay + more
        rewrite = bound > scale * LARGEST
        if rewrite:
            most = splat_wide(np.float32(0.0))
            for i in range(0, size, WIDE):
                most = largest(most, read_scaled(policy_sum, sum_at + i, one))
            bound = peak(most) * scale + more
            fitting = bound / (LARGEST * ROOM) if bound > SMALLEST else np.float32(0.0)
            factor = scale / fitting if fitting > np.float32(0.0) else np.float32(0.0)
            scale = fitting
        peaks[scale_at] = bound
    elif rewrite:
        scale = np.float32(1.0)
    if rewrite:
        multiple = splat_wide(factor)
        for i in range(0, size, WIDE):
            write_scaled(policy_sum, sum_at + i, read_scaled(policy_sum, sum_at + i, one) * multiple, one)
    scales[scale_at] = scale
    return scale


@kernel(forceinline=True)
def _update(
    regret: Kept, scales: Float32Array, scale_at: Place, instant: Float32Array, regret_at: int, count: int, width: int,
    values: Float32Array, actions_at: int, value_at: int, discounts: Float32Array, sharp: bool, locked: bool, rows: Float32Array,
) -> None:  # fmt: skip
    zero, one, even = splat_wide(np.float32(0.0)), splat_wide(np.float32(1.0)), splat_wide(np.float32(count))
    positive, negative, floor = splat_wide(discounts[0]), splat_wide(discounts[1]), splat_wide(discounts[3])
    scale, shrunk, most = splat_wide(scales[scale_at]), _inverse(scales[scale_at]), zero
    ahead = one if locked else positive
    sharpen = splat_wide(np.int32(-1 if sharp and not locked else 0))
    nothing = splat_wide(np.float32(-1e-20))  # smaller negative regrets are dropped: denormal numbers are slow
    for i in range(0, width, WIDE):
        total = zero
        place = regret_at + i
        for _ in range(count):
            total = total + _weight(regret, scale, instant, place, ahead, sharpen)
            place += width
        divisor = if_positive(total, total, even)
        inverse = one / divisor
        value = zero
        place, entry = regret_at + i, actions_at + i
        for _ in range(count):
            weight = if_positive(total, _weight(regret, scale, instant, place, ahead, sharpen), one)
            share = weight * inverse
            # one step of Newton's method rounds as a division would: a pure action gets exactly 1
            value = value + (share + (weight - share * divisor) * inverse) * load_wide(values, entry)
            place += width
            entry += width
        store(values, value_at + i, value)
        if locked:
            continue
        place, entry, row = regret_at + i, actions_at + i, i
        for _ in range(count):
            gain = load_wide(values, entry) - value
            old = read_scaled(regret, place, scale)
            old = old * if_positive(old, positive, if_positive(nothing - old, negative, zero))
            new = largest(old + gain, floor)
            write_scaled(regret, place, new, shrunk)
            if regret.itemsize == 2:
                store(rows, row, new)
                most = largest(most, largest(new, zero - new))
            if len(instant) > 0:
                store(instant, place, gain)
            place += width
            entry += width
            row += width
    if regret.itemsize == 2 and not locked:
        _compress(rows, regret, regret_at, count * width, most, scales, scale_at)


@kernel(forceinline=True)
def update(
    regret: Kept, scales: Float32Array, scale_at: Place, instant: Float32Array, regret_at: int, count: int, width: int,
    values: Float32Array, actions_at: int, value_at: int, discounts: Float32Array, sharp: bool, locked: bool, rows: Float32Array,
) -> None:  # fmt: skip
    """Writes the value of a decision of the traverser and updates its regrets; `values[actions_at:]` are the actions' cfvs.

    A locked decision keeps its policy. With a number of actions that is known when it is compiled, all stay in registers.
    """
    if count == 2:
        _update(
            regret, scales, scale_at, instant, regret_at, 2, width, values, actions_at, value_at, discounts, sharp, locked, rows,
        )  # fmt: skip
    elif count == 3:
        _update(
            regret, scales, scale_at, instant, regret_at, 3, width, values, actions_at, value_at, discounts, sharp, locked, rows,
        )  # fmt: skip
    elif count == 4:
        _update(
            regret, scales, scale_at, instant, regret_at, 4, width, values, actions_at, value_at, discounts, sharp, locked, rows,
        )  # fmt: skip
    else:
        _update(
            regret, scales, scale_at, instant, regret_at, count, width, values, actions_at, value_at, discounts, sharp,
            locked, rows,
        )  # fmt: skip


@kernel(forceinline=True)
def average(
    policy_sum: Kept, scales: Float32Array, scale_at: Place, sum_at: int, count: int, width: int, values: Float32Array,
    actions_at: int, value_at: int,
) -> None:  # fmt: skip
    """Writes the value of a decision under the average policy."""
    zero, even, scale = splat_wide(np.float32(0.0)), splat_wide(np.float32(count)), splat_wide(scales[scale_at])
    for i in range(0, width, WIDE):
        total, weighted, plain = zero, zero, zero
        place, entry = sum_at + i, actions_at + i
        for _ in range(count):
            weight, action = read_scaled(policy_sum, place, scale), load_wide(values, entry)
            total = total + weight
            weighted = weighted + weight * action
            plain = plain + action
            place += width
            entry += width
        store(values, value_at + i, if_positive(total, weighted, plain) / if_positive(total, total, even))


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
