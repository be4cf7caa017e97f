"""One traversal: a dealt hand is followed through the betting, and the regrets of one player are updated.

Algorithm:
    External sampling. At the opponent's decisions one action is drawn from its current policy, and that policy is
    added to its sum; at the traverser's all actions are followed, and each one's regret grows by what it is worth
    above the current policy. The current policy is regret matching. Since the opponent's part in coming to its own
    decisions is how often they are visited, plain sums are its average policy.
    Pruning: an action whose regret is below a threshold is not followed, unless it ends the hand or the street is the
    last one. After Pluribus this holds in 95 % of the iterations; after Libratus such an action is followed with
    probability K / (K + C − R), with C the threshold and R its regret. Regrets stay above a floor, so that no action is
    lost for good.
    Linear weights are made by `training`, which multiplies everything after each period.

Reference: M. Lanctot et al. (NIPS 2009), external sampling; N. Brown, T. Sandholm, "Superhuman AI for multiplayer
poker" (Science 2019), supplement, algorithm 1; N. Brown's thesis (2020), 3.3 (regret-based pruning), 6.3 (sampled) and
6.4 (K / (K + C − R)).
Deviations: where no regret is positive the policy is uniform, and nothing is pruned. Threads write to one table without
locks: an addition may be lost now and then.
Status: tests/abstraction/blueprint/test_walk.py compares one traversal with a recursive reference.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.betting import FOLDED, MOST_ACTIONS, BettingArrays
from aleator.abstraction.blueprint.deals import DealRoom, DealTables, deal_hand
from aleator.jit import kernel
from aleator.solvers.engines.sampling.random import advance, stream, uniform

Table = npt.NDArray[np.float32]
MOST_DEPTH = 128  # decisions of the traverser in a row


class Pruning(NamedTuple):
    """When actions are not followed; chips.

    Attributes:
        threshold: regrets below are pruned; minus infinity for never.
        floor: the least regret.
        scale: Libratus' K; 0 for Pluribus' rule.
        last_street: on which nothing is pruned.
    """

    threshold: float
    floor: float
    scale: float
    last_street: int


class WalkRoom(NamedTuple):
    """Working memory of a thread: for each decision of the traverser on the way, its actions."""

    decision: npt.NDArray[np.int64]  # [depth]
    at: npt.NDArray[np.int64]  # [depth] where its row begins
    action: npt.NDArray[np.int64]  # [depth] which one is being followed
    policy: npt.NDArray[np.float32]  # [depth, actions]
    value: npt.NDArray[np.float32]  # [depth, actions]; NaN: pruned


def walk_room() -> WalkRoom:
    """Returns working memory for one thread."""
    depth = (MOST_DEPTH, MOST_ACTIONS)
    first, second, third = np.zeros((3, MOST_DEPTH), np.int64)
    return WalkRoom(first, second, third, np.zeros(depth, np.float32), np.zeros(depth, np.float32))


@kernel()
def run_deals(
    seed: np.uint64, first: int, count: int, pruned_share: float, pruning: Pruning, betting: BettingArrays,
    tables: DealTables, table: Table, deal: DealRoom, room: WalkRoom,
) -> int:  # fmt: skip
    """Deals some hands and updates both players' regrets with each; returns the decisions and ends that were visited.

    Args:
        seed: of all randomness.
        first: the number of the first deal: what is drawn follows from the seed and this number alone.
        count: how many.
        pruned_share: of the deals in which actions are pruned.
        pruning: when they are.
        betting: the tree.
        tables: buckets.
        table: regrets and sums of policies, updated.
        deal, room: working memory.
    """
    visits = 0
    for number in range(first, first + count):
        state, winner = deal_hand(stream(seed, number, 0, 0), tables, deal)
        state = advance(state)
        prunes = uniform(state) < pruned_share
        for traverser in range(2):
            state, visited = traverse(state, traverser, winner, prunes, pruning, betting, deal.numbers, table, room)
            visits += visited
    return visits


@kernel()
def traverse(
    state: np.uint64, traverser: int, winner: int, prunes: bool, pruning: Pruning, betting: BettingArrays,
    numbers: npt.NDArray[np.int64], table: Table, room: WalkRoom,
) -> tuple[np.uint64, int]:  # fmt: skip
    """Updates a player's regrets and the other's sums with one dealt hand; returns the random stream, and the visits.

    Args:
        state: of the random stream.
        traverser: whose regrets are updated.
        winner: of a showdown: 1 for player 0, 0 for nobody, -1 for player 1.
        prunes: whether actions are pruned in this deal.
        pruning: when they are.
        betting: the tree.
        numbers: what each player knows on each street, ``[2, 4]``.
        table: updated.
        room: working memory.
    """
    sign = np.float32(1.0 if traverser == 0 else -1.0)
    node, edge, depth, visits = 0, 0, 0, 0
    while True:
        while node >= 0:  # down to an end of the hand
            visits += 1
            player, begin = betting.player[node], int(betting.first[node])
            actions = int(betting.first[node + 1]) - begin
            at = betting.row[node] + 2 * actions * numbers[player, betting.street[node]]
            if player == traverser:
                room.decision[depth], room.at[depth] = node, at
                state = _open(state, depth, node, at, begin, actions, prunes, pruning, betting, table, room)
                edge = begin + room.action[depth]
                depth += 1
            else:
                state = advance(state)
                edge = begin + _draw(uniform(state), at, actions, table)
            node = int(betting.target[edge])
        visits += 1
        value = sign * betting.stake[edge]
        if node != FOLDED:
            value *= np.float32(winner)
        while True:  # up to a decision with an action that is left
            if depth == 0:
                return state, visits
            depth -= 1
            node = int(room.decision[depth])
            begin = int(betting.first[node])
            actions = int(betting.first[node + 1]) - begin
            action = room.action[depth]
            room.value[depth, action] = value
            action += 1
            while action < actions and np.isnan(room.value[depth, action]):
                action += 1
            if action < actions:
                room.action[depth] = action
                edge = begin + action
                node = int(betting.target[edge])
                depth += 1
                break
            value = _close(depth, actions, pruning, table, room)


@kernel(forceinline=True)
def _draw(number: float, at: int, actions: int, table: Table) -> int:
    """Returns an action drawn from the current policy of a row, after adding that policy to its sum."""
    total = np.float32(0.0)
    for action in range(actions):
        total += max(table[at + action], np.float32(0.0))
    sums = at + actions
    if total <= 0.0:
        share = np.float32(1.0) / np.float32(actions)
        for action in range(actions):
            table[sums + action] += share
        return int(min(int(number * actions), actions - 1))
    chosen, left, inverse = actions, np.float32(number) * total, np.float32(1.0) / total
    for action in range(actions):
        regret = max(table[at + action], np.float32(0.0))
        table[sums + action] += regret * inverse
        left -= regret
        if left < 0.0 and chosen == actions:
            chosen = action
    if chosen == actions:  # rounding: the last action that is played at all
        chosen = actions - 1
        while chosen > 0 and table[at + chosen] <= 0.0:
            chosen -= 1
    return chosen


@kernel(forceinline=True)
def _open(
    state: np.uint64, depth: int, node: int, at: int, begin: int, actions: int, prunes: bool, pruning: Pruning,
    betting: BettingArrays, table: Table, room: WalkRoom,
) -> np.uint64:  # fmt: skip
    """Writes the policy of a decision of the traverser, which of its actions are pruned, and the first that is not."""
    total = np.float32(0.0)
    for action in range(actions):
        regret = max(table[at + action], np.float32(0.0))
        room.policy[depth, action] = regret
        room.value[depth, action] = 0.0
        total += regret
    room.action[depth] = 0
    if total <= 0.0:
        share = np.float32(1.0) / np.float32(actions)
        for action in range(actions):
            room.policy[depth, action] = share
        return state
    inverse = np.float32(1.0) / total
    for action in range(actions):
        room.policy[depth, action] *= inverse
    if prunes and betting.street[node] < pruning.last_street:
        for action in range(actions):
            if table[at + action] < pruning.threshold and betting.target[begin + action] >= 0:
                followed = False
                if pruning.scale > 0.0:
                    state = advance(state)
                    further = pruning.threshold - table[at + action]
                    followed = uniform(state) < pruning.scale / (pruning.scale + further)
                if not followed:
                    room.value[depth, action] = np.nan
        first = 0
        while np.isnan(room.value[depth, first]):  # an action with a positive regret is never pruned
            first += 1
        room.action[depth] = first
    return state


@kernel(forceinline=True)
def _close(depth: int, actions: int, pruning: Pruning, table: Table, room: WalkRoom) -> np.float32:
    """Adds to the regrets of a decision whose actions have all been followed; returns its value."""
    at, value = room.at[depth], np.float32(0.0)
    for action in range(actions):
        if room.policy[depth, action] > 0.0:
            value += room.policy[depth, action] * room.value[depth, action]
    for action in range(actions):
        worth = room.value[depth, action]
        if not np.isnan(worth):
            table[at + action] = max(table[at + action] + worth - value, np.float32(pruning.floor))
    return value
