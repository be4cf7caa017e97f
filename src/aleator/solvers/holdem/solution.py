"""Solved hold'em spots: the average policy of every decision in a form that one file holds and that opens lazily.

The file does not depend on how the engine lays out its memory. Probabilities are whole numbers of 1/32,767 (int16, so
0 and 1 are exact), for each player and street `[B, R, H]`: boards up to renaming of suits, one row per action of each
of the player's decisions in preorder of the betting tree, all hands of the range ascending (0 for those the board
blocks). On request the file also keeps the solver's state, from which a solve goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import SolutionError, one_line
from aleator.games.base import FloatArray, Game
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, count_nodes
from aleator.games.holdem.cards import NUM_CARDS, NUM_HANDS, format_card, parse_card
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.node_path import NodePathError, is_action
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import format_spot, parse_spot
from aleator.games.holdem.suits import CARD_MAPS, HAND_MAPS
from aleator.solvers.engines.boards.plan import Board
from aleator.solvers.holdem.solver import SpotSolver
from aleator.solvers.limits import CurvePoint
from aleator.solvers.solution import Arrays, Solution, Summary, array_names, open_solution
from aleator.storage import ArrayFile
from aleator.trees.policy import HistoryPolicy, Policy
from aleator.trees.public_tree import PublicTree, build_tree

ONE = 32_767  # the number that stands for probability 1


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


class HoldemSolution(Solution):
    """The average policy of a spot and how it was found.

    Attributes:
        spot: what was solved.
        root: the betting tree.
        hands: per player the hands of the range, ascending, `[H]`.
        weights: per player their weights, `[H]`.
        boards: per street the boards; see `BoardPlan`.
    """

    FORMAT, EARLIER, STATE = "holdem-2", "holdem-1", "state_"

    def __init__(
        self, summary: Summary, arrays: Arrays | ArrayFile, spot: Spot, tree: PublicTree | None = None
    ) -> None:
        """Returns the solution of some arrays; the public tree is built if `policy` is asked for without it."""
        super().__init__(summary, arrays)
        self.spot, self._tree = spot, tree
        self.root = spot.build_tree()
        weights = spot.weights()
        self.hands = (np.flatnonzero(weights[0]), np.flatnonzero(weights[1]))
        self.weights = (weights[0][self.hands[0]], weights[1][self.hands[1]])
        self._first_row = tuple(self.root.tree.first_rows(self.root.number, player) for player in (0, 1))
        self.boards = [_read_boards(arrays, level) for level in range(4 - spot.street)]

    @cached_property
    def policy(self) -> Policy:
        """The policy on the game's public tree, every card apart; uniform for hands that never get there."""
        if not self.has_river:
            raise SolutionError("the solution was saved without its last street")
        tree = self._tree or build_tree(HoldemGame(self.spot))
        return self.played(tree.game).on(tree)

    def played(self, game: Game[Any]) -> HistoryPolicy:
        """Returns the policy as it is read where play of a game gets to; rivers that are missing are solved there.

        Raises:
            SolutionError: it is the solution of another game.
        """
        from aleator.solvers.holdem.stored_policy import StoredPolicy

        if not isinstance(game, HoldemGame):
            raise SolutionError(f"this is a solution of {one_line(self.summary.game)}, not of {game.name}")
        return StoredPolicy(game, self)

    @property
    def nodes_per_street(self) -> tuple[int, ...]:
        """The nodes of each street over all boards, isomorphic ones counted once."""
        betting = count_nodes(self.root)[self.spot.street :]
        return tuple(count * len(boards) for count, boards in zip(betting, self.boards, strict=True))

    @property
    def has_river(self) -> bool:
        """Whether the policy of the last street is there."""
        return _policy_name(0, len(self.boards) - 1) in self._arrays

    def start(self) -> StoredNode:
        """Returns the first node."""
        return StoredNode(self.root, 0, 0, np.arange(NUM_HANDS), np.arange(NUM_CARDS))

    def follow(self, at: StoredNode, token: str) -> StoredNode:
        """Returns the node behind an action or a card that can come, named as in `NodePath`.

        Raises:
            NodePathError: there is none.
        """
        if is_action(token):
            if token not in at.node.tokens:
                raise NodePathError(f"no action {token} here; allowed: {', '.join(at.node.tokens) or 'none'}")
            return at._replace(node=at.node.children[at.node.tokens.index(token)])
        card = parse_card(token)
        if at.node.kind is NodeKind.NEXT_STREET:
            for index, candidate in enumerate(self.boards[at.level + 1]):
                if candidate.parent == at.board:
                    for suits in candidate.maps:
                        if CARD_MAPS[suits, at.cards[card]] == candidate.cards[-1]:
                            hands, cards = HAND_MAPS[suits][at.hands], CARD_MAPS[suits][at.cards]
                            return StoredNode(at.node.children[0], at.level + 1, index, hands, cards)
        raise NodePathError(f"the card {format_card(card)} cannot come here")

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
        name = _policy_name(node.player, level)
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
        """Raises SolutionError if a policy has another shape or type than the spot and its boards give it."""
        for player in (0, 1):
            rows = [0, 0, 0, 0]
            for node in np.flatnonzero(self._first_row[player] >= 0).tolist():
                rows[self.root.tree.street[node]] += len(self.root.tree.children(node))
            for level, boards in enumerate(self.boards):
                name = _policy_name(player, level)
                shape = (len(boards), rows[self.spot.street + level], len(self.hands[player]))
                if name not in self._arrays:
                    if level < len(self.boards) - 1:
                        raise SolutionError(f"{name} is missing")
                elif (stored := self._arrays[name]).shape != shape or stored.dtype != np.int16:
                    given = f"{stored.dtype}{list(stored.shape)}"
                    raise SolutionError(f"{name} is {given}, but the spot needs int16{list(shape)}")

    def metadata(self) -> dict[str, str]:
        """Returns the spot as text."""
        return {"spot": format_spot(self.spot)}

    def save(self, path: Path | str, *, river: bool = True, state: bool = True) -> None:
        """Writes everything to one file, atomically; without the last street, or the solver's state, if so asked."""
        last = len(self.boards) - 1
        left_out = () if river else (_policy_name(0, last), _policy_name(1, last))
        names = [name for name in array_names(self._arrays) if name not in left_out]
        self._save(path, [name for name in names if state or not name.startswith(self.STATE)])

    @classmethod
    def of_solver(
        cls,
        solver: SpotSolver,
        algorithm: str,
        curve: Sequence[CurvePoint] = (),
        *,
        name: str = "holdem",
        keep_state: bool = False,
        tree: PublicTree | None = None,
    ) -> HoldemSolution:
        """Returns the solution that a solver has reached.

        Args:
            solver: after some iterations.
            algorithm: its rule by name.
            curve: quality over time.
            name: of the game.
            keep_state: whether the solution holds the solver's state (not a copy), so that a solve can go on from it;
                if not, the solver gives its regrets back and cannot go on, so that a solution takes no more memory than
                the solve.
            tree: the public tree of the game, if there is one.
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
            arrays |= {cls.STATE + key: vector for key, vector in solver.state().items()}
        return cls(summary, arrays, solver.spot, tree)

    @classmethod
    def of_file(cls, file: ArrayFile) -> HoldemSolution:
        """Returns the solution in a file; policies are read only where they are asked for.

        Raises:
            SolutionError: a policy has another shape than the spot gives it.
            KeyError, ValueError: the file is damaged.
        """
        summary = Summary.parse(file.metadata["summary"])
        if not summary.dtype:  # of an earlier version
            half = "state_regret0" in file and file["state_regret0"].dtype.itemsize == 2
            summary = replace(summary, dtype="float16" if half else "float32")
        solution = cls(summary, file, parse_spot(file.metadata["spot"]))
        solution.check()
        return solution

    @staticmethod
    def open(path: Path | str) -> HoldemSolution:
        """Returns the solved spot in a file; see `open_solution`.

        Raises:
            SolutionError: it is not a file of a solved spot, or it is damaged.
        """
        solution = open_solution(path)
        if not isinstance(solution, HoldemSolution):
            raise SolutionError(f"{path} is not a solved hold'em spot but a solution of {solution.summary.game}")
        return solution


def _policy_name(player: int, level: int) -> str:
    return f"policy{player}_{level}"


def _solver_arrays(solver: SpotSolver) -> dict[str, npt.NDArray[Any]]:
    """Returns the boards and the average policies of a solver as the file keeps them."""
    plan = solver.plan
    arrays: dict[str, npt.NDArray[Any]] = {}
    for level, boards in enumerate(plan.boards):
        arrays |= _board_arrays(boards, level)
        for player in (0, 1):
            arrays[_policy_name(player, level)] = _street_policy(solver, level, player)
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
