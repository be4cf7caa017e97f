"""Every solver goes on from its state bit by bit, however it is stopped, looked at and saved on the way."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.games.holdem.spot_file import load_spot
from aleator.solvers.algorithms import ALGORITHMS as KNOWN
from aleator.solvers.limits import Limits
from aleator.solvers.solution import Solution, open_solution
from aleator.solvers.solve import make_solver, solve
from aleator.solvers.state import TreeSolver
from aleator.trees import build_tree

SPOT = Path(__file__).parents[2] / "examples" / "river.toml"
PRUNING = ("pp:lcfr", "pp:dcfr", "rbp:cfr+,skip=5", "rbp:dcfr:1.5,0.1,2", "rbp:lcfr,skip=5", "brp:rm+",
           "rbp:hedge,threshold=1")  # fmt: skip
SAMPLING = ("mccfr:external,batch=7", "lmccfr:outcome", "mccfr+:robust2", "mccfr:public-chance")
ALGORITHMS = (*(name for name, known in KNOWN.items() if not known.exact), "cfr/simultaneous", "dcfr/simultaneous",
              "pcfr+/simultaneous", "egt:threshold=1", *SAMPLING, *PRUNING)  # fmt: skip


def copied(solver: TreeSolver, algorithm: str) -> TreeSolver:
    """Returns another solver that goes on from the same state."""
    other = make_solver(solver.tree, algorithm, seed=99)
    other.restore(solver.iteration, {name: np.array(vector) for name, vector in solver.state().items()})
    return other


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_stopping_and_looking_change_no_bit(algorithm: str) -> None:
    tree = build_tree(load_game("leduc"))
    straight, stopped = (make_solver(tree, algorithm) for _ in range(2))
    straight.run(250)
    for part, iterations in enumerate((1, 2, 40, 7, 160, 1, 39)):
        stopped.run(iterations)
        if part % 2:
            stopped.nash_conv()
            stopped.average_policy()
            stopped.current_policy()
        if part in (1, 2, 4):
            stopped = copied(stopped, algorithm)
    assert stopped.iteration == straight.iteration == 250
    for name, vector in straight.state().items():
        assert stopped.state()[name].tobytes() == vector.tobytes(), name
    for mine, other in zip(
        straight.average_policy().probabilities, stopped.average_policy().probabilities, strict=True
    ):
        assert mine.tobytes() == other.tobytes()
    assert stopped.nodes_touched == straight.nodes_touched


@pytest.mark.parametrize("algorithm", ["dcfr", "rbp:lcfr,skip=5", "brp", "mccfr", "egt"])
def test_a_solve_resumed_from_a_file_equals_one_that_was_never_stopped(algorithm: str, tmp_path: Path) -> None:
    for iterations in (30, 31, 90):
        earlier = open_solution(tmp_path / "x") if (tmp_path / "x").exists() else None
        found = solve("leduc", algorithm, limits=Limits(iterations=iterations), resume=earlier)
        found.save(tmp_path / "x")
    straight = solve("leduc", algorithm, limits=Limits(iterations=90))
    assert found.summary.exploitability == straight.summary.exploitability
    for name, vector in straight.state.items():
        assert np.array_equal(found.state[name], vector, equal_nan=True), name


@pytest.mark.parametrize("spot", [False, True])
def test_checkpoints_can_be_resumed_and_change_nothing(spot: bool, tmp_path: Path) -> None:
    game = load_spot(SPOT) if spot else "leduc"
    kept: list[Solution] = []

    def keep(solution: Solution) -> None:
        solution.save(tmp_path / str(len(kept)))
        kept.append(solution)

    limits = Limits(iterations=120)
    found = solve(game, limits=limits, on_checkpoint=keep, checkpoint_seconds=0.0, keep_state=True)
    straight = solve(game, limits=limits, keep_state=True)
    assert kept and kept[0].summary.iterations < 120
    resumed = solve(game, limits=limits, resume=open_solution(tmp_path / "0"), keep_state=True)
    for name, vector in straight.state.items():
        assert np.array_equal(found.state[name], vector) and np.array_equal(resumed.state[name], vector)
    assert found.summary.curve[-1].exploitability == straight.summary.curve[-1].exploitability
    with pytest.raises(SolveError, match="between checkpoints must be at least 0, not nan"):
        solve(game, on_checkpoint=keep, checkpoint_seconds=math.nan)


def test_a_spot_that_is_ended_early_keeps_its_state_if_checkpoints_do() -> None:
    spot = load_spot(SPOT)
    for on_checkpoint in (None, lambda solution: None):
        found = solve(spot, on_progress=lambda now: now.iteration > 5, on_checkpoint=on_checkpoint)
        assert bool(found.state) == (on_checkpoint is not None)
        assert not solve(spot, limits=Limits(iterations=3), on_checkpoint=on_checkpoint).state
