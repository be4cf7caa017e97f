"""Budgets: all iterations, or as many as the seconds allow, but at least one."""

from __future__ import annotations

from time import sleep

import pytest

from aleator.errors import SolveError
from aleator.search.budget import check_budget, spend


def test_without_a_clock_everything_runs_at_once() -> None:
    chunks: list[int] = []
    assert spend(chunks.append, 500) == 500 and chunks == [500]


def test_seconds_end_a_search() -> None:
    chunks: list[int] = []

    def run(iterations: int) -> None:
        chunks.append(iterations)
        sleep(0.01 * iterations)

    done = spend(run, 10**9, seconds=0.1)
    assert done == sum(chunks) and 1 <= done <= 12
    assert chunks[0] == 1  # nobody knows yet how long one takes


def test_one_iteration_is_run_whatever_the_clock_says() -> None:
    chunks: list[int] = []
    assert spend(lambda count: (chunks.append(count), sleep(0.01)), 100, seconds=1e-9) == 1 == sum(chunks)


def test_iterations_end_a_search_that_has_time_left() -> None:
    chunks: list[int] = []
    assert spend(chunks.append, 1000, seconds=60.0) == 1000 == sum(chunks)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("inf"), float("nan")])
def test_impossible_seconds_are_refused(seconds: float) -> None:
    with pytest.raises(SolveError, match="positive number of seconds"):
        check_budget(1, seconds)
