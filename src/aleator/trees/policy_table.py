"""Policies as tables: one row for each hand and action of each decision, for people and other programs."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterator
from itertools import islice
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


def policy_csv(policy: Policy) -> str:
    """Returns the rows of all decisions as CSV, with a line of names first."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(PolicyRow._fields)
    writer.writerows(policy_rows(policy))
    return text.getvalue()


def policy_html(policy: Policy, most: int = 12) -> str:
    """Returns the first decisions as HTML tables of hands by actions, darker for what is likelier, for notebooks."""
    tree = policy.tree
    decisions = [node for node in range(tree.num_nodes) if tree.actor[node] >= 0]
    shown = "".join(_decision_html(policy, node) for node in islice(decisions, most))
    left = len(decisions) - most
    more = f"<p>… and {left:,} more decisions: <code>to_dict()</code> has them all</p>" if left > 0 else ""
    return f"<div><b>{html.escape(policy.game.name)}</b>{shown}{more}</div>"


def _decision_html(policy: Policy, node: int) -> str:
    rows = list(rows_at(policy, node))
    actions = list(dict.fromkeys(row.action for row in rows))
    heads = "".join(f"<th>{html.escape(name)}</th>" for name in ["", *actions])
    body = ""
    for number in range(0, len(rows), len(actions)):
        hand = rows[number : number + len(actions)]
        cells = "".join(
            f'<td style="background:rgba(0,128,128,{0.6 * row.probability:.2f})">{100 * row.probability:.1f} %</td>'
            for row in hand
        )
        body += f"<tr><th>{html.escape(hand[0].hand)}</th>{cells}</tr>"
    path, player = html.escape(path_of(policy, node)), int(policy.tree.actor[node]) + 1
    return f"<table><caption>{path}: player {player} acts</caption><tr>{heads}</tr>{body}</table>"
