"""Games of perfect information solved from the end: each player takes the best action, given what follows.

Algorithm:
    In a game of perfect information each player has one hand, the value of a position depends on no belief, and one
    pass from the leaves up solves a subgame: v(h) = max over actions of v(h·a) where the player moves whose values
    these are, min where the other one does, and the sum over outcomes of chance. Equally good actions share the
    probability. Over a game's positions, each taken once, the same pass finds exact values, or the value of the best
    answer to a policy.

Reference: Zermelo 1913; ReBeL section 5.4: "only one search iteration is required to solve a subgame".

Deviations: none.

Status: equal to a recursion on random trees (tests/solvers/test_minimax.py); `aleator paper rebel-perfect-information`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from aleator.errors import GameError, SolveError
from aleator.games.base import CHANCE, TERMINAL, FloatArray, Game
from aleator.trees.public_tree import PublicTree

PositionPolicy = Mapping[Hashable, FloatArray]  # public state -> [A], the probability of each action


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimaxRule:
    """Both players take their best actions, from the leaves up; there is nothing to choose."""


def check_one_hand(name: str, num_hands: int) -> None:
    """Raises SolveError if players can have more than one hand."""
    if num_hands > 1:
        raise SolveError(
            f"minimax is for games of perfect information, in which each player has one hand; {name} has {num_hands}"
        )


def pull_minimax(tree: PublicTree, player: int, values: FloatArray) -> FloatArray:
    """Pulls a player's values [N] up from terminals and leaves, in place; returns the player's flat policy."""
    policy = np.zeros(tree.policy_size[player])
    for node in np.flatnonzero(tree.num_children)[::-1]:
        first = tree.first_child[node]
        below = values[first : first + tree.num_children[node]]
        actor = tree.actor[node]
        if actor == CHANCE:
            values[node] = below.sum()
            continue
        values[node] = best = below.max() if actor == player else below.min()
        if actor == player:
            start = tree.policy_start[node]
            policy[start : start + len(below)] = (below == best) / np.count_nonzero(below == best)
    return policy


def position_values(
    game: Game[Any],
    policies: tuple[PositionPolicy | None, PositionPolicy | None] = (None, None),
    *,
    worst: bool = False,
) -> dict[Hashable, float]:
    """Returns player 0's value of every public state of a game of perfect information.

    Args:
        game: each player has one hand in it.
        policies: what a player does; None for a player who does what is best against the other.
        worst: count of the actions that a policy takes at all the one that is worst for its player, instead of their
            mean.

    Raises:
        SolveError: a player has several hands somewhere.
        GameError: moves lead back to a position.
    """
    values: dict[Hashable, float] = {}
    for state, children in _from_the_end(game):
        check_one_hand(game.name, max(game.num_hands(state)))
        actor = game.actor(state)
        if actor == TERMINAL:
            values[state] = float(game.utility(state)[0, 0])
            continue
        below = np.array([values[child] for child in children])
        if actor == CHANCE:
            chances = np.array([game.deal(child)[0, 0] for child in children]) / game.deal(state)[0, 0]
            values[state] = float(chances @ below)
            continue
        sign, policy = (1.0, -1.0)[actor], policies[actor]
        if policy is None:
            values[state] = float(sign * (sign * below).max())
        elif worst:
            values[state] = float(sign * (sign * below[policy[state] > 0.0]).min())
        else:
            values[state] = float(policy[state] @ below)
    return values


def _from_the_end(game: Game[Any]) -> list[tuple[Any, list[Any]]]:
    """Returns all public states with the states that can follow, which come before them."""
    order: list[tuple[Any, list[Any]]] = []
    below: dict[Hashable, list[Any]] = {}
    done: set[Hashable] = set()
    waiting: list[Any] = [game.root()]
    while waiting:
        state = waiting[-1]
        if state not in below:
            ends = game.actor(state) == TERMINAL
            below[state] = [] if ends else [child.state for child in game.children(state)]
            for child in below[state]:
                if child in below and child not in done:
                    raise GameError(f"{game.name}: the moves after {state!r} lead back to a state that came before")
            waiting.extend(child for child in below[state] if child not in below)
            continue
        waiting.pop()
        if state not in done:
            done.add(state)
            order.append((state, below[state]))
    return order
