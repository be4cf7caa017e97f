"""Monte Carlo CFR in a round of several players: all hands of one player at a time, the others' hands sampled.

Algorithm:
    A traversal draws a board and the hands of all but one player from everybody's beliefs, and goes down the round: at
    the traverser's decisions every action is followed, at the others' one is drawn. Values are rows over the
    traverser's hands, 0 for hands that share a card with what was drawn, so that every traversal updates the regrets of
    every hand. Hands are told apart in the round that is searched, and fall into the blueprint's buckets later.
    At a leaf every player who is in has chosen a continuation, by regrets of its own: the blueprint, or the blueprint
    biased to folding, calling or raising. The hand is then played out once from the guide of the leaf. There the others
    draw from their continuations, and the traverser from what its buckets do on average; each hand and continuation is
    weighted by how much likelier it is to do the same.

Reference: Brown and Sandholm 2019 (Science 365), supplement: "depth-limited search"; M. Johanson, N. Bard, M. Lanctot,
    R. Gibson, M. Bowling, "Efficient Nash Equilibrium Approximation through Monte Carlo Counterfactual Regret
    Minimization" (AAMAS 2012): opponent-public chance sampling.
Deviations: Pluribus updates one hand in a traversal of a large round, or all hands of all players in small ones. Folded
    players' cards are not dealt. Bets after a leaf are in proportion to the pot.
Status: tests/search/ring/test_search.py compares traversals with a recursion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.ring.betting import RingArrays
from aleator.jit import kernel
from aleator.search.ring.tree import CONTINUATIONS, DECISION, END, TreeArrays
from aleator.solvers.engines.sampling.random import advance, stream, uniform

Floats = npt.NDArray[np.float32]
_SPREAD = 0.2  # of the traverser's draws below a leaf are uniform, so that no weight is large
_BIAS = 5.0


class Guide(NamedTuple):
    """A blueprint, an argument of the compiled functions: `RingPolicy` in arrays."""

    betting: RingArrays
    probabilities: Floats  # of all rows
    kinds: npt.NDArray[np.int8]  # [E] fold, call or raise
    counts: npt.NDArray[np.int64]  # [4] buckets on each street
    stack: float  # chips that everybody begins with


class Chances(NamedTuple):
    """What is drawn from: H hands that the board allows, R boards to the end of the hand."""

    masks: npt.NDArray[np.uint64]  # [H] cards of a hand, a bit each
    ends: npt.NDArray[np.float64]  # [P, H] sums of beliefs, 1 at the last hand
    beliefs: Floats  # [P, H]
    boards: npt.NDArray[np.uint64]  # [R] cards that are still to come, a bit each
    strengths: npt.NDArray[np.int16]  # [R, H]
    numbers: npt.NDArray[np.int16]  # [R, 4, H] buckets on each street; on the street of the search the hand itself


class Room(NamedTuple):
    """Working memory of one thread."""

    visit: npt.NDArray[np.int32]  # [N] nodes in the order of their visits
    below: npt.NDArray[np.int32]  # [N] the first visit below each
    hands: npt.NDArray[np.int32]  # [P] what was drawn
    chosen: npt.NDArray[np.int32]  # [P] continuations at a leaf
    alive: Floats  # [H]
    values: Floats  # [N, H]
    policy: Floats  # [16, max(H, K)]
    weights: Floats  # [4, H]
    shares: Floats  # [4, K]
    mean: npt.NDArray[np.float64]  # [16] what buckets do on average


@kernel()
def search_deals(
    seed: np.uint64, first: int, count: int, tree: TreeArrays, guide: Guide, chances: Chances, fixed: Floats,
    held: npt.NDArray[np.int64], regrets: Floats, room: Room,
) -> tuple[int, int]:  # fmt: skip
    """Updates the regrets of all players who are in, each by some traversals; returns visits, and deals that failed.

    Args:
        seed: of all randomness.
        first: the number of the first traversal of each player.
        count: how many.
        tree: the round.
        guide: the blueprint.
        chances: boards and beliefs.
        fixed: policies that are held, each ``[actions][H]``.
        held: ``[N]`` where that of a node begins; -1: it is solved.
        regrets: updated.
        room: working memory.
    """
    visits, failed = 0, 0
    for number in range(first, first + count):
        for traverser in range(tree.paid.shape[1]):
            if not tree.live[0] >> traverser & 1:
                continue
            state = stream(seed, number, traverser, 1)
            state, board = _deal(state, traverser, int(tree.live[0]), chances, room)
            if board < 0:
                failed += 1
                continue
            visits += traverse(state, traverser, board, tree, guide, chances, fixed, held, regrets, room)
    return visits, failed


@kernel()
def _deal(state: np.uint64, traverser: int, live: int, chances: Chances, room: Room) -> tuple[np.uint64, int]:
    """Draws a board and the others' hands, none with a common card; returns the stream and the board, -1 for none."""
    hands = len(chances.masks)
    for _ in range(200):
        state = advance(state)
        board = min(int(uniform(state) * len(chances.boards)), len(chances.boards) - 1)
        taken, fits = chances.boards[board], True
        for player in range(len(room.hands)):
            if player == traverser or not live >> player & 1:
                continue
            state = advance(state)
            number, low, high = uniform(state), 0, hands - 1
            while low < high:
                middle = (low + high) // 2
                if number < chances.ends[player, middle]:
                    high = middle
                else:
                    low = middle + 1
            if chances.masks[low] & taken:
                fits = False
                break
            taken |= chances.masks[low]
            room.hands[player] = low
        if fits:
            for hand in range(hands):
                room.alive[hand] = np.float32(0.0) if chances.masks[hand] & taken else np.float32(1.0)
            return state, board
    return state, -1


