"""A solve takes little more memory than the arrays of its solver, and its solution no more than the solve."""

from __future__ import annotations

import tracemalloc

import pytest

from aleator.errors import SolveError
from aleator.games.holdem.spot_file import parse_spot
from aleator.solvers.holdem.problem import prepare_spots
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve

BETS = 'bet = ["50%", "100%", "all-in"]\nraise = ["75%", "all-in"]\n'
TURN = parse_spot(
    'board = "3s 7h Td Ks"\npot = 2000\nstack = 19000\noop = "22+,A2s+,A8o+,K5s+,KTo+,Q8s+,J8s+,T7s+"\n'
    'ip = "22+,A2s+,A8o+,K5s+,KTo+,Q8s+,J8s+"\n'
    + "".join(f"[{street}.{player}]\n{BETS}" for street in ("turn", "river") for player in ("oop", "ip"))
)


def test_the_peak_of_a_solve_is_the_memory_of_its_solver() -> None:
    prepare_spots(TURN.solve.rule)
    own = sum(HoldemSolver(TURN).engine.memory().values())
    assert own > 20_000_000, "so that other things are small beside it"
    tracemalloc.start()
    try:
        solution = solve(TURN, limits=Limits(iterations=3))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= 1.15 * own, f"{peak / own:.2f}"
    assert solution.summary.iterations == 3


def test_a_solver_that_has_given_its_regrets_back_says_so() -> None:
    solver = HoldemSolver(TURN)
    solver.run(2)
    before = solver.quality()
    HoldemSolution.of_solver(solver, "dcfr")
    assert solver.quality() == before, "the average policy is there"
    for go_on in (lambda: solver.run(1), lambda: solver.update(0)):
        with pytest.raises(SolveError, match="cannot go on"):
            go_on()
