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
from aleator.solvers.engines.boards.kept import LARGEST
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.engines.boards.showdown import new_scratch
from aleator.solvers.engines.boards.tables import build_tables
from aleator.solvers.engines.boards.walk import Storage, Street, Work

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]
Steps = list[tuple[int, int, int, int]]
MAX_STREETS = 3
MAX_PIECES = 16  # of the second street's boards: how sums are taken does not depend on the number of threads
# by bits: sums shrink to the first before they exceed the second
LARGEST_SUM = {16: (2.0**11, 2.0**15), 32: (1.0, 2.0**80)}
LARGEST_GAIN = 2.0**8  # as it is kept in 16 bits; with regret matching, regrets grow like the root of iterations
_AMOUNTS = ("fold_amount", "show_amount", "rake_amount")


def _steps(program: Steps) -> Int32Array:
    """Returns a program as the kernels take it, [S, 4]."""
    return np.array(program, np.int32).reshape(-1, 4)


def _units(plan: BoardPlan) -> list[float]:
    """Returns per street the power of two by which chips are multiplied, so that regrets suit float16.

    Values on a board carry the chance of the board, so that those of later streets are multiplied by more.
    """
    behind = min(plan.spot.stack, int(plan.betting.tree.chips.max()))  # limit has stacks that never get in
    most = max(float(weights.sum()) for weights in plan.weights) * (plan.spot.pot / 2 + behind)
    return [float(2.0 ** np.floor(np.log2(LARGEST_GAIN / (most * chance)))) for chance in plan.chances]


