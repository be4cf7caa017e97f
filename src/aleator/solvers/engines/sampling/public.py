"""The walk of public chance sampling: public events are sampled, all hands are walked at once.

Reference: Johanson, Bard, Lanctot, Gibson and Bowling 2012, "Efficient Nash equilibrium approximation through Monte
    Carlo counterfactual regret minimization". Without public events it is CFR itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aleator.games.base import CHANCE, TERMINAL, FloatArray
from aleator.jit import inner_kernel, kernel
from aleator.solvers.engines.sampling.histories import (
    ACTIONS,
    ACTOR,
    FIRST_CHILD,
    FLAGS,
    PAIRS,
    RESTRICTED,
    ROW,
    UTILITY,
    Histories,
)  # fmt: skip
from aleator.solvers.engines.sampling.random import advance, uniform
from aleator.solvers.engines.sampling.rows import Tables, mark, match, wide
from aleator.trees.public_tree import Int32Array, Int64Array, PublicTree


class PublicWork(NamedTuple):
    """The tree as vectors over hands see it, and space for one traversal.

    Attributes:
        num_children, num_hands, origin_start, first_origins, second_origins: as in the tree.
        share: [N]: the probability with which a node is sampled among the children of a chance node: chance's own,
            averaged over the pairs of hands; 1 where a player acts, and below nodes where no pair of hands can come.
        visited: [N]: the nodes of a traversal, parents before children.
        below: [N]: where the children of each of them begin in `visited`.
        reach_at, value_at: [N]: where their vectors begin.
        reach: the opponent's reach of each of its hands, over the probability that the public events are sampled.
        values: the traverser's counterfactual values.
        policy: [1, A]: of one hand.
        flow: [A x H]: what each action receives: reach of the opponent, or values of the traverser.
    """

    num_children: Int32Array
    num_hands: Int32Array
    origin_start: Int64Array
    first_origins: Int64Array
    second_origins: Int64Array
    share: FloatArray
    visited: Int64Array
    below: Int64Array
    reach_at: Int64Array
    value_at: Int64Array
    reach: FloatArray
    values: FloatArray
    policy: FloatArray
    flow: FloatArray


def new_public_work(tree: PublicTree, game: Histories) -> PublicWork:
    """Returns space for traversals of a tree."""
    some = game.num_pairs > 0
    starts, deal = np.unique(game.nodes[some, PAIRS], return_inverse=True)
    weight = np.zeros(tree.num_nodes)
    weight[some] = np.add.reduceat(game.chance, starts)[deal]
    total = np.bincount(tree.parent[1:], weight[1:], minlength=tree.num_nodes)
    chance = (tree.actor[tree.parent] == CHANCE) & (total[tree.parent] > 0.0)
    chance[0] = False
    share = np.ones(tree.num_nodes)
    share[chance] = weight[chance] / total[tree.parent[chance]]
    hands, most = int(tree.num_hands.sum(axis=1).max()), max(1, int(tree.num_actions.max()))
    visited, below, reach_at, value_at = (np.zeros(tree.num_nodes, np.int64) for _ in range(4))
    return PublicWork(
        num_children=tree.num_children,
        num_hands=tree.num_hands,
        origin_start=tree.origin_start,
        first_origins=tree.origins[0],
        second_origins=tree.origins[1],
        share=share,
        visited=visited,
        below=below,
        reach_at=reach_at,
        value_at=value_at,
        reach=np.zeros(hands),
        values=np.zeros(hands),
        policy=np.zeros((1, most)),
        flow=np.zeros(most * int(tree.num_hands.max())),
    )


@kernel()
def traverse_public(
    game: Histories, tables: Tables, work: PublicWork, traverser: int, state: np.uint64, share: float
) -> int:
    """Samples public events for the traverser and updates the tables; returns how many nodes were touched.

    All pairs of hands count at each public state, as if they had been walked one by one.
    """
    visited, below, reach_at, value_at = work.visited, work.below, work.reach_at, work.value_at
    nodes, num_hands, opponent = game.nodes, work.num_hands, 1 - traverser
    visited[0], reach_at[0], value_at[0] = 0, 0, 0
    for hand in range(num_hands[opponent, 0]):
        work.reach[hand] = 1.0
    reaches, values = wide(num_hands[opponent, 0]), wide(num_hands[traverser, 0])
    count, now, touched = wide(1), wide(0), wide(0)
    while now < count:
        node = visited[now]
        low = wide(nodes[node, FIRST_CHILD])
        high = low + wide(work.num_children[node])
        below[now] = count
        touched += game.num_pairs[node]
        if nodes[node, ACTOR] == opponent:
            _play(game, tables, work, node, opponent, reach_at[now], share)
        elif nodes[node, ACTOR] == CHANCE and high > low + 1:
            state = advance(state)
            left = uniform(state)
            for child in range(low, high):
                low = child if work.share[child] > 0.0 else low
                left -= work.share[child]
                if left < 0.0:
                    break
            high = low + 1
        for child in range(low, high):
            visited[count], reach_at[count], value_at[count] = child, reaches, values
            _push(game, work, node, child, opponent, reach_at[now], reaches)
            reaches += num_hands[opponent, child]
            values += num_hands[traverser, child]
            count += 1
        now += 1
    for now in range(count - 1, -1, -1):
        node, at = visited[now], value_at[now]
        if nodes[node, ACTOR] == TERMINAL:
            _evaluate(game, work, node, traverser, reach_at[now], at)
            continue
        last = below[now] + (1 if nodes[node, ACTOR] == CHANCE else work.num_children[node])
        if nodes[node, ACTOR] == traverser:
            _clear(work.flow, 0, nodes[node, ACTIONS] * num_hands[traverser, node])
            for offset in range(below[now], last):
                _pull(nodes, work, visited[offset], node, traverser, value_at[offset], work.flow, 0)
            _update(game, tables, work, node, traverser, at)
        else:
            _clear(work.values, at, num_hands[traverser, node])
            for offset in range(below[now], last):
                _pull(nodes, work, visited[offset], node, traverser, value_at[offset], work.values, at)
    return touched


@inner_kernel(inline="always")
def _clear(vector: FloatArray, start: int, length: int) -> None:
    """Writes zeros."""
    for offset in range(start, start + length):
        vector[offset] = 0.0


@inner_kernel(inline="always")
def _play(
    game: Histories, tables: Tables, work: PublicWork, node: int, player: int, reach_at: int, share: float
) -> None:
    """Divides the opponent's reach over its actions, into `flow`, and adds its policy to the average."""
    actions, hands = game.nodes[node, ACTIONS], work.num_hands[player, node]
    for hand in range(hands):
        row = game.nodes[node, ROW] + hand * actions
        match(tables.regret, row, actions, game.legal, game.nodes[node, FLAGS] & RESTRICTED != 0, work.policy, 0)
        mark(tables, row, actions)
        for action in range(actions):
            reach = work.reach[reach_at + hand] * work.policy[0, action]
            work.flow[action * hands + hand] = reach
            tables.policy_sum_to[row + action] += share * reach


