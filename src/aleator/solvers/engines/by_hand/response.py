"""Passes over the whole tree, hand by hand: reach downwards, and upwards the values of a soft best response."""

from __future__ import annotations

import numpy as np

from aleator.games.base import FloatArray
from aleator.jit import inner_kernel, kernel
from aleator.solvers.engines.by_hand import columns as col
from aleator.solvers.engines.by_hand.layout import HandSide, Ints, Shape


@kernel()
def push_reach(side: HandSide, policy: FloatArray, reach: FloatArray) -> None:
    """Writes the player's reach [places + 1] under a policy [places]; that of the last place, the root's, is given."""
    for offset in range(len(policy)):  # earlier places come first
        reach[offset] = reach[side.above[side.places[offset, col.INFOSTATE]]] * policy[offset]


@kernel()
def soft_response(
    shape: Shape, side: HandSide, opponent: HandSide, opponent_reach: FloatArray, span: FloatArray, softness: float,
    values: FloatArray, action_values: FloatArray,
) -> None:  # fmt: skip
    """Writes substitute cfvs of all infostates and places; the last place is the whole game.

    At an infostate I the value v is the one with sum_a (q_a - v)_+^2 = softness x cf_reach(I) x span(I)^2 x actions;
    softness 0 is the exact best response.
    """
    nodes, places = shape.nodes, side.places
    action_values[:] = 0.0
    for node in range(len(nodes) - 1, -1, -1):
        terminal = nodes[node, col.NUM_CHILDREN] == 0
        if not terminal and nodes[node, col.ACTOR] != side.player:
            continue
        row, hands, other = side.nodes[node, col.ROW], side.nodes[node, col.HANDS], opponent.nodes[node, col.ROW]
        for hand in range(hands):
            if terminal:
                value, at = 0.0, side.nodes[node, col.PAYOFFS] + hand
                for k in range(side.payoff_start[at], side.payoff_start[at + 1]):
                    value += side.payoff[k] * opponent_reach[opponent.sequence[other + side.payoff_hand[k]]]
                value *= shape.stake[node]
            else:
                state, start = side.nodes[node, col.STATES] + hand, nodes[node, col.BLOCK] + hand
                end = start + nodes[node, col.NUM_ACTIONS] * hands
                choices = 0
                for k in range(start, end, hands):
                    choices += places[k, col.LEGAL]
                allowed = softness * span[state] ** 2 * choices
                if allowed > 0.0:
                    reach, at = 0.0, side.nodes[node, col.DEALS] + hand
                    for k in range(side.deal_start[at], side.deal_start[at + 1]):
                        reach += side.deal[k] * opponent_reach[opponent.sequence[other + side.deal_hand[k]]]
                    allowed *= reach
                value = _soft_maximum(action_values, places, start, end, hands, allowed)
                values[state] = value
            action_values[side.sequence[row + hand]] += value


@inner_kernel()
def _soft_maximum(q: FloatArray, places: Ints, start: int, end: int, stride: int, allowed: float) -> float:
    """Returns v with sum over legal actions of (q - v)_+^2 = allowed, by Newton's method from below."""
    best = -np.inf
    for k in range(start, end, stride):
        if places[k, col.LEGAL]:
            best = max(best, q[k])
    if best == -np.inf:  # a hand that cannot be held has no actions
        return 0.0
    if allowed <= 0.0:
        return best
    value: float = best - np.sqrt(allowed)
    for _ in range(100):
        squares, slope = -allowed, 0.0
        for k in range(start, end, stride):
            if places[k, col.LEGAL] and q[k] > value:
                squares += (q[k] - value) ** 2
                slope += 2.0 * (q[k] - value)
        step = squares / slope
        value = min(value + step, best)
        if step <= 1e-15 * (abs(value) + np.sqrt(allowed)):
            break
    return value
