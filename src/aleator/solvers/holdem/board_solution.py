"""What solutions of hold'em share: the average policy of every decision in a form that one file holds, opened lazily.

The file does not depend on how the engine lays out its memory. Probabilities are whole numbers of 1/32,767 (int16, so
0 and 1 are exact), for each player and street `[B, R, H]`: boards up to renaming of suits, one row per action of each
of the player's decisions in preorder of the betting tree, all hands of the range ascending (0 for those the board
blocks). On request the file also keeps the solver's state, from which a solve goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import SolutionError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, count_nodes
from aleator.games.holdem.board_game import BoardGame
from aleator.games.holdem.cards import NUM_CARDS, NUM_HANDS
from aleator.games.holdem.suits import CARD_MAPS, HAND_MAPS, INVERSES
from aleator.solvers.engines.boards.plan import Board
from aleator.solvers.holdem.solver import SpotSolver
from aleator.solvers.limits import CurvePoint
from aleator.solvers.solution import Arrays, Solution
from aleator.solvers.summary import Summary
from aleator.storage import ArrayFile

ONE = 32_767  # the number that stands for probability 1
Deal = tuple[int, frozenset[int]]  # a board of the street before, and the cards that come


class StoredNode(NamedTuple):
    """Where a solution keeps a node, and how hands and cards are named there: boards up to suits are kept once.

    Attributes:
        node: the betting.
        level, board: the street, counted from that of the spot, and which of its boards.
        hands: [1326] the stored hand that each hand is.
        cards: [52] the stored card that each card is.
    """

    node: BettingNode
    level: int
    board: int
    hands: npt.NDArray[np.int64]
    cards: npt.NDArray[np.int64]


class BoardSolution(Solution):
    """The average policy of a game of boards and how it was found.

    Attributes:
        board_game: what was solved.
        root: the betting tree.
        hands: per player the hands of the range, ascending, `[H]`.
        weights: per player their weights, `[H]`.
        boards: per street the boards; see `BoardPlan`.
    """

    STATE = "state_"

    def __init__(self, summary: Summary, arrays: Arrays | ArrayFile, board_game: BoardGame) -> None:
        """Returns the solution of some arrays."""
        super().__init__(summary, arrays)
        self.board_game, self.root = board_game, board_game.build_tree()
        weights = board_game.weights()
        self.hands = (np.flatnonzero(weights[0]), np.flatnonzero(weights[1]))
        self.weights = (weights[0][self.hands[0]], weights[1][self.hands[1]])
        self._first_row = tuple(self.root.tree.first_rows(self.root.number, player) for player in (0, 1))
        self.boards = [_read_boards(arrays, level) for level in range(board_game.num_streets - board_game.street)]
        self._deals: dict[int, dict[Deal, tuple[int, int]]] = {}

    @property
    def nodes_per_street(self) -> tuple[int, ...]:
        """The nodes of each street over all boards, isomorphic ones counted once."""
        betting = count_nodes(self.root)[self.board_game.street :]
        return tuple(count * len(boards) for count, boards in zip(betting, self.boards, strict=False))

    @property
    def has_last_street(self) -> bool:
        """Whether the policy of the last street is there."""
        return policy_name(0, len(self.boards) - 1) in self._arrays

    def start(self) -> StoredNode:
        """Returns the first node."""
        return StoredNode(self.root, 0, 0, np.arange(NUM_HANDS), np.arange(NUM_CARDS))

    def act(self, at: StoredNode, action: int) -> StoredNode:
        """Returns the node after an action by its index."""
        return at._replace(node=at.node.children[action])

    def deal(self, at: StoredNode, cards: Sequence[int]) -> StoredNode | None:
        """Returns the node after the cards that open the next street; None if they cannot come there."""
        level = at.level + 1
        if at.node.kind is not NodeKind.NEXT_STREET or level >= len(self.boards):
            return None
        if level not in self._deals:
            self._deals[level] = dict(self._images(level))
        entry = self._deals[level].get((at.board, frozenset(at.cards[list(cards)].tolist())))
        if entry is None:
            return None
        board, suits = entry
        return StoredNode(at.node.children[0], level, board, HAND_MAPS[suits][at.hands], CARD_MAPS[suits][at.cards])

    def _images(self, level: int) -> Iterator[tuple[Deal, tuple[int, int]]]:
        """Yields every deal that opens a street, the board that stands for it, and the suits' map to that board."""
        before = len(self.boards[level - 1][0].cards)
        for number, board in enumerate(self.boards[level]):
            dealt = list(board.cards[before:])
            for suits in board.maps:
                yield (board.parent, frozenset(CARD_MAPS[INVERSES[suits], dealt].tolist())), (number, suits)

    def policy_at(self, at: StoredNode) -> FloatArray:
        """Returns `[A, 1326]`: the average policy of a decision; 0 for hands out of range.

        Raises:
            SolutionError: the street has been left out.
        """
        stored = np.zeros((len(at.node.actions), NUM_HANDS))
        stored[:, self.hands[at.node.player]] = self.blocks(at.level, slice(at.board, at.board + 1), at.node)[0]
        return stored[:, at.hands]

    def blocks(self, level: int, boards: slice, node: BettingNode) -> FloatArray:
        """Returns `[B, A, H]`: the average policy of a decision on some boards of its street; uniform if never reached.

        Raises:
            SolutionError: the street has been left out.
        """
        name = policy_name(node.player, level)
        if name not in self._arrays:
            raise SolutionError("the solution was saved without its last street")
        first, count = int(self._first_row[node.player][node.number]), len(node.tree.children(node.number))
        kept = np.asarray(self._arrays[name][boards, first : first + count], np.float64)
        if kept.size and kept.min() < 0.0:
            raise SolutionError(f"{name} is damaged: it has negative probabilities")
        total = kept.sum(axis=1, keepdims=True)
        policy: FloatArray = np.divide(kept, total, out=np.full_like(kept, 1.0 / count), where=total > 0)
        return policy

    def check(self) -> None:
        """Raises SolutionError if a policy has another shape or type than the game and its boards give it."""
        for player in (0, 1):
            rows = [0, 0, 0, 0]
            for node in np.flatnonzero(self._first_row[player] >= 0).tolist():
                rows[self.root.tree.street[node]] += len(self.root.tree.children(node))
            for level, boards in enumerate(self.boards):
                name = policy_name(player, level)
                shape = (len(boards), rows[self.board_game.street + level], len(self.hands[player]))
                if name not in self._arrays:
                    if level < len(self.boards) - 1:
                        raise SolutionError(f"{name} is missing")
                elif (stored := self._arrays[name]).shape != shape or stored.dtype != np.int16:
                    given = f"{stored.dtype}{list(stored.shape)}"
                    raise SolutionError(f"{name} is {given}, but the game needs int16{list(shape)}")


