"""The sampling engine: the histories of a tree, the tables of regrets, and threads that share a batch."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.solvers.engines.sampling.derivatives import iterate_derivatives
from aleator.solvers.engines.sampling.histories import Histories, HistoryRows, build_histories
from aleator.solvers.engines.sampling.iterate import Plan, Span, discount, iterate
from aleator.solvers.engines.sampling.public import new_public_work
from aleator.solvers.engines.sampling.rows import Tables, merge, new_slices
from aleator.solvers.engines.sampling.walk import Options, new_work
from aleator.trees.public_tree import PublicTree

# the most slices of a batch, and how many traversals are worth one
_SLICES, _SLICE = 8, 32


class SamplingEngine:
    """Runs traversals of one tree.

    Attributes:
        rows: where entries of the tree's policy vectors are in the tables.
        regret, policy_sum: [entries] in rows.
        touched: nodes touched so far.
        derivatives: [D, entries]: how regrets change in the directions that are followed.
    """

    def __init__(
        self, tree: PublicTree, *, batch: int, floor: float, all_hands: bool, frozen: bool, dtype: npt.DTypeLike,
        threads: int
    ) -> None:  # fmt: skip
        """Lays the tree out.

        Args:
            tree: what to walk.
            batch: traversals per player and iteration.
            floor: regrets never fall below it.
            all_hands: whether all hands are walked at once, as public chance sampling does.
            frozen: whether a traversal must not see its own updates.
            dtype: of the tables.
            threads: used if there are enough slices for them.
        """
        self.rows = HistoryRows(tree)
        self._game = build_histories(tree, self.rows)
        self.regret = np.zeros(self.rows.size, dtype)
        self.policy_sum = np.zeros(self.rows.size, dtype)
        self.touched = 0
        nothing = new_slices(1, 0, 0, dtype)
        self._tables = Tables(
            self.regret, self.regret, self.policy_sum, floor, nothing.marked[0], nothing.touched[0], nothing.filled[0]
        )
        slices = min(_SLICES, -(-batch // _SLICE)) if frozen or batch > 1 else 0
        acts = tree.actor >= 0
        infostates = int(np.where(tree.actor == 1, tree.num_hands[1], tree.num_hands[0])[acts].sum())
        self._slices = new_slices(slices, self.rows.size if slices else 0, infostates if slices else 0, dtype)
        self._threads = max(1, min(threads, slices))
        depth, actions = int(tree.depth.max()), int(tree.num_actions.max())
        self._work: list[Any] = [
            new_public_work(tree, self._game) if all_hands else new_work(depth, actions) for _ in range(self._threads)
        ]
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 else None
        self._directions: tuple[Histories, ...] = ()
        self.derivatives: FloatArray = np.zeros((0, self.rows.size), dtype)

    def set_stakes(self, stakes: FloatArray) -> None:
        """Changes what is at stake [N] at the terminals; payoffs per unit of stake stay."""
        self._game = self._game._replace(stake=stakes)

    def follow(self, slopes: FloatArray) -> None:
        """Keeps from now on how regrets change in directions [D, N] of the stakes; one thread walks then."""
        self._directions = tuple(self._game._replace(stake=slope) for slope in slopes)
        self.derivatives = np.zeros((len(slopes), self.rows.size), self.regret.dtype)
        unused = np.zeros_like(self.policy_sum)
        self._derivative_tables = tuple(
            self._tables._replace(regret_to=row, policy_sum_to=unused, floor=-np.inf) for row in self.derivatives
        )

    def run(self, options: Options, plan: Plan, iteration: int, count: int) -> None:
        """Runs iterations `iteration`, `iteration` + 1, ...; the result does not depend on the number of threads."""
        game, tables, slices = self._game, self._tables, self._slices
        if self._directions:
            self.touched = iterate_derivatives(
                game, self._directions, tables, self._derivative_tables, slices, self._work[0], options, plan,
                iteration, count, self.touched,
            )  # fmt: skip
            return
        if self._pool is None:
            span = Span(iteration, count, 0, 2, 0, 1)
            self.touched = iterate(game, tables, slices, self._work[0], options, plan, span, self.touched)
            return
        for t in range(iteration, iteration + count):
            before = self.touched
            for traverser in (0, 1):

                def part(thread: int, t: int = t, traverser: int = traverser) -> int:
                    span = Span(t, 1, traverser, traverser + 1, thread, self._threads)
                    return iterate(game, tables, slices, self._work[thread], options, plan, span, 0)

                self.touched += sum(self._pool.map(part, range(self._threads)))
                merge(slices, plan.batch, tables)
            discount(tables, plan, before, self.touched)
