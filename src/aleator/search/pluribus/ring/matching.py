"""Regret matching on blocks of regrets, ``[actions][columns]``: draws, policies, updates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.jit import kernel
from aleator.search.pluribus.ring.arrays import Chances, Floats


@kernel(forceinline=True)
def draw(number: float, odds: FloatArray, count: int) -> int:
    """Returns a place drawn in proportion to the first ``count`` odds by a number in [0, 1); any if all are 0."""
    total = 0.0
    for place in range(count):
        total += odds[place]
    if total <= 0.0:
        return min(int(number * count), count - 1)
    left, last = number * total, 0
    for place in range(count):
        if odds[place] > 0.0:
            last = place
            left -= odds[place]
            if left < 0.0:
                return place
    return last


@kernel(forceinline=True)
def draw_column(number: float, table: Floats, at: int, stride: int, actions: int, odds: FloatArray) -> int:
    """Returns an action drawn from a column of regrets, by regret matching, or of a policy."""
    for action in range(actions):
        odds[action] = max(table[at + action * stride], np.float32(0.0))
    return draw(number, odds, actions)


@kernel(forceinline=True)
def match_regrets(regrets: Floats, actions: int, width: int, policy: Floats) -> None:
    """Writes the current policy, ``[actions][width]``, of a block of regrets."""
    total = policy[actions]
    for column in range(width):
        total[column] = np.float32(0.0)
    for action in range(actions):
        for column in range(width):
            total[column] += max(regrets[action * width + column], np.float32(0.0))
    for action in range(actions):
        for column in range(width):
            positive = max(regrets[action * width + column], np.float32(0.0))
            some = total[column] > 0.0
            policy[action, column] = positive / total[column] if some else np.float32(1.0) / np.float32(actions)


@kernel()
def update_hands(regrets: Floats, actions: int, children: Floats, policy: Floats, values: Floats) -> None:
    """Writes what the current policy is worth, and adds what each action is worth above it to its regrets."""
    hands = len(values)
    match_regrets(regrets, actions, hands, policy)
    for hand in range(hands):
        values[hand] = np.float32(0.0)
    for action in range(actions):
        for hand in range(hands):
            values[hand] += policy[action, hand] * children[action, hand]
    for action in range(actions):
        for hand in range(hands):
            regrets[action * hands + hand] += children[action, hand] - values[hand]


@kernel()
def update_columns(
    regrets: Floats, actions: int, width: int, numbers: npt.NDArray[np.int16], beliefs: Floats, children: Floats,
    policy: Floats, values: Floats,
) -> None:  # fmt: skip
    """The same where hands share the regrets of their column, each as much as it is believed to be held."""
    match_regrets(regrets, actions, width, policy)
    for hand in range(len(values)):
        column, value = int(numbers[hand]), np.float32(0.0)
        for action in range(actions):
            value += policy[action, column] * children[action, hand]
        values[hand] = value
        for action in range(actions):
            regrets[action * width + column] += beliefs[hand] * (children[action, hand] - value)


@kernel(forceinline=True)
def update_searched(
    regrets: Floats, actions: int, traverser: int, numbers: npt.NDArray[np.int16], chances: Chances, children: Floats,
    policy: Floats, values: Floats,
) -> None:  # fmt: skip
    """The same on the street of the search, whatever its columns are."""
    if chances.columns == len(values):
        update_hands(regrets, actions, children, policy, values)
    else:
        update_columns(regrets, actions, chances.columns, numbers, chances.beliefs[traverser], children, policy, values)