def found_by(
    solver: SpotSolver, algorithm: str, curve: Sequence[CurvePoint], name: str, *, keep_state: bool
) -> tuple[Summary, Arrays]:
    """Returns what a solver has reached: its summary, and the arrays of a solution.

    Args:
        solver: after some iterations.
        algorithm: its rule by name.
        curve: quality over time.
        name: of the game.
        keep_state: whether the solution holds the solver's state (not a copy), so that a solve can go on from it; if
            not, the solver gives its regrets back and cannot go on, so that a solution takes no more memory than the
            solve.
    """
    exploitability = curve[-1].exploitability if curve else solver.nash_conv() / 2
    summary = Summary(
        game=name,
        algorithm=algorithm,
        dtype=f"float{solver.bits}",
        iterations=solver.iteration,
        seconds=curve[-1].seconds if curve else 0.0,
        values=solver.values(),
        exploitability=exploitability,
        nodes=sum(solver.plan.num_nodes()),
        infostates=solver.plan.num_infostates(),
        curve=tuple(curve),
    )
    if not keep_state:
        solver.free_regrets()
    arrays = _solver_arrays(solver)
    if keep_state:
        arrays |= {BoardSolution.STATE + key: vector for key, vector in solver.state().items()}
    return summary, arrays


def policy_name(player: int, level: int) -> str:
    return f"policy{player}_{level}"


def _solver_arrays(solver: SpotSolver) -> dict[str, npt.NDArray[Any]]:
    """Returns the boards and the average policies of a solver as the file keeps them."""
    plan = solver.plan
    arrays: dict[str, npt.NDArray[Any]] = {}
    for level, boards in enumerate(plan.boards):
        arrays |= _board_arrays(boards, level)
        for player in (0, 1):
            arrays[policy_name(player, level)] = _street_policy(solver, level, player)
    return arrays


def _street_policy(solver: SpotSolver, level: int, player: int) -> npt.NDArray[np.int16]:
    """Returns the average policy of a player's decisions on a street as the file keeps it, `[B, R, H]`."""
    plan = solver.plan
    shape = (len(plan.boards[level]), int(plan.forests[level].num_rows[player]), len(plan.hands[player]))
    policy = np.zeros(shape, np.int16)
    for index, block in enumerate(solver.board_policies(level, player)):
        policy[index] = np.rint(block * ONE).astype(np.int16)
    return policy


def _board_arrays(boards: Sequence[Board], level: int) -> dict[str, npt.NDArray[Any]]:
    return {
        f"board_cards_{level}": np.array([board.cards for board in boards], np.int8),
        f"board_parents_{level}": np.array([board.parent for board in boards], np.int32),
        f"board_map_counts_{level}": np.array([len(board.maps) for board in boards], np.int8),
        f"board_maps_{level}": np.array([suits for board in boards for suits in board.maps], np.int8),
    }


def _read_boards(arrays: Arrays | ArrayFile, level: int) -> list[Board]:
    bounds = {"cards": (0, NUM_CARDS), "parents": (-1, 1 << 20), "map_counts": (0, 25), "maps": (0, len(CARD_MAPS))}
    columns = {name: np.asarray(arrays[f"board_{name}_{level}"]) for name in bounds}
    for name, (low, high) in bounds.items():
        column = columns[name]
        whole = column.dtype.kind == "i" and column.ndim == 1 + (name == "cards")
        if not whole or (column.size and not low <= column.min() <= column.max() < high):
            raise SolutionError(f"board_{name}_{level} is damaged")
    cards, parents, counts, maps = (column.tolist() for column in columns.values())
    boards, start = [], 0
    for own, parent, count in zip(cards, parents, counts, strict=True):
        boards.append(Board(tuple(own), parent, tuple(maps[start : start + count])))
        start += count
    return boards
