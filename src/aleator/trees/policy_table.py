"""Policies as tables: one row for each hand and action of each decision, for people and other programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from aleator.trees.policy import Policy

START = "start"
"""The path of the root."""


class PolicyRow(NamedTuple):
    """How likely a hand is to take an action.

    Attributes:
        path: what has happened, labels with slashes between them; `start` for nothing.
        player: who acts, 0 or 1.
        hand: its name.
        action: its name.
        probability: between 0 and 1.
    """

    path: str
    player: int
    hand: str
    action: str
    probability: float


def path_of(policy: Policy, node: int) -> str:
    """Returns the labels on the way to a node, as `PolicyRow.path` has them."""
    return "/".join(policy.tree.path(node)) or START


def node_of(policy: Policy, path: str) -> int:
    """Returns the node of a path; raises LookupError that names what was allowed."""
    labels = [label.strip() for label in path.split("/") if label.strip()]
    return policy.tree.find([] if labels == [START] else labels)


def rows_at(policy: Policy, node: int) -> Iterator[PolicyRow]:
    """Yields the rows of a decision; hands that chance does not allow there are left out."""
    tree, game = policy.tree, policy.game
    state, player = tree.states[node], int(tree.actor[node])
    possible, block = game.possible_hands(state, player), policy[node]
    for number, hand in enumerate(game.hands(state, player)):
        if possible[number]:
            for index, action in enumerate(game.actions(state)):
                path = path_of(policy, node)
                yield PolicyRow(path, player, str(hand), str(action), float(block[index, number]))


def policy_rows(policy: Policy) -> Iterator[PolicyRow]:
    """Yields the rows of all decisions, parents before their children."""
    for node in range(policy.tree.num_nodes):
        if policy.tree.actor[node] >= 0:
            yield from rows_at(policy, node)
