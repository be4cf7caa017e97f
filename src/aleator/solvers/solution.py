"""Solutions: what a solve returns and what a file holds; `open_solution` reads one of any kind."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from aleator.errors import GameError, SolutionError, one_line, shown
from aleator.games.base import FloatArray, Game
from aleator.games.registry import is_recorded_elsewhere, load_recorded_game
from aleator.solvers.summary import Summary
from aleator.storage import ArrayFile, StorageError, parse_json, write_arrays
from aleator.trees.fingerprint import Fingerprint, parse_fingerprint, tree_fingerprint
from aleator.trees.policy import HistoryPolicy, Policy
from aleator.trees.public_tree import PublicTree, build_tree

_TOLERANCE = 1e-9  # of probabilities
Arrays = Mapping[str, npt.NDArray[Any]]
_TREE = ("actor", "first_child", "num_children", "num_actions", "policy_start", "num_hands")


class Solution(ABC):
    """The average policy that a solve has found, with its provenance and, if it can be continued, the solver's state.

    Attributes:
        summary: how it was found, and how good it is.
    """

    FORMAT: ClassVar[str]
    EARLIER: ClassVar[str]  # the format of files without checksums of the header
    STATE: ClassVar[str]  # what names of the state's arrays begin with

    def __init__(self, summary: Summary, arrays: Arrays | ArrayFile) -> None:
        self.summary, self._arrays = summary, arrays

    def __repr__(self) -> str:
        summary = self.summary
        how = f"{summary.algorithm}, {summary.iterations:,} iterations, exploitability {summary.exploitability:.4g}"
        return f"<{type(self).__name__} of {summary.game} by {how}>"

    @property
    @abstractmethod
    def policy(self) -> Policy:
        """The policy of the whole game, on its public tree."""

    def played(self, game: Game[Any]) -> HistoryPolicy:
        """Returns the policy as an agent of the game plays it."""
        return self.policy

    @property
    def exploitability(self) -> float:
        """NashConv / 2, in the units of the game's payoffs; `summary` has it and the rest."""
        return self.summary.exploitability

    @property
    def value(self) -> float:
        """What the first player wins on average."""
        return self.summary.value

    @property
    def state(self) -> Arrays:
        """The solver's state, from which a solve goes on, read where it is asked for; empty unless it was kept."""
        return _Prefixed(self._arrays, self.STATE)

    def metadata(self) -> dict[str, str]:
        """Returns what a file says about the solution besides its format and its summary."""
        return {}

    def save(self, path: Path | str) -> None:
        """Writes everything to one file, which replaces an existing one atomically."""
        self._save(path, array_names(self._arrays))

    def _save(self, path: Path | str, names: list[str]) -> None:
        """Writes the arrays of some names."""
        try:
            summary = {"format": self.FORMAT, "summary": json.dumps(asdict(self.summary), allow_nan=False)}
        except ValueError as error:
            raise SolutionError(f"cannot save a solution without a finite exploitability: {self!r}") from error
        write_arrays(path, {name: np.asarray(self._arrays[name]) for name in names}, summary | self.metadata())

    def verify(self) -> None:
        """Raises StorageError if anything in the file of the solution is not what was written; reads all of it."""
        if isinstance(self._arrays, ArrayFile):
            self._arrays.verify()


