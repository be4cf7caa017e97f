"""Policies: what a player does with each hand at each decision node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError, shown
from aleator.games.base import FloatArray, Game
from aleator.trees.public_tree import IDENTITY, PublicTree

BoolArray = npt.NDArray[np.bool_]
Array = TypeVar("Array", bound=npt.NDArray[Any])


class HistoryPolicy(Protocol):
    """A policy of a game that is asked at histories: a `Policy`, or a file that is read where play gets to."""

    @property
    def game(self) -> Game[Any]:
        """What it is a policy of."""

    def at(self, events: Sequence[int]) -> FloatArray:
        """Returns [A, H]: the policy of the decision to which some events lead from the root."""

    def on(self, tree: PublicTree) -> Policy:
        """Returns the policy on the tree of the game."""


@dataclass(frozen=True, eq=False, repr=False)
class Policy:
    """A pair of policies on a public tree.

    Attributes:
        tree: the tree.
        probabilities: per player a flat vector; the block of decision node n begins at `tree.policy_start[n]` and is
            [A, H], hands contiguous. Each hand's probabilities sum to 1 over its legal actions.
    """

    tree: PublicTree
    probabilities: tuple[FloatArray, FloatArray]

    def __post_init__(self) -> None:
        for player in (0, 1):
            expected = (self.tree.policy_size[player],)
            if self.probabilities[player].shape != expected:
                raise ValueError(
                    f"player {player}'s policy has shape {self.probabilities[player].shape}, not {expected}"
                )

    def __repr__(self) -> str:
        decisions = sum(len(self.tree.decisions(player)) for player in (0, 1))
        return f"<Policy of {self.tree.game.name}: {decisions:,} decision nodes>"

    def __getitem__(self, node: int) -> FloatArray:
        """Returns the [A, H] block of a decision node (a view)."""
        return block(self.tree, self.probabilities, node)

    @property
    def game(self) -> Game[Any]:
        """The game of the tree."""
        return self.tree.game

    def at(self, events: Sequence[int]) -> FloatArray:
        """Returns the [A, H] block of the decision to which some events lead from the root (a view)."""
        return self[self.tree.node_at(events)]

    def on(self, tree: PublicTree) -> Policy:
        """Returns the policy on another tree with the same states."""
        if tree.states != self.tree.states:
            raise SolveError(f"the policy belongs to another tree of {self.game.name}")
        return Policy(tree, self.probabilities)

    def part(self, nodes: npt.NDArray[np.int64], tree: PublicTree) -> Policy:
        """Returns the policy of a tree whose decisions are, in their order, those among some nodes of this one's."""
        first, second = (self.probabilities[player][places(self.tree, nodes, player)] for player in (0, 1))
        return Policy(tree, (first, second))

    def with_player(self, player: int, probabilities: FloatArray) -> Policy:
        """Returns the policy with the flat vector of one player replaced."""
        first, second = self.probabilities
        return Policy(self.tree, (first, probabilities) if player else (probabilities, second))

    def to_dict(self) -> dict[str, dict[str, dict[str, float]]]:
        """Returns path -> hand -> action -> probability; see `trees.policy_table`."""
        from aleator.trees.policy_table import policy_rows

        table: dict[str, dict[str, dict[str, float]]] = {}
        for path, _, hand, action, probability in policy_rows(self):
            table.setdefault(path, {}).setdefault(hand, {})[action] = probability
        return table

    def to_dataframe(self) -> Any:
        """Returns a pandas DataFrame with the columns path, player, hand, action and probability.

        Raises:
            SolveError: pandas is not installed.
        """
        from aleator.trees.policy_table import PolicyRow, policy_rows

        try:
            import pandas
        except ImportError:
            raise SolveError("pandas is not installed: pip install pandas") from None
        return pandas.DataFrame(list(policy_rows(self)), columns=list(PolicyRow._fields))

    def to_csv(self) -> str:
        """Returns the same table as CSV, with a line of names first."""
        from aleator.trees.policy_table import policy_csv

        return policy_csv(self)

    def _repr_html_(self) -> str:
        """Returns the first decisions as tables, which is what a notebook shows."""
        from aleator.trees.policy_table import policy_html

        return policy_html(self)

    def check(self, tolerance: float = 1e-9) -> None:
        """Raises ValueError if some hand's probabilities are not a distribution over its legal actions."""
        legal = legal_actions(self.tree)
        for player in (0, 1):
            for node in self.tree.decisions(player):
                here, allowed = self[node], block(self.tree, legal, node)
                if (
                    not np.isfinite(here).all()
                    or (here < -tolerance).any()
                    or (np.abs(here.sum(axis=0) - 1) > tolerance).any()
                    or here[~allowed].any()
                ):
                    path = " / ".join(self.tree.path(node)) or "the root"
                    raise ValueError(f"not a policy at node {node} ({path}): {here.tolist()}")


