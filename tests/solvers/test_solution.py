"""Saved solutions: complete, lazily readable, checked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from aleator.errors import GameError, SolutionError, SolveError, TooBigError
from aleator.games import load_game
from aleator.games.holdem.spot_file import format_spot, load_spot
from aleator.solvers.best_response import exploitability
from aleator.solvers.limits import Limits
from aleator.solvers.solution import TreeSolution, open_solution
from aleator.solvers.solve import memory_estimate, solve
from aleator.storage import write_arrays
from aleator.trees import build_tree


def test_saved_and_loaded_solutions_are_equal(tmp_path: Path) -> None:
    found = solve("leduc", limits=Limits(iterations=50))
    found.save(tmp_path / "leduc.solution")
    loaded = open_solution(tmp_path / "leduc.solution")
    assert loaded.summary == found.summary
    for player in (0, 1):
        np.testing.assert_array_equal(loaded.policy.probabilities[player], found.policy.probabilities[player])
    resumed = solve("leduc", resume=loaded, limits=Limits(iterations=80))
    straight = solve("leduc", limits=Limits(iterations=80))
    np.testing.assert_array_equal(resumed.state["regret0"], straight.state["regret0"])


def test_a_node_is_read_without_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = solve("goofspiel:3", limits=Limits(iterations=20))
    found.save(tmp_path / "x")
    file = open_solution(tmp_path / "x")
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
        open_solution(path)
    write_arrays(path, {"a": np.zeros(3)}, {"format": "aleator-solution", "summary": "{}"})
    with pytest.raises(SolutionError, match="damaged"):
        open_solution(path)


def test_a_solution_of_another_tree_is_refused(tmp_path: Path) -> None:
    found = solve("leduc", limits=Limits(iterations=2))
    found.save(tmp_path / "x")
    with pytest.raises(SolutionError, match="is a solution of leduc, not of kuhn: the rules differ"):
        open_solution(tmp_path / "x", build_tree(load_game("kuhn")))


def test_a_solve_refuses_what_it_cannot_go_on_from_and_what_is_no_game() -> None:
    kuhn = solve("kuhn", limits=Limits(iterations=5))
    with pytest.raises(SolutionError, match="the solution to resume is of kuhn, not of leduc"):
        solve("leduc", limits=Limits(iterations=10), resume=kuhn)
    with pytest.raises(SolutionError, match="made by dcfr in float64, not by cfr in float64"):
        solve("kuhn", "cfr", resume=kuhn)
    with pytest.raises(SolveError, match="a name, a Game, a Spot or a PublicTree, not 3"):
        solve(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"iterations": 0}, "iterations must be at least 1 and at most .*, not 0"),
        ({"exploitability": -1.0}, "must be positive and finite, not -1.0"),
        ({"exploitability": float("nan")}, "must be positive and finite, not nan"),
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


def test_files_of_earlier_versions_are_read(tmp_path: Path) -> None:
    """They had NashConv instead of the exploitability, and hold'em a summary of its own."""
    solution = solve("kuhn", limits=Limits(iterations=20))
    made = solution.summary
    fields = {name: getattr(made, name) for name in ("game", "algorithm", "dtype", "iterations", "seconds", "value")}
    fields |= {name: getattr(made, name) for name in ("nash_conv", "exploitability", "nodes", "infostates", "version")}
    fields["curve"] = [(point.iteration, point.seconds, 2 * point.exploitability, None) for point in made.curve]
    arrays = {name: solution._arrays[name] for name in solution._arrays}
    write_arrays(tmp_path / "old", arrays, {"format": "aleator-solution", "summary": json.dumps(fields)})
    assert open_solution(tmp_path / "old").summary == made
    spot = load_spot(Path(__file__).parents[2] / "examples" / "river.toml")
    solved = solve(spot, limits=Limits(iterations=10), keep_state=True)
    told = solved.summary
    best = [value + told.exploitability for value in told.values]
    fields = {"rule": told.algorithm, "quality": {"values": told.values, "best": best}, "nodes": [told.nodes]}
    fields |= {"iterations": 10, "seconds": 1.0, "curve": [(10, 1.0, told.exploitability)], "version": "0.1.0"}
    metadata = {"format": "holdem-1", "spot": format_spot(spot), "summary": json.dumps(fields)}
    write_arrays(tmp_path / "old", {name: solved._arrays[name] for name in solved._arrays}, metadata)
    found = open_solution(tmp_path / "old").summary
    assert found.exploitability == pytest.approx(told.exploitability) and found.values == told.values
    assert (found.algorithm, found.dtype, found.nodes) == (told.algorithm, told.dtype, told.nodes)
    assert solve(spot, limits=Limits(iterations=12), resume=open_solution(tmp_path / "old")).summary.iterations == 12


def test_a_spot_is_solved_like_any_other_game(tmp_path: Path) -> None:
    """By its name, as a spot and as a tree; what the engine of hold'em lacks is done by the general one."""
    raked = tmp_path / "raked.toml"
    text = (
        'board = "As Kd 7h 4c 2s"\npot = 10\nstack = 10\noop = "AA,KQs"\nip = "KK,QJs"\n[river.oop]\nbet = ["all-in"]\n'
    )
    plain = tmp_path / "plain.toml"
    plain.write_text(text)
    raked.write_text(text + "[rake]\nrate = 0.05\n")
    limits = Limits(iterations=100)
    by_name, by_spot = solve(f"holdem:{plain}", limits=limits), solve(load_spot(plain), limits=limits)
    assert by_name.summary.values == by_spot.summary.values and by_name.summary.game == f"holdem:{plain}"
    tree = build_tree(load_game(f"holdem:{plain}"))
    policy = solve(tree, limits=limits).policy
    assert policy.tree is tree and exploitability(policy) == pytest.approx(by_spot.summary.exploitability, abs=1e-2)
    general = solve(f"holdem:{plain}", "hedge", limits=Limits(iterations=2000))
    assert general.summary.value == pytest.approx(by_spot.summary.value, abs=0.05)
    assert isinstance(general, TreeSolution)
    assert sum(solve(f"holdem:{raked}", limits=limits).summary.values) < -0.1
    with pytest.raises(GameError, match="not zero-sum"):
        build_tree(load_game(f"holdem:{raked}"))
