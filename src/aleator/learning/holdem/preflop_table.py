"""What hands are worth at the end of the betting before the flop, by a small table that stands in for a network.

Algorithm:
    A hand's value is what checking down is worth against the opponent's range, plus a correction that depends on its
    class, on the stack behind and on the seat: out of position or on the button, suited or not, connected or not.
    Corrections are measured: for the most likely line to each of several stacks, with the ranges that the line
    leaves, some flops are solved to the end of the street with leaf values of the flop; what hands win there beyond
    checking down, in pots, is fitted by a few features of a hand's class, since single hands on a few flops are
    noisy. Ranges and corrections are found in turn, from checking down on. Between stacks corrections are
    interpolated. They were measured for the ranges of one line, so they only tell the hands of a range apart: their
    mean over a player's range is taken off, and what position is worth is put in its place. Values are then zero-sum.

Reference: DeepStack's auxiliary network is the same mean over flops, learnt.
Deviations: corrections do not depend on ranges, and position is worth the same for all of them.
Status: tests/learning/holdem/test_preflop_table.py; `python -m aleator.learning.holdem.preflop_fit` writes the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from aleator.caching import cache
from aleator.games.base import FloatArray
from aleator.games.holdem.cards import HAND_CLASSES, HANDS, NUM_HAND_CLASSES, NUM_HANDS
from aleator.games.holdem.equity import preflop_equities, representatives
from aleator.solvers.engines.batched_holdem.plain import LeafCfvs
from aleator.storage import ArrayFile, StorageError, write_arrays

Tensor = torch.Tensor
_FORMAT = "aleator preflop table 1"
FILE = "preflop-table.safetensors"
POSITION = 0.021  # pots that acting last is worth, times log(1 + stack): measured on ends of flops


class PreflopTable(NamedTuple):
    """Corrections of checking down.

    Attributes:
        stacks: [S] behind, in pots, ascending; the first is 0, where nothing can be bet any more.
        corrections: [S, 2, 169] in pots of the opponent's whole range, by player and class.
    """

    stacks: FloatArray
    corrections: FloatArray

    def at(self, stacks: FloatArray) -> FloatArray:
        """Returns [L, 2, 169]: corrections at some stacks [L]."""
        at = np.interp(np.log1p(stacks), np.log1p(self.stacks), np.arange(len(self.stacks)))
        low = np.minimum(at.astype(np.int64), len(self.stacks) - 2)
        part = (at - low)[:, None, None]
        correction: FloatArray = self.corrections[low] * (1.0 - part) + self.corrections[low + 1] * part
        return correction

    def save(self, path: Path | str) -> None:
        """Writes the table to a file."""
        arrays = {name: array.astype(np.float32) for name, array in self._asdict().items()}
        write_arrays(path, arrays, {"format": _FORMAT})


def load_table(path: Path | str) -> PreflopTable:
    """Returns the table in a file.

    Raises:
        StorageError: it cannot be read, or is not such a table.
    """
    file = ArrayFile(path)
    if file.metadata.get("format") != _FORMAT:
        raise StorageError(f"{path} is not a preflop table: its format is {file.metadata.get('format')!r}")
    try:
        table = PreflopTable(*(file.read(name).astype(np.float64) for name in PreflopTable._fields))
    except KeyError as error:
        raise StorageError(f"{path} is damaged: it has no {error}") from error
    stacks, corrections = table
    fits = stacks.ndim == 1 and len(stacks) > 1 and corrections.shape == (len(stacks), 2, NUM_HAND_CLASSES)
    if not fits or stacks[0] != 0.0 or (np.diff(stacks) <= 0.0).any() or not np.isfinite(corrections).all():
        raise StorageError(
            f"{path} is damaged: stacks must rise from 0 and have corrections [S, 2, {NUM_HAND_CLASSES}]"
        )
    return table


class ClassPayoffs:
    """Folds before the flop over the 169 classes of hands; rows have the reach of one hand of each class."""

    def __init__(self, device: torch.device) -> None:
        self._counts = torch.from_numpy(class_matrices().counts).to(device, torch.float32)

    def compatible(self, rows: Tensor) -> Tensor:
        """Returns the reach of hands that share no card, [B, n, 169]."""
        return rows @ self._counts.T

    def showdown(self, rows: Tensor) -> Tensor:
        """Is never asked for: the round ends in leaves."""
        raise AssertionError("a round before the river ends in leaves, not in a showdown")


class ClassLeaves:
    """Leaves before the flop by a table; see `search.whole_hands.depth_limited.BoardValues`."""

    def __init__(self, table: PreflopTable | None, device: torch.device) -> None:
        self.device, self._table = device, table
        self.hands: npt.NDArray[np.int64] = representatives()[None]
        self.rows: npt.NDArray[np.int64] = HAND_CLASSES.astype(np.int64)[None]
        self.payoffs = ClassPayoffs(device)
        self._wins = torch.from_numpy(class_matrices().wins).to(device, torch.float32)
        self._sizes = torch.from_numpy(np.bincount(HAND_CLASSES)).to(device, torch.float32)

    def times(self, boards: Sequence[object]) -> ClassLeaves:
        """Returns the same leaves for as many games as there are boards, all of them empty."""
        found = copy(self)
        found.hands, found.rows = (rows[:1].repeat(len(boards), axis=0) for rows in (self.hands, self.rows))
        return found

    def leaves(self, pots: FloatArray, stacks: FloatArray) -> LeafCfvs:
        """Returns what prices leaves with these pots and stacks behind, both [B, L] in chips; cfvs come in chips."""
        chips = torch.from_numpy(pots).to(self.device, torch.float32)[..., None, None]
        behind = stacks / pots
        if self._table is None:
            corrections = np.zeros((*pots.shape, 2, NUM_HAND_CLASSES))
        else:
            corrections = self._table.at(behind.ravel()).reshape(*pots.shape, 2, NUM_HAND_CLASSES)
        added = torch.from_numpy(corrections).to(self.device, torch.float32)

        edge = torch.from_numpy(POSITION * np.log1p(behind)).to(self.device, torch.float32)[..., None, None]
        position = torch.cat([-edge, edge], 2)

        def price(reach: Tensor) -> Tensor:
            met = self.payoffs.compatible(reach.flip(2))
            weights = reach * self._sizes * met
            mean = (weights * added).sum(-1, keepdim=True) / weights.sum(-1, keepdim=True).clamp_min(1e-30)
            return (0.5 * (reach.flip(2) @ self._wins.T) + met * (added - mean + position)) * chips

        return price


class _ClassMatrices(NamedTuple):
    """[169, 169]: how many hands of the column's class one of the row's meets, and its wins less losses there."""

    counts: FloatArray
    wins: FloatArray


@cache
def class_matrices() -> _ClassMatrices:
    """Returns what one hand of each class meets among the hands of each class."""
    hands, table = representatives(), preflop_equities()
    apart = ~(HANDS[hands][:, None, :, None] == HANDS[None, :, None, :]).any(axis=(2, 3))
    wins = (2.0 * table[hands] - 1.0) * apart
    member = np.zeros((NUM_HANDS, NUM_HAND_CLASSES))
    member[np.arange(NUM_HANDS), HAND_CLASSES] = 1.0
    return _ClassMatrices(apart @ member, wins @ member)


@cache
def class_features() -> FloatArray:
    """Returns [169, F]: what corrections are fitted by."""
    hands = representatives()
    high, low = HANDS[hands].max(axis=1) // 4, HANDS[hands].min(axis=1) // 4
    pair = high == low
    suited = (HANDS[hands][:, 0] % 4 == HANDS[hands][:, 1] % 4) & ~pair
    gap = np.where(pair, 12, np.minimum(high - low, np.where(high == 12, low + 1, 12)))
    equity = class_matrices().wins.sum(axis=1) / class_matrices().counts.sum(axis=1)
    near = np.exp(1.0 - gap)
    columns = [
        np.ones(len(hands)), equity, equity**2, equity**3, pair, pair * high / 12, pair * (high / 12) ** 2,
        suited, suited * high / 12, near * ~pair, suited * near, high / 12, (high / 12) ** 2, low / 12, high == 12,
    ]  # fmt: skip
    return np.stack([np.asarray(column, np.float64) for column in columns], axis=1)


def smoothed(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Returns values [169] as the features of classes explain them, fitted with weights [169]."""
    features = class_features()
    scaled = features * np.sqrt(weights)[:, None]
    ridge = 1e-3 * weights.sum() / len(weights) * np.eye(features.shape[1])
    fitted = np.linalg.solve(scaled.T @ scaled + ridge, scaled.T @ (values * np.sqrt(weights)))
    return np.asarray(features @ fitted)
