"""Gradients by walking the tree, and smoothed best responses: what first-order methods are made of."""

from __future__ import annotations

import numpy as np

from aleator.games.base import FloatArray
from aleator.jit import kernel
from aleator.solvers.engines.by_hand import columns as col
from aleator.solvers.engines.by_hand.layout import HandSide, Ints, Shape
from aleator.solvers.engines.by_hand.response import push_reach


@kernel()
def gradient(
    shape: Shape, side: HandSide, opponent: HandSide, reach: FloatArray, least: float, stack: Ints, gradient: FloatArray
) -> int:
    """Writes what each place is worth, [places + 1], infostates that follow not counted; returns the nodes touched.

    `reach` [places + 1] is the opponent's. Histories that chance and the opponent reach with a probability below
    `least` are left out with all that follows them.
    """
    gradient[:] = 0.0
    touched, size = 0, 1
    stack[0] = 0
    while size > 0:
        size -= 1
        node = stack[size]
        row, hands, other = side.nodes[node, col.ROW], side.nodes[node, col.HANDS], opponent.nodes[node, col.ROW]
        terminal, pairs = shape.nodes[node, col.NUM_CHILDREN] == 0, 0
        for hand in range(hands):
            at, value = side.nodes[node, col.DEALS] + hand, 0.0
            payoff = side.payoff_start[side.nodes[node, col.PAYOFFS] + hand] if terminal else 0
            last = side.payoff_start[side.nodes[node, col.PAYOFFS] + hand + 1] if terminal else 0
            for k in range(side.deal_start[at], side.deal_start[at + 1]):
                held = side.deal_hand[k]
                here = reach[opponent.sequence[other + held]]
                kept = here > 0.0 and side.deal[k] * here >= least
                pairs += kept
                while payoff < last and side.payoff_hand[payoff] < held:
                    payoff += 1
                if kept and payoff < last and side.payoff_hand[payoff] == held:
                    value += side.payoff[payoff] * here
            if terminal:
                gradient[side.sequence[row + hand]] += value * shape.stake[node]
        touched += pairs
        if pairs > 0:
            below = shape.nodes[node, col.FIRST_CHILD]
            for child in range(below, below + shape.nodes[node, col.NUM_CHILDREN]):
                stack[size] = child
                size += 1
    return touched


@kernel()
def smoothed_response(
    shape: Shape, side: HandSide, worth: FloatArray, weights: FloatArray, smoothing: float, center: FloatArray,
    totals: FloatArray, policy: FloatArray, reach: FloatArray,
) -> float:  # fmt: skip
    """Returns the largest <worth, reach> - smoothing x D(policy, center), and writes the policy and reach that have it.

    D is the divergence of the dilated entropy: the sum over infostates of weight x own reach x KL(policy || center).
    All vectors are [places] but `worth`, `totals` (scratch) and `reach` [places + 1] and `weights` [infostates].
    """
    for offset in range(len(worth)):
        totals[offset] = worth[offset]
    for node in range(len(shape.nodes) - 1, -1, -1):
        if shape.nodes[node, col.ACTOR] != side.player:
            continue
        hands = side.nodes[node, col.HANDS]
        size = shape.nodes[node, col.NUM_ACTIONS] * hands
        for hand in range(hands):
            start, state = shape.nodes[node, col.BLOCK] + hand, side.nodes[node, col.STATES] + hand
            scale, best, total = smoothing * weights[state], -np.inf, 0.0
            for offset in range(start, start + size, hands):
                if center[offset] > 0.0:
                    best = max(best, totals[offset])
            if best == -np.inf:
                continue
            for offset in range(start, start + size, hands):
                policy[offset] = 0.0
                if center[offset] > 0.0:
                    policy[offset] = center[offset] * np.exp((totals[offset] - best) / scale)
                    total += policy[offset]
            for offset in range(start, start + size, hands):
                policy[offset] /= total
            totals[side.above[state]] += best + scale * np.log(total)
    reach[len(policy)] = 1.0
    push_reach(side, policy, reach)
    value: float = totals[len(policy)]
    return value


@kernel()
def dilated_weights(shape: Shape, side: HandSide, below: FloatArray, weights: FloatArray) -> None:
    """Writes the weights [infostates] 2 alpha with alpha = 1 + the most over actions of the sum of 2 alpha that follow.

    `below` [places + 1] is scratch.
    """
    below[:] = 0.0
    for node in range(len(shape.nodes) - 1, -1, -1):
        if shape.nodes[node, col.ACTOR] == side.player:
            hands = side.nodes[node, col.HANDS]
            for hand in range(hands):
                start, most = shape.nodes[node, col.BLOCK] + hand, 0.0
                for offset in range(start, start + shape.nodes[node, col.NUM_ACTIONS] * hands, hands):
                    if side.places[offset, col.LEGAL]:
                        most = max(most, below[offset])
                state = side.nodes[node, col.STATES] + hand
                weights[state] = 2.0 * (1.0 + most)
                below[side.above[state]] += weights[state]
