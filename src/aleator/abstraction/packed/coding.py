"""Policies as few bytes: probabilities in few steps, coded by how likely each is after what stands beside it.

Algorithm:
    A policy of A actions is A whole numbers, its *levels*, which sum to L: probabilities times L, rounded to the whole
    number below, and where that leaves something over, up for those that lost most. Hands that were never met have no
    policy, and a mark instead.
    Levels are coded by decisions, buckets and actions, all but the last, by a range coder with adaptive counts. What
    counts are taken: those of the same rest of the sum, the same level of that action in the bucket before, a like one
    in that before it, and as many actions to come. Buckets are in the order of equity, so that neighbours play alike.

Reference: G. Martin, "Range encoding: an algorithm for removing redundancy from a digitised message" (1979), in the
form without carries.
Deviations: none.
Status: tests/abstraction/packed/test_coding.py.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.buckets import BucketConfig
from aleator.jit import kernel

LEAST_BITS: Final = 2
MOST_BITS: Final = 6

_CLASSES: Final = 16  # of levels, by which counts are told apart
_LAST_CLASSES: Final = 4  # of the level two buckets before
_LAST_ACTIONS: Final = 3  # two, three, and four and more actions to come
_ADDED: Final = 24  # to the count of a symbol that was met
_MOST: Final = 1 << 16  # sum of counts
_TOP: Final = 1 << 24
_BOTTOM: Final = 1 << 16
_WORD: Final = (1 << 32) - 1

Levels = npt.NDArray[np.int8]


class Shape(NamedTuple):
    """How many actions and buckets the decisions of a blueprint have, in the order of their rows, ``[D]``."""

    actions: npt.NDArray[np.int32]
    buckets: npt.NDArray[np.int32]

    @classmethod
    def of(
        cls,
        first: npt.NDArray[np.int32],
        rows: npt.NDArray[np.int64],
        street: npt.NDArray[np.int8],
        config: BucketConfig,
    ) -> Shape:
        """Returns the shape of some betting.

        Args:
            first: where the actions of each decision begin, ``[D + 1]``.
            rows: where its rows begin, ``[D]``.
            street: that it is on, ``[D]``.
            config: of the buckets.
        """
        order = np.argsort(rows, kind="stable")
        counts = np.array([config.count(number) for number in range(config.last_street + 1)])
        return cls(np.diff(first)[order].astype(np.int32), counts[street[order]].astype(np.int32))

    @property
    def size(self) -> int:
        """How many levels there are."""
        return int((self.actions.astype(np.int64) * self.buckets).sum())


def to_levels(shape: Shape, weights: npt.NDArray[np.float32], bits: int) -> Levels:
    """Returns policies in steps of 1 / (2^bits − 1), ``[size]``; those without any weight have the mark 2^bits.

    Args:
        shape: of the blueprint.
        weights: of actions, not normalised, ``[size]``: the buckets of a decision, and of each its actions.
        bits: of a probability.
    """
    levels = np.zeros(len(weights), np.int8)
    _round(shape, weights, (1 << bits) - 1, np.zeros(256, np.float64), levels)
    return levels


def encode(shape: Shape, levels: Levels, bits: int) -> npt.NDArray[np.uint8]:
    """Returns the code of what `to_levels` gave."""
    code = np.zeros(2 * len(levels) + 64, np.uint8)
    return code[: _encode(shape, levels, (1 << bits) - 1, _counts(bits), code)].copy()


def decode(shape: Shape, code: npt.NDArray[np.uint8], bits: int) -> Levels:
    """Returns the levels that a code stands for.

    Raises:
        ValueError: it stands for none.
    """
    levels = np.zeros(shape.size, np.int8)
    if not _decode(shape, code.astype(np.int64), (1 << bits) - 1, _counts(bits), levels):
        raise ValueError("its policies cannot be decoded")
    return levels


def _counts(bits: int) -> npt.NDArray[np.int32]:
    """Returns the counts of symbols in each context at the beginning, and their sum."""
    counts = np.ones((_CLASSES * (_CLASSES + 1) * _LAST_CLASSES * _LAST_ACTIONS, (1 << bits) + 2), np.int32)
    counts[:, -1] = (1 << bits) + 1
    return counts


@kernel()
def _round(
    shape: Shape, weights: npt.NDArray[np.float32], steps: int, lost: npt.NDArray[np.float64], levels: Levels
) -> None:
    at = 0
    for decision in range(len(shape.actions)):
        actions = int(shape.actions[decision])
        for _ in range(shape.buckets[decision]):
            total = 0.0
            for action in range(actions):
                total += weights[at + action]
            if total <= 0.0:
                levels[at : at + actions] = steps + 1
            else:
                rest = steps
                for action in range(actions):
                    exact = weights[at + action] / total * steps
                    levels[at + action] = int(exact)
                    lost[action] = exact - int(exact)
                    rest -= int(exact)
                for _ in range(rest):
                    most = 0
                    for action in range(actions):
                        if lost[action] > lost[most]:
                            most = action
                    levels[at + most] += 1
                    lost[most] = -1.0
            at += actions


@kernel(forceinline=True)
def _context(levels: Levels, at: int, bucket: int, actions: int, action: int, rest: int, steps: int) -> int:
    """Returns which counts tell how likely the level of an action is."""
    before = last = _CLASSES  # nothing
    if bucket > 0:
        level = int(levels[at - actions])
        before = last = _CLASSES if level > steps else (level * (_CLASSES - 1) + steps - 1) // steps
    if bucket > 1:
        level = int(levels[at - 2 * actions])
        last = _CLASSES if level > steps else (level * (_CLASSES - 1) + steps - 1) // steps
    left = (rest * (_CLASSES - 1) + steps - 1) // steps
    last_class = min((last + 3) // 5, _LAST_CLASSES - 1)
    to_come = min(actions - action - 2, _LAST_ACTIONS - 1)
    return ((left * (_CLASSES + 1) + before) * _LAST_CLASSES + last_class) * _LAST_ACTIONS + to_come


@kernel(forceinline=True)
def _learn(counts: npt.NDArray[np.int32], symbol: int) -> None:
    """Counts a symbol; halves all counts where they have become large."""
    last = len(counts) - 1
    counts[symbol] += _ADDED
    counts[last] += _ADDED
    if counts[last] > _MOST - _ADDED:
        total = 0
        for one in range(last):
            counts[one] = (counts[one] + 1) >> 1
            total += counts[one]
        counts[last] = total


@kernel()
def _encode(
    shape: Shape, levels: Levels, steps: int, counts: npt.NDArray[np.int32], code: npt.NDArray[np.uint8]
) -> int:
    """Writes the code; returns how many bytes it has."""
    low, width, size, at = 0, _WORD, 0, 0
    for decision in range(len(shape.actions)):
        actions = int(shape.actions[decision])
        for bucket in range(shape.buckets[decision]):
            rest = steps
            for action in range(actions - 1):
                symbol = int(levels[at + action])
                own = counts[_context(levels, at + action, bucket, actions, action, rest, steps)]
                below = 0
                for one in range(symbol):
                    below += int(own[one])
                width //= int(own[len(own) - 1])
                low = (low + below * width) & _WORD
                width *= int(own[symbol])
                while True:
                    if (low ^ (low + width)) >= _TOP:
                        if width >= _BOTTOM:
                            break
                        width = -low & (_BOTTOM - 1)
                    code[size] = low >> 24
                    size += 1
                    low, width = (low << 8) & _WORD, (width << 8) & _WORD
                _learn(own, symbol)
                rest -= symbol
                if symbol > steps or rest == 0:
                    break
            at += actions
    for _ in range(4):
        code[size] = low >> 24
        size += 1
        low = (low << 8) & _WORD
    return size


@kernel()
def _decode(
    shape: Shape, code: npt.NDArray[np.int64], steps: int, counts: npt.NDArray[np.int32], levels: Levels
) -> bool:
    """Writes the levels; returns whether the code is one, and ends where they do."""
    low, width, value, read, at = 0, _WORD, 0, 4, 0
    if len(code) < 4:
        return False
    for place in range(4):
        value = value << 8 | int(code[place])
    for decision in range(len(shape.actions)):
        actions = int(shape.actions[decision])
        for bucket in range(shape.buckets[decision]):
            rest, is_met = steps, True
            for action in range(actions - 1):
                own = counts[_context(levels, at + action, bucket, actions, action, rest, steps)]
                last = len(own) - 1
                width //= int(own[last])
                place = ((value - low) & _WORD) // width
                symbol, below = 0, 0
                while symbol < last and below + int(own[symbol]) <= place:
                    below += int(own[symbol])
                    symbol += 1
                if symbol == last or (symbol > rest and not (symbol > steps and action == 0)):
                    return False
                low = (low + below * width) & _WORD
                width *= int(own[symbol])
                while True:
                    if (low ^ (low + width)) >= _TOP:
                        if width >= _BOTTOM:
                            break
                        width = -low & (_BOTTOM - 1)
                    if read == len(code):
                        return False
                    value = (value << 8 | int(code[read])) & _WORD
                    read += 1
                    low, width = (low << 8) & _WORD, (width << 8) & _WORD
                _learn(own, symbol)
                levels[at + action] = symbol
                rest -= symbol
                if symbol > steps:
                    is_met = False
                    break
                if rest == 0:
                    break
            if is_met:
                levels[at + actions - 1] = rest
            else:
                levels[at : at + actions] = steps + 1
            at += actions
    return read == len(code)
