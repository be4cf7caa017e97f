"""Solutions: what a solve returns and what a file holds; `open_solution` reads one of any kind."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from aleator import __version__
from aleator.errors import AleatorError, SolutionError
from aleator.games.base import FloatArray
from aleator.games.registry import load_game
from aleator.solvers.limits import CurvePoint
from aleator.storage import ArrayFile, write_arrays
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree, build_tree

Arrays = Mapping[str, npt.NDArray[Any]]
_TREE = ("actor", "first_child", "num_children", "num_actions", "policy_start", "num_hands")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a solve reports, in the units of the game's payoffs. One iteration updates both players.

    Attributes:
        game, algorithm, dtype: what was solved, how, and in which precision.
        iterations, seconds: how long; compilation is not counted.
        values: what each player wins on average under the average policy; in hold'em less half the pot.
        exploitability: the mean of what both players gain by a best response, NashConv / 2.
        nodes, infostates: the size of the public tree; what a renaming of suits makes equal counts once.
        curve: quality over time.
        nodes_touched: histories visited, where an algorithm samples or prunes; None where each iteration visits all.
        version: of this package.
    """

    game: str
    algorithm: str
    dtype: str
    iterations: int
    seconds: float
    values: tuple[float, float]
    exploitability: float
    nodes: int
    infostates: int
    curve: tuple[CurvePoint, ...] = field(default=(), repr=False)
    nodes_touched: int | None = None
    version: str = field(default=__version__)

    @property
    def nash_conv(self) -> float:
        """The sum of what both players gain by a best response."""
        return 2.0 * self.exploitability

    @property
    def value(self) -> float:
        """What the first player wins on average."""
        return self.values[0]

    def report(self) -> dict[str, Any]:
        """Returns everything as a JSON value, derived numbers included."""
        fields: dict[str, Any] = asdict(self)
        fields["curve"] = [point._asdict() | {"nash_conv": point.nash_conv} for point in self.curve]
        return fields | {"nash_conv": self.nash_conv, "value": self.value}

    @staticmethod
    def parse(text: str) -> Summary:
        """Returns the summary in a file's JSON, those of earlier versions included.

        Raises:
            KeyError, TypeError, ValueError: it is none.
        """
        fields = json.loads(text)
        curve = [CurvePoint(*point) for point in fields.pop("curve")]
        if "quality" in fields:  # hold'em, before all solvers shared one summary
            values, best = fields["quality"]["values"], fields.pop("quality")["best"]
            fields |= {"values": values, "exploitability": (sum(best) - sum(values)) / 2, "infostates": 0}
            fields |= {"game": "holdem", "algorithm": fields.pop("rule"), "dtype": "", "nodes": sum(fields["nodes"])}
        elif "nash_conv" in fields:  # the others, before that
            value = fields.pop("value")
            fields["values"], fields["exploitability"] = (value, -value), fields.pop("nash_conv") / 2
            curve = [point._replace(exploitability=point.exploitability / 2) for point in curve]
        first, second = fields.pop("values")
        return Summary(**fields, values=(first, second), curve=tuple(curve))


class Solution(ABC):
    """The average policy that a solve has found, with its provenance and, if it can be continued, the solver's state.

    Attributes:
        summary: how it was found, and how good it is.
    """

    FORMAT: ClassVar[str]
    STATE: ClassVar[str]  # what names of the state's arrays begin with

    def __init__(self, summary: Summary, arrays: Arrays | ArrayFile) -> None:
        self.summary, self._arrays = summary, arrays

    def __repr__(self) -> str:
        told = self.summary
        how = f"{told.algorithm}, {told.iterations:,} iterations, exploitability {told.exploitability:.4g}"
        return f"<{type(self).__name__} of {told.game} by {how}>"

    @property
    @abstractmethod
    def policy(self) -> Policy:
        """The policy of the whole game, on its public tree."""

    @property
    def state(self) -> Arrays:
        """The solver's state, from which a solve goes on, read where it is asked for; empty unless it was kept."""
        return _Prefixed(self._arrays, self.STATE)

    def metadata(self) -> dict[str, str]:
        """Returns what a file says about the solution besides its format and its summary."""
        return {}

    def save(self, path: Path | str) -> None:
        """Writes everything to one file, which replaces an existing one atomically."""
        self._save(path, {name: self._arrays[name] for name in array_names(self._arrays)})

    def _save(self, path: Path | str, arrays: Arrays) -> None:
        summary = {"format": self.FORMAT, "summary": json.dumps(asdict(self.summary))}
        write_arrays(path, arrays, summary | self.metadata())


