"""A real Ray cluster of two nodes with a core each: results of matches, and workers and nodes that die."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aleator.arena.whole_hands.match import HandMatch, play_hand_match
from aleator.workers import ray_cluster
from aleator.workers.base import WorkerError
from tests.workers.work import always_die, die_once, refuse, squares

ray = pytest.importorskip("ray", reason="pip install aleator[ray]")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]


def test_every_task_has_its_result(ray_workers: ray_cluster.RayWorkers) -> None:
    assert ray_workers.count == 2
    assert dict(ray_workers.run(squares, range(30))) == {number: number**2 for number in range(30)}
    with pytest.raises(ValueError, match="no 3"):
        list(ray_workers.run(refuse, [3]))


def test_a_match_is_that_of_one_process_hand_by_hand(ray_workers: ray_cluster.RayWorkers) -> None:
    match = HandMatch(game="hunl", agents=("tight-aggressive", "random"), hands=10_000, seed=3)
    there, here = play_hand_match(match, workers=ray_workers), play_hand_match(match)
    np.testing.assert_array_equal(there.won, here.won)
    np.testing.assert_array_equal(there.fair, here.fair)


def test_tasks_of_workers_that_died_are_done_again_once(ray_workers: ray_cluster.RayWorkers, tmp_path: Path) -> None:
    deadly = frozenset(range(0, 60, 3))
    results = list(ray_workers.run(partial(die_once, tmp_path, deadly), range(60)))
    assert sorted(results) == [(number, number**2) for number in range(60)]
    assert ray_workers.replaced == len(deadly) == 20
    with pytest.raises(WorkerError, match="died one after the other"):
        list(ray_workers.run(always_die, [1]))


def test_other_code_is_refused(ray_workers: ray_cluster.RayWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "code_fingerprint", lambda: "0123456789abcdef")
    with pytest.raises(WorkerError, match=r"runs other code of aleator \([0-9a-f]{16}\) than this process"):
        list(ray_workers.run(squares, [1]))


def test_a_node_that_dies_is_done_without(cluster: Any, ray_workers: ray_cluster.RayWorkers) -> None:
    node = cluster.add_node(num_cpus=1)
    run = ray_workers.run(squares, range(400))
    results = [next(run)]
    cluster.remove_node(node, allow_graceful=False)
    results += list(run)
    assert sorted(results) == [(number, number**2) for number in range(400)]
