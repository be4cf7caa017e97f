"""The sampled walk of one traverser: external, robust and outcome sampling.

At the traverser's infostates all actions are explored, or some drawn at random; everything else is sampled: the deal, public
events, the opponent's actions by the opponent's current policy. Regrets of the traverser are updated on the way back up,
and the opponent's current policy is added to its average on the way down.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.games.base import TERMINAL
from aleator.jit import kernel
from aleator.solvers.engines.sampling.histories import (
    ACTIONS, ACTOR, FIRST_CHILD, FLAGS, LAST_ROUND, MOVES, PAIRS, RESTRICTED, ROW, UTILITY, Histories,
)  # fmt: skip
from aleator.solvers.engines.sampling.random import advance, pick, uniform
from aleator.solvers.engines.sampling.rows import Tables, mark, match

NO_SKIPPING, SKIP_BY_REGRET, SKIP_BY_ITERATION = 0, 1, 2
# what becomes of an action: it is not sampled (its sampled value is 0), explored, or left as if it did not exist
_UNSAMPLED, _EXPLORED, _LEFT = 0, 1, 2
# columns of Work.frames
_NODE, _PAIR, _FIRST, _SECOND, _ROW, _ACTION = range(6)


class Options(NamedTuple):
    """How the traverser's actions are chosen.

    Attributes:
        actions: how many are explored at each infostate; drawn uniformly without replacement where there are more.
        on_policy: if one is explored, the weight of the traverser's policy in the distribution it is drawn from; the rest
            is uniform.
        skipping: NO_SKIPPING, SKIP_BY_REGRET (Libratus) or SKIP_BY_ITERATION (Pluribus).
        threshold: regrets below it may be skipped.
        constant: Libratus explores an action with regret R below the threshold C with probability K / (K + C - R).
        rate: the share of traversals in which Pluribus skips.
    """

    actions: int
    on_policy: float
    skipping: int
    threshold: float
    constant: float
    rate: float


class Work(NamedTuple):
    """Space for one traversal. D decisions of the traverser above each other, A actions.

    Attributes:
        frames: [D, 6] int64: node, pair, both hands, row, action being explored.
        weight: [D]: one over the probability that the traverser's sampling comes here.
        policy, value: [D, A]: the current policy, the sampled value of each action.
        fate: [D, A] int8: what becomes of each action.
        order: [A] int64: to draw actions without replacement.
    """

    frames: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float64]
    policy: npt.NDArray[np.float64]
    value: npt.NDArray[np.float64]
    fate: npt.NDArray[np.int8]
    order: npt.NDArray[np.int64]


def new_work(depth: int, actions: int) -> Work:
    """Returns space for traversals of a tree of that depth with at most that many actions."""
    shape = (depth + 1, max(actions, 1))
    return Work(
        frames=np.zeros((depth + 1, 6), np.int64),
        weight=np.ones(depth + 1),
        policy=np.zeros(shape),
        value=np.zeros(shape),
        fate=np.zeros(shape, np.int8),
        order=np.zeros(shape[1], np.int64),
    )


@kernel()
def traverse(
    game: Histories, tables: Tables, work: Work, options: Options, traverser: int, state: np.uint64, share: float
) -> int:
    """Samples one block of histories for the traverser and updates the tables; returns how many nodes were touched.

    The sampled value of an action is the payoff times one over the probability that the traverser's own sampling reaches
    the terminal, averaged by the traverser's policy below the action; chance and the opponent are sampled by their own
    probabilities, which cancel (thesis 2.24; Double Neural CFR, Eq. 10).

    Args:
        state: the stream of random numbers.
        share: the weight of this iteration in the average policy.
    """
    nodes, hands, utility, stake, legal = game.nodes, game.hands, game.utility, game.stake, game.legal
    move_at, outcome_child, outcome_pair, outcome_end = (
        game.move_at, game.outcome_child, game.outcome_pair, game.outcome_end,
    )  # fmt: skip
    regret, regret_to, policy_sum_to = tables.regret, tables.regret_to, tables.policy_sum_to
    frames, policy, value, fate = work.frames, work.policy, work.value, work.fate
    state = advance(state)
    pair = pick(game.deal_end, 0, len(game.deal_end), uniform(state))
    skips = False
    if options.skipping == SKIP_BY_ITERATION:
        state = advance(state)
        skips = uniform(state) < options.rate
    first, second = hands[pair, 0], hands[pair, 1]
    node, depth, touched, scale = 0, 0, 0, 1.0
    sign = 1.0 if traverser == 0 else -1.0
    while True:
        # down to a terminal
        touched += 1
        actor, actions = nodes[node, ACTOR], nodes[node, ACTIONS]
        if actor == TERMINAL:
            result = sign * scale * stake[node] * utility[nodes[node, UTILITY] + pair]
            # up to the last decision with an action left to explore
            while depth > 0:
                top = depth - 1
                action, row = frames[top, _ACTION], frames[top, _ROW]
                node = frames[top, _NODE]
                actions = nodes[node, ACTIONS]
                value[top, action] = result
                action += 1
                while action < actions and fate[top, action] != _EXPLORED:
                    action += 1
                if action < actions:
                    frames[top, _ACTION] = action
                    pair, first, second = frames[top, _PAIR], frames[top, _FIRST], frames[top, _SECOND]
                    scale = work.weight[top]
                    break
                result = 0.0
                for a in range(actions):
                    result += policy[top, a] * value[top, a]
                for a in range(actions):
                    if fate[top, a] != _LEFT:
                        regret_to[row + a] += value[top, a] - result
                depth -= 1
            if depth == 0:
                return touched
        elif actor < 0:
            action, actions = 0, 1
        else:
            row = nodes[node, ROW] + actions * (first if actor == 0 else second)
            restricted = nodes[node, FLAGS] & RESTRICTED != 0
            match(regret, row, actions, legal, restricted, policy, depth)
            mark(tables, row, actions)
            if actor != traverser:
                state = advance(state)
                left, action = uniform(state), 0
                for a in range(actions):
                    probability = policy[depth, a]
                    if probability > 0.0:
                        policy_sum_to[row + a] += share * scale * probability
                        if left >= 0.0:
                            action = a
                        left -= probability
            else:
                for a in range(actions):
                    fate[depth, a] = _EXPLORED
                    value[depth, a] = 0.0
                frames[depth, _NODE], frames[depth, _PAIR], frames[depth, _ROW] = node, pair, row
                frames[depth, _FIRST], frames[depth, _SECOND] = first, second
                action = 0
                frames[depth, _ACTION] = action
                work.weight[depth] = scale
                depth += 1
        # one step further
        child = action
        moves = nodes[node, MOVES]
        if moves >= 0:
            at = moves + pair * actions + action
            low, high = move_at[at], move_at[at + 1]
            if high > low + 1:
                state = advance(state)
                low = pick(outcome_end, low, high, uniform(state))
            child, pair = outcome_child[low], outcome_pair[low]
            node = nodes[node, FIRST_CHILD] + child
            first, second = hands[nodes[node, PAIRS] + pair, 0], hands[nodes[node, PAIRS] + pair, 1]
        else:
            node = nodes[node, FIRST_CHILD] + child
