"""Safe search on every board of hold'em's last street, from a blueprint that is exact before it: Tables 5.1 to 5.3.

Algorithm:
    The blueprint is played before the last street, the flop or the turn. On each of its boards and after each line that
    leads to it the searcher solves the rest of the game without abstraction, below the gadget of a technique of
    `aleator.search.safe.METHODS`; alternative payoffs and gifts are those of `alternative_payoffs` and `gifts`, by rows
    of 1,326 hands. A best response of the opponent to all of it, exactly, says how exploitable the searcher is: on each
    board right after it was searched, and on the streets before at the end.

Reference: thesis 5.1.2 to 5.1.8.
Deviations: boards that a renaming of suits makes equal are searched once. Estimates are the values of the opponent's
    policy of the last iteration, as in the thesis. Where only some flops are searched (`flops`), they stand for all:
    what search changes there is taken for what it changes on average, and added to what the blueprint is worth on all
    flops. That is an estimate, and too high, since a best response makes the most of its errors: by 4 mbb a hand where
    200 flops stand for 1,755.
Status: tests/search/test_safe_on_boards.py (the same techniques as trees); `aleator paper safe-search-small-flop`
    and `-turn`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple

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
OnFlop = Callable[[int], None]
Values = dict[str, Float32Array]
"""What responses of the opponent are worth, by `BEST` and `CURRENT`."""
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
    """Searches the last street behind a blueprint for one player, and measures what the other can win against that.

    Args:
        solver: has the blueprint, its average policy, and the policy of its next iteration.
        searcher: who searches.
        flops: the numbers of those behind which everything is searched, in the order of the plan; all unless given.
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
        played = self.subgames.response(how)
        shape = len(self.plan.boards[1]), len(self.plan.forests[0].next_nodes), self.plan.widths[1][self.opponent]
        boards = np.zeros(shape, np.float32)

        def walk(worker: BoardWorker, flop: int) -> Float32Array:
            if self.subgames.last == 1:
                values = worker.blueprint_values(flop, *played)
            else:
                worker.go_to(flop)
                values = self._go_up(worker, flop, self._below(worker, flop, played), played)[: shape[1]]
            boards[flop] = values
            return values

        lines = self._collect(walk, range(len(boards)))
        nodes = self.subgames.above(lines, how)
        return Responses(boards, lines, nodes, self._mean(nodes))

    def search(self, config: SafeSearch, on_flop: OnFlop | None = None) -> float:
        """Returns what a best response wins, in chips a hand, when everything behind every flop is searched.

        Args:
            config: the technique, its regret rule and its iterations; seconds are not looked at.
            on_flop: is told how many flops are done.
        """
        exact, gifts = self.best, self._gifts_before_flop(config)
        played = {how: self.subgames.response(how) for how in (BEST, CURRENT)}
        used = CURRENT if config.payoffs.estimate else BEST

        def values_on(worker: BoardWorker, board: int) -> Values:
            return {how: worker.blueprint_values(board, *played[how]) for how in {used, BEST}}

        def walk(worker: BoardWorker, flop: int) -> Float32Array:
            if self.subgames.last == 1:
                cfvs = self._search_board(worker, flop, 0, config, values_on(worker, flop), gifts)
            else:
                worker.go_to(flop)
                turns = self._children(flop)
                values = {board: values_on(worker, board) for board in turns}
                given = None
                if gifts is not None:
                    nodes = self._go_up(worker, flop, {board: values[board][used] for board in turns}, played[used])
                    given = self._gifts(worker, 1, flop, nodes, gifts, config)
                searched = {
                    board: self._search_board(worker, board, flop, config, values[board], given) for board in turns
                }
                cfvs = self._go_up(worker, flop, searched, played[BEST])[: exact.boards.shape[1]]
            cfvs -= exact.boards[flop]
            return cfvs

        changed = exact.lines + self.times * self._collect(walk, self.flops, on_flop)
        return self._mean(self.subgames.above(changed, BEST))

    def _search_board(
        self,
        worker: BoardWorker,
        board: int,
        parent: int,
        config: SafeSearch,
        values: Values,
        gifts: FloatArray | None,
    ) -> Float32Array:
        """Returns [L, W]: what a best response gets on a board whose subgames are searched.

        Args:
            worker: is where the lines to the board are.
            board, parent: the board, and the one of the street before.
            config: the technique.
            values: [L, W] cfvs of the opponent's responses to the blueprint there.
            gifts: [L, 1326] what the opponent gave up on the way to each line.
        """
        used = values[CURRENT if config.payoffs.estimate else BEST]

        def fill(board: int, entry: Entry) -> None:
            cf_reach = self._cf_reach(worker, board, parent)
            share = np.divide(1.0, cf_reach, out=np.zeros(cf_reach.shape), where=cf_reach > 0.0)
            mean = used * share
            entry.deviation[:] = np.abs(mean - values[BEST] * share).ravel()
            if gifts is not None:
                rows = self.plan.rows(self.opponent, self.plan.boards[self.subgames.last][board])
                mean[:, : len(rows)] += gifts[:, rows]
            entry.cf_reach[:] = cf_reach.ravel()
            entry.alternative[:] = mean.ravel()

        kind = DISTRIBUTED if config.distributional else _KINDS[config.gadget]
        return worker.search(board, kind, fill, config.rule, config.iterations)

    def _children(self, flop: int) -> range:
        """Returns the turns behind a flop."""
        street = self.solver.engine.streets[1]
        return range(int(street.first_board[flop]), int(street.first_board[flop] + street.num_boards[flop]))

    def _below(self, worker: BoardWorker, flop: int, played: tuple[int, Any]) -> dict[int, Float32Array]:
        """Returns for each turn behind a flop [L, W]: what a response to the blueprint is worth there."""
        return {board: worker.blueprint_values(board, *played) for board in self._children(flop)}

    def _go_up(
        self, worker: BoardWorker, flop: int, values: dict[int, Float32Array], played: tuple[int, Any]
    ) -> Float32Array:
        """Returns [N, W]: the opponent's cfvs at the nodes of a flop, given those of the turns behind it."""
        totals = np.zeros((self.subgames.num_lines, self.plan.widths[1][self.opponent]))
        for board, cfvs in values.items():
            self.subgames.collect(2, board, cfvs, totals)
        return worker.go_up(flop, totals, *played)

    def _collect(
        self,
        walk: Callable[[BoardWorker, int], Float32Array],
        flops: Sequence[int],
        on_flop: OnFlop | None = None,
    ) -> FloatArray:
        """Returns [L, W]: the sums over flops of what a function finds for the lines there, seen before the flop."""
        shape = len(self.plan.forests[0].next_nodes), self.plan.widths[0][self.opponent]
        left, totals, done = list(flops), [np.zeros(shape) for _ in self._workers], [0]

        def work_through(number: int) -> None:
            while left:
                try:
                    flop = left.pop()
                except IndexError:
                    return
                self.subgames.collect(1, flop, walk(self._workers[number], flop), totals[number])
                done[0] += 1
                if on_flop is not None and number == 0:
                    on_flop(done[0])

        if len(self._workers) == 1:
            work_through(0)
        else:
            with ThreadPoolExecutor(len(self._workers)) as pool:
                list(pool.map(work_through, range(len(self._workers))))
        total: FloatArray = np.sum(totals, axis=0)
        return total

    def _mean(self, nodes: Float32Array) -> float:
        """Returns what the opponent wins, in chips a hand, given its cfvs at the nodes before the flop."""
        rows = self.plan.rows(self.opponent, self.plan.boards[0][0])
        weights = self.plan.weights[self.opponent][rows]
        return float(weights @ nodes[0, : len(rows)].astype(np.float64)) / self.solver.deals

    def _cf_reach(self, worker: BoardWorker, board: int, parent: int) -> FloatArray:
        """Returns [L, W]: chance's and the searcher's part in each hand of the opponent coming to a board's lines."""
        last = self.subgames.last
        cards = self.plan.boards[last][board]
        own, theirs = self.plan.rows(self.opponent, cards), self.plan.rows(self.searcher, cards)
        rows = worker.reach(last - 1, self.searcher, self.plan.forests[last - 1].next_nodes)
        cf_reach = np.zeros((self.subgames.num_lines, self.plan.widths[last][self.opponent]))
        for line, reach in enumerate(self._by_hand(last - 1, parent, self.searcher, rows)):
            alive = np.zeros(NUM_HANDS)
            alive[theirs] = reach[theirs]
            cf_reach[line, : len(own)] = without_common_cards(alive)[own]
        cf_reach[cf_reach < cf_reach.max() * 1e-9] = 0.0
        return cf_reach * self.plan.chances[last]

    def _by_hand(self, level: int, board: int, player: int, rows: Float32Array) -> FloatArray:
        """Returns [n, 1326] of rows of a board."""
        hands = self.plan.rows(player, self.plan.boards[level][board])
        by_hand = np.zeros((len(rows), NUM_HANDS))
        by_hand[:, hands] = rows[:, : len(hands)]
        return by_hand

    def _gifts_before_flop(self, config: SafeSearch) -> FloatArray | None:
        """Returns [L, 1326]: what the opponent gave up before the flop, None if gifts do not count."""
        if config.payoffs.gifts == "none":
            return None
        cfvs = (self.estimated if config.payoffs.estimate else self.best).nodes
        return self._gifts(self._workers[0], 0, 0, cfvs, np.zeros((1, NUM_HANDS)), config)

    def _gifts(
        self,
        worker: BoardWorker,
        level: int,
        board: int,
        cfvs: Float32Array,
        before: FloatArray,
        config: SafeSearch,
    ) -> FloatArray:
        """Returns [L, 1326]: what the opponent gave up on the way to the end of a street, as a value given the hand.

        Args:
            worker: is there.
            level, board: the street, and its board.
            cfvs: [N, W] the opponent's at its nodes.
            before: [lines that lead there, 1326] gifts of the streets before.
            config: says how gifts are counted; see `aleator.search.gifts`.
        """
        payoffs, forest = config.payoffs, self.plan.forests[level]
        values, count = self._by_hand(level, board, self.opponent, cfvs), len(forest.kind)
        reach = self._by_hand(level, board, self.searcher, worker.reach(level, self.searcher, np.arange(count)))
        gifts = np.zeros((count, NUM_HANDS))
        gifts[: len(before)] = before
        for node in forest.inner.tolist():
            below = slice(int(forest.first_child[node]), int(forest.first_child[node] + forest.num_children[node]))
            gifts[below] = gifts[node]
            if forest.kind[node] == self.opponent:
                ends = forest.kind[below] == FOLD
                best = np.where(ends[:, None], values[below], -np.inf).max(axis=0)
                dealt = without_common_cards(reach[node]) * self.plan.chances[level]
                given = np.maximum(best - values[below], 0.0) * payoffs.gift_scale
                gifts[below] += np.divide(given, dealt, out=np.zeros(given.shape), where=dealt > 0.0)
        outcomes = len(self._children(board)) if level else len(self.plan.boards[1])
        split = 1.0 if payoffs.gifts == "split" else float(outcomes)
        passed: FloatArray = gifts[forest.next_nodes] * split
        return passed
