"""A hold'em spot in memory, walked by one thread or by several."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError
from aleator.kernels.aligned import aligned_zeros
from aleator.solvers.engines.boards import walk
from aleator.solvers.engines.boards.buckets import BucketOf, StreetBuckets, no_buckets
from aleator.solvers.engines.boards.entry import Entry, new_entry
from aleator.solvers.engines.boards.kept import LARGEST
from aleator.solvers.engines.boards.memory import as_bits, new_storage, scales, weigh_sums
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.engines.boards.showdown import new_scratch
from aleator.solvers.engines.boards.tables import build_tables
from aleator.solvers.engines.boards.walk import Storage, Street, Window, Work

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]
Steps = list[tuple[int, int, int, int]]
MAX_STREETS = 3
MAX_PIECES = 16  # of the second street's boards: how sums are taken does not depend on the number of threads
_AMOUNTS = ("fold_amount", "show_amount", "rake_amount")


def steps(program: Steps) -> Int32Array:
    """Returns a program as the kernels take it, [S, 4]."""
    return np.array(program, np.int32).reshape(-1, 4)


class BoardEngine:
    """Walks one spot. Vectors are rows of hands in the order of `BoardPlan.rows`, padded.

    Boards of the second street are walked in pieces, side by side with several threads; sums are taken in the same
    order with one thread, so results are equal bit by bit.

    Args:
        plan: the spot, laid out.
        threads: that walk.
        predicts: whether the rule is optimistic.
        sharp: whether policies are proportional to regrets to the power 1.5.
        bits: of regrets and sums.
        watch: the player whose values behind the first card are summed up (`board_values`); None for nobody.
        buckets: of the hands on the last street's boards; None: each hand of each board has rows of its own.
    """

    def __init__(
        self,
        plan: BoardPlan,
        *,
        threads: int = 1,
        predicts: bool = False,
        sharp: bool = False,
        bits: int = 32,
        watch: int | None = None,
        buckets: BucketOf | None = None,
    ) -> None:
        if threads < 1:
            raise SolveError(f"threads must be at least 1, not {threads}")
        if bits not in (16, 32):
            raise SolveError(f"regrets and sums are kept in 16 or 32 bits, not {bits}")
        if buckets is not None and (predicts or bits != 32 or plan.num_streets == 1):
            raise SolveError("buckets need 32 bits, a rule that does not predict, and a street before theirs")
        self.plan = plan
        self.root_rows = (plan.rows(0, plan.boards[0][0]), plan.rows(1, plan.boards[0][0]))
        self.sharp = sharp
        self.raked = plan.spot.rake.rate > 0
        self.bits, self._predicts = bits, predicts
        self.units = scales(plan) if bits == 16 else [1.0] * plan.num_streets
        pieces = min(len(plan.boards[1]) if plan.num_streets > 1 else 0, MAX_PIECES)
        self.buckets = None if buckets is None else StreetBuckets(plan, buckets, pieces)
        stored = range(plan.num_streets - (buckets is not None))
        sizes = [sum(plan.storage_size(player, level) for level in stored) for player in (0, 1)]
        self.storage = new_storage(sizes, bits, predicts=predicts)
        self._bits = (as_bits(self.storage[0]), as_bits(self.storage[1]))
        self.read_only = False
        # what the last policies weigh in their sums; the largest sum in units of it
        self.averaging = np.array([1.0, 0.0])
        streets = self._streets()
        streets += streets[-1:] * (MAX_STREETS - len(streets))
        self.streets = (streets[0], streets[1], streets[2])
        self.threads = threads if plan.num_streets > 1 else 1
        self._works = [self.new_work() for _ in range(self.threads)]
        self._windows = [self.new_window() for _ in range(self.threads)]
        self._rows, self._most = np.zeros((0, 6), np.float32), 0.0
        for player in (0, 1):
            self.set_reach(player, plan.weights[player])
        boards, lines = len(plan.boards[1]) if plan.num_streets > 1 else 0, len(plan.forests[0].next_nodes)
        self._watch = watch
        watched = boards * lines * plan.widths[1][watch] if boards and watch is not None else 0
        self._watched, self._best = aligned_zeros(watched, np.float32), np.zeros(0, np.float32)
        sums = aligned_zeros(pieces * lines * max(plan.widths[0]), np.float32)
        self._sums = sums.reshape(pieces, -1) if pieces else sums.reshape(0, 0)
        parts = [
            steps([(walk.CLEAR, 0, k, 0), *self._boards_steps(range(k, boards, pieces), 1, k)]) for k in range(pieces)
        ]
        self._begin = steps([(walk.DESCEND, 0, 0, 0)])
        self._finish = steps([(walk.TOTAL, 0, 0, 0)] * bool(pieces) + [(walk.ASCEND, 0, 0, 0)])
        self._whole = np.concatenate([self._begin, *parts, self._finish])
        # a thread begins with a large share, since a call takes time, and what is left goes to whoever comes first
        share = 3 * pieces // (4 * self.threads)
        large = [np.concatenate(parts[k * share : (k + 1) * share]) for k in range(self.threads if share else 0)]
        self._shares = [*parts[len(large) * share :], *large]
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def _streets(self) -> list[Street]:
        plan, streets = self.plan, []
        reach_at, values_at, storage_at = (np.zeros(2, np.int64) for _ in range(3))
        for level, (forest, boards) in enumerate(zip(plan.forests, plan.boards, strict=True)):
            tables = build_tables([[plan.living(player, board) for board in boards] for player in (0, 1)])
            following = plan.boards[level + 1] if level + 1 < plan.num_streets else []
            children = np.bincount([board.parent for board in following], minlength=len(boards)).astype(np.int32)
            counts = np.array([len(board.maps) for board in boards], np.int32)
            width = np.array(plan.widths[level], np.int64)
            streets.append(
                Street(
                    forest=forest._replace(
                        **{name: getattr(forest, name) * np.float32(self.units[level]) for name in _AMOUNTS}
                    ),
                    rescale=np.float32(self.units[max(level - 1, 0)] / self.units[level]),
                    width=width,
                    storage_at=storage_at.copy() * (not self._in_window(level)),
                    board_stride=np.array(forest.num_rows, np.int64) * width * (not self._in_window(level)),
                    reach_at=reach_at.copy(),
                    values_at=values_at.copy(),
                    table0=tables[0],
                    table1=tables[1],
                    first_board=(np.cumsum(children) - children).astype(np.int32),
                    num_boards=children,
                    order0=plan.order(0, level),
                    order1=plan.order(1, level),
                    first_map=(np.cumsum(counts) - counts).astype(np.int32),
                    num_maps=counts,
                    map0=plan.maps(0, level),
                    map1=plan.maps(1, level),
                    locked=np.zeros((len(boards), len(forest.kind)), np.bool_),
                )
            )
            storage_at += [plan.storage_size(player, level) for player in (0, 1)]
            reach_at += np.array(plan.sizes[level].slots) * width
            values_at += plan.sizes[level].nodes * width
        self._reach_sizes, self._values_size = reach_at, int(values_at.max())
        return streets

    def _in_window(self, level: int) -> bool:
        """Returns whether the boards of a street share one window."""
        return self.buckets is not None and level == self.plan.num_streets - 1

    def new_window(self, entry: Entry | None = None) -> Window:
        """Returns the rows that the last street's boards share: none, those of buckets, or those of a search.

        Args:
            entry: the gadgets above the searched board's lines; None for walks that begin on the first street.
        """
        plan, last = self.plan, self.plan.num_streets - 1
        bucketed = entry is None and self.buckets is not None
        used = bucketed or entry is not None
        forest, widths = plan.forests[last], plan.widths[last]
        sizes = [used * int(forest.num_rows[player]) * widths[player] for player in (0, 1)]
        storage = new_storage(sizes, self.bits, predicts=self._predicts)
        rows = self.buckets.rows if bucketed and self.buckets is not None else [no_buckets(), no_buckets()]
        return Window(
            level=last if used else -1,
            storage=(as_bits(storage[0]), as_bits(storage[1])),
            buckets=(rows[0], rows[1]),
            multiplicity=plan.multiplicities(last) if bucketed else np.zeros(0, np.float32),
            gains=np.array([0.0, 0.0, 1.0, -LARGEST[32], 0.0, 1.0], np.float32),
            entry=new_entry() if entry is None else entry,
        )

    def new_work(self) -> Work:
        """Returns the scratch of a thread."""
        width = max(max(widths) for widths in self.plan.widths)
        return Work(
            aligned_zeros(int(self._reach_sizes[0]), np.float32),
            aligned_zeros(int(self._reach_sizes[1]), np.float32),
            aligned_zeros(self._values_size + width, np.float32),
            new_scratch(width),
        )

    def _boards_steps(self, boards: Sequence[int], level: int, piece: int) -> Steps:
        """Returns the steps that walk boards of a street, and all below them, from the street before and back."""
        program, deeper = [], level + 1 < self.plan.num_streets
        for board in boards:
            first, count = int(self.streets[level].first_board[board]), int(self.streets[level].num_boards[board])
            if self._in_window(level):
                program.append((walk.FETCH, level, board, 0))
            for chunk in range(self.plan.forests[level].num_chunks):
                program += [(walk.HAND_DOWN, level - 1, board, chunk), (walk.DESCEND, level, board, chunk)]
                if deeper:
                    program.append((walk.CLEAR, level, board, 0))
                    program += self._boards_steps(range(first, first + count), level + 1, piece)
                program.append((walk.ASCEND, level, board, chunk))
                if level == 1 and self._watch is not None:
                    program.append((walk.WATCH, self._watch, board, chunk))
                program.append((walk.COLLECT, level - 1, board, chunk))
            if self._in_window(level):
                program.append((walk.SCATTER, level, board, piece))
        return program

    def free_regrets(self) -> None:
        """Gives back the memory of everything but the average policies: they can then be read and evaluated only."""
        self.read_only = True
        first, second = (
            kept._replace(
                regret=kept.regret[:0].copy(), instant=None if kept.instant is None else kept.instant[:0].copy()
            )
            for kept in self.storage
        )
        self.storage = (first, second)
        self._bits = (as_bits(first), as_bits(second))

    def _check_regrets(self) -> None:
        if self.read_only:
            raise SolveError("this solver has given its regrets back: it cannot go on")

    def iterate(self, schedule: npt.NDArray[np.float64]) -> None:
        """Runs CFR, one iteration per row of `schedule` (see `RegretRule.schedule`), players in turn."""
        self._check_regrets()
        self._rows = weigh_sums(schedule, self.averaging, self._most, self.bits)
        if self.threads == 1 and self.buckets is None:
            self._run(0, self._whole, 0, 2, walk.UPDATE, self._rows)
            return
        for row in self._rows:
            for player in (0, 1):
                self._update(player, row)

    def update(self, player: int, schedule: npt.NDArray[np.float64]) -> Float32Array:
        """Runs one player's half of an iteration; returns [H] of its cfvs at the root under the current policies.

        Player 0's half comes first.
        """
        self._check_regrets()
        if player == 0:
            self._rows = weigh_sums(schedule, self.averaging, self._most, self.bits)
        self._update(player, self._rows[-1])
        return self._root_values(player)

    def _update(self, player: int, row: Float32Array) -> None:
        """Runs one player's half of an iteration."""
        if self.buckets is None:
            self._traverse(player, walk.UPDATE, row[None])
            return
        buckets, power = self.buckets, 1.5 if self.sharp else 1.0
        for actor in (0, 1):
            buckets.gather(actor, buckets.matched(actor, buckets.regret[actor], power))
        buckets.clear()
        self._traverse(player, walk.UPDATE, row[None])
        buckets.fold_in(player, row)

    def set_reach(self, player: int, reach: npt.NDArray[np.float64]) -> None:
        """Sets a player's reach at the root, [1326]."""
        rows = self.root_rows[player]
        self._most = max(self._most, float(reach[rows].max(initial=0.0)))
        for work in self._works:
            (work.reach0 if player == 0 else work.reach1)[: len(rows)] = reach[rows]

    def values(self, player: int, *, best: bool) -> Float32Array:
        """Returns [H] of a player's cfvs at the root when the opponent plays the average policy.

        The player plays the average policy too or, if `best`, a best response.
        """
        if self.buckets is not None:
            for actor in (0, 1):
                self.buckets.gather(actor, self.buckets.policy_sum[actor])
        self._traverse(player, walk.BEST if best else walk.AVERAGE, np.ones((1, 6), np.float32))
        return self._root_values(player)

    def _root_values(self, player: int) -> Float32Array:
        start = int(self.streets[0].values_at[player])
        return self._works[0].values[start : start + len(self.root_rows[player])] / np.float32(self.units[0])

    def street_values(self, player: int) -> Float32Array:
        """Returns [N, W]: a player's cfvs at all nodes of the first street, by the player's last traversal."""
        start, width = int(self.streets[0].values_at[player]), self.plan.widths[0][player]
        nodes = len(self.plan.forests[0].kind)
        rows = self._works[0].values[start : start + nodes * width].reshape(nodes, width)
        return rows / np.float32(self.units[0])

    def board_values(self) -> Float32Array:
        """Returns [B, L, W]: the watched player's cfvs on each board of the second street after each line of the first.

        Summed over iterations with the weights of policies in their sums: `averaging[0]` is that of the last one.
        """
        return self._on_boards(self._watched)

    def best_board_values(self) -> Float32Array:
        """Returns [B, L, W]: the same for one best response of the watched player to the average policy."""
        assert self._watch is not None
        best = self._best = np.zeros_like(self._watched)
        self.values(self._watch, best=True)
        self._best = self._best[:0]
        return self._on_boards(best)

    def _on_boards(self, sums: Float32Array) -> Float32Array:
        assert self._watch is not None
        shape = len(self.plan.boards[1]), len(self.plan.forests[0].next_nodes), self.plan.widths[1][self._watch]
        return sums.reshape(shape) / np.float32(self.units[1])

    def _run(self, work: int, program: Int32Array, first: int, end: int, mode: int, rows: Float32Array) -> None:
        watched = self._watched if mode == walk.UPDATE else self._best
        self.run(program, (first, end), mode, rows, self._works[work], self._windows[work], watched=watched)

    def run(
        self,
        program: Int32Array,
        players: tuple[int, int],
        mode: int,
        rows: Float32Array,
        work: Work,
        window: Window,
        *,
        sums: Float32Array | None = None,
        watched: Float32Array | None = None,
        storage: tuple[Storage, Storage] | None = None,
        streets: tuple[Street, Street, Street] | None = None,
        sharp: bool | None = None,
    ) -> None:
        """Runs a program; see `walk.run`.

        Args:
            program, mode, rows, work, window, watched: as there.
            players: the first traverser, and the end.
            sums, storage, streets, sharp: the engine's own unless given.
        """
        walk.run(
            program, players[0], players[1], mode, self.streets if streets is None else streets,
            self._bits if storage is None else storage, window, work, self._sums if sums is None else sums,
            self._best[:0] if watched is None else watched, rows, self.raked, self.sharp if sharp is None else sharp,
        )  # fmt: skip

    def _traverse(self, player: int, mode: int, rows: Float32Array) -> None:
        """Walks the whole tree once for one player."""
        if self._pool is None:
            self._run(0, self._whole, player, player + 1, mode, rows)
            return
        self._run(0, self._begin, player, player + 1, mode, rows)
        for work in self._works[1:]:
            for q, mine, theirs in ((0, self._works[0].reach0, work.reach0), (1, self._works[0].reach1, work.reach1)):
                size = self.streets[1].reach_at[q]
                theirs[:size] = mine[:size]
        left = list(self._shares)

        def work_through(work: int) -> None:
            """Takes one share after the other, so that a thread that is held up leaves more to the others."""
            while True:
                try:
                    share = left.pop()
                except IndexError:
                    return
                self._run(work, share, player, player + 1, mode, rows)

        others = [self._pool.submit(work_through, work) for work in range(1, self.threads)]
        work_through(0)
        for other in others:
            other.result()
        self._run(0, self._finish, player, player + 1, mode, rows)

    def read(self, name: str, level: int, board: int, slot: int) -> Float32Array:
        """Returns [A, W] of a decision's "regret" or "policy_sum" as float32."""
        if self.buckets is not None and self._in_window(level):
            forest = self.plan.forests[level]
            player, row, count = int(forest.kind[slot]), int(forest.row[slot]), int(forest.num_children[slot])
            gathered = self.buckets.read(name, player, board)[row : row + count]
            return gathered / np.float32(self._scale(name, level))
        rows, shape = self.decision_rows(level, board, slot)
        player = int(self.plan.forests[level].kind[slot])
        block: Float32Array = getattr(self.storage[player], name)[rows].astype(np.float32).reshape(shape)
        return block / np.float32(self._scale(name, level))

    def policy_sums(self, level: int, player: int, board: int) -> npt.NDArray[Any]:
        """Returns [R, W]: the sums of a player's policies on a board, as they are kept."""
        if self.buckets is not None and self._in_window(level):
            return self.buckets.read("policy_sum", player, board)
        count, width = int(self.plan.forests[level].num_rows[player]), self.plan.widths[level][player]
        start = int(self.streets[level].storage_at[player]) + board * count * width
        return self.storage[player].policy_sum[start : start + count * width].reshape(count, width)

    def write(self, name: str, level: int, board: int, slot: int, block: npt.NDArray[np.floating[Any]]) -> None:
        """Sets a decision's "regret" or "policy_sum" to [A, W]."""
        rows, shape = self.decision_rows(level, board, slot)
        if block.shape != shape:
            raise SolveError(f"a block of shape {shape} is needed here, not {block.shape}")
        player = int(self.plan.forests[level].kind[slot])
        getattr(self.storage[player], name)[rows] = block.ravel() * self._scale(name, level)

    def _scale(self, name: str, level: int) -> float:
        """Returns what numbers of a kind are kept times on a street."""
        return self.units[level] if name == "regret" else float(self.averaging[0])

    def decision_rows(self, level: int, board: int, slot: int) -> tuple[slice, tuple[int, int]]:
        """Returns where the rows of a decision lie in its player's storage, and their shape [A, W]."""
        forest = self.plan.forests[level]
        player = int(forest.kind[slot])
        if player > 1:
            raise ValueError(f"node {slot} of street {level} is not a decision")
        if self._in_window(level):
            raise SolveError(f"hands of street {level} have buckets: no decision there has rows of its own")
        width, count = self.plan.widths[level][player], int(forest.num_children[slot])
        start = int(self.streets[level].storage_at[player])
        start += (board * int(forest.num_rows[player]) + int(forest.row[slot])) * width
        return slice(start, start + count * width), (count, width)

    def memory(self) -> dict[str, int]:
        """Returns the bytes that are taken, by what for."""
        tables = sum(
            int(array.nbytes)
            for street in self.streets[: self.plan.num_streets]
            for array in (*street.table0, *street.table1, street.order0, street.order1, street.map0, street.map1)
        )
        works = sum(int(array.nbytes) for work in self._works for array in (work.reach0, work.reach1, work.values))
        kept = sum(int(array.nbytes) for storage in self.storage for array in storage if array is not None)
        kept += self.buckets.memory() if self.buckets is not None else 0
        return {"storage": kept, "tables": tables, "scratch": works + int(self._sums.nbytes)}
