"""Gifts: by how much the opponent has erred on the way to a subgame, and how that loosens the gadget.

Algorithm:
    At each of its infostates I' on the way to I the opponent chose a' and may have given up
        gift(I', a') = max_a CBV(I', a) - CBV(I', a').
    The alternative payoff of I may rise by the sum of gifts. What other subgames will be worth after search is unknown,
    so a lower bound counts only what a' itself and actions that end the game at once are worth. A gift is *split* if
    all that descends from it rises by its size, so that the sum of all rises, each times the chance to get there, never
    exceeds it; *unsplit*, it is multiplied by the number of outcomes of each public chance event on the way.

Reference: thesis 5.1.3, Eq. 5.2; 5.1.8 (not split); 5.1.11 (scaling). The thesis' estimate of gifts is `exact=True`,
    applied to estimated values.
Deviations: none.
Status: tests/search/test_safe.py (Coin Toss and its version with two subgames, Fig. 5.4; Theorem 20 on Leduc).
"""

from __future__ import annotations

import numpy as np

from aleator.games.base import CHANCE, TERMINAL, FloatArray
from aleator.search.blueprint import Blueprint
from aleator.trees.public_tree import PublicTree


def action_cfvs(tree: PublicTree, node: int, cfvs: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Returns [A, H]: the actor's cfvs of its actions, and whether an action ends the game at once (1) or not (0)."""
    player = int(tree.actor[node])
    actions, hands = int(tree.num_actions[node]), int(tree.num_hands[player, node])
    values, ends, goes_on = np.zeros((3, actions * hands))
    for action, child in enumerate(tree.children(node)):
        origin = tree.origin(player, child)
        to = np.arange(hands) + action * hands if origin is None else origin
        np.add.at(values, to, cfvs[child])
        (ends if tree.actor[child] == TERMINAL else goes_on)[to] = 1.0
    return values.reshape(actions, hands), (ends * (1.0 - goes_on)).reshape(actions, hands)


def gifts(
    blueprint: Blueprint,
    player: int,
    cfvs: list[FloatArray],
    *,
    split: bool = True,
    exact: bool = False,
    before: FloatArray | None = None,
) -> list[FloatArray]:
    """Returns for every node [H]: what the player gave up on the way there, as a value given the hand.

    Args:
        blueprint: what the other player plays.
        player: who may have erred.
        cfvs: for every node [H], what responding is worth to the player: `Blueprint.response_cfvs` or estimates.
        split: gifts are divided among the outcomes of chance; otherwise each gets all of it.
        exact: measured by the best action; otherwise a lower bound that holds whatever search does elsewhere.
        before: [H] gifts on the way to the root of the blueprint's tree; none unless given.
    """
    tree = blueprint.tree
    rows: list[FloatArray] = [np.zeros(tree.num_hands[player, 0]) if before is None else before]
    here: dict[int, FloatArray] = {}
    for node in range(1, tree.num_nodes):
        parent, origin = int(tree.parent[node]), tree.origin(player, node)
        gift = rows[parent]
        if tree.actor[parent] == player:
            if parent not in here:
                given = _given(tree, parent, cfvs, exact)
                reach = blueprint.cf_reach[player][parent]
                here[parent] = gift + np.divide(given, reach, out=np.zeros(given.shape), where=reach > 0)
            after = here[parent]
            gift = after[node - int(tree.first_child[parent])] if origin is None else after.ravel()[origin]
        elif origin is not None:
            gift = gift[origin]
        if tree.actor[parent] == CHANCE and not split:
            gift = gift * int(tree.num_children[parent])
        rows.append(gift)
    return rows


def _given(tree: PublicTree, node: int, cfvs: list[FloatArray], exact: bool) -> FloatArray:
    """Returns [A, H]: the gift that each action is, in cfvs."""
    values, ends = action_cfvs(tree, node, cfvs)
    best = values if exact else np.where(ends > 0, values, -np.inf)
    given: FloatArray = np.maximum(best.max(axis=0) - values, 0.0)
    return given
