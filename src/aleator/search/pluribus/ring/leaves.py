"""What hands are worth where a round ends: showdowns, and the rest of the hand by continuations of a blueprint.

Algorithm:
    At a leaf every player who is in has chosen a continuation, by regrets of its own: the blueprint, or the blueprint
    biased to folding, calling or raising. The hand is then played out once from the guide of the leaf. There the others
    draw from their continuations, and the traverser from what its buckets do on average; each hand and continuation is
    weighted by how much likelier it is to do the same.

Reference: Brown and Sandholm 2019 (Science 365), supplement: "depth-limited search"; thesis 5.2, 6.6.
Deviations: one play-out serves all hands of the traverser. Bets below a leaf are in proportion to its pot. Leaves with
    more than two players, of whom a blueprint may know nothing, are showdowns.
Status: tests/search/pluribus/ring/test_search.py compares traversals with a recursion.
"""

from __future__ import annotations

import numpy as np

from aleator.jit import kernel
from aleator.search.pluribus.ring.arrays import Chances, Floats, Guide, Room
from aleator.search.pluribus.ring.matching import draw, draw_column, update_searched
from aleator.search.pluribus.ring.tree import CONTINUATIONS, TreeArrays
from aleator.solvers.engines.sampling.random import advance, uniform

_SPREAD = 0.2  # of the traverser's draws below a leaf are uniform, so that no weight is large
_BIAS = 5.0


@kernel()
def end_values(
    node: int, traverser: int, board: int, tree: TreeArrays, chances: Chances, room: Room, values: Floats
) -> None:
    """Writes what the traverser's hands win at the end of a hand, or once it has folded."""
    paid = tree.paid[node, traverser]
    _pay(int(tree.live[node]), traverser, board, paid, tree.pot[node], chances, room, values)


@kernel(forceinline=True)
def _pay(
    live: int, traverser: int, board: int, paid: np.float32, pot: np.float32, chances: Chances, room: Room,
    values: Floats,
) -> None:  # fmt: skip
    best, ties = np.int16(-1), 0
    for player in range(len(room.hands)):
        if player != traverser and live >> player & 1:
            strength = chances.strengths[board, room.hands[player]]
            if strength > best:
                best, ties = strength, 1
            elif strength == best:
                ties += 1
    lost = -paid
    if not live >> traverser & 1:
        for hand in range(len(values)):
            values[hand] = lost * room.alive[hand]
        return
    won, shared = pot - paid, pot / np.float32(1 + ties) - paid
    strengths = chances.strengths[board]
    for hand in range(len(values)):
        value = won if strengths[hand] > best else shared if strengths[hand] == best else lost
        values[hand] = value * room.alive[hand]


@kernel()
def leaf_values(
    state: np.uint64, node: int, traverser: int, board: int, tree: TreeArrays, guide: Guide, chances: Chances,
    regrets: Floats, room: Room, values: Floats,
) -> np.uint64:  # fmt: skip
    """Writes what the traverser's hands expect at a leaf, and updates its choice there; returns the random stream."""
    if tree.guide[node] < 0:
        end_values(node, traverser, board, tree, chances, room, values)
        return state
    hands, betting, searched = len(values), guide.betting, chances.numbers[board, tree.street[0]]
    for player in range(len(room.hands)):
        if player != traverser and tree.live[node] >> player & 1:
            state = advance(state)
            at = int(tree.choice[node, player]) + int(searched[room.hands[player]])
            room.chosen[player] = draw_column(uniform(state), regrets, at, chances.columns, CONTINUATIONS, room.odds)
    for choice in range(CONTINUATIONS):
        for hand in range(hands):
            room.weights[choice, hand] = np.float32(1.0)
    below = int(tree.guide[node])
    while below >= 0:
        player, street = int(betting.player[below]), int(betting.street[below])
        begin, actions = int(betting.first[below]), int(betting.first[below + 1] - betting.first[below])
        state = advance(state)
        number = uniform(state)
        if player == traverser:
            action = _draw_mean(number, below, begin, actions, int(guide.counts[street]), guide, room)
            numbers = chances.numbers[board, street]
            for choice in range(CONTINUATIONS):
                for hand in range(hands):
                    room.weights[choice, hand] *= room.shares[choice, numbers[hand]]
        else:
            bucket = int(chances.numbers[board, street, room.hands[player]])
            at = int(betting.row[below]) + bucket * actions
            for action in range(actions):
                bias = _bias(int(room.chosen[player]), int(guide.kinds[begin + action]))
                room.odds[action] = guide.probabilities[at + action] * bias
            action = draw(number, room.odds, actions)
        below = int(betting.target[begin + action])
    end = -1 - below
    other_paid = np.float32(0.0)  # more than at the leaf, by the other
    own_paid = np.float32(0.0)
    for player in range(len(room.hands)):
        if tree.live[node] >> player & 1:
            there = np.float32(betting.paid[end, player])
            more = min((there - tree.guide_paid[node]) * tree.scale[node], tree.behind[node])
            if there >= guide.stack:
                more = tree.behind[node]
            if player == traverser:
                own_paid = more
            else:
                other_paid += more
    paid = tree.paid[node, traverser] + own_paid
    pot = tree.pot[node] + own_paid + other_paid
    _pay(int(betting.live[end]), traverser, board, paid, pot, chances, room, values)
    for choice in range(CONTINUATIONS):
        for hand in range(hands):
            room.weights[choice, hand] *= values[hand]
    at = int(tree.choice[node, traverser])
    block = regrets[at : at + CONTINUATIONS * chances.columns]
    update_searched(block, CONTINUATIONS, traverser, searched, chances, room.weights, room.policy, values)
    return state


@kernel(forceinline=True)
def _bias(choice: int, kind: int) -> np.float32:
    return np.float32(_BIAS) if choice == kind + 1 else np.float32(1.0)


@kernel()
def _draw_mean(number: float, node: int, begin: int, actions: int, count: int, guide: Guide, room: Room) -> int:
    """Draws an action from what buckets do on average; writes how much likelier each is to do it, ``shares [4, K]``."""
    row = int(guide.betting.row[node])
    for action in range(actions):
        room.odds[action] = 0.0
    for bucket in range(count):
        for action in range(actions):
            room.odds[action] += guide.probabilities[row + bucket * actions + action]
    for action in range(actions):
        room.odds[action] = (1.0 - _SPREAD) * room.odds[action] / count + _SPREAD / actions
    chosen = draw(number, room.odds, actions)
    kind = int(guide.kinds[begin + chosen])
    likely = np.float32(room.odds[chosen])
    for bucket in range(count):
        at = row + bucket * actions
        for choice in range(CONTINUATIONS):
            total = np.float32(0.0)
            for action in range(actions):
                total += guide.probabilities[at + action] * _bias(choice, int(guide.kinds[begin + action]))
            share = guide.probabilities[at + chosen] * _bias(choice, kind)
            room.shares[choice, bucket] = share / (total * likely)
    return chosen
