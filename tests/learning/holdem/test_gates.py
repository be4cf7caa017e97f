"""Gates: policies of a turn round in the exact turn game."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games.holdem.cards import NUM_HANDS, blocked_hands, parse_cards
from aleator.games.holdem.hand_range import parse_hand_range
from aleator.learning.holdem.gates import judge, round_of, turn_spot
from aleator.solvers.engines.batched_holdem.shapes import PotMenu
from aleator.solvers.holdem.solver import HoldemSolver

pytestmark = pytest.mark.xdist_group("holdem")  # one process compiles the kernels

BOARD = parse_cards("3s7hTdKs")


def test_an_exact_round_passes_and_a_uniform_one_does_not() -> None:
    reach = np.stack([parse_hand_range("AA,KQs,99,76s,A5s"), parse_hand_range("KK,QQ,AKs,T9s,54s")])
    spot = turn_spot(BOARD, 1.0, np.where(blocked_hands(BOARD), 0.0, reach))
    shape, stakes = round_of(spot)
    assert shape == PotMenu(to_showdown=False).betting(1.0).shape and sorted(stakes) == [0.5, 1.5]
    exact = HoldemSolver(spot)
    exact.run(200)
    policies = np.zeros((shape.num_rows, NUM_HANDS))
    for number in shape.decisions:
        policies[shape.rows(number)] = 1.0 / len(shape.children[number])
    uniform = judge(spot, shape, policies, iterations=200)
    best = exact.exploitability() / spot.pot
    assert best < 0.001 and uniform.tolerance < 0.003
    assert uniform.exploitability > 0.05
    root = exact.plan.betting
    left = [(0, root)]
    while left:  # the exact solve's own policies of the round
        number, node = left.pop()
        if not node.actions or node.street != root.street:
            continue
        place = int(exact.plan.slot[node.number])
        sums = exact.engine.read("policy_sum", 0, 0, place)
        rows = exact.plan.rows(node.player, exact.plan.boards[0][0])
        total = sums.sum(0)
        average = np.divide(sums, total, out=np.full_like(sums, 1.0 / len(sums)), where=total > 0)
        policies[shape.rows(number)][:, rows] = average[:, : len(rows)]
        left += zip(shape.children[number], node.children, strict=True)
    found = judge(spot, shape, policies, iterations=200)
    assert found.exploitability < 0.002 < uniform.exploitability / 25
    with pytest.raises(SolveError, match="policies must be"):
        judge(spot, shape, policies[:3])
    other = PotMenu(to_showdown=False).betting(3.0).shape
    with pytest.raises(SolveError, match="another betting round"):
        judge(spot, other, np.zeros((other.num_rows, NUM_HANDS)))
