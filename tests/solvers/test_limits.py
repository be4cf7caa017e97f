"""When solves end, when they look at the exploitability, and what they forecast."""

from __future__ import annotations

import math
from typing import Any

import numpy.typing as npt
import pytest

from aleator.solvers.limits import CurvePoint, Limits, Progress, iterations_to, next_check, run_until
from aleator.solvers.state import Solver


class Falling(Solver):
    """A solver whose exploitability is 10 / iteration ** 1.5."""

    def __init__(self) -> None:
        self.iteration, self.checks = 0, 0

    def run(self, iterations: int) -> None:
        self.iteration += iterations

    def nash_conv(self) -> float:
        self.checks += 1
        return 20.0 / self.iteration**1.5

    def state(self) -> dict[str, npt.NDArray[Any]]:
        return {}

    def restore(self, iteration: int, state: Any) -> None:
        self.iteration = iteration


def test_a_solve_ends_at_its_iterations_and_looks_seldom() -> None:
    solver = Falling()
    curve = run_until(solver, Limits(iterations=1000))
    assert [point.iteration for point in curve[:6]] == [1, 2, 3, 4, 6, 8]
    assert curve[-1].iteration == solver.iteration == 1000
    assert solver.checks == len(curve) < 30
    assert curve[-1].exploitability == pytest.approx(10 / 1000**1.5)
    assert curve[-1].exploitability == solver.nash_conv() / 2


def test_a_solve_ends_soon_after_its_exploitability() -> None:
    """The forecast of a power law is exact, so that no iteration is wasted."""
    solver = Falling()
    run_until(solver, Limits(exploitability=1e-3))
    assert solver.iteration == math.ceil((10 / 1e-3) ** (1 / 1.5)) == 465
    assert solver.checks < 20


def test_a_solve_ends_when_it_is_told_to_and_knows_what_is_left() -> None:
    seen: list[Progress] = []

    def stop(now: Progress) -> bool:
        seen.append(now)
        return now.iteration >= 50

    curve = run_until(Falling(), Limits(exploitability=1e-9, seconds=3600.0), on_progress=stop)
    assert 50 <= curve[-1].iteration <= 75
    assert math.isnan(seen[0].exploitability) and math.isnan(seen[0].seconds_left)
    assert 0 < seen[-1].seconds_left <= 3600.0
    assert 0 < seen[-1].share_done < 1


def test_a_curve_goes_on_from_an_earlier_one() -> None:
    solver = Falling()
    first = run_until(solver, Limits(iterations=20))
    curve = run_until(solver, Limits(iterations=40), earlier=first)
    assert curve[: len(first)] == first and curve[-1].iteration == 40
    assert curve[-1].seconds >= first[-1].seconds
    again = run_until(solver, Limits(iterations=40), earlier=curve)
    assert [point.iteration for point in again] == [point.iteration for point in curve], "nothing left to do"


def test_forecasts_follow_the_last_checks() -> None:
    falling = [CurvePoint(10, 1.0, 1.0), CurvePoint(20, 2.0, 0.5)]
    assert iterations_to(0.25, falling) == pytest.approx(40)
    assert next_check(falling, 0.25, 10) == 30, "half as many again at most"
    assert next_check(falling, 0.49, 10) == 25, "a few at least"
    rising = [CurvePoint(10, 1.0, 0.5), CurvePoint(20, 2.0, 0.6)]
    assert iterations_to(0.25, rising) == math.inf and next_check(rising, 0.25, 10) == 30
    assert math.isnan(iterations_to(0.25, falling[:1])) and next_check(falling[:1], 0.25, 10) == 15
    assert next_check([], 0.25, 10) == 10
