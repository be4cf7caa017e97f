"""A solve takes little more memory than the arrays of its solver, and its solution no more than the solve."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path

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


IN_A_PROCESS = """
import sys
from pathlib import Path
from aleator.games.holdem.spot_file import parse_spot
from aleator.solvers.holdem.problem import prepare_spots
from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve

def status(name):
    return 1024 * next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))

spot = parse_spot(Path(sys.argv[1]).read_text())
prepare_spots(spot.solve.rule)
before = status("VmRSS")
solve(spot, limits=Limits(iterations=2))
print(status("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")
def test_a_process_grows_by_the_memory_of_the_solver() -> None:
    """As the system counts, freed and never given back included, on the turn example with full ranges."""
    path = Path(__file__).parents[3] / "examples" / "turn-endgame.toml"
    own = sum(HoldemSolver(parse_spot(path.read_text())).engine.memory().values())
    done = subprocess.run([sys.executable, "-c", IN_A_PROCESS, str(path)], capture_output=True, text=True, check=True)
    assert own > 150_000_000 and int(done.stdout) <= 1.15 * own, f"{int(done.stdout) / own:.2f}"


def test_a_solver_that_has_given_its_regrets_back_says_so() -> None:
    solver = HoldemSolver(TURN)
    solver.run(2)
    before = solver.quality()
    HoldemSolution.of_solver(solver, "dcfr")
    assert solver.quality() == before, "the average policy is there"
    for go_on in (lambda: solver.run(1), lambda: solver.update(0)):
        with pytest.raises(SolveError, match="cannot go on"):
            go_on()
