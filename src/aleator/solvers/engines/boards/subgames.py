"""The subgames of the last street's boards, each searched on its own: a board is walked alone, over and over.

A policy of the earlier streets brings both players to lines that go on; on every board each line is a subgame. One is
solved below a gadget (`entry`) with rows in a window that stay in the cache for all its iterations, and what a best
response then gets there is read off at once. So nothing is kept of a subgame but what its hands are worth, and a game
that is searched everywhere takes no more memory than one board.

Reference: thesis 5.1.8: search begins with the flop of flop hold'em and with the turn of turn hold'em, on each board
after each line.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError
from aleator.solvers.engines.boards import walk
from aleator.solvers.engines.boards.engine import BoardEngine, steps
from aleator.solvers.engines.boards.entry import Entry, begin_entry, new_entry
from aleator.solvers.engines.boards.memory import weigh_sums
from aleator.solvers.engines.boards.walk import Storage, Work
from aleator.solvers.regret_rule import HEDGE, SHARP_MATCHING, RegretRule

Float32Array = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.float64]
Fill = Callable[[int, Entry], None]
"""Writes the cf_reach, alternative payoffs and deviations of a board's lines to an entry."""

BEST, CURRENT = "best", "current"
_ONCE = np.ones((1, 6), np.float32)


class BoardSubgames:
    """What an opponent gets on the boards behind a policy of the first street, by whatever is played there.

    Args:
        engine: holds the policy, its average; of a game of two or three streets.
        opponent: who responds; the other player searches.
    """

    def __init__(self, engine: BoardEngine, opponent: int) -> None:
        predicts = any(kept.instant is not None for kept in engine.storage)
        if engine.plan.num_streets == 1 or engine.bits != 32 or predicts:
            raise SolveError("subgames are searched behind a street, in 32 bits, after rules that do not predict")
        self.engine, self.plan, self.opponent = engine, engine.plan, opponent
        self.last = self.plan.num_streets - 1
        nowhere, streets = np.zeros(2, np.int64), list(engine.streets)
        streets[self.last :] = [streets[self.last]._replace(storage_at=nowhere, board_stride=nowhere)] * (3 - self.last)
        self.searched_streets = streets[0], streets[1], streets[2]
        self.num_lines = len(self.plan.forests[self.last - 1].next_nodes)
        self._above = engine.new_work()
        begin = steps([(walk.DESCEND, 0, 0, 0)])
        for player in (1 - opponent, opponent):  # the opponent's values stay
            own = self._above.reach0 if player == 0 else self._above.reach1
            own[: len(engine.root_rows[player])] = self.plan.weights[player][engine.root_rows[player]]
        for player in (1 - opponent, opponent):
            engine.run(begin, (player, player + 1), walk.AVERAGE, _ONCE, self._above, engine.new_window())

    def response(self, how: str) -> tuple[int, tuple[Storage, Storage]]:
        """Prepares walks in which the opponent responds to the policy; returns their mode and what is played.

        Args:
            how: `BEST`, or `CURRENT` for the opponent's policy of the coming iteration, nearly a best response within
                the abstraction that made the policy.
        """
        engine, opponent = self.engine, self.opponent
        if (buckets := engine.buckets) is not None:
            buckets.gather(1 - opponent, buckets.policy_sum[1 - opponent])
            power = 1.5 if engine.sharp else 1.0
            buckets.gather(opponent, buckets.matched(opponent, buckets.regret[opponent], power))
        if how == BEST:
            return walk.BEST, engine.storage
        current = np.maximum(engine.storage[opponent].regret, 0.0)
        own = engine.storage[opponent]._replace(policy_sum=current**1.5 if engine.sharp else current)
        first, second = (own if player == opponent else engine.storage[player] for player in (0, 1))
        return walk.AVERAGE, (first, second)

    def worker(self) -> BoardWorker:
        """Returns what one thread walks boards with."""
        return BoardWorker(self)

    def collect(self, level: int, board: int, values: Float32Array, totals: FloatArray) -> None:
        """Adds a board's values [L, W] to those of its lines on the street before [L, W], for all it stands for."""
        street = self.engine.streets[level]
        maps = street.map0 if self.opponent == 0 else street.map1
        first = int(street.first_map[board])
        for rows in maps[first : first + int(street.num_maps[board])]:
            totals += values[:, rows]

    def above(self, totals: FloatArray, how: str) -> Float32Array:
        """Returns [N, W]: the opponent's cfvs at the nodes of the first street, given those of its lines [L, W]."""
        engine, opponent = self.engine, self.opponent
        mode, storage = self.response(how)
        finish, sums = steps([(walk.TOTAL, 0, 0, 0), (walk.ASCEND, 0, 0, 0)]), totals.astype(np.float32).reshape(1, -1)
        window = engine.new_window()
        engine.run(finish, (opponent, opponent + 1), mode, _ONCE, self._above, window, sums=sums, storage=storage)
        start, width = int(engine.streets[0].values_at[opponent]), self.plan.widths[0][opponent]
        nodes = len(self.plan.forests[0].kind)
        return self._above.values[start : start + nodes * width].reshape(nodes, width).copy()


