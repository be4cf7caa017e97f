"""Hold'em from the blinds on: the board engine equals the general one on small decks, and the sizes are the thesis'."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aleator.errors import GameError, SolutionError
from aleator.games import check_game
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.cards import parse_cards
from aleator.games.holdem.game import WholeHoldemGame
from aleator.games.holdem.variants import LIMIT_FLOP, NO_LIMIT_TURN
from aleator.games.holdem.whole_game import WholeGame, load_whole_game
from aleator.solvers.algorithms import NAMED_RULES
from aleator.solvers.best_response import best_response_value, expected_value, nash_conv
from aleator.solvers.cfr import CFR
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.holdem.whole_solution import WholeSolution
from aleator.solvers.solution import open_solution
from aleator.solvers.solve import solve
from aleator.trees import build_tree
from aleator.trees.policy import uniform_policy

SHORT = replace(LIMIT_FLOP.rules, max_raises=(1, 1))
FLOP = WholeGame(
    variant=replace(LIMIT_FLOP, name="flop-holdem", rules=SHORT),
    deck=tuple(sorted(parse_cards("As Ah Ad Ks Kh Kd Qs Qh Qd"))),
)
TURN = WholeGame(
    variant=replace(
        NO_LIMIT_TURN, stack=300, menu=BetMenu.uniform(bets=("100%",), raises=("all-in",)),
    ),
    deck=tuple(sorted(parse_cards("As Ah Ks Kh Qs Qh Js Jh"))),
)  # fmt: skip
GAMES = {"flop": FLOP, "turn": TURN}


@pytest.mark.parametrize("name", list(GAMES))
def test_games_keep_the_contract(name: str) -> None:
    assert check_game(WholeHoldemGame(GAMES[name])).size.public_states > 1000


@pytest.mark.parametrize("name", list(GAMES))
def test_the_uniform_policy_is_worth_what_the_general_engine_says(name: str) -> None:
    policy, solver = uniform_policy(build_tree(WholeHoldemGame(GAMES[name]))), HoldemSolver(GAMES[name])
    found = solver.quality()
    assert found.values == pytest.approx((expected_value(policy), -expected_value(policy)), abs=1e-5)
    assert found.best == pytest.approx([best_response_value(policy, player) for player in (0, 1)], abs=1e-5)


@pytest.mark.parametrize("name", list(GAMES))
@pytest.mark.parametrize("rule", ["lcfr", "dcfr"])
def test_the_general_engine_finds_the_same_in_the_solution(name: str, rule: str, tmp_path: Path) -> None:
    """All boards up to suits against every board apart: reach, payoffs, chance and the renaming of hands must agree."""
    game = WholeHoldemGame(GAMES[name])
    solution = solve(game, rule, iterations=100)
    solution.save(tmp_path / "small.solution")
    opened = open_solution(tmp_path / "small.solution", game)
    assert isinstance(opened, WholeSolution)
    policy, summary = opened.policy, opened.summary
    assert nash_conv(policy) / 2 == pytest.approx(summary.exploitability, rel=1e-2, abs=2e-4)
    assert expected_value(policy) == pytest.approx(summary.values[0], rel=1e-3, abs=2e-4)
    uniform = nash_conv(uniform_policy(policy.tree)) / 2
    assert summary.exploitability < uniform / 10
    general = CFR(policy.tree, NAMED_RULES[rule])
    general.run(100)
    assert expected_value(general.average_policy()) == pytest.approx(summary.values[0], abs=2 * summary.exploitability)


def test_a_solve_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    game = WholeHoldemGame(FLOP)
    half = solve(game, "lcfr", iterations=5, keep_state=True)
    half.save(tmp_path / "half.solution")
    resumed = solve(game, "lcfr", iterations=10, resume=open_solution(tmp_path / "half.solution", game))
    assert resumed.exploitability == solve(game, "lcfr", iterations=10, threads=2).exploitability
    with pytest.raises(SolutionError, match="not of"):
        solve(WholeHoldemGame(TURN), "lcfr", iterations=10, resume=half)


def test_a_solution_of_other_bets_is_refused(tmp_path: Path) -> None:
    solve(WholeHoldemGame(FLOP), "lcfr", iterations=1).save(tmp_path / "short.solution")
    with pytest.raises(SolutionError, match="cards or bets differ"):
        open_solution(tmp_path / "short.solution")


def test_flop_holdem_has_the_boards_and_betting_of_the_thesis() -> None:
    plan = BoardPlan(load_whole_game("flop-holdem"))
    assert [len(boards) for boards in plan.boards] == [1, 1755]
    assert sum(len(board.maps) for board in plan.boards[1]) == 22_100
    assert [int(forest.num_rows.sum()) for forest in plan.forests] == [21, 182]
    assert len(plan.forests[0].next_nodes) == 7
    assert plan.num_infostate_actions() == 234_199_693, "169 x 21 + 1,286,792 x 182"


@pytest.mark.parametrize(
    ("name", "message"),
    [("hulh", "2 or 3 can be solved"), ("nolimit-flop", "bet menu"), ("turn-endgame", "blinds of two players")],
)
def test_what_cannot_be_solved_from_the_blinds_on_says_why(name: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        load_whole_game(name)


def test_sixteen_bits_converge_as_thirty_two_do() -> None:
    """Values on a flop carry its chance; kept times the same number on every street they would vanish in 16 bits."""
    full, half = (HoldemSolver(FLOP, NAMED_RULES["lcfr"], bits=bits) for bits in (32, 16))
    for solver in (full, half):
        solver.run(100)
    assert half.exploitability() == pytest.approx(full.exploitability(), rel=0.5)
    assert half.engine.units[1] > half.engine.units[0]
