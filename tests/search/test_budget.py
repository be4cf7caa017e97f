"""Budgets: all iterations, or as many as the seconds allow, but at least one."""

from __future__ import annotations

import pytest

from aleator.errors import SolveError
from aleator.search import budget
from aleator.search.budget import check_budget, spend


class Clock:
    """A clock that only work moves: every iteration takes so many seconds."""

    def __init__(self, each: float) -> None:
        self.each, self.now = each, 100.0
        self.chunks: list[int] = []

    def __call__(self) -> float:
        return self.now

    def run(self, iterations: int) -> None:
        """Takes the time of some iterations."""
        self.chunks.append(iterations)
        self.now += self.each * iterations


def clock(monkeypatch: pytest.MonkeyPatch, each: float) -> Clock:
    found = Clock(each)
    monkeypatch.setattr(budget, "perf_counter", found)
    return found


def test_without_a_clock_everything_runs_at_once() -> None:
    chunks: list[int] = []
    assert spend(chunks.append, 500) == 500 and chunks == [500]
    told: list[int] = []
    assert spend(chunks.append, 25, on_done=told.append) == 25
    assert chunks[1:] == [10, 10, 5] and told == [10, 20, 25], "who watches hears of it on the way"


def test_seconds_end_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    ticking = clock(monkeypatch, 0.25)
    assert spend(ticking.run, 10**9, seconds=25.0) == 100 == sum(ticking.chunks)
    assert ticking.chunks == [1, 4, 16, 64, 15]  # nobody knows at first how long one takes; then what is left is filled


def test_one_iteration_is_run_whatever_the_clock_says(monkeypatch: pytest.MonkeyPatch) -> None:
    ticking = clock(monkeypatch, 0.01)
    assert spend(ticking.run, 100, seconds=1e-9) == 1 == sum(ticking.chunks)


@pytest.mark.parametrize("each", [0.0, 0.001])
def test_iterations_end_a_search_that_has_time_left(monkeypatch: pytest.MonkeyPatch, each: float) -> None:
    ticking = clock(monkeypatch, each)
    assert spend(ticking.run, 1000, seconds=60.0) == 1000 == sum(ticking.chunks)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("inf"), float("nan")])
def test_impossible_seconds_are_refused(seconds: float) -> None:
    with pytest.raises(SolveError, match="positive number of seconds"):
        check_budget(1, seconds)
