"""Saved solutions: complete, lazily readable, checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.errors import SolutionError, SolveError, TooBigError
from aleator.games import load_game
from aleator.solvers.solution import SolutionFile
from aleator.solvers.solve import Limits, memory_estimate, solve
from aleator.storage import write_arrays
from aleator.trees import build_tree


def test_saved_and_loaded_solutions_are_equal(tmp_path: Path) -> None:
    found = solve("leduc", limits=Limits(iterations=50))
    found.save(tmp_path / "leduc.solution")
    loaded = SolutionFile(tmp_path / "leduc.solution").load()
    assert loaded.summary == found.summary
    for player in (0, 1):
        np.testing.assert_array_equal(loaded.policy.probabilities[player], found.policy.probabilities[player])
    resumed = solve("leduc", resume=loaded, limits=Limits(iterations=80))
    straight = solve("leduc", limits=Limits(iterations=80))
    np.testing.assert_array_equal(resumed.state["regret0"], straight.state["regret0"])


def test_a_node_is_read_without_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = solve("goofspiel:3", limits=Limits(iterations=20))
    found.save(tmp_path / "x")
    file = SolutionFile(tmp_path / "x")
    monkeypatch.setattr("aleator.solvers.solution.build_tree", lambda game: pytest.fail("built a tree"))
    for player in (0, 1):
        for node in found.policy.tree.decisions(player):
            np.testing.assert_array_equal(file.probabilities(int(node)), found.policy[node])
            np.testing.assert_array_equal(file.probabilities(int(node), hand=0), found.policy[node][:, 0])
    with pytest.raises(SolutionError, match="no node 999"):
        file.probabilities(999)
    with pytest.raises(SolutionError, match="no hand 7 at node 0; hands are 0 to 0"):
        file.probabilities(0, hand=7)
    terminal = found.policy.tree.num_nodes - 1
    with pytest.raises(SolutionError, match="not a decision"):
        file.probabilities(terminal)


def test_files_that_are_not_solutions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_arrays(path, {"a": np.zeros(3)}, {})
    with pytest.raises(SolutionError, match="not a solution"):
        SolutionFile(path)
    write_arrays(path, {"a": np.zeros(3)}, {"format": "aleator-solution", "summary": "{}"})
    with pytest.raises(SolutionError, match="damaged"):
        SolutionFile(path)


def test_a_solution_of_another_tree_is_refused(tmp_path: Path) -> None:
    found = solve("leduc", limits=Limits(iterations=2))
    found.save(tmp_path / "x")
    with pytest.raises(SolutionError, match="does not fit"):
        SolutionFile(tmp_path / "x").load(build_tree(load_game("kuhn")))


def test_a_solve_refuses_what_it_cannot_go_on_from_and_what_is_no_game() -> None:
    kuhn = solve("kuhn", limits=Limits(iterations=5))
    with pytest.raises(SolutionError, match="the solution to resume is of kuhn, not of leduc"):
        solve("leduc", limits=Limits(iterations=10), resume=kuhn)
    with pytest.raises(SolutionError, match="made by dcfr in float64, not by cfr in float64"):
        solve("kuhn", "cfr", resume=kuhn)
    with pytest.raises(SolveError, match="a name, a Game or a PublicTree, not 3"):
        solve(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"iterations": 0}, "iterations must be at least 1, not 0"),
        ({"target": -1.0}, "a positive exploitability, not -1.0"),
        ({"target": float("nan")}, "a positive exploitability, not nan"),
        ({"seconds": 0.0}, "seconds must be positive, not 0.0"),
    ],
)
def test_limits_are_checked_when_they_are_made(limits: dict[str, float], message: str) -> None:
    assert Limits() == Limits(iterations=1000)
    with pytest.raises(SolveError, match=message):
        Limits(**limits)  # type: ignore[arg-type]


def test_what_does_not_fit_the_memory_is_refused_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = build_tree(load_game("leduc"))
    assert memory_estimate(tree, "float32") < memory_estimate(tree, "float64") < 10_000_000
    monkeypatch.setattr("aleator.solvers.solve.available_memory", lambda: 1000)
    with pytest.raises(TooBigError, match="solving leduc would take about"):
        solve(tree)