@kernel()
def traverse(
    state: np.uint64, traverser: int, board: int, tree: TreeArrays, guide: Guide, chances: Chances, fixed: Floats,
    held: npt.NDArray[np.int64], regrets: Floats, room: Room,
) -> int:  # fmt: skip
    """Updates a player's regrets by the deal that is in the room; returns the visits.

    The traverser's values at the start of the round are left in the first row of ``room.values``.
    """
    hands = len(chances.masks)
    visits, place = 1, 0
    room.visit[0] = 0
    while place < visits:  # down
        node = int(room.visit[place])
        room.below[place] = visits
        if tree.kind[node] == DECISION and tree.live[node] >> traverser & 1:
            begin, actions = int(tree.first[node]), int(tree.first[node + 1] - tree.first[node])
            if tree.player[node] == traverser:
                for action in range(actions):
                    room.visit[visits + action] = tree.child[begin + action]
                visits += actions
            else:
                player = int(tree.player[node])
                hand = int(room.hands[player])
                bucket = int(chances.numbers[board, tree.street[node], hand])
                width = _width(node, tree, guide, hands)
                state = advance(state)
                if held[node] >= 0:
                    action = _draw_fixed(uniform(state), int(held[node]) + hand, hands, actions, fixed)
                else:
                    action = _draw(uniform(state), int(tree.row[node]) + bucket, width, actions, regrets)
                room.visit[visits] = tree.child[begin + action]
                visits += 1
        place += 1
    for place in range(visits - 1, -1, -1):  # up
        node, below = int(room.visit[place]), int(room.below[place])
        if not tree.live[node] >> traverser & 1 or tree.kind[node] == END:
            _end(node, traverser, board, tree, chances, room, room.values[place])
        elif tree.kind[node] != DECISION:
            state = _leaf(state, node, traverser, board, tree, guide, chances, regrets, room, room.values[place])
        elif tree.player[node] != traverser:
            for hand in range(hands):
                room.values[place, hand] = room.values[below, hand]
        else:
            actions = int(tree.first[node + 1] - tree.first[node])
            children = room.values[below : below + actions]
            if held[node] >= 0:
                at = int(held[node])
                for hand in range(hands):
                    room.values[place, hand] = 0.0
                for action in range(actions):
                    for hand in range(hands):
                        room.values[place, hand] += fixed[at + action * hands + hand] * children[action, hand]
            elif tree.street[node] == tree.street[0]:
                at = int(tree.row[node])
                _update_hands(regrets[at : at + actions * hands], actions, children, room.policy, room.values[place])
            else:
                width = int(guide.counts[tree.street[node]])
                at = int(tree.row[node])
                _update_buckets(
                    regrets[at : at + actions * width], actions, width, chances.numbers[board, tree.street[node]],
                    chances.beliefs[traverser], children, room.policy, room.values[place],
                )  # fmt: skip
    return visits


