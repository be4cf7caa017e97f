"""Safe search on every flop of a hold'em game, from a blueprint whose first street is exact: thesis Tables 5.1 and 5.2.

Algorithm:
    The blueprint is played before the flop. On each flop and after each line that leads to it the searcher solves the
    rest of the game without abstraction, below the gadget of a technique of `aleator.search.safe.METHODS`; alternative
    payoffs and gifts are those of `alternative_payoffs` and `gifts`, by rows of 1,326 hands. A best response of the
    opponent to all of it, exactly, says how exploitable the searcher is: on each flop right after it was searched, and
    before the flop at the end.

Reference: thesis 5.1.2 to 5.1.8.
Deviations: boards that a renaming of suits makes equal are searched once. Estimates are the values of the opponent's
    policy of the last iteration, as in the thesis. Where only some flops are searched (`flops`), they stand for all:
    what search changes there is taken for what it changes on average, and added to what the blueprint is worth on all
    flops. That is an estimate, mostly a little too high, since a best response makes the most of its errors.
Status: tests/search/test_boards.py (the same techniques as trees); `aleator paper safe-search-holdem`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.cards import NUM_HANDS, without_common_cards
from aleator.search.safe import SafeSearch
from aleator.solvers.engines.boards.entry import AS_IT_IS, CHOSEN, DISTRIBUTED, FOLLOWS, Entry
from aleator.solvers.engines.boards.forest import FOLD
from aleator.solvers.engines.boards.subgames import BEST, CURRENT, BoardSubgames, BoardWorker
from aleator.solvers.holdem.solver import HoldemSolver

Float32Array = npt.NDArray[np.float32]
OnBoard = Callable[[int], None]
_KINDS = {"unsafe": AS_IT_IS, "resolve": FOLLOWS, "maxmargin": CHOSEN}


class Responses(NamedTuple):
    """What a response of the opponent is worth, as cfvs.

    Attributes:
        boards: [B, L, W] on each flop after each line.
        lines: [L, W] at the end of each line before the flop.
        nodes: [N, W] at the nodes before the flop.
        mean: in chips a hand.
    """

    boards: Float32Array
    lines: FloatArray
    nodes: Float32Array
    mean: float


class BoardSearch:
    """Searches the flops behind a blueprint for one player, and measures what the other can win against that.

    Args:
        solver: has the blueprint, its average policy, and the policy of its next iteration.
        searcher: who searches.
        flops: the numbers of those that are searched, in the order of the plan; all unless given.
        threads: that share the flops.
    """

    def __init__(
        self, solver: HoldemSolver, searcher: int, *, flops: Sequence[int] | None = None, threads: int = 1
    ) -> None:
        self.solver, self.plan, self.searcher, self.opponent = solver, solver.plan, searcher, 1 - searcher
        self.subgames = BoardSubgames(solver.engine, self.opponent)
        every = self.plan.multiplicities(1)
        self.flops = list(range(len(every))) if flops is None else sorted(set(flops))
        if not self.flops or not 0 <= self.flops[0] <= self.flops[-1] < len(every):
            raise SolveError(f"flops are numbered from 0 to {len(every) - 1}, and one at least is searched")
        self.times = float(every.sum() / every[self.flops].sum())
        self._workers = [self.subgames.worker() for _ in range(threads)]

    @cached_property
    def best(self) -> Responses:
        """The opponent's best response to the blueprint (CBV)."""
        return self._responses(BEST)

    @cached_property
    def estimated(self) -> Responses:
        """The opponent's last policy against the blueprint: what it is worth within the abstraction, about."""
        return self._responses(CURRENT)

    def _responses(self, how: str) -> Responses:
        mode, storage = self.subgames.response(how)
        shape = len(self.plan.boards[1]), self.subgames.num_lines, self.plan.widths[1][self.opponent]
        boards = np.zeros(shape, np.float32)

        def walk(worker: BoardWorker, board: int) -> Float32Array:
            values = worker.blueprint_values(board, mode, storage)
            boards[board] = values
            return values

        lines = self._collect(walk, range(len(boards)))
        nodes = self.subgames.above(lines, how)
        return Responses(boards, lines, nodes, self._mean(nodes))

    def search(self, config: SafeSearch, on_board: OnBoard | None = None) -> float:
        """Returns what a best response wins, in chips a hand, when every flop is searched.

        Args:
            config: the technique, its regret rule and its iterations; seconds are not looked at.
            on_board: is told how many flops are done.
        """
        kind = DISTRIBUTED if config.distributional else _KINDS[config.gadget]
        gifts = self._gifts(config)
        used = self.estimated if config.payoffs.estimate else self.best
        exact = self.best

        def fill(board: int, entry: Entry) -> None:
            cf_reach = self._cf_reach(board)
            share = np.divide(1.0, cf_reach, out=np.zeros(cf_reach.shape), where=cf_reach > 0.0)
            mean = used.boards[board] * share
            if kind == DISTRIBUTED:
                entry.deviation[:] = np.abs(mean - exact.boards[board] * share).ravel()
            if gifts is not None:
                rows = self.plan.rows(self.opponent, self.plan.boards[1][board])
                mean[:, : len(rows)] += gifts[:, rows]
            entry.cf_reach[:] = cf_reach.ravel()
            entry.alternative[:] = mean.ravel()

        def walk(worker: BoardWorker, board: int) -> Float32Array:
            found = worker.search(board, kind, fill, config.rule, config.iterations)
            found -= exact.boards[board]
            return found

        changed = exact.lines + self.times * self._collect(walk, self.flops, on_board)
        return self._mean(self.subgames.above(changed, BEST))

    def _collect(
        self,
        walk: Callable[[BoardWorker, int], Float32Array],
        flops: Sequence[int],
        on_board: OnBoard | None = None,
    ) -> FloatArray:
        """Returns [L, W]: the sums over flops of what a function finds for the lines there, seen before the flop."""
        shape = self.subgames.num_lines, self.plan.widths[0][self.opponent]
        left, totals, done = list(flops), [np.zeros(shape) for _ in self._workers], [0]

        def work_through(number: int) -> None:
            while left:
                try:
                    board = left.pop()
                except IndexError:
                    return
                values = walk(self._workers[number], board)
                self.subgames.collect(board, values, totals[number])
                done[0] += 1
                if on_board is not None and number == 0:
                    on_board(done[0])

        if len(self._workers) == 1:
            work_through(0)
        else:
            with ThreadPoolExecutor(len(self._workers)) as pool:
                list(pool.map(work_through, range(len(self._workers))))
        found: FloatArray = np.sum(totals, axis=0)
        return found

    def _mean(self, nodes: Float32Array) -> float:
        """Returns what the opponent wins, in chips a hand, given its cfvs at the nodes before the flop."""
        rows = self.plan.rows(self.opponent, self.plan.boards[0][0])
        return float(self.plan.weights[self.opponent][rows] @ nodes[0, : len(rows)].astype(np.float64)) / (
            self.solver.deals
        )

    def _cf_reach(self, board: int) -> FloatArray:
        """Returns [L, W]: chance's and the searcher's part in each hand of the opponent coming to a flop's lines."""
        cards = self.plan.boards[1][board]
        own, theirs = self.plan.rows(self.opponent, cards), self.plan.rows(self.searcher, cards)
        found = np.zeros((self.subgames.num_lines, self.plan.widths[1][self.opponent]))
        for line, reach in enumerate(self._line_reach):
            alive = np.zeros(NUM_HANDS)
            alive[theirs] = reach[theirs]
            found[line, : len(own)] = without_common_cards(alive)[own]
        found[found < found.max() * 1e-9] = 0.0
        return found * self.plan.chances[1]

    @cached_property
    def _line_reach(self) -> FloatArray:
        """[L, 1326]: the searcher's reach at the lines."""
        return self._by_hand(self.searcher, self.subgames.line_reach(self.searcher))

    def _by_hand(self, player: int, rows: Float32Array) -> FloatArray:
        """Returns [n, 1326] of rows before the flop."""
        hands = self.plan.rows(player, self.plan.boards[0][0])
        found = np.zeros((len(rows), NUM_HANDS))
        found[:, hands] = rows[:, : len(hands)]
        return found

    def _gifts(self, config: SafeSearch) -> FloatArray | None:
        """Returns [L, 1326]: what the opponent gave up before the flop, as a value given the hand; see `gifts`."""
        payoffs = config.payoffs
        if payoffs.gifts == "none":
            return None
        forest, cfvs = self.plan.forests[0], (self.estimated if payoffs.estimate else self.best).nodes
        values, count = self._by_hand(self.opponent, cfvs), len(forest.kind)
        reach = self._by_hand(self.searcher, self.subgames.reach(self.searcher, np.arange(count)))
        gifts = np.zeros((count, NUM_HANDS))
        for node in forest.inner.tolist():
            below = slice(int(forest.first_child[node]), int(forest.first_child[node] + forest.num_children[node]))
            gifts[below] = gifts[node]
            if forest.kind[node] == self.opponent:
                ends = (forest.kind[below] == FOLD) | payoffs.exact_gifts
                best = np.where(ends[:, None], values[below], -np.inf).max(axis=0)
                dealt = without_common_cards(reach[node])
                given = np.maximum(best - values[below], 0.0)
                gifts[below] += np.divide(given, dealt, out=np.zeros(given.shape), where=dealt > 0.0)
        split = 1.0 if payoffs.gifts == "split" else float(len(self.plan.boards[1]))
        return gifts[forest.next_nodes] * (split * payoffs.gift_scale)
