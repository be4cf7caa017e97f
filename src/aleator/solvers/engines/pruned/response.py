"""Passes over the whole tree, hand by hand: reach downwards, and upwards the values of a soft best response."""

from __future__ import annotations

import numpy as np

from aleator.games.base import FloatArray
from aleator.jit import kernel
from aleator.solvers.engines.pruned.layout import Flags, HandSide, HandStructure


@kernel()
def push_reach(side: HandSide, policy: FloatArray, reach: FloatArray) -> None:
    """Writes the player's reach [entries] under a policy [places], from the root's entries down."""
    source, sequence = side.source, side.sequence
    for entry in range(side.hands[0], len(source)):
        above = source[entry]
        if sequence[entry] == sequence[above]:
            reach[entry] = reach[above]
        else:
            reach[entry] = reach[above] * policy[sequence[entry]]


@kernel(forceinline=True)
def terminal_value(
    side: HandSide, node: int, hand: int, stake: float, opponent_row: int, opponent_reach: FloatArray
) -> float:
    """Returns a hand's cfv at a terminal."""
    value = 0.0
    row = side.payoff_at[node] + hand
    for k in range(side.payoff_start[row], side.payoff_start[row + 1]):
        value += side.payoff[k] * opponent_reach[opponent_row + side.payoff_hand[k]]
    return value * stake


@kernel(forceinline=True)
def cf_reach(side: HandSide, node: int, hand: int, opponent_row: int, opponent_reach: FloatArray) -> float:
    """Returns the probability with which chance and the opponent lead to an entry."""
    total = 0.0
    row = side.deal_at[node] + hand
    for k in range(side.deal_start[row], side.deal_start[row + 1]):
        total += side.deal[k] * opponent_reach[opponent_row + side.deal_hand[k]]
    return total


@kernel()
def soft_response(
    structure: HandStructure, side: HandSide, opponent: HandSide, opponent_reach: FloatArray, span: FloatArray,
    softness: float, values: FloatArray, action_values: FloatArray,
) -> None:  # fmt: skip
    """Writes substitute cfvs of all entries and places.

    At an infostate I the value v is the one with sum_a (q_a - v)_+^2 = softness x cf_reach(I) x span(I)^2 x actions;
    softness 0 is the exact best response.
    """
    values[:] = 0.0
    action_values[:] = 0.0
    for node in range(len(structure.actor) - 1, -1, -1):
        row, hands, other = side.row_at[node], side.hands[node], opponent.row_at[node]
        acts = structure.actor[node] == side.player
        above_acts = node > 0 and structure.actor[structure.parent[node]] == side.player
        for hand in range(hands):
            entry = row + hand
            if structure.num_children[node] == 0:
                values[entry] = terminal_value(side, node, hand, structure.stake[node], other, opponent_reach)
            elif acts:
                place, stride = structure.block_at[node] + hand, hands
                end = place + structure.num_actions[node] * stride
                choices = 0
                for k in range(place, end, stride):
                    choices += side.legal[k]
                allowed = softness * span[entry] ** 2 * choices
                if allowed > 0.0:
                    allowed *= cf_reach(side, node, hand, other, opponent_reach)
                values[entry] = _soft_maximum(action_values, side.legal, place, end, stride, allowed)
            if node > 0:
                if above_acts:
                    action_values[side.sequence[entry]] += values[entry]
                else:
                    values[side.source[entry]] += values[entry]


@kernel(forceinline=True)
def _soft_maximum(q: FloatArray, legal: Flags, place: int, end: int, stride: int, allowed: float) -> float:
    """Returns v with sum over legal actions of (q - v)_+^2 = allowed, by Newton's method from below."""
    best = -np.inf
    for k in range(place, end, stride):
        if legal[k]:
            best = max(best, q[k])
    if best == -np.inf:  # a hand that cannot be held has no actions
        return 0.0
    if allowed <= 0.0:
        return best
    value: float = best - np.sqrt(allowed)
    for _ in range(100):
        squares, slope = -allowed, 0.0
        for k in range(place, end, stride):
            if legal[k] and q[k] > value:
                squares += (q[k] - value) ** 2
                slope += 2.0 * (q[k] - value)
        step = squares / slope
        value = min(value + step, best)
        if step <= 1e-15 * (abs(value) + np.sqrt(allowed)):
            break
    return value