class BoardWorker:
    """Walks single boards; each thread has one."""

    def __init__(self, subgames: BoardSubgames) -> None:
        self.subgames, engine = subgames, subgames.engine
        self.work: Work = engine.new_work()
        for player, mine, above in (
            (0, self.work.reach0, subgames._above.reach0),
            (1, self.work.reach1, subgames._above.reach1),
        ):  # as they come to the lines of the first street
            size = int(engine.streets[1].reach_at[player])
            mine[:size] = above[:size]
        width = subgames.plan.widths[subgames.last][subgames.opponent]
        self.entry = new_entry(subgames.opponent, subgames.num_lines, width)
        self._window, self._searched = engine.new_window(), engine.new_window(self.entry)

    def reach(self, level: int, player: int, nodes: npt.NDArray[np.integer]) -> Float32Array:
        """Returns [n, W]: a player's reach at nodes of a street above the searched one, where the worker is."""
        street, plan = self.subgames.engine.streets[level], self.subgames.plan
        reach, width = self.work.reach0 if player == 0 else self.work.reach1, int(street.width[player])
        rows = reach[street.reach_at[player] :][: plan.sizes[level].slots[player] * width].reshape(-1, width)
        gathered: Float32Array = rows[street.forest.slot[player, nodes]].copy()
        return gathered

    def go_to(self, board: int) -> None:
        """Brings both players to the nodes of a board of the second of three streets, and evaluates its terminals."""
        engine, opponent = self.subgames.engine, self.subgames.opponent
        program = steps([(walk.HAND_DOWN, 0, board, 0), (walk.DESCEND, 1, board, 0)])
        for player in (1 - opponent, opponent):  # the opponent's values stay
            engine.run(program, (player, player + 1), walk.AVERAGE, _ONCE, self.work, self._window)

    def go_up(self, board: int, totals: FloatArray, mode: int, storage: tuple[Storage, Storage]) -> Float32Array:
        """Returns [N, W]: the opponent's cfvs at the nodes of that board, given those of its lines [L, W]."""
        engine, opponent, forest = self.subgames.engine, self.subgames.opponent, self.subgames.plan.forests[1]
        start, width = int(engine.streets[1].values_at[opponent]), self.subgames.plan.widths[1][opponent]
        rows = self.work.values[start : start + len(forest.kind) * width].reshape(-1, width)
        rows[forest.next_nodes] = totals
        program = steps([(walk.ASCEND, 1, board, 0)])
        engine.run(program, (opponent, opponent + 1), mode, _ONCE, self.work, self._window, storage=storage)
        return rows.copy()

    def blueprint_values(self, board: int, mode: int, storage: tuple[Storage, Storage]) -> Float32Array:
        """Returns [L, W]: the opponent's cfvs on a board where both go on as `BoardSubgames.response` has it."""
        before = [(walk.FETCH, self.subgames.last, board, 0)] if self.subgames.engine.buckets is not None else []
        return self._values(board, mode, before, self._window, storage)

    def search(self, board: int, kind: int, fill: Fill, rule: RegretRule, iterations: int) -> Float32Array:
        """Returns [L, W]: what a best response of the opponent gets on a board once its subgames were searched.

        Args:
            board: its number.
            kind: of the gadget; see `entry`.
            fill: writes the payoffs of the gadget.
            rule, iterations: of the search.
        """
        if rule.optimistic or not rule.alternating or rule.minimiser == HEDGE:
            raise SolveError("subgames of boards are searched by regret matching in turns, without predictions")
        entry, engine = self.entry, self.subgames.engine
        entry.kind[0] = kind
        fill(board, entry)
        last = self.subgames.last
        begin_entry(entry, self.subgames.plan.widths[last][self.subgames.opponent])
        for kept in self._searched.storage:
            for numbers in kept:
                if numbers is not None:
                    numbers.fill(0)
        schedule = weigh_sums(rule.schedule(1, iterations), np.array([1.0, 0.0]), 1.0, 32)
        for chunk in range(self.subgames.plan.forests[last].num_chunks):
            operations = (walk.ENTER, walk.DESCEND, walk.ASCEND, walk.LEAVE)
            program = steps([(operation, last, board, chunk) for operation in operations])
            engine.run(
                program, (0, 2), walk.UPDATE, schedule, self.work, self._searched,
                streets=self.subgames.searched_streets, sharp=rule.minimiser == SHARP_MATCHING,
            )  # fmt: skip
        return self._values(board, walk.BEST, [], self._searched, engine.storage)

    def _values(
        self, board: int, mode: int, before: list[tuple[int, int, int, int]], window: walk.Window,
        storage: tuple[Storage, Storage],
    ) -> Float32Array:  # fmt: skip
        subgames, opponent, last = self.subgames, self.subgames.opponent, self.subgames.last
        engine, forest = subgames.engine, subgames.plan.forests[last]
        width, start = subgames.plan.widths[last][opponent], int(engine.streets[last].values_at[opponent])
        values = np.empty((subgames.num_lines, width), np.float32)
        for chunk in range(forest.num_chunks):
            walked = [(walk.DESCEND, last, board, chunk), (walk.ASCEND, last, board, chunk)]
            program = steps([*(before if chunk == 0 else []), (walk.HAND_DOWN, last - 1, board, chunk), *walked])
            streets = subgames.searched_streets if window is self._searched else engine.streets
            engine.run(
                program, (opponent, opponent + 1), mode, _ONCE, self.work, window, storage=storage, streets=streets
            )
            first, end = int(forest.line_start[chunk]), int(forest.line_start[chunk + 1])
            values[first:end] = self.work.values[start : start + (end - first) * width].reshape(-1, width)
        return values