@inner_kernel(inline="always")
def _push(
    game: Histories, work: PublicWork, node: int, child: int, opponent: int, reach_at: int, below_at: int
) -> None:
    """Writes the opponent's reach of a child."""
    acts, scale = game.nodes[node, ACTOR] == opponent, 1.0 / work.share[child]
    for hand in range(work.num_hands[opponent, child]):
        origin = _origin(game.nodes, work, child, node, opponent, hand)
        work.reach[below_at + hand] = work.flow[origin] if acts else scale * work.reach[reach_at + origin]


@inner_kernel(inline="always")
def _pull(
    nodes: Int32Array, work: PublicWork, child: int, node: int, player: int, below_at: int, to: FloatArray, at: int
) -> None:
    """Adds the traverser's values of a child to those of its origins."""
    for hand in range(work.num_hands[player, child]):
        to[at + _origin(nodes, work, child, node, player, hand)] += work.values[below_at + hand]


@kernel(forceinline=True)
def _origin(nodes: Int32Array, work: PublicWork, child: int, node: int, player: int, hand: int) -> int:
    """Returns where a player's hand in a child comes from: a hand in the parent or, if the player acts, [A, H]."""
    start = work.origin_start[player, child]
    if start >= 0:
        origins = work.first_origins if player == 0 else work.second_origins
        return wide(origins[start + hand])
    action = child - nodes[node, FIRST_CHILD] if nodes[node, ACTOR] == player else 0
    return wide(hand + action * work.num_hands[player, node])


@inner_kernel(inline="always")
def _evaluate(game: Histories, work: PublicWork, node: int, player: int, reach_at: int, value_at: int) -> None:
    """Writes the traverser's values of a terminal."""
    first, utility = wide(game.nodes[node, PAIRS]), wide(game.nodes[node, UTILITY])
    stake = game.stake[node] if player == 0 else -game.stake[node]
    _clear(work.values, value_at, work.num_hands[player, node])
    for pair in range(game.num_pairs[node]):
        payoff = stake * game.chance[first + pair] * game.utility[utility + pair]
        other = work.reach[reach_at + game.hands[first + pair, 1 - player]]
        work.values[value_at + game.hands[first + pair, player]] += payoff * other


@inner_kernel(inline="always")
def _update(game: Histories, tables: Tables, work: PublicWork, node: int, player: int, value_at: int) -> None:
    """Averages the values of the traverser's actions, which are in `flow`, and updates its regrets."""
    actions, hands = game.nodes[node, ACTIONS], work.num_hands[player, node]
    restricted = game.nodes[node, FLAGS] & RESTRICTED != 0
    for hand in range(hands):
        row = game.nodes[node, ROW] + hand * actions
        match(tables.regret, row, actions, game.legal, restricted, work.policy, 0)
        mark(tables, row, actions)
        result = 0.0
        for action in range(actions):
            result += work.policy[0, action] * work.flow[action * hands + hand]
        work.values[value_at + hand] = result
        for action in range(actions):
            if not restricted or game.legal[row + action]:
                gain = work.flow[action * hands + hand] - result
                tables.regret_to[row + action] = max(tables.regret_to[row + action] + gain, tables.floor)
