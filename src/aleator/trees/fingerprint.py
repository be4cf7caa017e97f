"""The fingerprint of a game: what a saved policy or network needs to be of the same game, in a few bytes.

It has two parts. The shape is a hash of all whole numbers of the tree: who acts where, actions, hands, and where hands
come from. The payoffs are sums over all terminals and pairs of hands, with weights that look random but are always the
same: any change of a payoff or of chance changes them. They are compared up to rounding, so that other processors
agree. Names of actions and hands are not part of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from aleator.errors import shown
from aleator.games.base import FloatArray
from aleator.storage import check_object, is_a
from aleator.trees.public_tree import PublicTree

_SHAPE = ("actor", "first_child", "num_children", "num_actions", "num_hands", "origin_start")
_SUMS = 2
_KNOWN: WeakKeyDictionary[PublicTree, Fingerprint] = WeakKeyDictionary()
_TOLERANCE = 1e-11  # of the sum of absolute values; rounding is a thousand times less


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What identifies a game.

    Attributes:
        shape: a hash of the tree's shape.
        payoffs: weighted sums of its payoffs.
        scale: the same sum with absolute values, to which rounding is relative.
    """

    shape: str
    payoffs: tuple[float, ...]
    scale: float

    def fits(self, other: Fingerprint) -> bool:
        """Returns whether two games are the same, up to rounding and names."""
        close = np.abs(np.subtract(self.payoffs, other.payoffs)) <= _TOLERANCE * max(self.scale, other.scale)
        return self.shape == other.shape and bool(close.all())

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as JSON values."""
        return {"shape": self.shape, "payoffs": list(self.payoffs), "scale": self.scale}


def parse_fingerprint(values: Any) -> Fingerprint:
    """Returns the fingerprint that `to_dict` gave.

    Raises:
        ValueError: it is not a fingerprint.
    """
    fields = check_object(values, {"shape": str, "payoffs": list, "scale": float})
    if len(fields["payoffs"]) != _SUMS or not all(is_a(value, float) for value in fields["payoffs"]):
        raise ValueError(f"payoffs are {shown(fields['payoffs'])}, not {_SUMS} numbers")
    return Fingerprint(fields["shape"], tuple(map(float, fields["payoffs"])), float(fields["scale"]))


def fingerprint(trees: Iterable[PublicTree]) -> Fingerprint:
    """Returns the fingerprint of one tree, or of several in their order, such as all subgames of a game."""
    shape, sums, scale, seen = hashlib.sha256(), np.zeros(_SUMS), 0.0, 0
    for tree in trees:
        for name in _SHAPE:
            vector = getattr(tree, name)
            shape.update(f"{name}{list(vector.shape)}".encode() + vector.astype("<i8").tobytes())
        for origins in tree.origins:
            shape.update(f"origins[{len(origins)}]".encode() + origins.astype("<i8").tobytes())
        terminals = np.flatnonzero(tree.payoff_group >= 0)
        groups, stakes = tree.payoff_group[terminals], tree.stake[terminals]
        for index in range(_SUMS):
            weighted = stakes * _weights(3 * index, seen, len(terminals))
            total, absolute = (
                np.bincount(groups, weights, minlength=len(tree.payoffs)) for weights in (weighted, np.abs(weighted))
            )
            for group, matrix in enumerate(tree.payoffs):
                rows, columns = (_weights(3 * index + 1 + player, 0, matrix.shape[player]) for player in (0, 1))
                sums[index] += total[group] * float(rows @ (matrix @ columns))
                scale += absolute[group] * float(rows @ (abs(matrix) @ columns))
        seen += len(terminals)
    return Fingerprint(shape.hexdigest(), tuple(sums.tolist()), float(scale))


def tree_fingerprint(tree: PublicTree) -> Fingerprint:
    """Returns the fingerprint of a tree, which is computed once."""
    if tree not in _KNOWN:
        _KNOWN[tree] = fingerprint([tree])
    return _KNOWN[tree]


def _weights(stream: int, first: int, count: int) -> FloatArray:
    """Returns [count] fixed numbers between 1 and 2 as if random, of a stream from entry `first` on (SplitMix64)."""
    with np.errstate(over="ignore"):
        state = (np.arange(first, first + count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        state += np.uint64(stream) * np.uint64(0xD1B54A32D192ED03)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return 1.0 + (state >> np.uint64(11)).astype(np.float64) * 2.0**-53
