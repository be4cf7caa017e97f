"""The policy of a player who translates bets: an off-tree bet is taken for one of the two nearest, at random.

Algorithm:
    The randomised pseudo-harmonic mapping (`aleator.abstraction.translation`) says which bet of the blueprint's tree a
    bet is taken for, and play goes on as if that had been bet. What was drawn stays the player's secret, so the whole
    is a mixture of policies; `translated` returns the policy that is played, which weighs them by the player's own
    reach.

Reference: thesis 5.1.7, 5.2.3 (RPAT); Ganzfried and Sandholm 2013. What nested search replaces (Table 5.4).
Deviations: none.
Status: tests/search/test_nested.py; `aleator paper nested-search`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aleator.abstraction.translation import translate
from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.restricted import split_label
from aleator.trees.policy import Policy, block, uniform_policy
from aleator.trees.public_tree import PublicTree


class _Imagined(NamedTuple):
    """A node of the blueprint's tree that a player may take the real one for, and [H] its reach with that belief."""

    node: int
    reach: FloatArray


def translated(tree: PublicTree, blueprint: Policy, player: int) -> Policy:
    """Returns the policy on a tree with more bets than the blueprint's by which a player translates them.

    Args:
        tree: of the game that is played; moves are found in the blueprint's tree by their labels, and those that are
            not there are bets whose label ends in a size.
        blueprint: of the game without the off-tree bets.
        player: who plays by the blueprint; the other player's part, and what the player never does, is uniform.
    """
    small = blueprint.tree
    policy = uniform_policy(tree)
    hands = int(tree.num_hands[player, 0])
    waiting: list[tuple[int, list[_Imagined]]] = [(0, [_Imagined(0, np.ones(hands))])]
    while waiting:
        node, imagined = waiting.pop()
        children = list(tree.children(node))
        labels = [tree.labels[child] for child in children]
        if tree.actor[node] == player:
            after = _act(policy, node, labels, blueprint, imagined)
        else:
            after = [_see(small, label, imagined) for label in labels]
        waiting.extend((child, moved) for child, moved in zip(children, after, strict=True) if moved)
    return policy


def _act(
    policy: Policy, node: int, labels: list[str], blueprint: Policy, imagined: list[_Imagined]
) -> list[list[_Imagined]]:
    """Writes what the player does at a node, whatever it takes it for; returns what it takes each child for."""
    small = blueprint.tree
    here = block(policy.tree, policy.probabilities, node)
    weights = np.zeros(here.shape)
    after: list[list[_Imagined]] = [[] for _ in labels]
    for belief in imagined:
        names = [small.labels[child] for child in small.children(belief.node)]
        for action, name in enumerate(names):
            reach = belief.reach * blueprint[belief.node][action]
            index = labels.index(name)
            weights[index] += reach
            after[index].append(_Imagined(int(small.first_child[belief.node]) + action, reach))
    total = weights.sum(axis=0)
    here[:] = np.where(total > 0, weights / np.where(total > 0, total, 1.0), here)
    return after


def _see(small: PublicTree, label: str, imagined: list[_Imagined]) -> list[_Imagined]:
    """Returns what the player takes a child for that the opponent or chance has moved to."""
    outcomes = []
    for belief in imagined:
        names = [small.labels[child] for child in small.children(belief.node)]
        first = int(small.first_child[belief.node])
        if label in names:
            outcomes.append(_Imagined(first + names.index(label), belief.reach))
            continue
        bet = split_label(label)
        menu = sorted((split[1], index) for index, name in enumerate(names) if (split := split_label(name)))
        if bet is None or not menu:
            raise SolveError(f"{label!r} is not one of {names}, nor a bet that could be translated")
        for index, share in translate(bet[1], [size for size, _ in menu]).items():
            outcomes.append(_Imagined(first + menu[index][1], belief.reach * share))
    return outcomes