def block(tree: PublicTree, vectors: tuple[Array, Array], node: int) -> Array:
    """Returns the [A, H] block of a decision node in a pair of flat policy-shaped vectors."""
    player = int(tree.actor[node])
    if player < 0:
        raise ValueError(f"node {node} is not a decision node")
    actions, hands = int(tree.num_actions[node]), int(tree.num_hands[player, node])
    start = tree.policy_start[node]
    view: Array = vectors[player][start : start + actions * hands].reshape(actions, hands)  # type: ignore[assignment]
    return view


def places(tree: PublicTree, nodes: npt.NDArray[np.int64], player: int) -> npt.NDArray[np.int64]:
    """Returns where the blocks of a player's decisions among some nodes lie in the player's vector, in their order."""
    own = nodes[tree.actor[nodes] == player]
    lengths = tree.num_actions[own].astype(np.int64) * tree.num_hands[player, own]
    before = np.cumsum(lengths) - lengths
    return np.repeat(tree.policy_start[own] - before, lengths) + np.arange(int(lengths.sum()))


def legal_actions(tree: PublicTree) -> tuple[BoolArray, BoolArray]:
    """Returns policy-shaped vectors that say which hand may take which action."""
    legal = (np.ones(tree.policy_size[0], dtype=np.bool_), np.ones(tree.policy_size[1], dtype=np.bool_))
    for player in (0, 1):
        mapped = (tree.origin_start[player] != IDENTITY) & (tree.actor[tree.parent] == player)
        mapped[0] = False
        for parent in np.unique(tree.parent[mapped]):
            start = tree.policy_start[parent]
            here = legal[player][start : start + tree.num_actions[parent] * tree.num_hands[player, parent]]
            here[:] = False
            hands = int(tree.num_hands[player, parent])
            for action, child in enumerate(tree.children(parent)):
                origin = tree.origin(player, child)
                here[np.arange(hands) + action * hands if origin is None else origin] = True
    return legal


def uniform_policy(tree: PublicTree) -> Policy:
    """Returns the policy that plays every legal action with equal probability."""
    if not isinstance(tree, PublicTree):
        raise SolveError(f"a policy is on a tree, as build_tree makes it of a game, not on {shown(tree)}")
    first, second = (legal.astype(np.float64) for legal in legal_actions(tree))
    return normalised(tree, (first, second))


def random_policy(tree: PublicTree, rng: np.random.Generator) -> Policy:
    """Returns a policy drawn uniformly from all policies."""
    first, second = (legal * rng.exponential(size=legal.size) for legal in legal_actions(tree))
    return normalised(tree, (first, second))


def policy_from(tree: PublicTree, choose: Callable[[int, int], FloatArray]) -> Policy:
    """Returns the policy whose distribution over actions at (node, hand) is `choose(node, hand)` ([A])."""
    vectors: tuple[FloatArray, FloatArray] = (np.zeros(tree.policy_size[0]), np.zeros(tree.policy_size[1]))
    for player in (0, 1):
        for node in tree.decisions(player):
            here = block(tree, vectors, node)
            for hand in range(here.shape[1]):
                here[:, hand] = choose(int(node), hand)
    return Policy(tree, vectors)


def normalised(tree: PublicTree, weights: tuple[FloatArray, FloatArray]) -> Policy:
    """Returns the policy proportional to non-negative weights, uniform over legal actions where they are all zero."""
    legal = legal_actions(tree)
    result = []
    for player in (0, 1):
        own = tree.decisions(player)
        actions, hands = tree.num_actions[own].astype(np.int64), tree.num_hands[player, own].astype(np.int64)
        # infostate[k]: which (node, hand) entry k of the flat vector belongs to
        first = np.cumsum(hands) - hands
        node_of = np.repeat(np.arange(len(own)), actions * hands)
        infostate = (
            first[node_of] + (np.arange(tree.policy_size[player]) - tree.policy_start[own][node_of]) % hands[node_of]
        )
        total = np.bincount(infostate, weights[player], minlength=int(hands.sum()))
        filled = np.where((total > 0.0)[infostate], weights[player], legal[player].astype(np.float64))
        total = np.bincount(infostate, filled, minlength=int(hands.sum()))
        result.append(filled / total[infostate])
    return Policy(tree, (result[0], result[1]))
