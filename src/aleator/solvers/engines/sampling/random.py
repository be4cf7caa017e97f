"""Random numbers inside kernels: splitmix64, one stream per traversal.

A stream is a 64-bit state that is a function of the seed, the iteration, the traverser and the traversal's number in
its batch. So every traversal draws the same numbers whichever thread runs it, and whenever.

Reference: Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators".
"""

from __future__ import annotations

import numpy as np

from aleator.games.base import FloatArray
from aleator.jit import kernel

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 2.0**-53


@kernel()
def mix(state: np.uint64) -> np.uint64:
    """Returns 64 well mixed bits."""
    bits = (state ^ (state >> _30)) * _FIRST
    bits = (bits ^ (bits >> _27)) * _SECOND
    return bits ^ (bits >> _31)


@kernel()
def stream(seed: np.uint64, iteration: int, traverser: int, number: int) -> np.uint64:
    """Returns the state from which a traversal's random numbers follow."""
    state = mix(seed + _STEP)
    state = mix(state + np.uint64(2 * iteration + traverser) * _STEP)
    return mix(state + np.uint64(number) * _STEP)


@kernel()
def advance(state: np.uint64) -> np.uint64:
    """Returns the next state of a stream."""
    return state + _STEP


@kernel()
def uniform(state: np.uint64) -> float:
    """Returns the number in [0, 1) that belongs to a state of a stream (call `advance` first)."""
    return float(mix(state) >> _11) * _UNIT


@kernel()
def pick(ends: FloatArray, low: int, high: int, number: float) -> int:
    """Returns the first k >= low with number < ends[k]; ends[high - 1] is 1."""
    while low < high - 1:
        middle = (low + high - 1) // 2
        if number < ends[middle]:
            high = middle + 1
        else:
            low = middle + 1
    return low
