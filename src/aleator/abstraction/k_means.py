"""k-means with k-means++: few centres that many weighted points are near to.

Algorithm:
    k-means++ draws each first centre in proportion to weight times distance (squared for L2) from those drawn so far.
    Then, in turns, every point goes to its nearest centre, and every centre to the weighted mean of its points. A
    centre that has lost all points goes to the point that is farthest from its own. It ends when no point moves, or
    after a number of rounds.
    Whether a centre can be nearer is first asked of the sums of its numbers: |Σx − Σc| is at most the L1 distance, and
    its square at most D times the squared L2 distance. Centres are sorted by their sums and looked at from the nearest
    sum outwards, so that most are never compared; the answer is the same.

Reference: D. Arthur, S. Vassilvitskii, "k-means++: The Advantages of Careful Seeding" (SODA 2007).
Deviations: with L1 centres are means, as abstractions of poker have them, not medians: rows that are cumulated
histograms keep histograms as their centres.
Status: tests/abstraction/test_k_means.py compares with a plain version, and finds clusters that were made.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError
from aleator.jit import kernel

Floats = npt.NDArray[np.float32]
_SQUARED, _ABSOLUTE = 0, 1
METRICS = {"l2": _SQUARED, "l1": _ABSOLUTE}
_MARGIN = 1.0 - 1e-4  # bounds are a little lower than they could be: sums are rounded


class Centres(NamedTuple):
    """Centres in the order of their sums, an argument of the compiled functions.

    Attributes:
        rows: ``[K, D]``.
        sums: of their numbers, ascending, ``[K]``.
        metric: 0 for squared differences, 1 for absolute ones.
    """

    rows: Floats
    sums: npt.NDArray[np.float64]
    metric: int


def make_centres(rows: npt.NDArray[np.floating], metric: str) -> Centres:
    """Returns centres, sorted."""
    sums = rows.sum(axis=1, dtype=np.float64)
    order = np.argsort(sums, kind="stable")
    return Centres(np.ascontiguousarray(rows[order], np.float32), sums[order], METRICS[metric])


class Clusters(NamedTuple):
    """What k-means found.

    Attributes:
        centres: in the order of their sums.
        labels: the centre of each point, ``[N]``.
        distance: the mean distance of points from their centres, by weight, after each round.
    """

    centres: Centres
    labels: npt.NDArray[np.int32]
    distance: tuple[float, ...]


def k_means(
    points: Floats,
    k: int,
    rng: np.random.Generator,
    *,
    metric: str = "l2",
    weights: npt.NDArray[np.floating] | None = None,
    rounds: int = 30,
    threads: int = 1,
    on_round: Callable[[int, float], None] | None = None,
) -> Clusters:
    """Returns k clusters of points, or as many as there are different points if those are fewer.

    Args:
        points: ``[N, D]``.
        k: how many.
        rng: draws the first centres.
        metric: `l2` for squared Euclidean distances, `l1` for sums of absolute differences.
        weights: of the points, ``[N]``; 1 if None.
        rounds: the most there are.
        threads: that share the points.
        on_round: is told the number of rounds done and the mean distance.

    Raises:
        SolveError: there are no points, or k is not positive.
    """
    if k < 1 or not len(points):
        raise SolveError(f"k-means needs at least one cluster and one point, not {k} and {len(points)}")
    points = np.ascontiguousarray(points, np.float32)
    weight = np.ones(len(points)) if weights is None else np.asarray(weights, np.float64)
    centres = make_centres(points[_first_centres(points, weight, k, rng, METRICS[metric])], metric)
    labels, distances, curve = np.full(len(points), -1, np.int32), np.empty(len(points), np.float32), []
    for number in range(rounds):
        before = labels.copy()
        find_nearest(points, centres, labels, distances, threads)
        curve.append(float(np.average(distances, weights=weight)))
        if on_round is not None:
            on_round(number + 1, curve[-1])
        if number + 1 == rounds or (labels == before).all():
            break
        centres = make_centres(_means(points, weight, labels, distances, len(centres.sums)), metric)
    return Clusters(centres, labels, tuple(curve))


def _first_centres(
    points: Floats, weights: npt.NDArray[np.float64], k: int, rng: np.random.Generator, metric: int
) -> npt.NDArray[np.int64]:
    """Returns the points that k-means++ draws, ``[k]``."""
    chosen = np.empty(k, np.int64)
    distances = np.full(len(points), np.inf, np.float32)
    chances = weights
    for centre in range(k):
        ends = np.cumsum(chances)
        chosen[centre] = min(int(np.searchsorted(ends, rng.random() * ends[-1], "right")), len(points) - 1)
        _shorten(points, points[chosen[centre]], metric, distances)
        chances = weights * distances
        if not chances.any():  # as many centres as there are points of weight
            return chosen[: centre + 1]
    return chosen


def _means(
    points: Floats,
    weights: npt.NDArray[np.float64],
    labels: npt.NDArray[np.int32],
    distances: Floats,
    k: int,
) -> npt.NDArray[np.float64]:
    """Returns the mean of each cluster, ``[k, D]``; one that is empty gets the farthest point."""
    total = np.bincount(labels, weights, minlength=k)
    sums = np.zeros((k, points.shape[1]))
    _add_points(points, weights, labels, sums)
    means = sums / np.where(total > 0.0, total, 1.0)[:, None]
    empty = np.flatnonzero(total <= 0.0)
    means[empty] = points[np.argsort(-distances, kind="stable")[: len(empty)]]
    return means


def find_nearest(
    points: Floats, centres: Centres, labels: npt.NDArray[np.int32], distances: Floats, threads: int = 1
) -> None:
    """Fills ``labels`` and ``distances`` ``[N]`` with the nearest centre of each point, and how far it is."""
    ends = np.linspace(0, len(points), threads + 1).astype(int)
    parts = [slice(low, high) for low, high in pairwise(ends)]
    if threads == 1:
        _find_nearest(points, centres, labels, distances)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda part: _find_nearest(points[part], centres, labels[part], distances[part]), parts))


@kernel()
def _find_nearest(points: Floats, centres: Centres, labels: npt.NDArray[np.int32], distances: Floats) -> None:
    for row in range(len(points)):
        labels[row], distances[row] = nearest(points[row], centres)


@kernel(fastmath={"contract", "reassoc", "nsz"})
def nearest(point: Floats, centres: Centres) -> tuple[int, float]:
    """Returns the nearest centre of a point, and its distance."""
    total = 0.0
    for number in point:
        total += number
    sums, scale = centres.sums, 1.0 / max(len(point), 1)
    low, high = 0, len(sums)
    while low < high:  # the first centre whose sum is not below
        middle = (low + high) // 2
        if sums[middle] < total:
            low = middle + 1
        else:
            high = middle
    above, below = low, low - 1
    best, label = np.inf, 0
    while above < len(sums) or below >= 0:
        if below < 0 or (above < len(sums) and sums[above] - total <= total - sums[below]):
            candidate, gap = above, sums[above] - total
            above += 1
        else:
            candidate, gap = below, total - sums[below]
            below -= 1
        bound = gap * gap * scale if centres.metric == _SQUARED else gap
        if bound * _MARGIN > best:
            break
        distance = _distance(point, centres.rows[candidate], centres.metric)
        if distance < best or (distance == best and candidate < label):
            best, label = distance, candidate
    return label, best


@kernel(fastmath={"contract", "reassoc", "nsz"}, forceinline=True)
def _distance(one: Floats, other: Floats, metric: int) -> float:
    total = np.float32(0.0)
    if metric == _SQUARED:
        for axis in range(len(one)):
            total += (one[axis] - other[axis]) * (one[axis] - other[axis])
    else:
        for axis in range(len(one)):
            total += abs(one[axis] - other[axis])
    return float(total)


@kernel()
def _shorten(points: Floats, centre: Floats, metric: int, distances: Floats) -> None:
    """Makes distances those to a further centre where that is nearer."""
    for row in range(len(points)):
        distances[row] = min(distances[row], np.float32(_distance(points[row], centre, metric)))


@kernel()
def _add_points(
    points: Floats,
    weights: npt.NDArray[np.float64],
    labels: npt.NDArray[np.int32],
    sums: npt.NDArray[np.float64],
) -> None:
    for row in range(len(points)):
        for axis in range(points.shape[1]):
            sums[labels[row], axis] += weights[row] * points[row, axis]
