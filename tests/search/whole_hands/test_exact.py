"""Rivers of whole hands against the exact solver: policies, cfvs behind actions, and what a gadget promises."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import CALL, raise_to
from aleator.games.holdem.cards import blocked_hands
from aleator.games.holdem.equity import hand_strengths
from aleator.games.holdem.level_menu import LevelMenu
from aleator.search.whole_hands.exact import solve_exactly, spot_of
from aleator.search.whole_hands.menus import MENU
from aleator.search.whole_hands.rounds import Constraint, RoundGame, SolvedRound, from_street_start, round_game
from aleator.solvers.holdem.solver import HoldemSolver
from tests.search.whole_hands.hands import BOARD, dealt, random_reach


def judged(solved: SolvedRound, game: RoundGame | None = None) -> HoldemSolver:
    """Returns an exact solver whose average policies are those of a solved river."""
    solver = HoldemSolver(spot_of(game or solved.game))
    for number, policy in solved.policies.items():
        slot, player = int(solver.plan.slot[number]), int(solved.game.root.tree.player[number])
        rows = solver.plan.rows(player, solver.plan.boards[0][0])
        block = np.zeros(solver.engine.decision_rows(0, 0, slot)[1], np.float32)
        block[:, : len(rows)] = policy[:, rows]
        solver.engine.write("policy_sum", 0, 0, slot, block)
    return solver


def test_a_river_is_solved() -> None:
    game = round_game(dealt(3), MENU, random_reach(0), to_the_end=True)
    few, many = (judged(solve_exactly(game, count)).exploitability() / game.pot for count in (1, 200))
    assert many < 0.003 < 0.1 < few


@pytest.mark.slow
@pytest.mark.parametrize("opening", [300, 1_000, 3_000])
def test_rivers_are_solved_as_the_agents_solve_them(opening: int) -> None:
    """With the agents' iterations, from stacks of 33 pots to 3: at most half a percent of the pot to exploit."""
    from aleator.agents.whole_hands.search_settings import SearchSettings

    game = round_game(dealt(3, opening), MENU, random_reach(opening), to_the_end=True)
    solved = solve_exactly(game, SearchSettings().iterations(3, to_the_end=True))
    assert judged(solved).exploitability() / game.pot < 0.005


def test_cfvs_behind_the_roots_actions_sum_to_the_roots() -> None:
    solved = solve_exactly(round_game(dealt(3), MENU, random_reach(1), to_the_end=True), 30)
    np.testing.assert_allclose(sum(solved.after), solved.root_cfvs[1], atol=0.5)  # of thousands of chips
    assert np.abs(solved.root_cfvs[1]).max() > 1e5


def test_chips_count_from_the_start_of_the_street() -> None:
    state = dealt(3).act(raise_to(1_000))
    betting = from_street_start(state.betting)
    assert (betting.dead, betting.contributions, betting.stacks) == (4_000, (1_000, 0), (17_000, 18_000))
    game = round_game(state, MENU, random_reach(0), to_the_end=True)
    assert (game.pot, game.stack, game.player) == (4_000, 18_000, 1)
    assert game.root.children[0].chips == (1_000, 0)  # player 1 folds and loses no more than its share of the pot


def test_a_bet_that_was_made_is_in_the_tree() -> None:
    game = round_game(dealt(3), MENU, random_reach(0), to_the_end=True, added=raise_to(1_234))
    assert raise_to(1_234) in game.root.actions
    assert raise_to(1_234) not in round_game(dealt(3), MENU, random_reach(0), to_the_end=True).root.actions
    with pytest.raises(SolveError, match="cannot add 'b10'"):
        round_game(dealt(3), MENU, random_reach(0), to_the_end=True, added=raise_to(10))


def test_who_has_no_hand_left_may_hold_anything() -> None:
    """A drawn iteration may bet aces alone, and an ace may come."""
    reach = random_reach(0)
    reach[0] = 0.0
    reach[0, np.flatnonzero(blocked_hands(BOARD))[0]] = 1.0
    game = round_game(dealt(3), MENU, reach, to_the_end=True)
    np.testing.assert_array_equal(game.reach[0], ~blocked_hands(BOARD))
    assert game.reach[1].std() > 0.0


def best_response(solved: SolvedRound, reach: FloatArray, player: int) -> FloatArray:
    """Returns what a best response of a player gets with each hand against solved policies, in chips."""
    game = replace(solved.game, reach=reach)
    cfvs: FloatArray = judged(solved, game).root_cfvs(best=True)[player]
    return cfvs


@pytest.mark.parametrize("seat", [0, 1])
def test_a_gadget_keeps_its_promise(seat: int) -> None:
    """Values of an equilibrium are promised; whatever range the opponent is dealt, no hand of it gets much more."""
    state = dealt(3) if seat == 0 else dealt(3).act(CALL)
    game = round_game(state, MENU, random_reach(2), to_the_end=True)
    exact = judged(solve_exactly(game, 400))
    promised = exact.root_cfvs(best=True)[1 - seat]
    live = ~blocked_hands(state.board)
    wrong = np.where(hand_strengths(np.array(state.board)) > 0.8, 1.0, 0.001) * live  # strong hands only: not so
    unit = game.pot * game.reach[seat].sum()
    safe = solve_exactly(game, 400, constraint=Constraint(1 - seat, promised, live.astype(np.float64)))
    misled = np.stack([wrong if player == 1 - seat else game.reach[player] for player in (0, 1)])
    unsafe = solve_exactly(replace(game, reach=np.where(live, np.maximum(misled, 1e-7), 0.0)), 400)
    kept, broken = ((best_response(s, game.reach, 1 - seat) - promised).max() / unit for s in (safe, unsafe))
    assert kept < 0.02 < 0.08 < broken


def test_a_watched_players_cfvs_behind_the_card_add_up_to_those_before_it() -> None:
    """Nobody bets on this turn, so that its value is the mean over the 44 rivers that two hands leave."""
    menu = LevelMenu.parse("100%", "100%", "", "100%; all-in")
    game = round_game(dealt(2, 6_000), menu, random_reach(4), to_the_end=True)
    solved = solve_exactly(game, 20, watch=1)
    assert solved.next_cfvs is not None
    checked = game.root.children[0]
    behind = sum(solved.next_cfvs(checked.children[0].number, card) for card in range(52) if card not in game.board)
    np.testing.assert_allclose(behind / 44, solved.root_cfvs[1], rtol=1e-3, atol=1e-3 * np.abs(behind / 44).max())
    for node in (game.root, checked):
        np.testing.assert_allclose(solved.cfvs[node.number], solved.root_cfvs[1], rtol=1e-4, atol=1.0)
    assert np.abs(solved.root_cfvs[1]).max() > 1e5
    unwatched = solve_exactly(game, 2)
    assert unwatched.next_cfvs is None and not unwatched.cfvs
