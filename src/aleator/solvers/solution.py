"""Solutions: what a solve returns and what a file holds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator import __version__
from aleator.errors import SolutionError
from aleator.games.base import FloatArray
from aleator.games.registry import load_game
from aleator.storage import ArrayFile, write_arrays
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree, build_tree

_FORMAT = "aleator-solution"
_TREE = ("actor", "first_child", "num_children", "num_actions", "policy_start")


class CurvePoint(NamedTuple):
    """The quality of the average policy at one moment of a solve; nodes touched, if the solver counts them."""

    iteration: int
    seconds: float
    nash_conv: float
    nodes_touched: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a solve reports. One iteration updates both players.

    Attributes:
        game, algorithm, dtype: what was solved, how, and in which precision.
        iterations, seconds: how long; compilation is not counted.
        nash_conv: sum over both players of what a best response gains against the average policy.
        exploitability: nash_conv / 2.
        value: what player 0 wins on average under the average policy.
        nodes, infostates: the size of the public tree.
        curve: quality over time.
        nodes_touched: histories visited, where an algorithm samples or prunes; None where each iteration visits all.
        version: of this package.
    """

    game: str
    algorithm: str
    dtype: str
    iterations: int
    seconds: float
    nash_conv: float
    exploitability: float
    value: float
    nodes: int
    infostates: int
    curve: tuple[CurvePoint, ...] = field(default=(), repr=False)
    nodes_touched: int | None = None
    version: str = field(default=__version__)


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """A policy with its provenance and, if it can be continued, the solver's state."""

    summary: Summary
    policy: Policy
    state: dict[str, npt.NDArray[Any]]

    def __repr__(self) -> str:
        told = self.summary
        how = f"{told.algorithm}, {told.iterations:,} iterations, exploitability {told.exploitability:.4g}"
        return f"<Solution of {told.game} by {how}>"

    def save(self, path: Path | str) -> None:
        """Writes everything to one file, which replaces an existing one atomically."""
        tree = self.policy.tree
        arrays: dict[str, npt.NDArray[Any]] = {
            f"policy{player}": self.policy.probabilities[player] for player in (0, 1)
        }
        arrays |= {f"tree.{name}": getattr(tree, name) for name in _TREE}
        arrays["tree.num_hands"] = tree.num_hands
        arrays |= {f"state.{name}": vector for name, vector in self.state.items()}
        write_arrays(path, arrays, {"format": _FORMAT, "summary": json.dumps(asdict(self.summary))})


class SolutionFile:
    """A saved solution, opened without reading its arrays.

    Attributes:
        summary: what the solve reported.
    """

    def __init__(self, path: Path | str) -> None:
        self._file = ArrayFile(path)
        if self._file.metadata.get("format") != _FORMAT:
            found = self._file.metadata.get("format")
            raise SolutionError(f"{path} is not a solution of a game: its format is {found!r}, not {_FORMAT!r}")
        try:
            fields = json.loads(self._file.metadata["summary"])
            curve = tuple(CurvePoint(*point) for point in fields.pop("curve"))
            self.summary = Summary(**fields, curve=curve)
            for name in (*_TREE, "num_hands"):
                _ = self._file[f"tree.{name}"]
        except (KeyError, TypeError, ValueError) as error:
            raise SolutionError(f"{path} is damaged or was written by another version: {error}") from error

    def probabilities(self, node: int, hand: int | None = None) -> FloatArray:
        """Returns [A, H] (or [A] of one hand) of the policy at a decision node, reading nothing else."""
        read = self._file
        if not 0 <= node < len(read["tree.actor"]):
            raise SolutionError(f"no node {node}; the tree has nodes 0 to {len(read['tree.actor']) - 1}")
        player = int(read["tree.actor"][node])
        if player < 0:
            raise SolutionError(f"node {node} is not a decision node")
        actions, hands = int(read["tree.num_actions"][node]), int(read["tree.num_hands"][player, node])
        if hand is not None and not 0 <= hand < hands:
            raise SolutionError(f"no hand {hand} at node {node}; hands are 0 to {hands - 1}")
        start = int(read["tree.policy_start"][node])
        block = read[f"policy{player}"][start : start + actions * hands].reshape(actions, hands)
        return np.array(block if hand is None else block[:, hand])

    def tree(self) -> PublicTree:
        """Returns the public tree, built anew from the game's rules."""
        tree = build_tree(load_game(self.summary.game))
        for name in (*_TREE, "num_hands"):
            if not np.array_equal(self._file[f"tree.{name}"], getattr(tree, name)):
                raise SolutionError(f"{self._file.path} belongs to another tree of {self.summary.game}: {name} differs")
        return tree

    def load(self, tree: PublicTree | None = None) -> Solution:
        """Returns the whole solution in memory."""
        tree = tree or self.tree()
        names = [name for name in self._file.names if name.startswith("state.")]
        state = {name.removeprefix("state."): self._file.read(name) for name in names}
        try:
            policy = Policy(tree, (self._file.read("policy0"), self._file.read("policy1")))
            policy.check()
        except ValueError as error:
            reason = str(error).splitlines()[0]
            raise SolutionError(f"{self._file.path} does not fit {self.summary.game}: {reason}") from error
        return Solution(self.summary, policy, state)
