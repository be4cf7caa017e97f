"""Parameter optimisation: gradients are those of the value, and the optimum is found."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.abstraction.parameter_optimisation import DIFFERENCES, RATE, StepRule, optimise
from aleator.abstraction.parameters import ParametricGame, parametric_game
from aleator.abstraction.regret_transfer import ParametricCFR
from aleator.errors import GameError, SolveError
from aleator.games.matrix import MatrixGame
from aleator.solvers.linear_program import solve_linear_program
from aleator.solvers.regret_rule import DCFR, PDCFR_PLUS

START = {"a": 2.0, "b": 4.0}


def leduc() -> ParametricGame:
    return parametric_game("leduc:bets={a}/{b}", START)


def test_gradient_is_that_of_the_equilibrium_value():
    """Central differences of the value that the linear program gives, for both parameters at once."""
    family = leduc()
    solver = ParametricCFR(family, {"a": 2.2, "b": 5.3}, DCFR)
    solver.run(3000)
    step = 0.002
    for index, slope in enumerate(solver.gradient()):
        there = [
            solve_linear_program(family.tree(solver.vector + sign * step * np.eye(2)[index]))[0] for sign in (1, -1)
        ]
        assert slope == pytest.approx((there[0] - there[1]) / (2 * step), abs=2e-4)
        assert abs(slope) > 2e-3
    assert solver.value() == pytest.approx(solve_linear_program(solver.tree)[0], abs=1e-4)


def test_differences_give_the_same_gradient():
    """Algorithm 3's estimate at step 16, whose solvers are a half apart on either side."""
    family, seen = leduc(), []
    optimise(
        family, START, step_rule=StepRule(steps=2, iterations=2000, moves=RATE, size=1e-6, gradient=DIFFERENCES),
        on_step=lambda step: seen.append(step),
    )  # fmt: skip
    below, above = (solve_linear_program(family.tree({"a": 2.0, "b": 4.0 + side * 2**-0.25}))[0] for side in (-1, 1))
    assert seen[1].gradient["b"] == pytest.approx((above - below) / (2 * 2**-0.25), abs=5e-4)


@pytest.mark.parametrize("start", [4.0, 13.0])
def test_leducs_second_bet(start):
    """The thesis' optimum for the second player is at 9.75; its value is so flat that a short run gets within 0.1."""
    family = parametric_game("leduc:bets=2/{b}", {"b": start})
    optimum = optimise(
        family, {"b": start}, player=1, rule=PDCFR_PLUS, step_rule=StepRule(iterations=60, tolerance=0.02)
    )
    assert optimum.parameters["b"] == pytest.approx(9.75, abs=0.1)
    assert optimum.value == pytest.approx(0.16073, abs=2e-4)
    assert optimum.exploitability < 1e-3
    assert optimum.policy.tree.game.name == f"leduc:bets=2/{optimum.parameters['b']!r}"
    assert len(optimum.steps) < 200


def test_the_printed_step_sizes_diverge():
    """With l_s = s^(-3/4), as the thesis' experiments print it, parameters jump about; with s^(3/4) they do not."""
    family = parametric_game("leduc:bets=2/{b}", {"b": 4.0})
    ways = {}
    for exponent in (-0.75, 0.75):
        rule = StepRule(steps=60, iterations=20, moves=RATE, exponent=exponent, weight="payoff")
        way: list[float] = []
        optimise(
            family, {"b": 4.0}, player=1, bounds={"b": (1.0, 30.0)}, step_rule=rule,
            on_step=lambda step, way=way: way.append(step.parameters["b"]),
        )  # fmt: skip
        ways[exponent] = way
    assert max(ways[-0.75]) - min(ways[-0.75][10:]) > 10.0
    assert abs(ways[0.75][-1] - 9.75) < 1.5


def test_an_optimum_at_a_bound():
    family = ParametricGame(lambda x: MatrixGame([[x, 0.0], [0.0, x]], name="scaled"), {"x": 1.0}, name="scaled")
    optimum = optimise(
        family, {"x": 1.0}, bounds={"x": (0.5, 3.0)}, step_rule=StepRule(steps=30, iterations=5, moves=RATE, size=5.0)
    )
    assert optimum.parameters["x"] == 3.0 and optimum.value == pytest.approx(1.5, abs=1e-3)


def test_a_true_answer_ends_it():
    optimum = optimise(
        leduc(), START, step_rule=StepRule(steps=50, iterations=5), on_step=lambda step: step.number == 3
    )
    assert len(optimum.steps) == 3 and optimum.steps[-1].number == 3


def test_what_is_refused():
    with pytest.raises(GameError, match="between 5 and 6: 4 does not"):
        optimise(leduc(), START, bounds={"b": (5.0, 6.0)})
    with pytest.raises(GameError, match="unknown parameter"):
        optimise(leduc(), START, bounds={"c": (5.0, 6.0)})
    with pytest.raises(SolveError, match="unknown gradient"):
        StepRule(gradient="guess")
    with pytest.raises(SolveError, match="at least 1"):
        StepRule(steps=0)