@kernel(forceinline=True)
def _width(node: int, tree: TreeArrays, guide: Guide, hands: int) -> int:
    return hands if tree.street[node] == tree.street[0] else int(guide.counts[tree.street[node]])


@kernel(forceinline=True)
def _draw(number: float, at: int, stride: int, actions: int, regrets: Floats) -> int:
    """Returns an action drawn by regret matching on a column."""
    total = np.float32(0.0)
    for action in range(actions):
        total += max(regrets[at + action * stride], np.float32(0.0))
    if total <= 0.0:
        return min(int(number * actions), actions - 1)
    left, last = np.float32(number) * total, 0
    for action in range(actions):
        regret = max(regrets[at + action * stride], np.float32(0.0))
        if regret > 0.0:
            last = action
            left -= regret
            if left < 0.0:
                return action
    return last


@kernel(forceinline=True)
def _draw_fixed(number: float, at: int, stride: int, actions: int, fixed: Floats) -> int:
    left, last = np.float32(number), 0
    for action in range(actions):
        share = fixed[at + action * stride]
        if share > 0.0:
            last = action
            left -= share
            if left < 0.0:
                return action
    return last


@kernel(forceinline=True)
def match_regrets(regrets: Floats, actions: int, width: int, policy: Floats) -> None:
    """Writes the current policy, ``[actions][width]``, of a block of regrets."""
    total = policy[actions]
    for column in range(width):
        total[column] = np.float32(0.0)
    for action in range(actions):
        for column in range(width):
            total[column] += max(regrets[action * width + column], np.float32(0.0))
    for action in range(actions):
        for column in range(width):
            positive = max(regrets[action * width + column], np.float32(0.0))
            some = total[column] > 0.0
            policy[action, column] = positive / total[column] if some else np.float32(1.0) / np.float32(actions)


@kernel()
def _update_hands(regrets: Floats, actions: int, children: Floats, policy: Floats, values: Floats) -> None:
    """Writes what the current policy is worth, and adds what each action is worth above it to its regrets."""
    hands = len(values)
    match_regrets(regrets, actions, hands, policy)
    for hand in range(hands):
        values[hand] = np.float32(0.0)
    for action in range(actions):
        for hand in range(hands):
            values[hand] += policy[action, hand] * children[action, hand]
    for action in range(actions):
        for hand in range(hands):
            regrets[action * hands + hand] += children[action, hand] - values[hand]


@kernel()
def _update_buckets(
    regrets: Floats, actions: int, width: int, numbers: npt.NDArray[np.int16], beliefs: Floats, children: Floats,
    policy: Floats, values: Floats,
) -> None:  # fmt: skip
    """The same where hands share the regrets of their bucket, each as much as it is believed to be held."""
    match_regrets(regrets, actions, width, policy)
    for hand in range(len(values)):
        bucket, value = int(numbers[hand]), np.float32(0.0)
        for action in range(actions):
            value += policy[action, bucket] * children[action, hand]
        values[hand] = value
        for action in range(actions):
            regrets[action * width + bucket] += beliefs[hand] * (children[action, hand] - value)


@kernel()
def _end(node: int, traverser: int, board: int, tree: TreeArrays, chances: Chances, room: Room, values: Floats) -> None:
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
def _leaf(
    state: np.uint64, node: int, traverser: int, board: int, tree: TreeArrays, guide: Guide, chances: Chances,
    regrets: Floats, room: Room, values: Floats,
) -> np.uint64:  # fmt: skip
    """Writes what the traverser's hands expect at a leaf, and updates its choice there; returns the random stream."""
    if tree.guide[node] < 0:
        _end(node, traverser, board, tree, chances, room, values)
        return state
    hands, betting = len(values), guide.betting
    for player in range(len(room.hands)):
        if player != traverser and tree.live[node] >> player & 1:
            state = advance(state)
            at = int(tree.choice[node, player]) + int(room.hands[player])
            room.chosen[player] = _draw(uniform(state), at, hands, CONTINUATIONS, regrets)
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
            action = _draw_biased(number, at, begin, actions, int(room.chosen[player]), guide)
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
    at = int(tree.choice[node, traverser])
    for choice in range(CONTINUATIONS):
        for hand in range(hands):
            room.weights[choice, hand] *= values[hand]
    block = regrets[at : at + CONTINUATIONS * hands]
    _update_hands(block, CONTINUATIONS, room.weights, room.policy, values)
    return state


