"""Whole spots on a device against the CPU's own solver, iteration by iteration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from aleator.errors import SolveError
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.cards import HANDS, parse_cards
from aleator.games.holdem.spot import Rake, Spot
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.batched_holdem.whole import AVERAGE, BEST, WholeEngine
from aleator.solvers.engines.batched_holdem.whole_cards import some_hands
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.holdem.solver import HoldemSolver

MENU = BetMenu.uniform(bets=["100%"], raises=["all-in"])


def spot(board: str, *, stack: int = 150, oop: str = "AA,KQ,98s,55", ip: str = "KK,AJ,T9s,66") -> Spot:
    return Spot(board=parse_cards(board), pot=100, stack=stack, oop=oop, ip=ip, menu=MENU)


@pytest.mark.parametrize("rule", ["dcfr", "lcfr"])
@pytest.mark.parametrize("board", ["Ks 7h 2d 9s 4c", "Ks 7h 2d 9s", "Ks 7s 2s 9s"])
def test_iterations_are_those_of_the_other_engine(board: str, rule: str) -> None:
    """Values of the average and best responses after 3 iterations; the last board has suits that are alike."""
    plan = BoardPlan(spot(board))
    solver, engine = HoldemSolver(plan, parse_rule(rule)), WholeEngine([plan], parse_rule(rule))
    solver.run(3)
    engine.run(3)
    hands = engine.streets[0].hands[0].numpy()
    for best, mode in ((False, AVERAGE), (True, BEST)):
        expected = solver.root_cfvs(best=best)
        for player in (0, 1):
            found = np.zeros(1326)
            found[hands] = engine.traverse(player, mode)[0].numpy()
            there = plan.weights[player] > 0
            np.testing.assert_allclose(found[there], expected[player][there], atol=2e-3, rtol=1e-4)


def test_chunks_of_boards_change_nothing() -> None:
    plan = BoardPlan(spot("Ks 7h 2d 9s"))
    whole, pieces = (WholeEngine([plan], parse_rule("dcfr")) for _ in range(2))
    pieces._chunk_bytes = 4 * pieces.streets[1].forest.num_nodes * pieces.streets[1].num_hands * 7
    for engine in (whole, pieces):
        engine.run(2)
    np.testing.assert_allclose(whole.traverse(0, BEST).numpy(), pieces.traverse(0, BEST).numpy(), atol=1e-4)


def test_spots_of_one_betting_are_solved_together_as_alone() -> None:
    spots = [spot("Ks 7h 2d 9s"), spot("Ac Td 9d 8h", oop="AQ,TT,76s", ip="JJ,A9s,KQ"), spot("Ks 7s 2s 9s")]
    plans = [BoardPlan(one) for one in spots]
    together = WholeEngine(plans, parse_rule("sharp-dcfr+"))
    together.run(3)
    for number, plan in enumerate(plans):
        alone = WholeEngine([plan], parse_rule("sharp-dcfr+"))
        alone.run(3)
        for player in (0, 1):
            expected, found = np.zeros(1326), np.zeros(1326)
            expected[alone.streets[0].hands[0].numpy()] = alone.traverse(player, BEST)[0].numpy()
            found[together.streets[0].hands[number].numpy()] = together.traverse(player, BEST)[number].numpy()
            there = plan.weights[player] > 0
            np.testing.assert_allclose(found[there], expected[there], atol=2e-3, rtol=1e-4)


def test_boards_get_equally_many_hands_with_all_that_are_wanted() -> None:
    live = torch.tensor([[True, True, False, True, True], [False, True, True, True, False]])
    wanted = torch.tensor([True, False, True, True, False])
    assert some_hands(live, wanted).tolist() == [[0, 3], [2, 3]]
    assert some_hands(live, wanted, 4).tolist() == [[0, 1, 3, 4], [0, 1, 2, 3]], "blocked ones where too few are live"
    none = torch.tensor([True, False, False, False, False])
    assert some_hands(live, none).tolist() == [[0], [1]], "where none is left another stands in"


def test_policies_on_blocked_boards_are_zero() -> None:
    plan = BoardPlan(spot("Ks 7h 2d 9s"))
    engine = WholeEngine([plan], parse_rule("dcfr"))
    engine.run(2)
    hands, decisions = plan.hands[0], engine.streets[1].forest.rows_of[0]
    for board, policy in zip(plan.boards[1], engine.average_policies(1, 0, hands), strict=True):
        assert policy.shape == (len(decisions), len(hands))
        dead = np.isin(HANDS[hands], board.cards).any(1)
        assert not policy[:, dead].any() and (policy[:, ~dead].sum(0) > 0.9).all()


def test_spots_of_other_bets_are_not_solved_together() -> None:
    plans = [BoardPlan(spot("Ks 7h 2d 9s", stack=stack)) for stack in (150, 160)]
    with pytest.raises(SolveError, match="the same pot, stacks and bets"):
        WholeEngine(plans, parse_rule("dcfr"))


@pytest.mark.slow
def test_a_flop_is_that_of_the_other_engine() -> None:
    plan = BoardPlan(spot("Ks 7s 2s", stack=100, oop="AA,KQs", ip="KK,QJs"))
    solver, engine = HoldemSolver(plan, parse_rule("dcfr")), WholeEngine([plan], parse_rule("dcfr"))
    solver.run(2)
    engine.run(2)
    hands = engine.streets[0].hands[0].numpy()
    for player in (0, 1):
        found = np.zeros(1326)
        found[hands] = engine.traverse(player, BEST)[0].numpy()
        there = plan.weights[player] > 0
        np.testing.assert_allclose(found[there], solver.root_cfvs(best=True)[player][there], atol=5e-3, rtol=1e-3)


def test_what_it_cannot_solve_is_refused() -> None:
    raked = replace(spot("Ks 7h 2d 9s 4c"), rake=Rake(rate=0.05, cap=3))
    with pytest.raises(SolveError, match="with rake"):
        WholeEngine([BoardPlan(raked)], parse_rule("dcfr"))
    with pytest.raises(SolveError, match="without predictions"):
        WholeEngine([BoardPlan(spot("Ks 7h 2d 9s 4c"))], parse_rule("pcfr+"))
