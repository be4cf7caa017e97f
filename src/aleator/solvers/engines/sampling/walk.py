"""The sampled walk: external, robust, outcome and chance sampling.

Chance is sampled; so are the opponent's actions, by its current policy, unless all are to be explored (chance
sampling). Of the traverser's actions all are explored, or some drawn at random. Regrets of the traverser are updated on
the way back up; the opponent's current policy is added to its average on the way down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.games.base import TERMINAL, FloatArray
from aleator.jit import inner_kernel, kernel
from aleator.solvers.engines.sampling.histories import (
    ACTIONS,
    ACTOR,
    FIRST_CHILD,
    FLAGS,
    LAST_ROUND,
    MOVES,
    PAIRS,
    RESTRICTED,
    ROW,
    UTILITY,
    Histories,
)  # fmt: skip
from aleator.solvers.engines.sampling.random import advance, pick, uniform
from aleator.solvers.engines.sampling.rows import Tables, Vector, mark, match, wide

NO_SKIPPING, SKIP_BY_REGRET, SKIP_BY_TRAVERSAL = 0, 1, 2
# what becomes of an action: its sampled value is 0, it is explored, or it is left out as if it did not exist
_UNSAMPLED, _EXPLORED, _LEFT = 0, 1, 2
# columns of Work.frames
_NODE, _PAIR, _FIRST, _SECOND, _ROW, _ACTION = range(6)


class Options(NamedTuple):
    """Which actions are explored.

    Attributes:
        opponent: whether all of the opponent's actions are explored, weighted by its policy.
        actions: how many of the traverser's actions are explored at each infostate; drawn uniformly without replacement
            where there are more.
        on_policy: if one is explored, the weight of the traverser's policy in the distribution it is drawn from; the
            rest is uniform.
        skipping: NO_SKIPPING, SKIP_BY_REGRET (Libratus) or SKIP_BY_TRAVERSAL (Pluribus).
        threshold: actions with a regret below it may be skipped.
        constant: Libratus explores an action with regret R below the threshold C with probability K / (K + C - R).
        rate: the share of traversals in which Pluribus skips.
    """

    opponent: bool
    actions: int
    on_policy: float
    skipping: int
    threshold: float
    constant: float
    rate: float


class Work(NamedTuple):
    """Space for one traversal. D decisions above each other of which several actions are explored, A actions.

    Attributes:
        frames: [D, 6] int64: node, pair, both hands, row, action being explored.
        policy, value: [D, A]: the current policy (1 at the opponent's), the sampled value of each action.
        weight: [D, A]: what payoffs below each action are multiplied by.
        fate: [D, A] int8: what becomes of each action.
        order: [A] int64: to draw actions without replacement.
    """

    frames: npt.NDArray[np.int64]
    policy: npt.NDArray[np.float64]
    value: npt.NDArray[np.float64]
    weight: npt.NDArray[np.float64]
    fate: npt.NDArray[np.int8]
    order: npt.NDArray[np.int64]


def new_work(depth: int, actions: int) -> Work:
    """Returns space for traversals of a tree of that depth with at most that many actions."""
    shape = (depth + 1, max(actions, 1))
    return Work(
        frames=np.zeros((depth + 1, 6), np.int64),
        policy=np.zeros(shape),
        value=np.zeros(shape),
        weight=np.zeros(shape),
        fate=np.zeros(shape, np.int8),
        order=np.zeros(shape[1], np.int64),
    )


@kernel()
def traverse(
    game: Histories, tables: Tables, work: Work, options: Options, traverser: int, state: np.uint64, share: float
) -> int:
    """Samples one block of histories for the traverser and updates the tables; returns how many nodes were touched.

    A payoff counts as much as the traverser's counterfactual reach of it over the probability that it is sampled:
    chance cancels, so does the opponent where it is sampled by its own policy. Values of actions are averaged by the
    traverser's policy on the way up (thesis 2.23; Double Neural CFR, Eq. 10).

    Args:
        state: the stream of random numbers.
        share: the weight of this iteration in the average policy.
    """
    nodes, hands, frames, policy = game.nodes, game.hands, work.frames, work.policy
    state = advance(state)
    pair = wide(pick(game.deal_end, 0, len(game.deal_end), uniform(state)))
    skips = options.skipping == SKIP_BY_REGRET
    if options.skipping == SKIP_BY_TRAVERSAL:
        state = advance(state)
        skips = uniform(state) < options.rate
    first, second = wide(hands[pair, 0]), wide(hands[pair, 1])
    node, depth, touched, scale = wide(0), wide(0), wide(0), 1.0
    sign = 1.0 if traverser == 0 else -1.0
    while True:
        touched += 1
        actor, actions, action = nodes[node, ACTOR], wide(nodes[node, ACTIONS]), wide(0)
        if actor == TERMINAL:
            result = sign * scale * game.stake[node] * game.utility[nodes[node, UTILITY] + pair]
            depth = _back_up(nodes, tables, work, traverser, depth, result)
            if depth == 0:
                return touched
            # an action of the last frame is left to explore
            top = depth - 1
            node, action, pair = frames[top, _NODE], frames[top, _ACTION], frames[top, _PAIR]
            first, second = frames[top, _FIRST], frames[top, _SECOND]
            actions, scale = wide(nodes[node, ACTIONS]), work.weight[top, action]
        elif actor < 0:
            actions = wide(1)
        else:
            row = nodes[node, ROW] + actions * (first if actor == 0 else second)
            match(tables.regret, row, actions, game.legal, nodes[node, FLAGS] & RESTRICTED != 0, policy, depth)
            mark(tables, row, actions)
            if actor != traverser:
                for a in range(actions):
                    tables.policy_sum_to[row + a] += share * scale * policy[depth, a]
            if actor != traverser and not options.opponent:
                state = advance(state)
                action = _draw(policy, depth, actions, uniform(state))
            else:
                frames[depth, _NODE], frames[depth, _PAIR], frames[depth, _ROW] = node, pair, row
                frames[depth, _FIRST], frames[depth, _SECOND] = first, second
                state = _explore(game, tables.regret, work, options, actor == traverser, depth, scale, skips, state)
                action = frames[depth, _ACTION]
                scale = work.weight[depth, action]
                depth += 1
        # one move further
        moves = nodes[node, MOVES]
        if moves >= 0:
            at = moves + pair * actions + action
            low, high = game.move_at[at], game.move_at[at + 1]
            if high > low + 1:
                state = advance(state)
                low = pick(game.outcome_end, low, high, uniform(state))
            node, pair = wide(nodes[node, FIRST_CHILD] + game.outcome_child[low]), wide(game.outcome_pair[low])
            at = nodes[node, PAIRS] + pair
            first, second = wide(hands[at, 0]), wide(hands[at, 1])
        else:
            node = nodes[node, FIRST_CHILD] + action


@inner_kernel(forceinline=True)
def _draw(policy: FloatArray, depth: int, actions: int, left: float) -> int:
    """Returns an action drawn from the policy [depth, :actions] by a number in [0, 1)."""
    action = wide(0)
    for a in range(actions):
        if policy[depth, a] > 0.0:
            action = a
            left -= policy[depth, a]
            if left < 0.0:
                break
    return action


@inner_kernel(forceinline=True)
def _explore(
    game: Histories, regret: Vector, work: Work, options: Options, own: bool, depth: int, scale: float, skips: bool,
    state: np.uint64,
) -> np.uint64:  # fmt: skip
    """Writes which actions of the frame are explored, their weights and the first; returns the random stream."""
    frames, policy, fate, weight = work.frames, work.policy, work.fate, work.weight
    node = frames[depth, _NODE]
    actions = wide(game.nodes[node, ACTIONS])
    for a in range(actions):
        fate[depth, a] = _EXPLORED
        work.value[depth, a] = 0.0
        weight[depth, a] = scale
    if not own:
        for a in range(actions):
            weight[depth, a] *= policy[depth, a]
            fate[depth, a] = _EXPLORED if policy[depth, a] > 0.0 else _LEFT
            policy[depth, a] = 1.0
    else:
        if options.actions < actions or game.nodes[node, FLAGS] & RESTRICTED:
            state = _select(game, work, options, depth, state)
        if skips:
            state = _skip(game, regret, work, options, depth, state)
    action = wide(0)
    while fate[depth, action] != _EXPLORED:
        action += 1
    frames[depth, _ACTION] = action
    return state


@kernel()
def _back_up(
    nodes: npt.NDArray[np.int32], tables: Tables, work: Work, traverser: int, depth: int, result: float
) -> int:
    """Carries a value up to the last frame with an action left to explore; returns the number of frames left."""
    frames, policy, value, fate, regret_to = work.frames, work.policy, work.value, work.fate, tables.regret_to
    while depth > 0:
        top = depth - 1
        action, row, node = frames[top, _ACTION], frames[top, _ROW], frames[top, _NODE]
        actions = nodes[node, ACTIONS]
        value[top, action] = result
        action += 1
        while action < actions and fate[top, action] != _EXPLORED:
            action += 1
        if action < actions:
            frames[top, _ACTION] = action
            return depth
        result = 0.0
        for a in range(actions):
            result += policy[top, a] * value[top, a]
        if nodes[node, ACTOR] == traverser:
            for a in range(actions):
                if fate[top, a] != _LEFT:
                    regret_to[row + a] = max(regret_to[row + a] + value[top, a] - result, tables.floor)
        depth = top
    return 0


@inner_kernel(forceinline=True)
def _select(game: Histories, work: Work, options: Options, depth: int, state: np.uint64) -> np.uint64:
    """Writes which of the traverser's actions are explored and their weights; returns the stream of random numbers."""
    policy, weight, fate, order = work.policy, work.weight, work.fate, work.order
    row, allowed = work.frames[depth, _ROW], 0
    for a in range(game.nodes[work.frames[depth, _NODE], ACTIONS]):
        if game.legal[row + a]:
            order[allowed] = a
            allowed += 1
        else:
            fate[depth, a] = _LEFT
    if options.actions >= allowed:
        return state
    for k in range(allowed):
        fate[depth, order[k]] = _UNSAMPLED
    if options.on_policy > 0.0:
        state = advance(state)
        left, chosen, chance = uniform(state), 0, 1.0
        for k in range(allowed):
            a = order[k]
            share = options.on_policy * policy[depth, a] + (1.0 - options.on_policy) / allowed
            if share > 0.0:
                chosen, chance = a, share
                left -= share
                if left < 0.0:
                    break
        fate[depth, chosen] = _EXPLORED
        weight[depth, chosen] /= chance
    else:
        for k in range(options.actions):
            state = advance(state)
            other = k + int(uniform(state) * (allowed - k))
            order[k], order[other] = order[other], order[k]
            fate[depth, order[k]] = _EXPLORED
            weight[depth, order[k]] *= allowed / options.actions
    return state


@inner_kernel(forceinline=True)
def _skip(game: Histories, regret: Vector, work: Work, options: Options, depth: int, state: np.uint64) -> np.uint64:
    """Leaves out actions with a regret below the threshold; returns the stream of random numbers."""
    node, pair, row = work.frames[depth, _NODE], work.frames[depth, _PAIR], work.frames[depth, _ROW]
    for a in range(game.nodes[node, ACTIONS]):
        # an action that the policy plays cannot be missed: the value of the infostate depends on it
        explored = work.fate[depth, a] == _EXPLORED and work.policy[depth, a] == 0.0
        if not explored or regret[row + a] >= options.threshold:
            continue
        if options.skipping == SKIP_BY_REGRET:
            state = advance(state)
            keep = options.constant / (options.constant + options.threshold - regret[row + a])
            if uniform(state) >= keep:
                work.fate[depth, a] = _LEFT
        elif not game.nodes[node, FLAGS] & LAST_ROUND and not _ends_here(game, node, pair, a):
            work.fate[depth, a] = _LEFT
    return state


@kernel()
def _ends_here(game: Histories, node: int, pair: int, action: int) -> bool:
    """Returns whether an action leads to terminals only."""
    first, moves = game.nodes[node, FIRST_CHILD], game.nodes[node, MOVES]
    if moves < 0:
        return bool(game.nodes[first + action, ACTOR] == TERMINAL)
    at = moves + pair * game.nodes[node, ACTIONS] + action
    for outcome in range(game.move_at[at], game.move_at[at + 1]):
        if game.nodes[first + game.outcome_child[outcome], ACTOR] != TERMINAL:
            return False
    return True