@kernel(forceinline=True)
def _bias(choice: int, kind: int) -> np.float32:
    return np.float32(_BIAS) if choice == kind + 1 else np.float32(1.0)


@kernel(forceinline=True)
def _draw_biased(number: float, at: int, begin: int, actions: int, choice: int, guide: Guide) -> int:
    """Returns an action drawn from a row of the blueprint in one of its continuations."""
    total = np.float32(0.0)
    for action in range(actions):
        total += guide.probabilities[at + action] * _bias(choice, int(guide.kinds[begin + action]))
    left, last = np.float32(number) * total, 0
    for action in range(actions):
        share = guide.probabilities[at + action] * _bias(choice, int(guide.kinds[begin + action]))
        if share > 0.0:
            last = action
            left -= share
            if left < 0.0:
                return action
    return last


@kernel()
def _draw_mean(number: float, node: int, begin: int, actions: int, count: int, guide: Guide, room: Room) -> int:
    """Draws an action from what buckets do on average; writes how much likelier each is to do it, ``shares [4, K]``."""
    row = int(guide.betting.row[node])
    for action in range(actions):
        room.mean[action] = 0.0
    for bucket in range(count):
        for action in range(actions):
            room.mean[action] += guide.probabilities[row + bucket * actions + action]
    for action in range(actions):
        room.mean[action] = (1.0 - _SPREAD) * room.mean[action] / count + _SPREAD / actions
    left, chosen = number, actions - 1
    for action in range(actions):
        left -= room.mean[action]
        if left < 0.0:
            chosen = action
            break
    kind = int(guide.kinds[begin + chosen])
    likely = np.float32(room.mean[chosen])
    for bucket in range(count):
        at = row + bucket * actions
        for choice in range(CONTINUATIONS):
            total = np.float32(0.0)
            for action in range(actions):
                total += guide.probabilities[at + action] * _bias(choice, int(guide.kinds[begin + action]))
            share = guide.probabilities[at + chosen] * _bias(choice, kind)
            room.shares[choice, bucket] = share / (total * likely)
    return chosen


@kernel()
def add_average(
    weight: float, tree: TreeArrays, before: npt.NDArray[np.int32], fixed: Floats, held: npt.NDArray[np.int64],
    regrets: Floats, sums: Floats, reach: Floats, policy: Floats,
) -> None:  # fmt: skip
    """Adds the current policy of the searched round, weighted by its players' own reach, to its sums.

    Args:
        weight: of this policy.
        tree: the round.
        before: ``[N, 2]`` the last decision of the same player above each, and the action there; -1: none.
        fixed, held: policies that are held.
        regrets: of all decisions.
        sums: like the regrets, updated.
        reach: ``[N, H]`` working memory.
        policy: working memory.
    """
    hands = reach.shape[1]
    for node in range(len(tree.kind)):
        if tree.kind[node] != DECISION or tree.street[node] != tree.street[0]:
            continue
        above, taken = int(before[node, 0]), int(before[node, 1])
        if above < 0:
            for hand in range(hands):
                reach[node, hand] = np.float32(1.0)
        else:
            _write_policy(above, tree, fixed, held, regrets, policy, hands)
            for hand in range(hands):
                reach[node, hand] = reach[above, hand] * policy[taken, hand]
        actions = int(tree.first[node + 1] - tree.first[node])
        _write_policy(node, tree, fixed, held, regrets, policy, hands)
        at = int(tree.row[node])
        for action in range(actions):
            for hand in range(hands):
                sums[at + action * hands + hand] += np.float32(weight) * reach[node, hand] * policy[action, hand]


@kernel()
def _write_policy(
    node: int, tree: TreeArrays, fixed: Floats, held: npt.NDArray[np.int64], regrets: Floats, policy: Floats,
    hands: int,
) -> None:  # fmt: skip
    actions, at = int(tree.first[node + 1] - tree.first[node]), int(tree.row[node])
    if held[node] < 0:
        match_regrets(regrets[at : at + actions * hands], actions, hands, policy)
        return
    for action in range(actions):
        for hand in range(hands):
            policy[action, hand] = fixed[int(held[node]) + action * hands + hand]
