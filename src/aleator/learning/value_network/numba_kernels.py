"""A value network compiled for the CPU: a few rows go through all layers at a time and stay in the first cache.

Algorithm:
    GELU(x) = x (1/2 + tanh(u) / 2) with u = sqrt(2 / pi) (x + 0.044715 x^3). tanh(u) / 2 = x P(x^2), where P is the
    polynomial that agrees with it at the Chebyshev points of |x| <= 5; beyond, it is what it is at 5, which is 1/2 in
    float32. There is no division and no branch. The error is below 5e-7 max(1, |x|).
    LayerNorm subtracts a row's mean. That is linear, so that it can be done to the weights and biases before: rows that
    come here have mean 0. Rows are padded with units that are 0 behind every layer.

Status: tests/learning/value_network/test_numba_network.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Chebyshev, chebyshev

from aleator.jit import inner_kernel, kernel
from aleator.kernels.simd import WIDE, largest, load_wide, polynomial, smallest, splat_wide, store, total
from aleator.kernels.tiles import TILE, multiply

Array = npt.NDArray[Any]

_LARGEST, _DEGREE = 5.0, 12


def _half_tanh(scaled: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Returns tanh(u) / 2x, given 2 (x / _LARGEST)^2 - 1."""
    x = _LARGEST * np.sqrt((scaled + 1) / 2)
    return np.asarray(np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3)) / (2 * x))


_half_tanh_polynomial = polynomial(
    [float(number) for number in chebyshev.cheb2poly(Chebyshev.interpolate(_half_tanh, _DEGREE).coef)]
)
_TOP, _BOTTOM, _SCALE = np.float32(_LARGEST), np.float32(-_LARGEST), np.float32(2 / _LARGEST**2)
BLOCK = 4 * WIDE  # columns of a row come in multiples of this
_ONE, _HALF, _TINY = np.float32(1), np.float32(0.5), np.float32(1e-5)


@inner_kernel()
def _product(one: Array, begin: int, other: Array, start: int, width: int) -> Any:
    """Returns the sum of one[begin + i] x other[start + i] for i below `width`, a multiple of BLOCK."""
    a = b = c = d = splat_wide(np.float32(0))  # a single sum would wait for itself
    for at in range(0, width, BLOCK):
        a = a + load_wide(one, begin + at) * load_wide(other, start + at)
        b = b + load_wide(one, begin + at + WIDE) * load_wide(other, start + at + WIDE)
        c = c + load_wide(one, begin + at + 2 * WIDE) * load_wide(other, start + at + 2 * WIDE)
        d = d + load_wide(one, begin + at + 3 * WIDE) * load_wide(other, start + at + 3 * WIDE)
    return total((a + b) + (c + d))


@inner_kernel()
def _activate(rows: Array, units: int, norm: bool, scale: Array, shift: Array, factors: Array) -> None:
    """Applies LayerNorm (if `norm`) and GELU to rows [TILE, W] in place.

    Args:
        rows: float32, with mean 0 if `norm`.
        units: how many columns are no padding.
        norm: whether.
        scale, shift: [W] of LayerNorm.
        factors: [TILE] memory.
    """
    width = rows.shape[1]
    if norm:
        for row in range(TILE):  # all before the first is needed: a root takes its time
            spread = _product(rows, row * width, rows, row * width, width) / np.float32(units)
            factors[row] = _ONE / np.sqrt(spread + _TINY)
    for row in range(TILE):
        factor = splat_wide(factors[row])
        for at in range(0, width, WIDE):
            x = load_wide(rows, row * width + at)
            if norm:
                x = x * factor * load_wide(scale, at) + load_wide(shift, at)
            inside = smallest(largest(x, splat_wide(_BOTTOM)), splat_wide(_TOP))
            half_tanh = _half_tanh_polynomial(inside * inside * splat_wide(_SCALE) - splat_wide(_ONE))
            store(rows, row * width + at, x * (inside * half_tanh + splat_wide(_HALF)))


@kernel()
def perceive(
    rows: Array, inputs: Array, begin: Array, begins: Array, layers: tuple[Array, ...], units: int, norm: bool,
    scratch: tuple[Array, ...], values: Array,
) -> None:  # fmt: skip
    """Writes what the network says about some rows of `inputs` to the same rows of `values`.

    Layers have W columns, a multiple of BLOCK.

    Args:
        rows: [n] which rows.
        inputs: [Y, K] what the first layer multiplies by its weights.
        begin: [Y] which of `begins` the product is added to.
        begins: [u, W].
        layers: packed weights [k, K, COLUMNS] of the first layer and [L - 1, k, W, COLUMNS] of the other ones, whose
            biases are [L - 1, W]; weights [H, W] and biases [H] of the output; scales and shifts [L, W] of LayerNorm.
        units: how many columns are no padding.
        norm: with LayerNorm.
        scratch: [TILE, K], [TILE, W], [TILE, W] and [TILE] of memory.
        values: [Y, H] where the result is written.
    """
    first, others, biases, output, output_bias, scales, shifts = layers
    tile, one, other, factors = scratch
    width = one.shape[1]
    for start in range(0, len(rows), TILE):
        count = min(TILE, len(rows) - start)
        for offset in range(count):
            row = rows[start + offset]
            for at in range(inputs.shape[1]):
                tile[offset, at] = inputs[row, at]
            for at in range(0, width, WIDE):
                store(one, offset * width + at, load_wide(begins, begin[row] * width + at))
        multiply(tile, first, one, width, one)
        _activate(one, units, norm, scales[0], shifts[0], factors)
        for layer in range(len(others)):
            multiply(one, others[layer], biases[layer], 0, other)
            _activate(other, units, norm, scales[layer + 1], shifts[layer + 1], factors)
            one, other = other, one
        for offset in range(count):
            for hand in range(values.shape[1]):
                value = _product(one, offset * width, output, hand * width, width)
                values[rows[start + offset], hand] = value + output_bias[hand]


@kernel(fastmath={"contract", "nsz"})
def encode_changed(
    rows: Array, marginal: Array, swap: Array, first: Array, second: Array, player: int, beliefs: Array, changed: Array,
) -> int:  # fmt: skip
    """Writes beliefs at those leaves that the opponent reaches; returns how many of them are not what they were.

    Args:
        rows: [Y] rows of the leaves.
        marginal: [Y, 2, H] the chance of each hand.
        swap: [Y] player 1's belief comes first.
        first, second: [R, H] reach of both players, up to a factor.
        player: whose values are asked for.
        beliefs: [Y, 2H] what they were, and where they are written.
        changed: [Y] where the numbers of those leaves are written that have other beliefs now.
    """
    hands, number = first.shape[1], 0
    for leaf in range(len(rows)):
        row, reached, new = rows[leaf], False, False
        for hand in range(hands):
            reached |= (second[row, hand] if player == 0 else first[row, hand]) > 0
        if not reached:
            continue
        for owner in range(2):
            start = hands if (owner == 1) != swap[leaf] else 0
            total = first[row, 0] * 0
            for hand in range(hands):
                total += marginal[leaf, owner, hand] * (first[row, hand] if owner == 0 else second[row, hand])
            inverse = 1 / total if total > 0 else total
            for hand in range(hands):
                belief = marginal[leaf, owner, hand]
                if total > 0:
                    belief = np.float32(belief * (first[row, hand] if owner == 0 else second[row, hand]) * inverse)
                new |= belief != beliefs[leaf, start + hand]
                beliefs[leaf, start + hand] = belief
        if new:
            changed[number] = leaf
            number += 1
    return number
