"""Monte Carlo CFR for several players: a dealt hand is followed through the betting, one traverser at a time.

Algorithm:
    External sampling: at the others' decisions one action is drawn from the current policy, regret matching; at the
    traverser's all are followed, and each one's regret grows by what it is worth above the current policy. Regrets are
    whole numbers of 32 bits with a floor. In most iterations actions with a regret below a threshold are not followed,
    unless they end the hand or the street is the last one. On the first street, where the others draw, their policy is
    added to its sum, which is the average there; of later streets `training` takes snapshots of the current policy.

Reference: N. Brown, T. Sandholm, "Superhuman AI for multiplayer poker" (Science 2019), supplement, algorithm 1; thesis
    6.6. External sampling: M. Lanctot et al. (NIPS 2009).
Deviations: all players traverse each deal, Pluribus deals anew for each. Where no regret is positive the policy is
    uniform, and nothing is pruned. Threads write to one table without locks: an addition may be lost now and then.
Status: tests/abstraction/ring/test_walk.py compares traversals with a recursive reference.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.deals import DealTables
from aleator.abstraction.blueprint.walk import WalkRoom
from aleator.abstraction.ring.betting import RingArrays
from aleator.abstraction.ring.deals import RingRoom, deal_ring
from aleator.jit import kernel
from aleator.solvers.engines.sampling.random import advance, stream, uniform

Regrets = npt.NDArray[np.int32]
Sums = npt.NDArray[np.float32]
CEILING: Final = 2_000_000_000


class RingRule(NamedTuple):
    """How regrets are kept and pruned, in units.

    Attributes:
        unit: units in a chip.
        threshold: regrets below are pruned.
        floor: the least regret.
        pruned_share: of the deals in which actions are pruned.
        last_street: on which nothing is pruned.
    """

    unit: float
    threshold: int
    floor: int
    pruned_share: float
    last_street: int


@kernel()
def run_ring(
    seed: np.uint64, first: int, count: int, rule: RingRule, betting: RingArrays, tables: DealTables, regrets: Regrets,
    sums: Sums, deal: RingRoom, room: WalkRoom,
) -> int:  # fmt: skip
    """Deals some hands and updates everybody's regrets with each; returns the decisions and ends that were visited.

    Args:
        seed: of all randomness.
        first: the number of the first deal: what is drawn follows from the seed and this number alone.
        count: how many.
        rule: how regrets are kept and pruned.
        betting: the tree.
        tables: buckets.
        regrets: updated.
        sums: of policies on the first street, updated.
        deal, room: working memory.
    """
    visits = 0
    for number in range(first, first + count):
        state = deal_ring(stream(seed, number, 0, 0), tables, deal)
        state = advance(state)
        prunes = uniform(state) < rule.pruned_share
        for traverser in range(deal.numbers.shape[0]):
            state, visited = traverse(state, traverser, prunes, rule, betting, deal, regrets, sums, room)
            visits += visited
    return visits


@kernel()
def traverse(
    state: np.uint64, traverser: int, prunes: bool, rule: RingRule, betting: RingArrays, deal: RingRoom,
    regrets: Regrets, sums: Sums, room: WalkRoom,
) -> tuple[np.uint64, int]:  # fmt: skip
    """Updates a player's regrets and the others' sums with one deal; returns the random stream, and the visits."""
    node, depth, visits = 0, 0, 0
    while True:
        while node >= 0:  # down to an end of the hand
            visits += 1
            player, begin, street = betting.player[node], int(betting.first[node]), betting.street[node]
            actions = int(betting.first[node + 1]) - begin
            at = betting.row[node] + actions * deal.numbers[player, street]
            if player == traverser:
                room.decision[depth], room.at[depth], room.action[depth] = node, at, 0
                may_prune = prunes and street < rule.last_street
                _open(depth, at, begin, actions, may_prune, rule.threshold, betting, regrets, room)
                node = int(betting.target[begin + room.action[depth]])
                depth += 1
            else:
                state = advance(state)
                node = int(betting.target[begin + _draw(uniform(state), at, actions, street == 0, regrets, sums)])
        visits += 1
        value = end_value(-1 - node, traverser, betting, deal.strength) * np.float32(rule.unit)
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
                node = int(betting.target[begin + action])
                depth += 1
                break
            value = _close(depth, actions, rule.floor, regrets, room)


@kernel(forceinline=True)
def end_value(end: int, player: int, betting: RingArrays, strength: npt.NDArray[np.int32]) -> np.float32:
    """Returns the chips that a player wins at an end of a hand; the strongest of those who are in share the pot."""
    live, paid = betting.live[end], betting.paid[end]
    lost = np.float32(-paid[player])
    if not live >> player & 1:
        return lost
    pot, winners, own = 0, 0, strength[player]
    for other in range(len(paid)):
        pot += paid[other]
        if live >> other & 1:
            if strength[other] > own:
                if other != player:
                    winners = -100
            elif strength[other] == own:
                winners += 1
    if live == 1 << player:
        return lost + np.float32(pot)
    return lost + np.float32(pot) / np.float32(winners) if winners > 0 else lost


@kernel(forceinline=True)
def _draw(number: float, at: int, actions: int, keeps_sum: bool, regrets: Regrets, sums: Sums) -> int:
    """Returns an action drawn from the current policy of a row, after adding that policy to its sum if there is one."""
    total = np.float32(0.0)
    for action in range(actions):
        total += np.float32(max(regrets[at + action], 0))
    if total <= 0.0:
        if keeps_sum:
            for action in range(actions):
                sums[at + action] += np.float32(1.0) / np.float32(actions)
        return int(min(int(number * actions), actions - 1))
    chosen, last, left = -1, 0, np.float32(number) * total
    for action in range(actions):
        regret = np.float32(max(regrets[at + action], 0))
        if keeps_sum:
            sums[at + action] += regret / total
        left -= regret
        if regret > 0.0:
            last = action
        if left < 0.0 and chosen < 0:
            chosen = action
    return chosen if chosen >= 0 else last  # rounding: the last action that is played at all


@kernel(forceinline=True)
def _open(
    depth: int, at: int, begin: int, actions: int, may_prune: bool, threshold: int, betting: RingArrays,
    regrets: Regrets, room: WalkRoom,
) -> None:  # fmt: skip
    """Writes the policy of a decision of the traverser, which of its actions are pruned, and the first that is not."""
    total = np.float32(0.0)
    for action in range(actions):
        regret = np.float32(max(regrets[at + action], 0))
        room.policy[depth, action] = regret
        room.value[depth, action] = 0.0
        total += regret
    if total <= 0.0:
        for action in range(actions):
            room.policy[depth, action] = np.float32(1.0) / np.float32(actions)
        return
    for action in range(actions):
        room.policy[depth, action] /= total
    if not may_prune:
        return
    for action in range(actions):
        if regrets[at + action] < threshold and betting.target[begin + action] >= 0:
            room.value[depth, action] = np.nan
    action = 0
    while np.isnan(room.value[depth, action]):
        action += 1
    room.action[depth] = action


@kernel(forceinline=True)
def _close(depth: int, actions: int, floor: int, regrets: Regrets, room: WalkRoom) -> np.float32:
    """Updates the regrets of a decision whose actions were followed; returns what its policy is worth."""
    value, at = np.float32(0.0), room.at[depth]
    for action in range(actions):
        if not np.isnan(room.value[depth, action]):
            value += room.policy[depth, action] * room.value[depth, action]
    for action in range(actions):
        if not np.isnan(room.value[depth, action]):
            gain = int(np.rint(room.value[depth, action] - value))
            regrets[at + action] = min(max(int(regrets[at + action]) + gain, floor), CEILING)
    return value


@kernel()
def take_snapshot(
    first: npt.NDArray[np.int32], row: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64],
    decisions: npt.NDArray[np.int64], regrets: Regrets, sums: Sums,
) -> None:  # fmt: skip
    """Adds the current policy of some decisions, for all buckets, to their sums."""
    for decision in decisions:
        actions = first[decision + 1] - first[decision]
        for bucket in range(numbers[decision]):
            at = row[decision] + bucket * actions
            total = np.float32(0.0)
            for action in range(actions):
                total += np.float32(max(regrets[at + action], 0))
            if total > 0.0:
                for action in range(actions):
                    sums[at + action] += np.float32(max(regrets[at + action], 0)) / total
