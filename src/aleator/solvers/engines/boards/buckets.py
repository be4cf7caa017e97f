"""Buckets on the last street: hands of all boards that share one row of regrets and one of sums.

A bucketed street keeps a column of numbers per bucket instead of a row of hands per board. The walk stays what it is:
before a board is walked, FETCH gathers the policies of its hands' buckets into the rows of a *window* that all boards
share; afterwards SCATTER adds what the walk has left there, the board's gains and sums of policies, to the buckets, as
often as the board stands for others. Once all boards are walked, the gains become regrets by the rule's discounts.

Reference: thesis 5.1.8 (blueprints of 200, 2,000 and 30,000 buckets); imperfect recall of boards within a bucket.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.jit import inner_kernel
from aleator.kernels.aligned import aligned_zeros
from aleator.kernels.simd import WIDE
from aleator.solvers.engines.boards.plan import BoardPlan

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]
BucketOf = Callable[[tuple[int, ...]], npt.NDArray[np.integer]]
"""The bucket of each of the 1,326 hands on a board of the last street; hands that the board blocks do not matter."""


class BucketRows(NamedTuple):
    """What the kernels know about the buckets of one player. K buckets and a spare one for padding, R rows."""

    bucket: Int32Array  # [B, W] of each row of a board
    weights: Float32Array  # [(K + 1) x R] what FETCH gathers: policies, or sums of them
    added: Float32Array  # [pieces, (K + 1) x R] this update's gains of the traverser, or policies of its opponent


def no_buckets() -> BucketRows:
    """Returns the buckets of a street that has none."""
    return BucketRows(np.zeros((0, 0), np.int32), np.zeros(0, np.float32), np.zeros((0, 0), np.float32))


@inner_kernel(inline="always")
def fetch(buckets: BucketRows, board: int, count: int, width: int, rows: Float32Array) -> None:
    """Writes the weights of the hands' buckets to the `count` rows of a window, WIDE hands at a time."""
    for hand in range(0, width, WIDE):
        for row in range(count):
            for lane in range(WIDE):
                column = np.int64(buckets.bucket[board, hand + lane]) * count
                rows[row * width + hand + lane] = buckets.weights[column + row]


@inner_kernel(inline="always")
def scatter(
    bucket: Int32Array, totals: Float32Array, board: int, count: int, width: int, times: np.float32, rows: Float32Array
) -> None:
    """Adds the rows of a window, `times` each, to the totals of their hands' buckets."""
    for hand in range(0, width, WIDE):
        for lane in range(WIDE):
            column = np.int64(bucket[board, hand + lane]) * count
            for row in range(count):
                totals[column + row] += rows[row * width + hand + lane] * times


class StreetBuckets:
    """Regrets and sums of policies of a bucketed last street, both players'.

    Args:
        plan: the game, laid out.
        bucket_of: the bucket of each hand on a board.
        pieces: of boards that have sums of their own, so that results do not depend on the number of threads.

    Attributes:
        counts: buckets of each player.
        regret, policy_sum: per player [K + 1, R]: of all buckets, and a spare one that means nothing.
        rows: per player what the kernels take.
    """

    def __init__(self, plan: BoardPlan, bucket_of: BucketOf, pieces: int) -> None:
        level = plan.num_streets - 1
        forest = plan.forests[level]
        first, second = (self._index(plan, player, bucket_of) for player in (0, 1))
        self.counts = int(first.max()), int(second.max())
        sizes = [count + 1 for count in self.counts]
        shapes = [(sizes[player], int(forest.num_rows[player])) for player in (0, 1)]
        self.regret = [np.zeros(shape, np.float32) for shape in shapes]
        self.policy_sum = [np.zeros(shape, np.float32) for shape in shapes]
        self.rows = [
            BucketRows(
                index,
                aligned_zeros(shape[0] * shape[1], np.float32),
                np.zeros((pieces, shape[0] * shape[1]), np.float32),
            )
            for index, shape in zip((first, second), shapes, strict=True)
        ]
        self.starts, self.lengths = [], []
        for player in (0, 1):
            own = np.flatnonzero(forest.kind == player)
            own = own[np.argsort(forest.row[own])]
            self.starts.append(forest.row[own].astype(np.int64))
            self.lengths.append(forest.num_children[own].astype(np.int64))

    @staticmethod
    def _index(plan: BoardPlan, player: int, bucket_of: BucketOf) -> Int32Array:
        """Returns [B, W]; padding gets the spare bucket behind all others."""
        boards, width = plan.boards[-1], plan.widths[-1][player]
        index = np.full((len(boards), width), -1, np.int32)
        for number, board in enumerate(boards):
            living = plan.rows(player, board)
            index[number, : len(living)] = bucket_of(board.cards)[living]
        index[index < 0] = index.max() + 1
        return index

    def matched(self, player: int, weights: Float32Array, power: float = 1.0) -> Float32Array:
        """Returns policies in proportion to the positive part of weights [K + 1, R], uniform where there is none."""
        positive = np.maximum(weights, 0.0)
        if power != 1.0:
            positive = positive ** np.float32(power)
        starts, lengths = self.starts[player], self.lengths[player]
        total = np.repeat(np.add.reduceat(positive, starts, axis=1), lengths, axis=1)
        uniform = np.repeat(1.0 / lengths.astype(np.float32), lengths)
        policies: Float32Array = np.broadcast_to(uniform, total.shape).copy()
        np.divide(positive, total, out=policies, where=total > 0.0)
        return policies

    def gather(self, player: int, weights: Float32Array) -> None:
        """Makes FETCH gather these weights [K + 1, R] of a player from now on."""
        self.rows[player].weights[:] = weights.ravel()

    def clear(self) -> None:
        """Forgets the gains and sums of the last walk."""
        for rows in self.rows:
            rows.added.fill(0.0)

    def fold_in(self, player: int, discounts: Float32Array) -> None:
        """Takes in one update of a player: its gains, and the policies that the opponent played meanwhile.

        Args:
            player: the traverser.
            discounts: [6] of the iteration, as the kernels take them.
        """
        gains, regret = self.rows[player].added.sum(axis=0), self.regret[player]
        regret *= np.where(regret > 0.0, discounts[0], discounts[1])
        regret += gains.reshape(regret.shape)
        np.maximum(regret, discounts[3], out=regret)
        sums = self.policy_sum[1 - player]
        sums *= discounts[5]
        sums += self.rows[1 - player].added.sum(axis=0).reshape(sums.shape)

    def read(self, name: str, player: int, board: int) -> Float32Array:
        """Returns [R, W]: the "regret" or "policy_sum" of the hands of a board."""
        kept: Float32Array = getattr(self, name)[player]
        return np.ascontiguousarray(kept[self.rows[player].bucket[board]].T)

    def memory(self) -> int:
        """Returns the bytes that are taken."""
        arrays = [*self.regret, *self.policy_sum, *(rows.bucket for rows in self.rows)]
        arrays += [*(rows.weights for rows in self.rows), *(rows.added for rows in self.rows)]
        return sum(int(array.nbytes) for array in arrays)
