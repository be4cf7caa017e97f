"""Gadgets: the augmented subgames of safe search as public trees, so that every solver takes them unchanged.

Algorithm:
    Player P2 searches a subgame; P1 is the opponent. Chance deals P1's hand I_1 in proportion to pi_{-1}(I_1), P1's own
    reach left out, which is payoffs weighed by P2's reach. A gadget is a new root above the subgame:
      unsafe      none; chance deals in proportion to the reach of both players.
      resolve     P1 chooses for each hand: a'_S, enter the subgame, or a'_T, take the alternative payoff of the hand.
      maxmargin   P1 chooses the hand, chance P2's in proportion to pi_{-1}; P1 pays the alternative payoff of the hand
                  to enter. P1's value is then minus the smallest margin, which P2 maximises.

Reference: thesis 5.1.2 (Fig. 5.3), 5.1.10 (Fig. 5.6); Burch, Johanson, Bowling 2014; Moravcik et al. 2016.
Deviations:
    The fee of maxmargin is paid by a terminal beside the subgame (the values of chance's children add up) instead of
    being taken off every payoff: the same game, and payoff groups stay shared. Hands that P2 and chance rule out are
    worth 0.
Status: tests/search/test_gadgets.py (Coin Toss exactly, margins of random games against linear programs).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from aleator.games.base import CHANCE, FloatArray
from aleator.trees.public_tree import Int64Array, PublicTree
from aleator.trees.surgery import Edge, End, Inner, assemble, weigh

FOLLOW = 1  # the resolve gadget's actions: take the alternative payoff, or follow into the subgame


class Gadget(NamedTuple):
    """A subgame with something above it.

    Attributes:
        tree: what is to be solved.
        nodes: [nodes of the subgame] their numbers in `tree`.
        cf_reach: [H] of the opponent at the subgame's root: cfvs there divided by it are values given the hand.
    """

    tree: PublicTree
    nodes: Int64Array
    cf_reach: FloatArray


def _side(opponent: int, of_opponent: Any, of_searcher: Any) -> tuple[Any, Any]:
    """Returns a pair in the order of the players."""
    return (of_opponent, of_searcher) if opponent == 0 else (of_searcher, of_opponent)


def opponent_chance(tree: PublicTree, opponent: int, searcher_reach: FloatArray) -> FloatArray:
    """Returns [H of the opponent, H of the searcher]: chance x the searcher's reach, pi_{-1}, of pairs at the root."""
    deal = tree.game.deal(tree.states[0])
    return (deal if opponent == 0 else deal.T) * searcher_reach[None, :]


def unsafe_gadget(tree: PublicTree, opponent: int, reach: tuple[FloatArray, FloatArray]) -> Gadget:
    """Returns the subgame in which chance deals hands as the reach ([H0], [H1]) of the players has it."""
    chance = tree.game.deal_operator(tree.states[0]).cf_reach(opponent, reach[1 - opponent]) * reach[opponent]
    total = float(chance.sum()) or 1.0
    return Gadget(weigh(tree, reach[0] / total, reach[1]), np.arange(tree.num_nodes), chance / total)


def resolve_gadget(tree: PublicTree, opponent: int, searcher_reach: FloatArray, alternative: FloatArray) -> Gadget:
    """Returns the augmented subgame of re-solving.

    Args:
        tree: the subgame.
        opponent: P1, who may opt out.
        searcher_reach: [H] of the searcher at the root.
        alternative: [H] of the opponent: what opting out is worth, as a value given the hand.
    """
    chance = opponent_chance(tree, opponent, searcher_reach)
    total = float(chance.sum()) or 1.0
    pays = chance / total * alternative[:, None]
    root = Inner(
        actor=opponent,
        hands=_hands(tree),
        num_actions=2,
        state="resolve gadget",
        edges=(
            Edge("take the alternative", End(pays if opponent == 0 else -pays.T)),
            Edge("follow", weigh(tree, *_side(opponent, np.full(len(alternative), 1.0 / total), searcher_reach))),
        ),
    )
    made = assemble(tree.game, root)
    return Gadget(made.tree, made.nodes[0], chance.sum(axis=1) / total)


def maxmargin_gadget(tree: PublicTree, opponent: int, searcher_reach: FloatArray, alternative: FloatArray) -> Gadget:
    """Returns the gadget game whose solutions maximise the smallest margin; arguments as for `resolve_gadget`."""
    chance = opponent_chance(tree, opponent, searcher_reach)
    total = chance.sum(axis=1)
    possible = np.flatnonzero(total > 0)
    share = np.where(total > 0, 1.0 / np.where(total > 0, total, 1.0), 0.0)
    pays = -(chance * (share * alternative)[:, None])
    hands = len(alternative)
    entered = Inner(
        actor=CHANCE,
        hands=_hands(tree),
        state="entry",
        edges=(
            Edge("fee", End(pays if opponent == 0 else -pays.T)),
            Edge("enter", weigh(tree, *_side(opponent, share, searcher_reach))),
        ),
    )
    # impossible hands would be free of charge: they follow from the first possible choice, and are worth nothing
    choice = np.full(hands, 0)
    choice[possible] = np.arange(len(possible))
    root = Inner(
        actor=opponent,
        hands=_side(opponent, 1, len(searcher_reach)),
        num_actions=max(1, len(possible)),
        state="maxmargin gadget",
        edges=(Edge("hand chosen", entered, _side(opponent, choice, None)),),
    )
    made = assemble(tree.game, root)
    return Gadget(made.tree, made.nodes[0], (total > 0) * 1.0)


def forest(gadgets: Sequence[Gadget]) -> tuple[PublicTree, list[Gadget]]:
    """Returns one tree of many gadgets side by side, and each of them as a part of it.

    Nothing connects them: solving the forest is solving each on its own, in one run.
    """
    edges = []
    for number, gadget in enumerate(gadgets):
        drawn = tuple(np.zeros(hands, dtype=np.int64) for hands in _hands(gadget.tree))
        edges.append(Edge(f"subgame {number}", gadget.tree, (drawn[0], drawn[1])))
    made = assemble(gadgets[0].tree.game, Inner(CHANCE, (1, 1), tuple(edges), state="forest"))
    parts = [
        Gadget(made.tree, places[gadget.nodes], gadget.cf_reach)
        for gadget, places in zip(gadgets, made.nodes, strict=True)
    ]
    return made.tree, parts


def _hands(tree: PublicTree) -> tuple[int, int]:
    return int(tree.num_hands[0, 0]), int(tree.num_hands[1, 0])
