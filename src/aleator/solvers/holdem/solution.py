"""Solved hold'em spots: `board_solution` has what their files hold; cards and actions are named as in paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from aleator.errors import SolutionError, one_line
from aleator.games.base import Game
from aleator.games.holdem.cards import format_card, parse_card
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.node_path import NodePathError, is_action
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import format_spot, parse_spot
from aleator.solvers.holdem.board_solution import BoardSolution, StoredNode, found_by, policy_name
from aleator.solvers.holdem.solver import SpotSolver
from aleator.solvers.limits import CurvePoint
from aleator.solvers.solution import Arrays, array_names, open_solution
from aleator.solvers.summary import Summary
from aleator.storage import ArrayFile
from aleator.trees.policy import HistoryPolicy, Policy
from aleator.trees.public_tree import PublicTree, build_tree


class HoldemSolution(BoardSolution):
    """The average policy of a spot and how it was found.

    Attributes:
        spot: what was solved.
    """

    FORMAT, EARLIER = "holdem-2", "holdem-1"

    def __init__(
        self, summary: Summary, arrays: Arrays | ArrayFile, spot: Spot, tree: PublicTree | None = None
    ) -> None:
        """Returns the solution of some arrays; the public tree is built if `policy` is asked for without it."""
        super().__init__(summary, arrays, spot)
        self.spot, self._tree = spot, tree

    @cached_property
    def policy(self) -> Policy:
        """The policy on the game's public tree, every card apart; uniform for hands that never get there."""
        if not self.has_last_street:
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

    def follow(self, at: StoredNode, token: str) -> StoredNode:
        """Returns the node behind an action or a card that can come, named as in `NodePath`.

        Raises:
            NodePathError: there is none.
        """
        if is_action(token):
            if token not in at.node.tokens:
                raise NodePathError(f"no action {token} here; allowed: {', '.join(at.node.tokens) or 'none'}")
            return self.act(at, at.node.tokens.index(token))
        card = parse_card(token)
        after = self.deal(at, [card])
        if after is None:
            raise NodePathError(f"the card {format_card(card)} cannot come here")
        return after

    def metadata(self) -> dict[str, str]:
        """Returns the spot as text."""
        return {"spot": format_spot(self.spot)}

    def save(self, path: Path | str, *, river: bool = True, state: bool = True) -> None:
        """Writes everything to one file, atomically; without the last street, or the solver's state, if so asked."""
        last = len(self.boards) - 1
        left_out = () if river else (policy_name(0, last), policy_name(1, last))
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
        """Returns the solution that a solver of a spot has reached; see `found_by`.

        Args:
            solver, algorithm, curve, name, keep_state: as there.
            tree: the public tree of the game, if there is one.
        """
        spot = solver.plan.spot
        assert isinstance(spot, Spot)
        return cls(*found_by(solver, algorithm, curve, name, keep_state=keep_state), spot, tree)

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
