"""A hold'em spot prepared for the kernels, and walked by one thread or by several."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError
from aleator.games.holdem.betting_tree import BettingNode, NodeKind
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.suits import HAND_MAPS, INVERSES, NUM_PERMUTATIONS, card_classes, symmetries
from aleator.solvers.engines.boards import walk
from aleator.solvers.engines.boards.forest import Forest, build_forest
from aleator.solvers.engines.boards.showdown import new_scratch
from aleator.solvers.engines.boards.tables import build_tables
from aleator.solvers.engines.boards.walk import Players, Storage, Street, Work
from aleator.solvers.engines.cpu.simd import WIDE

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]
MAX_STREETS = 3


@dataclass(frozen=True, slots=True)
class BoardNode:
    """A board of the tree: its cards, its parent on the street before, and the suit maps by which it counts there."""

    cards: tuple[int, ...]
    parent: int
    maps: tuple[int, ...]


class BoardPlan:
    """Everything about a spot that is known before memory is taken: streets, boards, rows, hands.

    Attributes:
        spot: the spot.
        hands: per player the hands (0..1325) that have weight.
        weights: per player their weights.
        forests: per street the shape of the betting.
        nodes: per street the betting node behind each node of the forest.
        boards: per street the boards, one per class of isomorphic ones, children of a board side by side.
        widths: per player the hands, padded.
    """

    def __init__(self, spot: Spot, *, isomorphism: bool = True) -> None:
        self.spot = spot
        weights = spot.weights()
        self.hands = (np.flatnonzero(weights[0]), np.flatnonzero(weights[1]))
        self.weights = tuple(weights[player][self.hands[player]] for player in (0, 1))
        self.widths = tuple(-(-len(hands) // WIDE) * WIDE for hands in self.hands)
        self.forests: list[Forest] = []
        self.nodes: list[list[BettingNode]] = []
        trees, chance, left = [spot.build_tree()], 1.0, NUM_CARDS_LEFT - len(spot.board)
        while trees:
            forest, nodes = build_forest(trees, spot.pot, spot.rake, chance)
            self.forests.append(forest)
            self.nodes.append(nodes)
            trees = [nodes[place].children[0] for place in forest.next_nodes]
            chance /= max(left, 1)
            left -= 1
        self.boards = self._boards(weights, isomorphism)

    def _boards(self, weights: npt.NDArray[np.float64], isomorphism: bool) -> list[list[BoardNode]]:
        group = symmetries(self.spot.board, weights=list(weights)) if isomorphism else np.zeros(1, np.int8)
        streets = [[BoardNode(self.spot.board, -1, (0,))]]
        groups = [group]
        for _ in self.forests[1:]:
            street, next_groups = [], []
            for parent, board in enumerate(streets[-1]):
                classes = card_classes(groups[parent], board.cards)
                for card in classes.representatives:
                    members = classes.members(int(classes.class_of[card]))
                    maps = tuple(int(INVERSES[classes.permutation_of[member]]) for member in members)
                    street.append(BoardNode((*board.cards, int(card)), parent, maps))
                    next_groups.append(symmetries([int(card)], within=groups[parent]))
            streets.append(street)
            groups = next_groups
        return streets

    @property
    def num_streets(self) -> int:
        """How many streets of betting there are."""
        return len(self.forests)

    def storage_sizes(self) -> list[list[int]]:
        """Returns per player and street the numbers kept per kind (regrets, sums)."""
        return [
            [
                len(boards) * int(forest.num_rows[player]) * self.widths[player]
                for forest, boards in zip(self.forests, self.boards, strict=True)
            ]
            for player in (0, 1)
        ]

    def num_nodes(self) -> list[int]:
        """Returns the nodes of each street, over all its boards, isomorphic ones counted once."""
        return [len(forest.kind) * len(boards) for forest, boards in zip(self.forests, self.boards, strict=True)]


NUM_CARDS_LEFT = 52 - 4  # both hands are dealt


class BoardEngine:
    """Walks one spot. Values and reach are rows in the order of `BoardPlan.hands`, padded."""

    def __init__(self, plan: BoardPlan, *, threads: int = 1, predicts: bool = False) -> None:
        if threads < 1:
            raise SolveError(f"threads must be at least 1, not {threads}")
        self.plan = plan
        sizes = plan.storage_sizes()
        self.storage = tuple(
            Storage(
                np.zeros(sum(sizes[player]), np.float32),
                np.zeros(sum(sizes[player]), np.float32),
                np.zeros(sum(sizes[player]) if predicts else 0, np.float32),
            )
            for player in (0, 1)
        )
        self.raked = plan.spot.rake.rate > 0
        self.players = self._players()
        streets = self._streets(sizes)
        self.streets = tuple(streets + streets[-1:] * (MAX_STREETS - len(streets)))
        self.threads = threads if plan.num_streets > 1 else 1
        self._works = [self._work() for _ in range(self.threads)]
        self._apart = self.threads > 1  # boards of the second street are kept in a slab and collected when all are done
        self._slab = np.zeros(0, np.float32)
        self._parts: list[Int32Array] = []
        self._pool = None
        if self._apart:
            lines, boards = len(plan.forests[0].next_nodes), len(plan.boards[1])
            self._slab = np.zeros(boards * lines * max(plan.widths), np.float32)
            self._parts = [self._program(range(k, boards, threads), 1, keep=True) for k in range(threads)]
            self._pool = ThreadPoolExecutor(self.threads)
        else:
            self._whole = self._program([0])

    def _players(self) -> Players:
        plan = self.plan
        tables = build_tables([board.cards for street in plan.boards for board in street], plan.hands)
        maps = []
        for player in (0, 1):
            row_of = np.full(NUM_HANDS, plan.widths[player] - 1, dtype=np.int64)
            row_of[plan.hands[player]] = np.arange(len(plan.hands[player]))
            table = np.tile(np.arange(plan.widths[player], dtype=np.int16), (NUM_PERMUTATIONS, 1))
            table[:, : len(plan.hands[player])] = row_of[HAND_MAPS[:, plan.hands[player]]]
            maps.append(table)
        return Players(plan.widths[0], plan.widths[1], tables[0], tables[1], maps[0], maps[1])

    def _streets(self, sizes: list[list[int]]) -> list[Street]:
        plan, streets = self.plan, []
        values_at, table = 0, 0
        reach_at = [0, 0]
        for level, (forest, boards) in enumerate(zip(plan.forests, plan.boards, strict=True)):
            parents = (
                np.array([board.parent for board in plan.boards[level + 1]])
                if level + 1 < plan.num_streets
                else np.zeros(0, int)
            )
            children = np.bincount(parents, minlength=len(boards))
            maps = [board.maps for board in boards]
            counts = np.array([len(entry) for entry in maps])
            streets.append(
                Street(
                    forest=forest,
                    storage_at=np.array([sum(sizes[player][:level]) for player in (0, 1)], np.int64),
                    reach_at=np.array(reach_at, np.int64),
                    values_at=values_at,
                    table=np.arange(table, table + len(boards), dtype=np.int32),
                    first_board=(np.cumsum(children) - children).astype(np.int32),
                    num_boards=children.astype(np.int32),
                    first_map=(np.cumsum(counts) - counts).astype(np.int32),
                    num_maps=counts.astype(np.int32),
                    map_of=np.array([suits for entry in maps for suits in entry], np.int32),
                    locked=np.zeros((len(boards), len(forest.kind)), np.bool_),
                )
            )
            values_at += len(forest.kind)
            table += len(boards)
            reach_at = [reach_at[player] + int(forest.num_slots[player]) * plan.widths[player] for player in (0, 1)]
        self._reach_sizes, self._value_rows = reach_at, values_at
        return streets

    def _work(self) -> Work:
        width = max(self.plan.widths)
        work = Work(
            np.zeros(self._reach_sizes[0], np.float32),
            np.zeros(self._reach_sizes[1], np.float32),
            np.zeros((self._value_rows + 1) * width, np.float32),
            new_scratch(width),
        )
        for player, reach in ((0, work.reach0), (1, work.reach1)):
            reach[: len(self.plan.hands[player])] = self.plan.weights[player]
        return work

    def iterate(self, schedule: npt.NDArray[np.float64]) -> None:
        """Runs CFR, one iteration per row of `schedule` (see `RegretRule.schedule`), players in turn."""
        rows = np.maximum(schedule, np.finfo(np.float32).min).astype(np.float32)
        if not self._apart:
            self._run(0, self._whole, 0, 2, walk.UPDATE, rows)
            return
        for discounts in rows:
            for player in (0, 1):
                self._traverse(player, walk.UPDATE, discounts[None])

    def values(self, player: int, *, best: bool) -> Float32Array:
        """Returns [H] of a player's cfvs at the root when the opponent plays the average policy.

        The player plays the average policy too or, if `best`, a best response.
        """
        self._traverse(player, walk.BEST if best else walk.AVERAGE, np.ones((1, 5), np.float32))
        return self._works[0].values[: len(self.plan.hands[player])].copy()

    def _run(self, thread: int, program: Int32Array, first: int, end: int, mode: int, rows: Float32Array) -> None:
        walk.run(
            program,
            first,
            end,
            mode,
            self.streets,
            self.players,
            self.storage,
            self._works[thread],
            self._slab,
            rows,
            self.raked,
        )

    def _traverse(self, player: int, mode: int, rows: Float32Array) -> None:
        """Walks the whole tree once for one player."""
        if not self._apart:
            self._run(0, self._whole, player, player + 1, mode, rows)
            return
        plan, root, below = self.plan, self.streets[0], self.streets[1]
        start = np.array([[walk.DESCEND, 0, 0], [walk.HAND_DOWN, 0, 0]], np.int32)
        self._run(0, start, player, player + 1, mode, rows)
        lines, work = len(root.forest.next_nodes), self._works[0]
        for other in self._works[1:]:
            for q, mine, theirs in ((0, work.reach0, other.reach0), (1, work.reach1, other.reach1)):
                roots = slice(int(below.reach_at[q]), int(below.reach_at[q]) + lines * plan.widths[q])
                theirs[roots] = mine[roots]
        if self._pool:
            jobs = enumerate(self._parts)
            list(self._pool.map(lambda job: self._run(job[0], job[1], player, player + 1, mode, rows), jobs))
        else:
            self._run(0, self._parts[0], player, player + 1, mode, rows)
        boards = range(len(plan.boards[1]))
        finish = np.array([[walk.COLLECT, 0, board] for board in boards] + [[walk.ASCEND, 0, 0]], np.int32)
        self._run(0, finish, player, player + 1, mode, rows)

    def _program(self, boards: Sequence[int], level: int = 0, *, keep: bool = False) -> Int32Array:
        """Returns the steps that walk some boards of a street and everything below them."""
        street = self.streets[level]
        steps: list[tuple[int, int, int]] = []
        for board in boards:
            steps.append((walk.DESCEND, level, board))
            if level + 1 < self.plan.num_streets:
                steps.append((walk.HAND_DOWN, level, board))
                first = int(street.first_board[board])
                for below in range(first, first + int(street.num_boards[board])):
                    steps += [tuple(step) for step in self._program([below], level + 1)]
                    steps.append((walk.COLLECT, level, below))
            steps.append((walk.ASCEND, level, board))
            if keep:
                steps.append((walk.KEEP, level, board))
        return np.array(steps, np.int32)

    def memory(self) -> dict[str, int]:
        """Returns the bytes that are taken, by what for."""
        tables = sum(int(array.nbytes) for table in (self.players.table0, self.players.table1) for array in table)
        works = sum(int(array.nbytes) for work in self._works for array in (work.reach0, work.reach1, work.values))
        kept = sum(int(array.nbytes) for storage in self.storage for array in storage)
        return {"storage": kept, "tables": tables, "scratch": works + int(self._slab.nbytes)}


def decision_rows(
    engine: BoardEngine, player: int, level: int, board: int, place: int
) -> tuple[slice, tuple[int, int]]:
    """Returns where the rows of a decision lie in its player's storage, and their shape [A, H padded]."""
    street, width = engine.streets[level], engine.plan.widths[player]
    forest = street.forest
    if forest.kind[place] != player or engine.plan.nodes[level][place].kind != NodeKind.DECISION:
        raise ValueError(f"node {place} of street {level} is not a decision of player {player}")
    count = int(forest.num_children[place])
    start = int(street.storage_at[player]) + (board * int(forest.num_rows[player]) + int(forest.row[place])) * width
    return slice(start, start + prod((count, width))), (count, width)
