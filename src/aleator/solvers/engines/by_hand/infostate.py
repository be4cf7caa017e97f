"""The arithmetic of an infostate: its regrets, its policy, its sums over iterations, how long an action can be pruned.

An infostate is given by its number and the places of its actions: `range(start, end, stride)`.
"""

from __future__ import annotations

import numpy as np

from aleator.games.base import FloatArray
from aleator.jit import inner_kernel
from aleator.solvers.engines.by_hand import columns as col
from aleator.solvers.engines.by_hand.layout import Ints
from aleator.solvers.engines.by_hand.memory import Terms


@inner_kernel(forceinline=True)
def catch_up_sums(
    places: FloatArray, sums: FloatArray, state: int, above: int, start: int, end: int, stride: int
) -> None:
    """Brings the sums of policies of an infostate up to date; those of `above`, the place before it, are."""
    average = places[above, col.AVERAGE] - sums[state, col.AVERAGE_MARK]
    faced = places[above, col.FACED] - sums[state, col.FACED_MARK]
    if average == 0.0 and faced == 0.0:
        return
    for offset in range(start, end, stride):
        places[offset, col.AVERAGE] += average * places[offset, col.POLICY]
        places[offset, col.FACED] += faced * places[offset, col.POLICY]
    sums[state, col.AVERAGE_MARK] = places[above, col.AVERAGE]
    sums[state, col.FACED_MARK] = places[above, col.FACED]


@inner_kernel(forceinline=True)
def discount(places: FloatArray, sums: FloatArray, state: int, start: int, end: int, stride: int, terms: Terms) -> None:
    """Discounts an infostate's regrets for all iterations since it was last seen, this one included."""
    now, then = terms.iteration, int(sums[state, col.SEEN])
    if terms.discounting and then < now:
        positive, negative = terms.discounts[now, 0], terms.discounts[now, 1]
        if then < now - 1:
            positive = np.exp(terms.log_discounts[now, 0] - terms.log_discounts[then, 0])
            negative = np.exp(terms.log_discounts[now, 1] - terms.log_discounts[then, 1])
        for offset in range(start, end, stride):
            places[offset, col.REGRET] *= positive if places[offset, col.REGRET] > 0.0 else negative
    sums[state, col.SEEN] = now


@inner_kernel(forceinline=True)
def add_moments(sums: FloatArray, state: int, total: float, count: int, terms: Terms) -> None:
    """Adds `count` iterations up to now with cfvs that sum to `total`; all others since the last visit had cfv 0."""
    then, mean = sums[state, col.SEEN], sums[state, col.MEAN]
    idle = terms.iteration - then - count
    if idle > 0.0:
        sums[state, col.DEVIATION] += mean * mean * then * idle / (then + idle)
        mean *= then / (then + idle)
        then += idle
    change = total / count - mean
    sums[state, col.MEAN] = mean + change * count / terms.iteration
    sums[state, col.DEVIATION] += change * change * then * count / terms.iteration


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
    mean = sums[state, col.MEAN]
    variance = max(sums[state, col.DEVIATION] / terms.iteration, 1e-30 * mean * mean, 1e-300)
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
        choices += actions[offset, col.LEGAL]
        places[offset, col.POLICY] = 0.0
        if actions[offset, col.LEGAL] and not marks[offset, col.PRUNED]:
            best = max(best, places[offset, col.REGRET])
    step = step_size(sums, state, choices, terms) if terms.hedge else 0.0
    for offset in range(start, end, stride):
        if actions[offset, col.LEGAL] and not marks[offset, col.PRUNED]:
            if terms.hedge:
                weight = np.exp(step * (places[offset, col.REGRET] - best))
            elif best > 0.0:
                weight = max(places[offset, col.REGRET], 0.0)
            else:
                weight = 1.0 if not terms.greedy or places[offset, col.REGRET] == best else 0.0
            places[offset, col.POLICY] = weight
            total += weight
    if terms.threshold > 0.0:
        least = probability_threshold(choices, terms) * total
        for offset in range(start, end, stride):
            if 0.0 < places[offset, col.POLICY] < least and places[offset, col.REGRET] < best:
                total -= places[offset, col.POLICY]
                places[offset, col.POLICY] = 0.0
    for offset in range(start, end, stride):
        if places[offset, col.POLICY] > 0.0:
            places[offset, col.POLICY] /= total


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
        choices += actions[k, col.LEGAL]
        if k != offset and actions[k, col.LEGAL] and not marks[k, col.PRUNED]:
            best = max(best, places[k, col.REGRET])
    least = probability_threshold(choices, terms)
    if least <= 0.0:
        return -np.inf
    step = step_size(sums, state, choices, terms)
    for k in range(start, end, stride):
        if k != offset and actions[k, col.LEGAL] and not marks[k, col.PRUNED]:
            total += np.exp(step * (places[k, col.REGRET] - best))
    level: float = best + np.log(least / (1.0 - least) * total) / step
    return level


@inner_kernel(forceinline=True)
def highest_regret(
    places: FloatArray, starts: FloatArray, sums: FloatArray, state: int, offset: int, terms: Terms
) -> float:
    """Returns the most that a pruned action's regret can be by now (thesis 3.19)."""
    reach = sums[state, col.REACH_SUM] - starts[offset, col.REACH_START]
    value = sums[state, col.VALUE_SUM] - starts[offset, col.VALUE_START]
    regret: float = places[offset, col.REGRET] + (reach * places[offset, col.HIGHEST] - value) / terms.regret_weight
    return regret


@inner_kernel(forceinline=True)
def expected_skip(places: FloatArray, sums: FloatArray, state: int, offset: int, level: float, terms: Terms) -> float:
    """Returns for how many iterations an action would stay pruned if past averages went on (thesis 3.20)."""
    room = level - places[offset, col.REGRET]
    if room <= 0.0:
        return -1.0
    growth = sums[state, col.REACH_SUM] * places[offset, col.HIGHEST] - sums[state, col.VALUE_SUM]
    if growth <= 0.0:
        return np.inf
    skip: float = room * terms.weight_sum / growth
    return skip