def _as_bits(kept: Storage) -> Storage:
    """Returns the same memory as the kernels take it."""
    if kept.regret.dtype == np.float32:
        return kept
    return kept._replace(regret=kept.regret.view(np.uint16), policy_sum=kept.policy_sum.view(np.uint16))


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
    ) -> None:
        if threads < 1:
            raise SolveError(f"threads must be at least 1, not {threads}")
        if bits not in (16, 32):
            raise SolveError(f"regrets and sums are kept in 16 or 32 bits, not {bits}")
        self.plan = plan
        self.root_rows = (plan.rows(0, plan.boards[0][0]), plan.rows(1, plan.boards[0][0]))
        self.sharp = sharp
        self.raked = plan.spot.rake.rate > 0
        sizes = [sum(plan.storage_size(player, level) for level in range(plan.num_streets)) for player in (0, 1)]
        self.bits = bits
        self.units = _units(plan) if bits == 16 else [1.0] * plan.num_streets
        kept = np.float16 if bits == 16 else np.float32
        first, second = (
            Storage(
                regret=aligned_zeros(size, kept),
                policy_sum=aligned_zeros(size, kept),
                instant=aligned_zeros(size, np.float32) if predicts else None,
            )
            for size in sizes
        )
        self.storage = (first, second)
        self._bits = (_as_bits(first), _as_bits(second))
        self.read_only = False
        # what the last policies weigh in their sums; the largest sum in units of it
        self.averaging = np.array([1.0, 0.0])
        streets = self._streets()
        streets += streets[-1:] * (MAX_STREETS - len(streets))
        self.streets = (streets[0], streets[1], streets[2])
        self.threads = threads if plan.num_streets > 1 else 1
        self._works = [self._work() for _ in range(self.threads)]
        self._rows, self._most = np.zeros((0, 6), np.float32), 0.0
        for player in (0, 1):
            self.set_reach(player, plan.weights[player])
        boards = len(plan.boards[1]) if plan.num_streets > 1 else 0
        self._watch = watch
        watched = (
            boards * len(plan.forests[0].next_nodes) * plan.widths[1][watch] if boards and watch is not None else 0
        )
        self._watched, self._best = aligned_zeros(watched, np.float32), np.zeros(0, np.float32)
        pieces, lines = min(boards, MAX_PIECES), len(plan.forests[0].next_nodes)
        sums = aligned_zeros(pieces * lines * max(plan.widths[0]), np.float32)
        self._sums = sums.reshape(pieces, -1) if pieces else sums.reshape(0, 0)
        parts = [
            _steps([(walk.CLEAR, 0, k, 0), *self._boards_steps(range(k, boards, pieces), 1)]) for k in range(pieces)
        ]
        self._begin = _steps([(walk.DESCEND, 0, 0, 0)])
        self._finish = _steps([(walk.TOTAL, 0, 0, 0)] * bool(pieces) + [(walk.ASCEND, 0, 0, 0)])
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
                    storage_at=storage_at.copy(),
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

    def _work(self) -> Work:
        width = max(max(widths) for widths in self.plan.widths)
        return Work(
            aligned_zeros(int(self._reach_sizes[0]), np.float32),
            aligned_zeros(int(self._reach_sizes[1]), np.float32),
            aligned_zeros(self._values_size + width, np.float32),
            new_scratch(width),
        )

    def _boards_steps(self, boards: Sequence[int], level: int) -> Steps:
        """Returns the steps that walk boards of a street, and all below them, from the street before and back."""
        steps, deeper = [], level + 1 < self.plan.num_streets
        for board in boards:
            first, count = int(self.streets[level].first_board[board]), int(self.streets[level].num_boards[board])
            for chunk in range(self.plan.forests[level].num_chunks):
                steps += [(walk.HAND_DOWN, level - 1, board, chunk), (walk.DESCEND, level, board, chunk)]
                if deeper:
                    steps.append((walk.CLEAR, level, board, 0))
                    steps += self._boards_steps(range(first, first + count), level + 1)
                steps.append((walk.ASCEND, level, board, chunk))
                if level == 1 and self._watch is not None:
                    steps.append((walk.WATCH, self._watch, board, chunk))
                steps.append((walk.COLLECT, level - 1, board, chunk))
        return steps

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
        self._bits = (_as_bits(first), _as_bits(second))

    def _check_regrets(self) -> None:
        if self.read_only:
            raise SolveError("this solver has given its regrets back: it cannot go on")

    def iterate(self, schedule: npt.NDArray[np.float64]) -> None:
        """Runs CFR, one iteration per row of `schedule` (see `RegretRule.schedule`), players in turn."""
        self._check_regrets()
        self._rows = self._weigh(schedule)
        if self.threads == 1:
            self._run(0, self._whole, 0, 2, walk.UPDATE, self._rows)
            return
        for row in self._rows:
            for player in (0, 1):
                self._traverse(player, walk.UPDATE, row[None])

    def update(self, player: int, schedule: npt.NDArray[np.float64]) -> Float32Array:
        """Runs one player's half of an iteration; returns [H] of its cfvs at the root under the current policies.

        Player 0's half comes first.
        """
        self._check_regrets()
        if player == 0:
            self._rows = self._weigh(schedule)
        self._traverse(player, walk.UPDATE, self._rows[-1:])
        return self._root_values(player)

    def _weigh(self, schedule: npt.NDArray[np.float64]) -> Float32Array:
        """Returns [T, 6]: a schedule as the kernels take it, where sums do not decay but later policies weigh more.

        So nothing is written where nothing is added. Before sums grow too large, they shrink with the weights: the last
        column says to what part.
        """
        rows = np.ones((len(schedule), 6), np.float32)
        rows[:, :5] = np.maximum(schedule, -LARGEST[self.bits])
        weight, bound = self.averaging
        low, high = LARGEST_SUM[self.bits]
        for row, decay in zip(rows, schedule[:, 2], strict=True):
            bound = bound * decay + self._most
            if bound * weight <= high * decay:
                weight /= decay
            else:
                fitting = 2.0 ** np.floor(np.log2(low / bound))
                row[5] = decay * fitting / weight
                weight = fitting
            row[2] = weight
        self.averaging[:] = weight, bound
        return rows

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
        walk.run(
            program, first, end, mode, self.streets, self._bits, self._works[work], self._sums, watched, rows,
            self.raked, self.sharp,
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
        rows, shape = self.decision_rows(level, board, slot)
        player = int(self.plan.forests[level].kind[slot])
        block: Float32Array = getattr(self.storage[player], name)[rows].astype(np.float32).reshape(shape)
        return block / np.float32(self._scale(name, level))

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
        return {"storage": kept, "tables": tables, "scratch": works + int(self._sums.nbytes)}
