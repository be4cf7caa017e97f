"""What comes into a board's subgames when they are searched on their own: gadgets in the walk.

The searcher comes to each line with the reach that its blueprint gives it. How much of each hand of the opponent comes
is decided above the line, anew after each of the opponent's updates, from what entering was worth:

    AS_IT_IS      as much as the blueprint brings there (unsafe search);
    FOLLOWS       each hand enters or takes its alternative payoff, by regret matching+ (re-solving);
    CHOSEN        the opponent picks the hand to enter with, for the price of its alternative payoff (maxmargin);
    DISTRIBUTED   alternative payoffs are normal variables, and each hand enters as Hedge over all iterations has it.

Reference: thesis 5.1.2 to 5.1.6 and 5.1.10; `aleator.search.gadgets` and `aleator.search.distributional` have the same
    games as trees.
Deviations: the mean of the logistic function over a normal variable, Eq. 5.3, is taken as that of the normal
    distribution function nearest to it, which is off by less than 0.01 and exact as iterations grow.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.jit import inner_kernel

Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]
Int64Array = npt.NDArray[np.int64]

AS_IT_IS: Final = 0
FOLLOWS: Final = 1
CHOSEN: Final = 2
DISTRIBUTED: Final = 3
NOBODY: Final = -1
_LOGISTIC = 1.702  # 1 / (1 + exp(-x)) is within 0.01 of the normal distribution function at x / 1.702
_ETA = math.sqrt(math.log(2.0)) / 3.0
_LEAST_VARIANCE = 1e-12


class Entry(NamedTuple):
    """The gadgets above the L lines of one board; rows of W hands of the opponent."""

    kind: Int64Array  # [2] how the opponent enters, and who that is; NOBODY: lines are walked from the street before
    reach: Float32Array  # [L x W] how much of each hand enters in the coming iteration
    cf_reach: Float32Array  # [L x W] cfvs divided by it are values given the hand; 0 for hands that cannot be
    alternative: Float32Array  # [L x W] alternative payoffs, as values given the hand
    deviation: Float32Array  # [L x W] their standard deviations
    state: Float64Array  # [2, L x W] regrets of entering and of not, or sums and sums of squares of values
    updates: Int64Array  # [L] how many there were


def new_entry(opponent: int = NOBODY, lines: int = 0, width: int = 0) -> Entry:
    """Returns an entry of an opponent's hands; without arguments that of walks that begin on the first street."""
    size = lines * width
    reach, cf_reach, alternative, deviation = (np.zeros(size, np.float32) for _ in range(4))
    kind, updates = np.array([AS_IT_IS, opponent]), np.zeros(lines, np.int64)
    return Entry(kind, reach, cf_reach, alternative, deviation, np.zeros((2, size)), updates)


def begin_entry(entry: Entry, width: int) -> None:
    """Sets an entry whose payoffs and cf_reach are written to where no update was made yet."""
    entry.state[:] = 0.0
    entry.updates[:] = 0
    possible = entry.cf_reach > 0.0
    if entry.kind[0] == CHOSEN:
        count = np.maximum(possible.reshape(-1, width).sum(axis=1), 1)
        share = possible / np.repeat(count, width)
        entry.reach[:] = np.divide(share, entry.cf_reach, out=np.zeros(len(share)), where=possible)
    else:
        entry.reach[:] = 0.5 * possible


@inner_kernel(inline="always")
def decide_entry(entry: Entry, line: int, width: int, values: Float32Array, values_at: int) -> None:
    """Sets the reach of a line's hands, given what entering was worth to them in this iteration: `values`, cfvs."""
    start = line * width
    kind = entry.kind[0]
    if kind == FOLLOWS:
        for k in range(width):
            _follow(entry, start + k, np.float64(values[values_at + k]))
    elif kind == CHOSEN:
        _choose(entry, start, width, values, values_at)
    elif kind == DISTRIBUTED:
        entry.updates[line] += 1
        count = np.float64(entry.updates[line])
        for k in range(width):
            _distribute(entry, start + k, np.float64(values[values_at + k]), count)


@inner_kernel(inline="always")
def _follow(entry: Entry, at: int, cfv: float) -> None:
    dealt = np.float64(entry.cf_reach[at])
    if dealt > 0.0:
        gain = cfv - dealt * np.float64(entry.alternative[at])  # of entering over not
        follow = np.float64(entry.reach[at])
        entry.state[0, at] = max(entry.state[0, at] + (1.0 - follow) * gain, 0.0)
        entry.state[1, at] = max(entry.state[1, at] - follow * gain, 0.0)
        total = entry.state[0, at] + entry.state[1, at]
        entry.reach[at] = np.float32(entry.state[0, at] / total if total > 0.0 else 0.5)


@inner_kernel(inline="always")
def _choose(entry: Entry, start: int, width: int, values: Float32Array, values_at: int) -> None:
    mean = 0.0
    for k in range(width):
        dealt = np.float64(entry.cf_reach[start + k])
        if dealt > 0.0:
            gain = np.float64(values[values_at + k]) / dealt - np.float64(entry.alternative[start + k])
            entry.state[1, start + k] = gain
            mean += np.float64(entry.reach[start + k]) * dealt * gain
    total = 0.0
    for k in range(width):
        if entry.cf_reach[start + k] > np.float32(0.0):
            regret = max(entry.state[0, start + k] + entry.state[1, start + k] - mean, 0.0)
            entry.state[0, start + k] = regret
            total += regret
    if total > 0.0:
        for k in range(width):
            if entry.cf_reach[start + k] > np.float32(0.0):
                share = entry.state[0, start + k] / total
                entry.reach[start + k] = np.float32(share / np.float64(entry.cf_reach[start + k]))


@inner_kernel(inline="always")
def _distribute(entry: Entry, at: int, cfv: float, count: float) -> None:
    dealt = np.float64(entry.cf_reach[at])
    if dealt > 0.0:
        value = cfv / dealt
        entry.state[0, at] += value
        entry.state[1, at] += value * value
        mean = entry.state[0, at] / count
        variance = max(entry.state[1, at] / count - mean * mean, _LEAST_VARIANCE)
        rate = _ETA / math.sqrt(variance * count) * count
        ahead = rate * (mean - np.float64(entry.alternative[at]))
        spread = rate * np.float64(entry.deviation[at])
        distance = ahead / math.sqrt(_LOGISTIC * _LOGISTIC + spread * spread)
        entry.reach[at] = np.float32(0.5 * math.erfc(-distance / math.sqrt(2.0)))
