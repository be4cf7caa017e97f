from __future__ import annotations

import numpy as np
import pytest

from aleator.abstraction.k_means import find_nearest, k_means, make_centres
from aleator.errors import SolveError


def distances(points: np.ndarray, centres: np.ndarray, metric: str) -> np.ndarray:
    """The reference: every point against every centre."""
    gaps = np.abs(points[:, None, :].astype(np.float64) - centres[None].astype(np.float64))
    return (gaps**2).sum(axis=2) if metric == "l2" else gaps.sum(axis=2)


@pytest.mark.parametrize("metric", ["l1", "l2"])
@pytest.mark.parametrize("threads", [1, 2])
def test_nearest_centres_are_those_of_all_comparisons(metric: str, threads: int) -> None:
    rng = np.random.default_rng(0)
    points = np.sort(rng.random((3000, 20)), axis=1).astype(np.float32)
    centres = make_centres(np.sort(rng.random((40, 20)), axis=1), metric)
    labels, found = np.empty(3000, np.int32), np.empty(3000, np.float32)
    find_nearest(points, centres, labels, found, threads)
    every = distances(points, centres.rows, metric)
    np.testing.assert_allclose(found, every.min(axis=1), rtol=1e-5)
    np.testing.assert_allclose(every[np.arange(3000), labels], every.min(axis=1), rtol=1e-5)


@pytest.mark.parametrize("metric", ["l1", "l2"])
def test_clusters_that_were_made_are_found(metric: str) -> None:
    rng = np.random.default_rng(1)
    made = rng.integers(0, 12, 2000)
    points = 1000.0 * np.tri(12)[made] + rng.random((2000, 12))
    clusters = k_means(points, 12, rng, metric=metric)
    assert len(set(zip(made.tolist(), clusters.labels.tolist(), strict=True))) == 12
    assert (np.diff(clusters.centres.sums) > 0).all()


@pytest.mark.parametrize("metric", ["l1", "l2"])
def test_rounds_bring_points_nearer_and_end_where_no_point_moves(metric: str) -> None:
    rng = np.random.default_rng(2)
    points = rng.normal(size=(4000, 6)).astype(np.float32)
    clusters = k_means(points, 20, rng, metric=metric, rounds=200)
    assert clusters.distance[-1] < 0.95 * clusters.distance[0] and len(clusters.distance) < 200
    if metric == "l2":  # with L1 a mean is not what is nearest to its points
        assert (np.diff(clusters.distance) <= 1e-7).all()
    every = distances(points, clusters.centres.rows, metric)
    np.testing.assert_allclose(every.min(axis=1), every[np.arange(4000), clusters.labels], rtol=1e-4)
    for label in range(20):
        mean = points[clusters.labels == label].mean(axis=0)
        np.testing.assert_allclose(clusters.centres.rows[label], mean, atol=1e-4)


def test_a_weight_counts_as_so_many_points() -> None:
    rng = np.random.default_rng(3)
    points, weights = rng.random((50, 3)), rng.integers(1, 5, 50)
    one = k_means(points, 1, rng, weights=weights)
    np.testing.assert_allclose(one.centres.rows[0], np.repeat(points, weights, axis=0).mean(axis=0), rtol=1e-5)
    alone = k_means(np.array([[0.0], [1.0], [5.0]]), 2, rng, weights=np.array([1.0, 1.0, 0.0]))
    assert sorted(alone.centres.rows[:, 0].tolist()) == [0.0, 1.0]


def test_fewer_different_points_than_clusters_are_a_cluster_each() -> None:
    clusters = k_means(np.array([[1.0], [2.0], [2.0], [3.0]]), 10, np.random.default_rng(0))
    assert clusters.centres.rows[:, 0].tolist() == [1.0, 2.0, 3.0] and clusters.distance[-1] == 0.0


def test_the_same_seed_gives_the_same_clusters_with_any_threads() -> None:
    points = np.random.default_rng(5).random((500, 4))
    one, two = (k_means(points, 9, np.random.default_rng(6), threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.labels, two.labels)
    np.testing.assert_array_equal(one.centres.rows, two.centres.rows)


def test_nothing_to_cluster_is_refused() -> None:
    with pytest.raises(SolveError, match="not 0 and 1"):
        k_means(np.zeros((1, 1)), 0, np.random.default_rng(0))
