"""The gadgets above hold'em spots: constraints are kept, and margins are those of the same gadget as a public tree."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games.holdem.cards import without_common_cards
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.spot_file import parse_spot
from aleator.search.gadgets import maxmargin_gadget
from aleator.search.holdem_resolving import HoldemReSolver
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.linear_program import solve_linear_program
from aleator.solvers.regret_rule import CFR_PLUS
from aleator.trees import build_tree

SPOT = """
board = "QsJh2h8c3d"
pot = 100
stack = 200
oop = "AA,KQs,T9s,76s,99"
ip = "KK,QJs,ATs,65s,TT"
[river.oop]
bet = ["100%"]
[river.ip]
bet = ["100%"]
"""


def blueprint(iterations: int) -> HoldemSolver:
    solver = HoldemSolver(parse_spot(SPOT), CFR_PLUS)
    solver.run(iterations)
    return solver


@pytest.mark.parametrize("searcher", [0, 1])
def test_gadgets_keep_the_constraint(searcher: int) -> None:
    known = blueprint(3)
    opponent = 1 - searcher
    constraint = known.root_cfvs(best=True)[opponent]
    exists = known.engine.root_rows[opponent]
    cf_reach = without_common_cards(known.plan.weights[searcher])
    margins = {}
    for gadget in ("resolve", "maxmargin"):
        solver = HoldemReSolver(parse_spot(SPOT), searcher, constraint, gadget=gadget)
        solver.run(1000)
        assert solver.iteration == 1000
        margins[gadget] = ((constraint - solver.opponent_cfvs()) / np.where(cf_reach > 0, cf_reach, 1.0))[exists]
    assert margins["resolve"].min() > -0.1  # of a pot of 100
    assert margins["maxmargin"].min() > margins["resolve"].min() - 0.02
    assert np.median(margins["maxmargin"]) > 0.5  # 65s cannot get less than by folding: its margin is 0
    assert margins["maxmargin"].min() == pytest.approx(
        exact_margin(searcher, constraint / np.maximum(cf_reach, 1e-9)), abs=0.05
    )


def exact_margin(searcher: int, alternative: np.ndarray) -> float:
    """Returns the largest smallest margin, by linear programming on the general form of the spot."""
    game = HoldemGame(parse_spot(SPOT))
    tree = build_tree(game)
    own, theirs = game.hand_sets[searcher], game.hand_sets[1 - searcher]
    gadget = maxmargin_gadget(tree, 1 - searcher, np.ones(len(own)), alternative[theirs])
    value, _ = solve_linear_program(gadget.tree)
    return value if searcher == 0 else -value


def test_cf_reach_leaves_out_common_cards() -> None:
    assert without_common_cards(np.ones(1326)) == pytest.approx(np.full(1326, 1225.0))


def test_what_is_refused() -> None:
    spot, right = parse_spot(SPOT), np.zeros(1326)
    for arguments, options in (((2, right), {}), ((0, np.zeros(3)), {}), ((0, right), {"gadget": "x"})):
        with pytest.raises(SolveError):
            HoldemReSolver(spot, *arguments, **options)
