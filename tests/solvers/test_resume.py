"""Every solver goes on from its state bit by bit, however it is stopped, looked at and saved on the way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.games import load_game
from aleator.solvers.fictitious_play import FICTITIOUS_RULES
from aleator.solvers.limits import Limits
from aleator.solvers.regret_rule import NAMED_RULES
from aleator.solvers.solution import open_solution
from aleator.solvers.solve import make_solver, solve
from aleator.solvers.state import TreeSolver
from aleator.trees import build_tree

PRUNING = ("pp", "pp:lcfr", "pp:dcfr", "rbp", "rbp:cfr+,skip=5", "rbp:dcfr:1.5,0.1,2", "rbp:lcfr,skip=5", "brp", "brp:rm+",
           "rbp:hedge,threshold=1")  # fmt: skip
SAMPLING = ("mccfr", "mccfr:external,batch=7", "lmccfr:outcome", "mccfr+:robust2", "mccfr:public-chance")
ALGORITHMS = (*NAMED_RULES, *(f"{name}/simultaneous" for name in ("cfr", "dcfr", "pcfr+")), *FICTITIOUS_RULES, "egt",
              "egt:threshold=1", *SAMPLING, *PRUNING)  # fmt: skip


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
