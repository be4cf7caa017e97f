"""A game of many players as `aleator.solvers.solve` takes it, and what a solve of it returns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.errors import GameError, SolutionError, SolveError
from aleator.games.base import FloatArray
from aleator.games.multiplayer.base import MultiplayerGame
from aleator.games.multiplayer.registry import load_multiplayer_game
from aleator.solvers.algorithms import find_algorithm
from aleator.solvers.limits import CurvePoint, Limits
from aleator.solvers.multiplayer.cfr import MultiplayerCFR
from aleator.solvers.multiplayer.evaluation import evaluate
from aleator.solvers.regret_rule import HEDGE, RegretRule
from aleator.solvers.solution import Arrays, Solution
from aleator.solvers.summary import Summary
from aleator.storage import ArrayFile, check_object, is_a, parse_json
from aleator.trees.policy import Policy
from aleator.trees.sequence_form import SequenceForm, build_sequence_form

_TOLERANCE = 1e-9


class MultiplayerProblem:
    """A game of many players, solved by CFR on its sequence form."""

    algorithm, dtype, limits = "cfr+", "float64", Limits()

    def __init__(self, game: MultiplayerGame[Any]) -> None:
        self.name, self.form = game.name, build_sequence_form(game)

    def prepare(self, algorithm: str, dtype: str) -> None:
        """Compiles what a solve needs; after the first run it comes from disk."""
        solver = MultiplayerCFR(build_sequence_form(load_multiplayer_game("kuhn:players=3")), _rule(algorithm))
        solver.run(1)
        solver.nash_conv()

    def check_fits(self, algorithm: str, dtype: str) -> None:
        """Does nothing: a solve takes little more than the sequence form, which is there already."""

    def check_resume(self, resume: Solution, algorithm: str, dtype: str) -> None:
        """Raises SolutionError if a solution is of another game or was made in another way."""
        if not isinstance(resume, MultiplayerSolution) or not resume.belongs_to(self.form):
            raise SolutionError(f"the solution to resume is of {resume.summary.game}, not of {self.name}")
        if resume.summary.algorithm != algorithm:
            raise SolutionError(f"the solution to resume was made by {resume.summary.algorithm}, not by {algorithm}")

    def make_solver(self, algorithm: str, *, dtype: str, threads: int, seed: int) -> MultiplayerCFR:
        """Returns a solver at its beginning; there is one thread, and no seed.

        Raises:
            SolveError: the algorithm is not one of CFR's family, or another precision is asked for.
        """
        if dtype != "float64":
            raise SolveError(f"games of many players are solved in float64, not in {dtype}")
        return MultiplayerCFR(self.form, _rule(algorithm))

    def solution(
        self, solver: MultiplayerCFR, algorithm: str, curve: Sequence[CurvePoint], *, keep_state: bool | None = None
    ) -> MultiplayerSolution:
        """Returns what a solver has found."""
        profile = solver.average_profile()
        evaluation, last = evaluate(self.form, profile), curve[-1] if curve else CurvePoint(0, 0.0, 0.0)
        summary = Summary(
            game=self.name,
            algorithm=algorithm,
            dtype="float64",
            iterations=last.iteration,
            seconds=last.seconds,
            values=tuple(evaluation.values.tolist()),
            exploitability=evaluation.nash_conv / self.form.num_players,
            nodes=len(self.form.publics),
            infostates=self.form.num_infostates,
            curve=tuple(curve),
        )
        state = {} if keep_state is False else solver.state()
        arrays = {"profile": profile} | {MultiplayerSolution.STATE + name: vector for name, vector in state.items()}
        return MultiplayerSolution(summary, arrays, self.form)


def _rule(algorithm: str) -> RegretRule:
    """Returns the regret rule of an algorithm.

    Raises:
        SolveError: it is no algorithm, or one for two players alone.
    """
    rule = find_algorithm(algorithm).rule
    if not isinstance(rule, RegretRule) or rule.minimiser == HEDGE:
        raise SolveError(f"games of many players are solved by cfr, cfr+, dcfr and their like, not by {algorithm}")
    return rule


class MultiplayerSolution(Solution):
    """The average profile of a game of many players."""

    FORMAT, EARLIER, STATE = "aleator-multiplayer-solution", "", "state."

    def __init__(
        self,
        summary: Summary,
        arrays: Arrays | ArrayFile,
        form: SequenceForm | None = None,
        shape: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(summary, arrays)
        self._form, self._shape = form, shape

    @classmethod
    def of_file(cls, file: ArrayFile) -> MultiplayerSolution:
        """Returns the solution in a file, of which nothing but the header is read now.

        Raises:
            KeyError, ValueError: the file is damaged.
        """
        kinds = {"infostates": int, "sequences": int, "terminals": int, "payoffs": list}
        shape = check_object(parse_json(file.metadata["shape"]), kinds)
        if not all(is_a(payoff, float) for payoff in shape["payoffs"]):
            raise ValueError("its payoffs are not numbers")
        if file["profile"].dtype != np.float64 or file["profile"].shape != (shape["sequences"],):
            raise ValueError(f"profile is {file['profile'].dtype}{list(file['profile'].shape)}")
        return cls(Summary.parse(file.metadata["summary"]), file, shape=shape)

    def metadata(self) -> dict[str, str]:
        """Returns the size of the game and what can be won there, by which it is told from others."""
        return {"shape": json.dumps(self._shape or _shape(self.form))}

    @property
    def policy(self) -> Policy:
        """There is none: a game of many players has no public tree of two; `profile` has the policies."""
        raise SolutionError(f"{self.summary.game} has many players: its solution is a profile, not a policy of two")

    @cached_property
    def form(self) -> SequenceForm:
        """The sequence form that the profile belongs to; of a file it is built from the package's own rules.

        Raises:
            SolutionError: there is no such game, or the rules have changed.
        """
        if self._form is not None:
            return self._form
        try:
            form = build_sequence_form(load_multiplayer_game(self.summary.game))
        except GameError as error:
            raise SolutionError(str(error)) from error
        if not self.belongs_to(form):
            raise SolutionError(f"this is a solution of another game of the name {self.summary.game}: the rules differ")
        return form

    @cached_property
    def profile(self) -> FloatArray:
        """[E] the probability of each sequence's action in its infostate.

        Raises:
            SolutionError: these are no probabilities.
        """
        profile: npt.NDArray[np.float64] = np.asarray(self._arrays["profile"])
        sums = np.add.reduceat(profile, self.form.first[:-1])
        if not (profile.min() >= -_TOLERANCE and np.abs(sums - 1.0).max() <= _TOLERANCE):
            raise SolutionError("the solution is damaged: its policies are not distributions")
        return profile

    def belongs_to(self, form: SequenceForm) -> bool:
        """Returns whether the solution is of a game, by its size and payoffs."""
        if self._form is form:
            return True
        own, other = self._shape or _shape(self.form), _shape(form)
        sizes = all(own[name] == other[name] for name in ("infostates", "sequences", "terminals"))
        same = len(own["payoffs"]) == len(other["payoffs"])
        return sizes and same and bool(np.allclose(own["payoffs"], other["payoffs"], rtol=1e-6))


def _shape(form: SequenceForm) -> dict[str, Any]:
    """Returns what tells a game from others: sizes, and the mean absolute payoff of each player."""
    return {
        "infostates": form.num_infostates,
        "sequences": form.num_sequences,
        "terminals": form.num_terminals,
        "payoffs": np.abs(form.payoff).sum(axis=1).tolist(),
    }
