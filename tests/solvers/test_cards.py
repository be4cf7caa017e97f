"""Payoffs by cards in the CPU engine: those of the matrices, for ranges that are too wide for matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.spot_file import parse_spot
from aleator.solvers.best_response import expected_value, nash_conv
from aleator.solvers.cfr import CFR
from aleator.solvers.engines.cpu import layout
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.trees import build_tree, uniform_policy
from aleator.trees.policy import random_policy

TEXT = """
board = "As Kd 7h 4c 2s"
pot = 10
stack = 20
oop = "{oop}"
ip = "{ip}"
[river.oop]
bet = ["100%", "all-in"]
[river.ip]
bet = ["all-in"]
"""
MIDDLE = parse_spot(TEXT.format(oop="22+,A2s+,KTo+,Q8s+", ip="66+,A8s+,QJo,T8s+,KQo:0.4"))
WIDE = parse_spot(TEXT.format(oop="random", ip="random"))


def test_cards_give_what_matrices_give(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = build_tree(HoldemGame(MIDDLE))
    written = replace(tree, payoffs=tuple(tree.payoffs))
    policy = random_policy(tree, np.random.default_rng(0))
    monkeypatch.setattr(layout, "FEWEST_PAIRS", 0)
    packed, plain = CFR(tree), CFR(written)
    assert len(packed._engine.layout.sides[0].matrix) == 0 < len(plain._engine.layout.sides[0].matrix)
    assert nash_conv(policy) == pytest.approx(nash_conv(replace(policy, tree=written)), abs=1e-9)
    for solver in (packed, plain):
        solver.run(3)
    for mine, theirs in zip(packed.average_policy().probabilities, plain.average_policy().probabilities, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)


def test_all_hands_are_evaluated_without_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """As by the engine of hold'em: the uniform policy of a river with all 1,081 hands of both."""
    monkeypatch.setattr("aleator.games.operators.CardDeal.matrix", lambda self: pytest.fail("a matrix was made"))
    policy, solver = uniform_policy(build_tree(HoldemGame(WIDE))), HoldemSolver(WIDE)
    quality = solver.quality()
    assert expected_value(policy) == pytest.approx(quality.values[0], abs=1e-4)
    assert nash_conv(policy) == pytest.approx(2 * quality.exploitability, abs=1e-3)
    assert policy.tree.num_infostates == 1081 * sum(len(policy.tree.decisions(player)) for player in (0, 1))
