"""Spots solved by the batched engine: the same game as the CPU's own engine solves, and files that open like its."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from aleator.errors import SolutionError, SolveError, TooBigError
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.cards import parse_cards
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.spot import Spot
from aleator.solvers.holdem import device as module
from aleator.solvers.holdem.device import DeviceSpotProblem
from aleator.solvers.holdem.problem import SpotProblem
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve

GAME = HoldemGame(
    Spot(
        board=parse_cards("Ks 7h 2d 9s"), pot=100, stack=150, oop="AA,KQ,98s,55", ip="KK,AJ,T9s,66",
        menu=BetMenu.uniform(bets=["100%"], raises=["all-in"]),
    )
)  # fmt: skip


def test_values_are_equal_within_the_exploitability_reached(tmp_path: Path) -> None:
    limits = Limits(iterations=40)
    ours = solve(DeviceSpotProblem(GAME, "cpu"), "sharp-dcfr+", limits=limits)
    other = solve(SpotProblem(GAME), "sharp-dcfr+", limits=limits)
    off = [solution.summary.exploitability for solution in (ours, other)]
    assert max(off) < 1.0  # of a pot of 100
    for own, expected in zip(ours.summary.values, other.summary.values, strict=True):
        assert own == pytest.approx(expected, abs=sum(off))
    ours.save(tmp_path / "turn.solution")
    opened = HoldemSolution.open(tmp_path / "turn.solution")
    assert isinstance(ours, HoldemSolution) and isinstance(other, HoldemSolution)
    first = [solution.policy_at(solution.start()) for solution in (opened, ours, other)]
    np.testing.assert_array_equal(first[0], first[1])
    weights = opened.spot.weights()[0]
    assert float((weights * np.abs(first[0] - first[2])).sum() / weights.sum()) < 0.1


def test_a_solve_goes_on_from_its_state_alone() -> None:
    problem = DeviceSpotProblem(GAME, "cpu")
    half = solve(problem, "dcfr", limits=Limits(iterations=2), keep_state=True)
    resumed = solve(problem, "dcfr", limits=Limits(iterations=4), resume=half)
    straight = solve(problem, "dcfr", limits=Limits(iterations=4))
    assert resumed.summary.values == straight.summary.values
    with pytest.raises(SolutionError, match="cannot be resumed"):
        solve(SpotProblem(GAME), "dcfr", limits=Limits(iterations=4), resume=half)


def test_what_does_not_fit_is_said_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_memory", lambda: 1 << 16)
    with pytest.raises(TooBigError, match="GiB on the device, of which"):
        solve(DeviceSpotProblem(GAME, "cpu"), "dcfr", limits=Limits(iterations=1))
    with pytest.raises(SolveError, match="keeps rows in float32, not in float16"):
        DeviceSpotProblem(GAME, "cpu").check_fits("dcfr", "float16")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_cuda_device_finds_the_same() -> None:
    limits = Limits(iterations=20)
    solutions = [solve(DeviceSpotProblem(GAME, place), "dcfr", limits=limits) for place in ("cpu", "cuda")]
    for one, two in zip(solutions[0].summary.values, solutions[1].summary.values, strict=True):
        assert one == pytest.approx(two, abs=1e-2)