class _Prefixed(Mapping[str, npt.NDArray[Any]]):
    """The arrays whose names begin with a prefix, without it; those of a file are read when they are asked for."""

    def __init__(self, arrays: Arrays | ArrayFile, prefix: str) -> None:
        self._arrays, self._prefix = arrays, prefix

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        full = self._prefix + name
        if full not in self._arrays:
            raise KeyError(name)
        return self._arrays.read(full) if isinstance(self._arrays, ArrayFile) else self._arrays[full]

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

    FORMAT, STATE = "aleator-solution", "state."

    def __init__(self, summary: Summary, arrays: Arrays | ArrayFile, tree: PublicTree | None = None) -> None:
        """Returns the solution of some arrays; the tree is built from the game's rules if it is needed and not given."""
        super().__init__(summary, arrays)
        self._tree = tree

    @classmethod
    def of_policy(cls, summary: Summary, policy: Policy, state: Arrays) -> TreeSolution:
        """Returns the solution of a policy and of the state that a solve goes on from."""
        arrays: dict[str, npt.NDArray[Any]] = {f"policy{player}": policy.probabilities[player] for player in (0, 1)}
        arrays |= {f"tree.{name}": getattr(policy.tree, name) for name in _TREE}
        return cls(summary, arrays | {cls.STATE + name: vector for name, vector in state.items()}, policy.tree)

    @classmethod
    def of_file(cls, file: ArrayFile, tree: PublicTree | None = None) -> TreeSolution:
        """Returns the solution in a file, of which nothing but the header is read now."""
        found = cls(Summary.parse(file.metadata["summary"]), file)
        for name in _TREE:
            _ = file[f"tree.{name}"]
        found._tree = None if tree is None else found._checked(tree)
        return found

    def probabilities(self, node: int, hand: int | None = None) -> FloatArray:
        """Returns [A, H] (or [A] of one hand) of the policy at a decision node, reading nothing else."""
        read = self._arrays
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

    @cached_property
    def policy(self) -> Policy:
        """The policy; of a file the tree is built from the game's rules, unless it was given."""
        tree = self._tree or self._checked(build_tree(load_game(self.summary.game)))
        if not isinstance(self._arrays, ArrayFile):
            return Policy(tree, (self._arrays["policy0"], self._arrays["policy1"]))
        try:
            policy = Policy(tree, (self._arrays.read("policy0"), self._arrays.read("policy1")))
            policy.check()
        except ValueError as error:
            reason = str(error).splitlines()[0]
            raise SolutionError(f"{self._arrays.path} does not fit {self.summary.game}: {reason}") from error
        return policy

    def _checked(self, tree: PublicTree) -> PublicTree:
        """Returns the tree if the solution belongs to it."""
        for name in _TREE:
            if not np.array_equal(self._arrays[f"tree.{name}"], getattr(tree, name)):
                raise SolutionError(f"the solution belongs to another tree of {self.summary.game}: {name} differs")
        return tree


def open_solution(path: Path | str, tree: PublicTree | None = None) -> Solution:
    """Returns the solution in a file; its policy is read where it is asked for.

    Args:
        path: what `Solution.save` wrote.
        tree: of the game, if it cannot be built from the game's name, or is there already.

    Raises:
        StorageError: it is not a file of arrays.
        SolutionError: it is not a solution, it is damaged, or it belongs to another tree.
    """
    from aleator.solvers.holdem.solution import HoldemSolution

    file = ArrayFile(path)
    kind = file.metadata.get("format")
    try:
        if kind == HoldemSolution.FORMAT:
            return HoldemSolution.of_file(file)
        if kind == TreeSolution.FORMAT:
            return TreeSolution.of_file(file, tree)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, AleatorError):
            raise
        raise SolutionError(f"{path} is damaged or was written by another version: {error}") from error
    known = f"{TreeSolution.FORMAT!r} or {HoldemSolution.FORMAT!r}"
    raise SolutionError(f"{path} is not a solution: its format is {kind!r}, not {known}")
