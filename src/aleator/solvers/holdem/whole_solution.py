"""Solved games from the blinds on: `board_solution` has what their files hold."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from aleator.errors import SolutionError, one_line
from aleator.games.base import FloatArray, Game
from aleator.games.holdem.betting_tree import BettingNode
from aleator.games.holdem.game import HoldemState, WholeHoldemGame
from aleator.games.holdem.hand_state import BOARD_CARDS
from aleator.games.holdem.whole_game import WholeGame, load_whole_game
from aleator.solvers.holdem.board_solution import BoardSolution, StoredNode, found_by
from aleator.solvers.holdem.solver import SpotSolver
from aleator.solvers.limits import CurvePoint
from aleator.solvers.solution import Arrays
from aleator.solvers.summary import Summary
from aleator.storage import ArrayFile
from aleator.trees.policy import HistoryPolicy, Policy, uniform_policy
from aleator.trees.public_tree import PublicTree, build_tree


class WholeSolution(BoardSolution):
    """The average policy of a game from the blinds on and how it was found. Amounts of the summary are in chips.

    Attributes:
        whole: what was solved.
    """

    FORMAT = EARLIER = "holdem-whole-1"

    def __init__(self, summary: Summary, arrays: Arrays | ArrayFile, whole: WholeGame) -> None:
        super().__init__(summary, arrays, whole)
        self.whole = whole

    def mbb(self, chips: float) -> float:
        """Returns chips in thousandths of a big blind."""
        return 1000.0 * chips / self.whole.big_blind

    def at(self, state: HoldemState) -> StoredNode:
        """Returns where the solution keeps a public state of the game.

        Raises:
            SolutionError: the board is not one of the game's.
        """
        node, here = state.node, self.start()
        steps = []
        while node != here.node.number:
            steps.append(node)
            node = int(here.node.tree.parent[node])
        for number in reversed(steps):
            if number == here.node.number + 1 and self._is_dealt(here):
                street = here.node.street
                after = self.deal(here, state.board[BOARD_CARDS[street] : BOARD_CARDS[street + 1]])
                if after is None:
                    raise SolutionError(f"no board {state.board} in {self.summary.game}")
                here = after
            else:
                here = self.act(here, here.node.tree.children(here.node.number).index(number))
        return here

    def answer(self, node: BettingNode, boards: Sequence[tuple[int, ...]]) -> FloatArray:
        """Returns [B, A, 1326]: the policy of a decision on some boards; see `solvers.holdem.evaluation.Answer`."""
        return np.stack([self.policy_at(self.at(HoldemState(board, node.number))) for board in boards])

    @staticmethod
    def _is_dealt(at: StoredNode) -> bool:
        return bool(at.node.tree.action[at.node.number + 1] < 0)

    @cached_property
    def policy(self) -> Policy:
        """The policy on the game's public tree, every card apart: of a small deck only.

        Raises:
            TooBigError: the deck is not small.
        """
        return self.played(WholeHoldemGame(self.whole)).on(build_tree(WholeHoldemGame(self.whole)))

    def played(self, game: Game[Any]) -> HistoryPolicy:
        """Returns the policy as it is read where play of a game gets to.

        Raises:
            SolutionError: it is the solution of another game.
        """
        if not isinstance(game, WholeHoldemGame) or game.whole != self.whole:
            raise SolutionError(f"this is a solution of {one_line(self.summary.game)}, not of {game.name}")
        return _StoredPolicy(game, self)

    def metadata(self) -> dict[str, str]:
        """Returns the name of the game, and what its betting must be."""
        return {"game": self.whole.variant.name, "betting": betting_fingerprint(self.whole)}

    @classmethod
    def of_solver(
        cls,
        solver: SpotSolver,
        algorithm: str,
        curve: Sequence[CurvePoint] = (),
        *,
        keep_state: bool = False,
    ) -> WholeSolution:
        """Returns the solution that a solver of such a game has reached; see `found_by`."""
        whole = solver.plan.spot
        assert isinstance(whole, WholeGame)
        return cls(*found_by(solver, algorithm, curve, whole.variant.name, keep_state=keep_state), whole)

    @classmethod
    def of_file(cls, file: ArrayFile, game: Game[Any] | PublicTree | None = None) -> WholeSolution:
        """Returns the solution in a file; policies are read only where they are asked for.

        Args:
            file: which.
            game: its game, if it is not one of this package's.

        Raises:
            GameError, SolutionError: there is no such game, or its betting or deck are others.
            KeyError, ValueError: the file is damaged.
        """
        rules = game.game if isinstance(game, PublicTree) else game
        whole = rules.whole if isinstance(rules, WholeHoldemGame) else load_whole_game(file.metadata["game"])
        solution = cls(Summary.parse(file.metadata["summary"]), file, whole)
        if file.metadata["betting"] != betting_fingerprint(whole):
            raise SolutionError(f"{file.path} is a solution of another {whole.variant.name}: its cards or bets differ")
        solution.check()
        return solution


class _StoredPolicy:
    """The average policy of a solved game; see `trees.policy.HistoryPolicy`."""

    def __init__(self, game: WholeHoldemGame, solution: WholeSolution) -> None:
        self.game, self.solution = game, solution

    def at(self, events: Sequence[int]) -> FloatArray:
        """Returns [A, H]: the policy of the decision after some events; uniform for hands that never get there."""
        state = self.game.root()
        for event in events:
            state = self.game.child(state, event)
        return self._block(state)

    def on(self, tree: PublicTree) -> Policy:
        """Returns the policy on the tree of the game, where every card is apart."""
        policy = uniform_policy(tree)
        for node in np.flatnonzero(tree.actor >= 0).tolist():
            state = tree.states[node]
            assert isinstance(state, HoldemState)
            policy[node][:] = self._block(state)
        return policy

    def _block(self, state: HoldemState) -> FloatArray:
        at = self.solution.at(state)
        block = self.solution.policy_at(at)[:, self.game.hand_sets[at.node.player]]
        return np.where(block.any(axis=0), block, 1.0 / len(block))


def betting_fingerprint(whole: WholeGame) -> str:
    """Returns a fingerprint of the betting and the deck of a game."""
    tree, digest = whole.build_tree().tree, hashlib.sha256(bytes(whole.deck))
    for array in (tree.kind, tree.street, tree.player, tree.chips, tree.parent):
        digest.update(np.ascontiguousarray(array).astype("<i8").tobytes())
    return digest.hexdigest()
