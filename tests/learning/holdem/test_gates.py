"""Gates: policies of a turn round in the exact turn game."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from aleator.errors import SolveError
from aleator.games.holdem.cards import NUM_CARDS, NUM_HANDS, blocked_hands, parse_cards
from aleator.games.holdem.hand_range import parse_hand_range
from aleator.learning.holdem.gates import judge, round_of, round_policies, round_spot
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.network import NetworkShape
from aleator.learning.holdem.streets import STREETS
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.batched_holdem.shapes import PotMenu
from aleator.solvers.holdem.solver import HoldemSolver

BOARD = parse_cards("3s7hTdKs")


def test_an_exact_round_passes_and_a_uniform_one_does_not() -> None:
    reach = np.stack([parse_hand_range("AA,KQs,99,76s,A5s"), parse_hand_range("KK,QQ,AKs,T9s,54s")])
    spot = round_spot(BOARD, 1.0, np.where(blocked_hands(BOARD), 0.0, reach))
    shape, stakes = round_of(spot)
    assert shape == PotMenu(to_showdown=False).betting(1.0).shape and sorted(stakes) == [0.5, 1.5]
    exact = HoldemSolver(spot)
    exact.run(200)
    policies = np.zeros((shape.num_rows, NUM_HANDS))
    for number in shape.decisions:
        policies[shape.rows(number)] = 1.0 / len(shape.children[number])
    uniform = judge(spot, shape, policies, iterations=200)
    few, batched = (judge(spot, shape, policies, iterations=4, device=device) for device in (None, "cpu"))
    np.testing.assert_allclose((*batched.best, batched.tolerance), (*few.best, few.tolerance), atol=2e-3)
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


def test_a_network_is_judged_by_what_it_plays_on_turns_and_flops() -> None:
    """An untrained network checks what follows down: its play is worth something, far less than the exact one."""
    reach = np.stack([parse_hand_range("AA,KQs,99,76s,A5s"), parse_hand_range("KK,QQ,AKs,T9s,54s")])
    rule = parse_rule("lcfr/simultaneous")
    for cards, street in ((BOARD, "turn"), (BOARD[:3], "flop")):
        spot = round_spot(cards, 1.0, np.where(blocked_hands(cards), 0.0, reach))
        policies = round_policies(spot, untrained(street), rule, 20)
        shape, _ = round_of(spot)
        assert policies.shape == (shape.num_rows, NUM_HANDS) and spot.street == len(cards) - 2
        assert policies[:2].sum(axis=0)[spot.weights()[0] > 0] == pytest.approx(1.0, abs=1e-5)
        if street == "turn":
            gate = judge(spot, shape, policies, iterations=100)
            assert 0.0 < gate.exploitability < 0.2


def untrained(street: str) -> KnotNetwork:
    shape = NetworkShape(street=street, width=16, layers=2, knots=8, levels=3, bands=3, band_knots=4)
    return KnotNetwork(shape, NUM_CARDS - STREETS[street].board, torch.Generator().manual_seed(0))