class _Prefixed(Mapping[str, npt.NDArray[Any]]):
    """The arrays whose names begin with a prefix, without it; those of a file are read when they are asked for."""

    def __init__(self, arrays: Arrays | ArrayFile, prefix: str) -> None:
        self._arrays, self._prefix = arrays, prefix

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        full = self._prefix + name
        if full not in self._arrays:
            raise KeyError(name)
        return np.asarray(self._arrays[full])

    def __iter__(self) -> Iterator[str]:
        start = len(self._prefix)
        return (name[start:] for name in array_names(self._arrays) if name.startswith(self._prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def array_names(arrays: Arrays | ArrayFile) -> list[str]:
    """Returns the names of all arrays."""
    return arrays.names if isinstance(arrays, ArrayFile) else list(arrays)


class TreeSolution(Solution):
    """A solution on a public tree."""

    FORMAT, EARLIER, STATE = "aleator-solution-2", "aleator-solution", "state."

    def __init__(
        self,
        summary: Summary,
        arrays: Arrays | ArrayFile,
        tree: PublicTree | None = None,
        fingerprint: Fingerprint | None = None,
    ) -> None:
        """Returns the solution of some arrays.

        Args:
            summary: how it was found.
            arrays: its policy, the shape of the tree, and the solver's state.
            tree: of the game; if it is needed and not given, it is built from the rules that the package has by that
                name.
            fingerprint: of the game, if the tree is not given.
        """
        super().__init__(summary, arrays)
        self._tree, self._fingerprint = tree, fingerprint

    @classmethod
    def of_policy(cls, summary: Summary, policy: Policy, state: Arrays) -> TreeSolution:
        """Returns the solution of a policy and of the state that a solve goes on from."""
        arrays: dict[str, npt.NDArray[Any]] = {f"policy{player}": policy.probabilities[player] for player in (0, 1)}
        arrays |= {f"tree.{name}": getattr(policy.tree, name) for name in _TREE}
        return cls(summary, arrays | {cls.STATE + name: vector for name, vector in state.items()}, policy.tree)

    @classmethod
    def of_file(cls, file: ArrayFile, game: Game[Any] | PublicTree | None = None) -> TreeSolution:
        """Returns the solution in a file, of which nothing but the header is read now.

        Raises:
            SolutionError: it is of another game than the one that was given.
            KeyError, ValueError: the file is damaged.
        """
        fingerprint = None
        if file.metadata["format"] == cls.FORMAT:
            fingerprint = parse_fingerprint(parse_json(file.metadata["fingerprint"]))
        solution = cls(Summary.parse(file.metadata["summary"]), file, fingerprint=fingerprint)
        nodes = file["tree.actor"].shape
        for name in (*(f"tree.{name}" for name in _TREE), "policy0", "policy1"):
            array, shape = file[name], (2, *nodes) if name == "tree.num_hands" else nodes
            wanted = array.dtype == np.float64 if name.startswith("policy") else array.dtype.kind == "i"
            if not wanted or len(array.shape) != len(shape) or (name.startswith("tree") and array.shape != shape):
                raise ValueError(f"{name} is {array.dtype}{list(array.shape)}")
        if game is not None:
            solution._tree = solution._checked(game if isinstance(game, PublicTree) else build_tree(game))
        return solution

    def metadata(self) -> dict[str, str]:
        """Returns the fingerprint of the game, if it is known."""
        known = self._fingerprint if self._tree is None else tree_fingerprint(self._tree)
        return {"fingerprint": json.dumps((known or tree_fingerprint(self.policy.tree)).to_dict())}

    def probabilities(self, node: int, hand: int | None = None) -> FloatArray:
        """Returns [A, H] (or [A] of one hand) of the policy at a decision node, reading nothing else."""
        read = self._arrays
        if not 0 <= node < len(read["tree.actor"]):
            raise SolutionError(f"no node {node}; the tree has nodes 0 to {len(read['tree.actor']) - 1}")
        player = int(read["tree.actor"][node])
        if player not in (0, 1):
            raise SolutionError(f"node {node} is not a decision node")
        actions, hands = int(read["tree.num_actions"][node]), int(read["tree.num_hands"][player, node])
        if hand is not None and not 0 <= hand < hands:
            raise SolutionError(f"no hand {hand} at node {node}; hands are 0 to {hands - 1}")
        start, policy = int(read["tree.policy_start"][node]), read[f"policy{player}"]
        if actions < 1 or hands < 1 or not 0 <= start <= len(policy) - actions * hands:
            raise SolutionError(f"the solution is damaged: the policy of node {node} is not there")
        block = policy[start : start + actions * hands].reshape(actions, hands)
        if not (block.min() >= -_TOLERANCE and np.abs(block.sum(axis=0) - 1.0).max() <= _TOLERANCE):  # nor is it NaN
            raise SolutionError(f"the solution is damaged: node {node} has no policy")
        return np.array(block if hand is None else block[:, hand])

    @cached_property
    def policy(self) -> Policy:
        """The policy; of a file the tree is built from the package's own rules, unless the game was given.

        Raises:
            SolutionError: the game must be given, the rules have changed, or the policy is none.
        """
        tree = self._tree
        if tree is None:
            try:
                tree = self._checked(build_tree(load_recorded_game(self.summary.game)))
            except GameError as error:
                path = f"{self._arrays.path}: " if isinstance(self._arrays, ArrayFile) else ""
                raise SolutionError(f"{path}{error}") from error
        if not isinstance(self._arrays, ArrayFile):
            return Policy(tree, (self._arrays["policy0"], self._arrays["policy1"]))
        try:
            policy = Policy(tree, (self._arrays.read("policy0"), self._arrays.read("policy1")))
            policy.check()
        except StorageError:
            raise
        except ValueError as error:
            raise SolutionError(f"{self._arrays.path} does not fit {tree.game.name}: {one_line(error)}") from error
        return policy

    def _checked(self, tree: PublicTree) -> PublicTree:
        """Returns the tree if the solution belongs to it."""
        if not self.belongs_to(tree):
            recorded, name = self.summary.game, tree.game.name
            which = "another game of that name" if recorded == name else name
            path = self._arrays.path if isinstance(self._arrays, ArrayFile) else "this"
            raise SolutionError(f"{path} is a solution of {one_line(recorded)}, not of {which}: the rules differ")
        return tree

    def belongs_to(self, tree: PublicTree) -> bool:
        """Returns whether the solution is of a tree's game, by its shape and fingerprint; earlier: its name."""
        if self._tree is not None:
            return self._tree is tree or tree_fingerprint(self._tree).fits(tree_fingerprint(tree))
        if not all(np.array_equal(self._arrays[f"tree.{name}"], getattr(tree, name)) for name in _TREE):
            return False
        if self._fingerprint is not None:
            return self._fingerprint.fits(tree_fingerprint(tree))
        return self.summary.game == tree.game.name or is_recorded_elsewhere(self.summary.game)


def open_solution(path: Path | str, game: Game[Any] | PublicTree | None = None) -> Solution:
    """Returns the solution in a file; its policy is read where it is asked for.

    Args:
        path: what `Solution.save` wrote.
        game: the game, or its tree, which must be the one that was solved; None for a hold'em spot or a game of this
            package. Code and other files that a solution names are never opened.

    Raises:
        StorageError: it is not a file of arrays, or it is damaged.
        SolutionError: it is not a solution, it is damaged, or it is of another game.
    """
    from aleator.solvers.holdem.solution import HoldemSolution
    from aleator.solvers.holdem.whole_solution import WholeSolution
    from aleator.solvers.multiplayer.problem import MultiplayerSolution

    file = ArrayFile(path)
    kind = file.metadata.get("format")
    known = (TreeSolution.FORMAT, HoldemSolution.FORMAT, WholeSolution.FORMAT, MultiplayerSolution.FORMAT)
    try:
        if kind in known and not file.checked:
            raise ValueError("its checksums are missing")
        if kind in (HoldemSolution.FORMAT, HoldemSolution.EARLIER):
            return HoldemSolution.of_file(file)
        if kind == WholeSolution.FORMAT:
            return WholeSolution.of_file(file, game)
        if kind == MultiplayerSolution.FORMAT:
            return MultiplayerSolution.of_file(file)
        if kind in (TreeSolution.FORMAT, TreeSolution.EARLIER):
            return TreeSolution.of_file(file, game)
    except (StorageError, SolutionError, GameError):
        raise
    except (KeyError, ValueError) as error:
        raise SolutionError(f"{path} is damaged or was written by another version: {one_line(error)}") from error
    names = ", ".join(map(repr, known))
    raise SolutionError(f"{path} is not a solution: its format is {shown(kind)}, not one of {names}")
