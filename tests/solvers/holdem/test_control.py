"""Steering a solve: locked policies, ranges set from outside, halves of iterations, resuming."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aleator.errors import SolutionError, SolveError
from aleator.games.holdem.cards import HANDS, format_card, parse_hand
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.lock import parse_lock
from aleator.games.holdem.node_path import NodePathError
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import load_spot, parse_spot
from aleator.games.holdem.subgame import subgame_of
from aleator.solvers.algorithms import NAMED_RULES
from aleator.solvers.holdem.problem import SpotProblem
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.holdem.view import HoldemView
from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve

BETS = '[river.oop]\nbet = ["75%", "all-in"]\nraise = ["all-in"]\n[river.ip]\nbet = ["75%"]\nraise = ["all-in"]\n'
CHECKS = '[river.oop]\nraise = ["all-in"]\n[river.ip]\nbet = ["75%"]\nraise = ["all-in"]\n'


def spot(
    board: str, menu: str = BETS, *locks: str, oop: str = "AA,KK:0.5,QJs,T9s", ip: str = "QQ-TT,AQo,KTs:0.7"
) -> Spot:
    text = f'board = "{board}"\npot = 100\nstack = 300\noop = "{oop}"\nip = "{ip}"\n{menu}'
    return replace(parse_spot(text), locks=tuple(parse_lock(lock) for lock in locks))


RIVER, TURN = "Qs Jh 2h 8c 3d", "7s 7h 2d 2c"


@pytest.mark.parametrize(
    ("board", "path", "rule"),
    [(RIVER, "r", "dcfr"), (RIVER, "r", "pdcfr+"), (TURN, "r:0:c:c", "dcfr"), (TURN, "r:0:c:c", "cfr+")],
)
def test_locking_a_check_is_as_if_there_was_no_bet(board: str, path: str, rule: str) -> None:
    locked, without = spot(board, BETS, f"{path} c=1"), spot(board, CHECKS)
    qualities = []
    for case in (locked, without):
        solver = HoldemSolver(case, NAMED_RULES[rule])
        solver.run(40)
        qualities.append(solver.quality())
    for mine, theirs in zip(
        qualities[0].values + qualities[0].best, qualities[1].values + qualities[1].best, strict=True
    ):
        assert mine == pytest.approx(theirs, abs=1e-3), "best responses keep the lock"
    free = HoldemSolver(spot(board), NAMED_RULES[rule])
    free.run(300)
    assert qualities[0].values[0] < free.quality().values[0] - 0.5, "in this spot the lock costs"


def test_a_solve_shows_the_locked_policy_where_it_is_locked() -> None:
    case = spot(TURN, BETS, "r:0:c:c:Ah b75=AA:0.25,KK c=rest")
    view = HoldemView(solve(case, limits=Limits(iterations=60)))
    here, elsewhere = view.node("r:0:c:c:Ah"), view.node("r:0:c:c:As")
    assert here.policy[1, parse_hand("AsAd")] == pytest.approx(0.25, abs=1e-4)
    assert here.policy[1, parse_hand("KsKd")] == 1 and here.policy[0, parse_hand("QsJs")] == 1
    assert abs(here.frequencies[0] - elsewhere.frequencies[0]) > 0.05, "other cards stay free"


@pytest.mark.parametrize("lock", ["r:0:c:c:Ah c=1", "r:0:c:c b75=AsAd,KK:0.5 c=rest"])
def test_suits_stay_apart_where_a_lock_tells_them_apart(lock: str) -> None:
    case = spot(TURN, BETS, lock)
    assert len(HoldemSolver(spot(TURN)).plan.boards[1]) < len(HoldemSolver(case).plan.boards[1])
    folded, plain = HoldemSolver(case), HoldemSolver(case, isomorphism=False)
    for solver in (folded, plain):
        solver.run(3)
    assert folded.quality().values[0] == pytest.approx(plain.quality().values[0], abs=0.01)
    assert folded.quality().exploitability == pytest.approx(plain.quality().exploitability, abs=0.02)


def test_the_halves_of_an_iteration_make_the_whole() -> None:
    case = spot(RIVER)
    whole, halves = HoldemSolver(case), HoldemSolver(case)
    uniform = whole.root_cfvs()
    for iteration in range(3):
        first = halves.update(0)
        if iteration == 0:
            np.testing.assert_allclose(first, uniform[0], rtol=1e-5, atol=1e-3)
        halves.update(1)
    whole.run(3)
    assert halves.iteration == whole.iteration == 3
    for name, vector in whole.state().items():
        np.testing.assert_array_equal(halves.state()[name], vector)
    cfvs, weights = whole.root_cfvs(), case.weights()
    assert (cfvs[0] * weights[0]).sum() + (cfvs[1] * weights[1]).sum() == pytest.approx(
        0.0, abs=1e-6 * 100 * whole.deals
    )
    assert (whole.root_cfvs(best=True) >= cfvs - 1e-2).all()
    assert not cfvs[0][weights[0] == 0].any()


@pytest.mark.parametrize("board", [RIVER, TURN])
def test_ranges_can_be_set_from_outside(board: str) -> None:
    wide, reach = spot(board), spot(board).weights()
    rng = np.random.default_rng(0)
    reach *= rng.uniform(0.1, 3.0, reach.shape)
    solver = HoldemSolver(wide, isomorphism=False)
    for player in (0, 1):
        solver.set_reach(player, reach[player])
    other = HoldemSolver(subgame_of(wide, "r", reach), isomorphism=False)
    for each in (solver, other):
        each.run(5)
    assert solver.deals == other.deals
    assert solver.quality() == other.quality()
    with pytest.raises(SolveError, match="1,326 finite numbers"):
        solver.set_reach(0, -reach[0])


def test_a_subgame_of_a_turn_is_the_river_itself() -> None:
    turn = spot(TURN)
    below = subgame_of(turn, "r:0:c:c:9h", turn.weights())
    river = HoldemSolver(replace(turn, board=below.board))
    ours = HoldemSolver(below)
    for solver in (river, ours):
        solver.run(10)
    assert ours.quality() == river.quality()
    for path, message in (("r:0:c:c", "begins with a decision"), ("r:0:b1", "possible are c")):
        with pytest.raises(NodePathError, match=message):
            subgame_of(turn, path, turn.weights())


@pytest.mark.parametrize("bits", [16, 32])
def test_a_resumed_solve_is_as_if_it_had_never_stopped(bits: int, tmp_path: Path) -> None:
    case = spot(TURN)
    file = tmp_path / "half"
    half = solve(case, limits=Limits(iterations=20), dtype=f"float{bits}", keep_state=True)
    half.save(file)
    opened = HoldemSolution.open(file)
    resumed = solve(case, limits=Limits(iterations=50), resume=opened, keep_state=True)
    straight = solve(case, limits=Limits(iterations=50), dtype=f"float{bits}", keep_state=True)
    assert resumed.summary.iterations == 50 and resumed.summary.values == straight.summary.values
    assert set(resumed.state) == set(straight.state) and resumed.state["regret0"].any()
    for name, vector in straight.state.items():
        np.testing.assert_array_equal(resumed.state[name], vector)
    assert resumed.summary.seconds > half.summary.seconds
    assert [point.iteration for point in resumed.summary.curve][-1] == 50
    again = solve(case, limits=Limits(iterations=50), resume=resumed)
    assert again.summary.values == resumed.summary.values, "nothing left to do"
    bare = solve(case, limits=Limits(iterations=5))
    for broken, rule, message in (
        (bare, None, "--resumable"),
        (opened, "cfr+", "not by cfr"),
        (opened, None, "only on the spot"),
    ):
        other = spot(RIVER) if "spot" in message else case
        with pytest.raises(SolutionError, match=message):
            solve(other, rule, resume=broken)


def test_runouts_are_all_cards_and_average_to_the_node() -> None:
    view = HoldemView(solve(spot(TURN), limits=Limits(iterations=20)))
    runouts, here = view.runouts("r:0:c:c"), view.node("r:0:c:c")
    assert len(runouts) == 48 and sum(runout.chance for runout in runouts) == pytest.approx(1.0)
    for player in (0, 1):
        mean = sum(runout.chance * runout.view.mean(player, runout.view.evs[player]) for runout in runouts)
        assert mean == pytest.approx(here.mean(player, here.evs[player]), abs=1e-6)
    assert format_card(runouts[0].card) == "As" and str(runouts[0].view.path) == "r:0:c:c:As"
    with pytest.raises(NodePathError, match="no card is dealt"):
        view.runouts("r")


def test_realised_equity_is_one_when_all_is_checked_down_and_counts_the_chips_put_in() -> None:
    checked = HoldemView(solve(spot(RIVER, ""), limits=Limits(iterations=1))).node("r")
    for player in (0, 1):
        known = checked.weights[player] * checked.equities[player] > 0
        np.testing.assert_allclose(checked.realised[player][known], 1.0, rtol=1e-9)
        assert checked.mean_realised(player) == pytest.approx(1.0)
    nuts = spot("As Ks Qs Js 2d", '[river.oop]\nbet = ["all-in"]\n', oop="Ts9s", ip="4c3c")
    view = HoldemView(solve(nuts, limits=Limits(iterations=400)))
    after = view.node("r:0:b300")
    assert after.realised[0][parse_hand("Ts9s")] == pytest.approx(1.0, abs=0.01), "the pot, and 300 of its own, of 400"
    assert after.mean_realised(0) == pytest.approx(1.0, abs=0.01)
    assert np.isnan(after.realised[1][parse_hand("4c3c")]), "no equity to realise"


def test_one_hand_against_one_hand() -> None:
    """Aces against a set with one street to come: all money goes in; each has the equity of its outs."""
    duel = spot("Ks 7h Td 3s", '[turn.oop]\nbet = ["all-in"]\n', oop="7s7d", ip="AsAh")
    solver = HoldemSolver(duel)
    solver.run(500)
    view = HoldemView(HoldemSolution.of_solver(solver, "dcfr")).node("r")
    equity = view.equities[1][parse_hand("AsAh")]
    assert equity == pytest.approx(2 / 44), "only an ace helps"
    assert len(set(HANDS[parse_hand("7s7d")])) == 2
    assert solver.quality().values[1] == pytest.approx(-50.0, abs=0.5), "the aces fold to the all-in"
    assert solver.quality().exploitability < 0.3


@pytest.mark.slow
def test_a_single_raised_flop_takes_what_the_estimate_promised() -> None:
    """100 big blinds, two bet sizes: iterations and memory within 30 % (seconds follow from the measured speed)."""
    case = load_spot(Path(__file__).parents[3] / "examples" / "srp-flop.toml")
    promised = SpotProblem(HoldemGame(case)).estimate(measure=False)
    solver = HoldemSolver(case, threads=2)
    assert sum(solver.engine.memory().values()) == pytest.approx(promised.memory, rel=0.3)
    while solver.exploitability() > case.solve.target * case.pot:
        solver.run(10)
        assert solver.iteration < 1.3 * promised.iterations
    assert solver.iteration > 0.7 * promised.iterations
