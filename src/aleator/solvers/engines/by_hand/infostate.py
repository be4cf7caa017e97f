"""The arithmetic of an infostate: its regrets, its policy, its sums over iterations, how long an action can be pruned.

An infostate is given by its number and the places of its actions: `range(start, end, stride)`.
"""

from __future__ import annotations

import numpy as np

from aleator.games.base import FloatArray
from aleator.jit import inner_kernel
from aleator.solvers.engines.by_hand.layout import LEGAL, Ints
from aleator.solvers.engines.by_hand.memory import (
    AVERAGE,
    AVERAGE_MARK,
    DEVIATION,
    FACED,
    FACED_MARK,
    HIGHEST,
    MEAN,
    POLICY,
    PRUNED,
    REACH_START,
    REACH_SUM,
    REGRET,
    SEEN,
    VALUE_START,
    VALUE_SUM,
    Terms,
)


@inner_kernel(forceinline=True)
def catch_up_sums(
    places: FloatArray, sums: FloatArray, state: int, above: int, start: int, end: int, stride: int
) -> None:
    """Brings the sums of policies of an infostate up to date; those of `above`, the place before it, are."""
    average = places[above, AVERAGE] - sums[state, AVERAGE_MARK]
    faced = places[above, FACED] - sums[state, FACED_MARK]
    if average == 0.0 and faced == 0.0:
        return
    for offset in range(start, end, stride):
        places[offset, AVERAGE] += average * places[offset, POLICY]
        places[offset, FACED] += faced * places[offset, POLICY]
    sums[state, AVERAGE_MARK] = places[above, AVERAGE]
    sums[state, FACED_MARK] = places[above, FACED]


@inner_kernel(forceinline=True)
def discount(places: FloatArray, sums: FloatArray, state: int, start: int, end: int, stride: int, terms: Terms) -> None:
    """Discounts an infostate's regrets for all iterations since it was last seen, this one included."""
    now, then = terms.iteration, int(sums[state, SEEN])
    if terms.discounting and then < now:
        positive, negative = terms.discounts[now, 0], terms.discounts[now, 1]
        if then < now - 1:
            positive = np.exp(terms.log_discounts[now, 0] - terms.log_discounts[then, 0])
            negative = np.exp(terms.log_discounts[now, 1] - terms.log_discounts[then, 1])
        for offset in range(start, end, stride):
            places[offset, REGRET] *= positive if places[offset, REGRET] > 0.0 else negative
    sums[state, SEEN] = now


@inner_kernel(forceinline=True)
def add_moments(sums: FloatArray, state: int, total: float, count: int, terms: Terms) -> None:
    """Adds `count` iterations up to now with cfvs that sum to `total`; all others since the last visit had cfv 0."""
    then, mean = sums[state, SEEN], sums[state, MEAN]
    idle = terms.iteration - then - count
    if idle > 0.0:
        sums[state, DEVIATION] += mean * mean * then * idle / (then + idle)
        mean *= then / (then + idle)
        then += idle
    change = total / count - mean
    sums[state, MEAN] = mean + change * count / terms.iteration
    sums[state, DEVIATION] += change * change * then * count / terms.iteration


@inner_kernel(forceinline=True)
def probability_threshold(choices: int, terms: Terms) -> float:
    """Returns the probability below which an action is not played (thesis 3.4.1, Theorems 8 and 9)."""
    threshold: float = terms.threshold / (choices**2 * np.sqrt(terms.iteration))
    if terms.hedge:
        threshold *= np.sqrt(np.log(choices) / 2.0)
    return threshold


@inner_kernel(forceinline=True)
def step_size(sums: FloatArray, state: int, choices: int, terms: Terms) -> float:
    """Returns Hedge's step size: sqrt(ln actions) / (3 x standard deviation of the cfv x sqrt(t)) (thesis 3.4.3)."""
    mean = sums[state, MEAN]
    variance = max(sums[state, DEVIATION] / terms.iteration, 1e-30 * mean * mean, 1e-300)
    step: float = np.sqrt(np.log(choices) / (9.0 * variance * terms.iteration))
    return step


