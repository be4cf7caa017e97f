"""What changes while solving with pruning, and the settings that the kernels read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aleator.games.base import FloatArray
from aleator.solvers.engines.by_hand import columns as col
from aleator.solvers.engines.by_hand.layout import HandLayout, Ints, Longs


class HandMemory(NamedTuple):
    """One player's numbers; sums over iterations are kept up lazily.

    AVERAGE and FACED add up the player's reach over iterations. Their last row is the root's, which grows with every
    iteration; a place catches up when its infostate is visited: as the policy there has not changed since, its share is
    policy x (growth of the sum above).

    Attributes:
        places: [places + 1, 8] columns REGRET, ...
        starts: [places, 3] columns VALUE_START, REACH_START, NEXT_LOOK.
        sums: [infostates, 7] columns AVERAGE_MARK, ...
        marks: [places + 1, 3] columns PRUNED, NESTED, DISCARDED.
        lists: [2, 2 x places] scratch: rows DUE, STARTING.
        reach: [places + 1] after the action under the current policy, where the last walk came by.
        active: [places + 1] the number of the last walk that updates what follows the action.
    """

    places: FloatArray
    starts: FloatArray
    sums: FloatArray
    marks: Ints
    lists: Ints
    reach: FloatArray
    active: Longs


class Work(NamedTuple):
    """Scratch shared by both players.

    Attributes:
        order: [N] nodes of a walk, parents first.
        stack: [N + 1].
        hands: [N, 4] at nodes of a walk: how many of player 0's hands are active and reached, how many of player 1's.
        counts: [4] pairs of hands and public nodes visited so far, number of the last walk, and how many of the pairs
            were visited to begin or end pruning.
        lists: [2, 2] per player the lengths of the lists DUE and STARTING.
    """

    order: Ints
    stack: Ints
    hands: Ints
    counts: Longs
    lists: Longs


class Terms(NamedTuple):
    """An iteration's numbers.

    Attributes:
        iteration: t, from 1.
        regret_weight: w, so that the negative regret that an iteration leaves at the end is proportional to w.
        weight_sum: of the regret weights so far.
        discounts: [iterations + 1, 2] of positive and negative regrets before each iteration.
        log_discounts: [iterations + 1, 2] logarithms of their products.
        discounting: whether there are any.
        floor: regret matching+: a negative regret is forgotten as soon as it grows.
        hedge: Hedge instead of regret matching.
        threshold: d of dynamic thresholding; 0 for none.
        best_response: play a best response below actions of probability zero (thesis 3.3.1).
        greedy: without a positive regret the highest is played, not all actions uniformly.
        prune: regret-based or best-response pruning.
        whole: best-response pruning: responses are to all iterations, not only to the skipped ones.
        discard: C: with `whole`, sums of policies below a pruned action are thrown away once the average policy plays
            it with a probability of at most C / sqrt(t).
        least_skip: an action is pruned if it is expected to be for at least so many iterations.
    """

    iteration: int
    regret_weight: float
    weight_sum: float
    discounts: FloatArray
    log_discounts: FloatArray
    discounting: bool
    floor: bool
    hedge: bool
    threshold: float
    best_response: bool
    greedy: bool
    prune: bool
    whole: bool
    discard: float
    least_skip: float


def new_memory(layout: HandLayout, player: int) -> HandMemory:
    """Returns a player's numbers before the first iteration: uniform policy, no regrets."""
    states, size, side = layout.num_infostates[player], layout.tree.policy_size[player], layout.sides[player]
    choices = np.bincount(side.places[:, col.INFOSTATE], side.places[:, col.LEGAL], minlength=states)
    places = np.zeros((size + 1, col.PLACE_COLUMNS))
    places[:-1, col.POLICY] = side.places[:, col.LEGAL] / np.maximum(choices[side.places[:, col.INFOSTATE]], 1.0)
    places[:, col.HIGHEST] = layout.payoff_bounds[player][:, 1]
    return HandMemory(
        places=places,
        starts=np.zeros((size, 3)),
        sums=np.zeros((states, col.SUM_COLUMNS)),
        marks=np.zeros((size + 1, 3), dtype=np.int32),
        lists=np.zeros((2, 2 * size), dtype=np.int32),
        reach=np.append(np.zeros(size), 1.0),
        active=np.zeros(size + 1, dtype=np.int64),
    )


def new_work(layout: HandLayout) -> Work:
    """Returns scratch for walks on a tree."""
    nodes = layout.tree.num_nodes
    return Work(
        order=np.zeros(nodes, dtype=np.int32),
        stack=np.zeros(nodes + 1, dtype=np.int32),
        hands=np.zeros((nodes, 4), dtype=np.int32),
        counts=np.zeros(4, dtype=np.int64),
        lists=np.zeros((2, 2), dtype=np.int64),
    )
