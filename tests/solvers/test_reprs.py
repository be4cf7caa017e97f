"""What a notebook shows of results is one line, however big they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aleator import HoldemView, Limits, load_spot, solve
from aleator.errors import SolveError

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_results_of_a_game_are_shown_in_a_line() -> None:
    solution = solve("leduc", "cfr+", limits=Limits(iterations=20))
    found = f"{solution.summary.exploitability:.4g}"
    assert repr(solution) == f"<TreeSolution of leduc by cfr+, 20 iterations, exploitability {found}>"
    assert repr(solution.policy) == "<Policy of leduc: 96 decision nodes>"
    assert repr(solution.policy.tree) == "<PublicTree of leduc: 240 nodes>"
    assert "curve" not in repr(solution.summary) and "iterations=20" in repr(solution.summary)


def test_results_of_a_spot_are_shown_in_a_line() -> None:
    solution = solve(load_spot(EXAMPLES / "river.toml"), limits=Limits(iterations=10))
    text = repr(solution)
    assert text.startswith("<HoldemSolution of holdem:QsJh2h8c3d by sharp-dcfr+, 10 iterations, exploitability ")
    assert repr(HoldemView(solution).node("r:0:c")) == "<NodeView of r:0:c: Qs Jh 2h 8c 3d, pot 1000>"


@pytest.mark.parametrize("limits", [100, "long", {"iterations": 5}])
def test_limits_are_limits(limits: Any) -> None:
    with pytest.raises(SolveError, match=r"limits are Limits, as in Limits\(iterations=1000\), not "):
        solve("kuhn", limits=limits)


def test_limits_can_be_said_in_the_call_but_once() -> None:
    solution = solve("kuhn", iterations=30)
    assert solution.summary.iterations == 30
    assert (solution.exploitability, solution.value) == (solution.summary.exploitability, solution.summary.value)
    assert solve("kuhn", exploitability=1e-2).exploitability <= 1e-2
    with pytest.raises(SolveError, match=r"say when to stop once: by Limits\(iterations=5, "):
        solve("kuhn", iterations=5, limits=Limits(iterations=5))