@inner_kernel(forceinline=True)
def next_policy(
    actions: Ints, places: FloatArray, marks: Ints, sums: FloatArray, state: int, start: int, end: int, stride: int,
    terms: Terms,
) -> None:  # fmt: skip
    """Writes the policy of the next iteration at an infostate: pruned actions are left out.

    Without a positive regret the policy is uniform, or if `greedy` that of the highest regret.
    """
    choices, best, total = 0, -np.inf, 0.0
    for offset in range(start, end, stride):
        choices += actions[offset, LEGAL]
        places[offset, POLICY] = 0.0
        if actions[offset, LEGAL] and not marks[offset, PRUNED]:
            best = max(best, places[offset, REGRET])
    step = step_size(sums, state, choices, terms) if terms.hedge else 0.0
    for offset in range(start, end, stride):
        if actions[offset, LEGAL] and not marks[offset, PRUNED]:
            if terms.hedge:
                weight = np.exp(step * (places[offset, REGRET] - best))
            elif best > 0.0:
                weight = max(places[offset, REGRET], 0.0)
            else:
                weight = 1.0 if not terms.greedy or places[offset, REGRET] == best else 0.0
            places[offset, POLICY] = weight
            total += weight
    if terms.threshold > 0.0:
        least = probability_threshold(choices, terms) * total
        for offset in range(start, end, stride):
            if 0.0 < places[offset, POLICY] < least and places[offset, REGRET] < best:
                total -= places[offset, POLICY]
                places[offset, POLICY] = 0.0
    for offset in range(start, end, stride):
        if places[offset, POLICY] > 0.0:
            places[offset, POLICY] /= total


@inner_kernel(forceinline=True)
def regret_level(
    actions: Ints, places: FloatArray, marks: Ints, sums: FloatArray, state: int, offset: int, start: int, end: int,
    stride: int, terms: Terms,
) -> float:  # fmt: skip
    """Returns the regret up to which an action is certainly not played."""
    if not terms.hedge:
        return 0.0
    choices, best, total = 0, -np.inf, 0.0
    for k in range(start, end, stride):
        choices += actions[k, LEGAL]
        if k != offset and actions[k, LEGAL] and not marks[k, PRUNED]:
            best = max(best, places[k, REGRET])
    least = probability_threshold(choices, terms)
    if least <= 0.0:
        return -np.inf
    step = step_size(sums, state, choices, terms)
    for k in range(start, end, stride):
        if k != offset and actions[k, LEGAL] and not marks[k, PRUNED]:
            total += np.exp(step * (places[k, REGRET] - best))
    level: float = best + np.log(least / (1.0 - least) * total) / step
    return level


@inner_kernel(forceinline=True)
def highest_regret(
    places: FloatArray, starts: FloatArray, sums: FloatArray, state: int, offset: int, terms: Terms
) -> float:
    """Returns the most that a pruned action's regret can be by now (thesis 3.19)."""
    reach = sums[state, REACH_SUM] - starts[offset, REACH_START]
    value = sums[state, VALUE_SUM] - starts[offset, VALUE_START]
    regret: float = places[offset, REGRET] + (reach * places[offset, HIGHEST] - value) / terms.regret_weight
    return regret


@inner_kernel(forceinline=True)
def expected_skip(places: FloatArray, sums: FloatArray, state: int, offset: int, level: float, terms: Terms) -> float:
    """Returns for how many iterations an action would stay pruned if past averages went on (thesis 3.20)."""
    room = level - places[offset, REGRET]
    if room <= 0.0:
        return -1.0
    growth = sums[state, REACH_SUM] * places[offset, HIGHEST] - sums[state, VALUE_SUM]
    if growth <= 0.0:
        return np.inf
    skip: float = room * terms.weight_sum / growth
    return skip
