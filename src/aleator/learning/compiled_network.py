"""What a value network does between its matrix products, compiled for the CPU.

Algorithm:
    GELU needs tanh(u). With h = u / 2 and y = h^2, the continued fraction of tanh gives t = h P(y) / Q(y), with
    P = 135135 + 17325 y + 378 y^2 + y^3 and Q = 135135 + 62370 y + 3150 y^2 + 28 y^3, and then tanh(u) = 2 t / (1 + t^2).
    For |u| <= 8, beyond which tanh is 1 in float32, that is exact to 2e-7; it has one division and no branch.

Status: tests/learning/test_compiled_network.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.jit import njit

Array = npt.NDArray[Any]

_FAST = {"contract", "nnan", "ninf", "nsz", "reassoc"}
_LARGEST = np.float32(8.0)
_SLOPE, _CUBIC = np.float32((2 / np.pi) ** 0.5), np.float32(0.044715)
_HALF, _P0, _P1, _P2 = np.float32(0.5), np.float32(135135), np.float32(17325), np.float32(378)
_Q1, _Q2, _Q3, _TINY = np.float32(62370), np.float32(3150), np.float32(28), np.float32(1e-5)


@njit(fastmath=_FAST)
def activate(rows: Array, norm: bool, scale: Array, shift: Array) -> None:
    """Applies LayerNorm (if `norm`) and GELU to float32 rows [n, width], in place."""
    width = rows.shape[1]
    for place in range(rows.shape[0]):
        row = rows[place]
        if norm:
            total = np.float32(0)
            for at in range(width):
                total += row[at]
            mean = total / np.float32(width)
            spread = np.float32(0)
            for at in range(width):
                spread += (row[at] - mean) * (row[at] - mean)
            factor = np.float32(1) / np.sqrt(spread / np.float32(width) + _TINY)
            for at in range(width):
                row[at] = (row[at] - mean) * factor * scale[at] + shift[at]
        for at in range(width):
            x = row[at]
            u = _SLOPE * (x + _CUBIC * x * x * x)
            h = _HALF * min(max(u, -_LARGEST), _LARGEST)
            y = h * h
            p = h * (_P0 + y * (_P1 + y * (_P2 + y)))
            q = _P0 + y * (_Q1 + y * (_Q2 + y * _Q3))
            row[at] = x * (_HALF + p * q / (q * q + p * p))


@njit(fastmath={"contract", "nsz"})
def encode_live(
    rows: Array, fixed: Array, marginal: Array, swap: Array, first: Array, second: Array, player: int, inputs: Array,
    places: Array,
) -> int:  # fmt: skip
    """Writes the inputs of those leaves that the opponent reaches; returns how many there are.

    Args:
        rows: [Y] rows of the leaves.
        fixed: [Y, F] public features as seen for the player's values.
        marginal: [Y, 2, H] the chance of each hand.
        swap: [Y] player 1's belief comes first.
        first, second: [R, H] reach of both players.
        player: whose values are asked for.
        inputs: [Y, F + 2H] where the inputs are written, without gaps.
        places: [Y] where the numbers of those leaves are written.
    """
    features, hands, live = fixed.shape[1], first.shape[1], 0
    for leaf in range(len(rows)):
        row, reached = rows[leaf], False
        for hand in range(hands):
            reached |= (second[row, hand] if player == 0 else first[row, hand]) > 0
        if not reached:
            continue
        for at in range(features):
            inputs[live, at] = fixed[leaf, at]
        for owner in range(2):
            start = features + (hands if (owner == 1) != swap[leaf] else 0)
            total = np.float32(0)
            for hand in range(hands):
                weight = marginal[leaf, owner, hand] * (first[row, hand] if owner == 0 else second[row, hand])
                inputs[live, start + hand] = weight
                total += weight
            for hand in range(hands):
                if total > 0:
                    inputs[live, start + hand] /= total
                else:
                    inputs[live, start + hand] = marginal[leaf, owner, hand]
        places[live] = leaf
        live += 1
    return live


@njit()
def scatter(found: Array, places: Array, values: Array) -> None:
    """Writes found [n, H] to the places [n] of values [Y, H], zero elsewhere."""
    values[:] = 0
    for at in range(len(found)):
        for hand in range(found.shape[1]):
            values[places[at], hand] = found[at, hand]
