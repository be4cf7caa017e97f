"""Parameter optimisation: bet sizes that are best for a player, found while the game is being solved.

Algorithm:
    Step s runs CFR until K s iterations have been run, weights included; then every parameter moves along the gradient
    of the player's value, and the solver goes over to the new parameters by regret transfer, which weighs what it has
    done by w. Moves, "rate": theta_d <- theta_d + g_d alpha / l_s with l_s = s^e. "adaptive": by a length of each
    parameter's own in the direction of g_d, which grows by a fifth while the sign of g_d stays and is halved when it
    changes; all lengths below a tolerance end the optimisation.
    The gradient, "envelope": what the player wins under the average policies, differentiated with policies fixed; at an
    equilibrium that is the gradient of the game's value. "differences": as the thesis has it, the slope between the
    values of two solvers per parameter, at theta_d +- s^(-1/4), which move along.

Reference:
    Thesis 4.2.5, Algorithm 3, Eq. 4.55 to 4.57 and Theorem 17. Adaptive lengths: Rprop, Riedmiller and Braun 1993.

Deviations:
    The thesis' experiments print l_s = s^(-3/4): steps that grow, which diverge. Theorem 17 needs l_s = Omega(sqrt s)
    and a divergent sum of 1 / l_s; s^(3/4), as in its Fig. 4.8, has both and is the default of "rate".
    "envelope" and "adaptive" are ours and the defaults. One solver instead of 2 D; its error falls with that of the
    policies. Values of games are flat on one side of an optimum and have kinks: no single alpha suits both, and the
    gradient is off as long as averages remember other parameters, so the default weight is 1/2, less than the theory
    allows. Parameters stay between bounds. Any regret rule can be used.
    Every solver of "differences" is weighed by the smallest weight of all of them, as in Algorithm 3.

Status:
    Gradients equal finite differences of the value that the linear program gives
    (tests/abstraction/test_parameter_optimisation.py). Leduc's optima are those of the thesis:
    docs/algorithms/parameter-optimisation.md has the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite

import numpy as np

from aleator.abstraction.parameters import ParametricGame, Values
from aleator.abstraction.regret_transfer import ParametricCFR, Weight
from aleator.errors import GameError, SolveError, check_known
from aleator.games.base import FloatArray
from aleator.solvers.regret_rule import DCFR, RegretRule
from aleator.trees.policy import Policy

ENVELOPE, DIFFERENCES = "envelope", "differences"
GRADIENTS = (ENVELOPE, DIFFERENCES)
ADAPTIVE, RATE = "adaptive", "rate"
MOVES = (ADAPTIVE, RATE)
_GROWTH, _SHRINKAGE = 1.2, 0.5
_FIRST, _LONGEST = 0.1, 0.5  # of a parameter's start: the first length of an adaptive move, and the longest
_REACH = 20.0  # by default parameters stay within this factor of their start
Bounds = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRule:
    """How parameters move.

    Attributes:
        steps: how many there are at most.
        iterations: K; after step s the equivalent of K s iterations has been run.
        moves: "adaptive" or "rate".
        tolerance: adaptive moves that are all shorter end the optimisation.
        size: alpha of "rate".
        exponent: e of "rate".
        gradient: "envelope" or "differences".
        weight: of earlier iterations after a step, as in `ParametricCFR.transfer`.
    """

    steps: int = 200
    iterations: int = 300
    moves: str = ADAPTIVE
    tolerance: float = 0.002
    size: float = 50.0
    exponent: float = 0.75
    gradient: str = ENVELOPE
    weight: Weight = 0.5

    def __post_init__(self) -> None:
        check_known(self.gradient, GRADIENTS, "gradient")
        check_known(self.moves, MOVES, "kind of moves")
        if self.steps < 1 or self.iterations < 1:
            raise SolveError(f"steps and iterations are at least 1, not {self.steps} and {self.iterations}")
        if not 0.0 < self.size < 1e9 or not -2.0 <= self.exponent <= 2.0:
            raise SolveError(
                f"a step has a positive size and an exponent between -2 and 2, not {self.size} and {self.exponent}"
            )
        if not self.tolerance > 0.0:
            raise SolveError(f"the tolerance is positive, not {self.tolerance}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Where an optimisation is.

    Attributes:
        number: of the step, from 1.
        iterations: that have been run in all, by all solvers together.
        parameters: by name.
        value: what the player wins at them under the average policies.
        gradient: of that, by name.
        weight: that earlier iterations had after the step before.
    """

    number: int
    iterations: int
    parameters: dict[str, float]
    value: float
    gradient: dict[str, float]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """What an optimisation has found.

    Attributes:
        parameters: by name.
        value: of the game to the player whom they are best for.
        exploitability: of the policy by which the value was found, which is off by at most twice that.
        policy: of the game at the parameters.
        steps: all of them.
    """

    parameters: dict[str, float]
    value: float
    exploitability: float
    policy: Policy
    steps: tuple[Step, ...]


OnStep = Callable[[Step], bool | None]


def optimise(
    family: ParametricGame,
    start: Values,
    *,
    player: int = 0,
    bounds: Bounds | None = None,
    rule: RegretRule = DCFR,
    step_rule: StepRule | None = None,
    on_step: OnStep | None = None,
) -> Optimum:
    """Returns parameters at which a player's value is at a local maximum.

    Args:
        family: the games.
        start: where to begin.
        player: whose value is to be large.
        bounds: by name (least, most); by default a twentieth of the start to twenty times as much.
        rule: of CFR.
        step_rule: how to move.
        on_step: told about every step; a true answer ends the optimisation.

    Raises:
        GameError: a start is outside its bounds.
        SolveError: an impossible setting.
    """
    steps = step_rule or StepRule()
    vector = family.vector(start)
    least, most = _bounds(family, vector, bounds or {})
    for corner in (least, most):
        family.game(corner)  # refuses bounds that are out of reach before anything is solved
    solvers = _Envelope if steps.gradient == ENVELOPE else _Differences
    gradient = solvers(family, vector, rule)
    lengths = _Lengths(vector, steps)
    sign, weight, total, done = 1.0 - 2.0 * player, 1.0, 0, []
    for number in range(1, steps.steps + 1):
        total += gradient.run(number * steps.iterations)
        value, slope = gradient.value_and_slope(number)
        done.append(
            Step(
                number=number,
                iterations=total,
                parameters=family.values(vector),
                value=sign * value,
                gradient=family.values(sign * slope),
                weight=weight,
            )
        )
        if on_step is not None and on_step(done[-1]):
            break
        move = lengths.next(sign * slope, number)
        if move is None:
            break
        vector = np.clip(vector + move, least, most)
        weight = gradient.move(vector, number + 1, steps.weight)
    solver = gradient.final(vector)
    return Optimum(
        parameters=family.values(vector), value=sign * solver.value(), exploitability=solver.nash_conv() / 2,
        policy=solver.average_policy(), steps=tuple(done),
    )  # fmt: skip


def _bounds(family: ParametricGame, start: FloatArray, bounds: Bounds) -> tuple[FloatArray, FloatArray]:
    """Returns the least and the largest value of each parameter."""
    for name in bounds:
        check_known(name, family.parameters, "parameter", GameError)
    pairs = []
    for name, value in family.values(start).items():
        low, high = sorted((value / _REACH, value * _REACH))
        pair = bounds.get(name, (low, high))
        if not (isfinite(pair[0]) and isfinite(pair[1]) and pair[0] <= value <= pair[1]):
            raise GameError(f"the parameter {name} is to stay between {pair[0]:g} and {pair[1]:g}: {value:g} does not")
        pairs.append(pair)
    return np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])


class _Lengths:
    """How far parameters move."""

    def __init__(self, start: FloatArray, rule: StepRule) -> None:
        self._rule, scale = rule, np.maximum(np.abs(start), 1e-6)
        self._length, self._longest = _FIRST * scale, _LONGEST * scale
        self._last: FloatArray = np.zeros_like(start)

    def next(self, gradient: FloatArray, step: int) -> FloatArray | None:
        """Returns [D]: by how much parameters change, or None if that would be less than the tolerance."""
        if self._rule.moves == RATE:
            move: FloatArray = gradient * self._rule.size / step**self._rule.exponent
            return move
        agrees = np.sign(gradient) * self._last
        self._length = np.where(agrees > 0, self._length * _GROWTH, self._length)
        self._length = np.minimum(np.where(agrees < 0, self._length * _SHRINKAGE, self._length), self._longest)
        self._last = np.sign(gradient)
        adapted: FloatArray = self._last * self._length
        return None if (self._length < self._rule.tolerance).all() else adapted


class _Envelope:
    """One solver at the parameters; the gradient is that of its average policies' value."""

    def __init__(self, family: ParametricGame, vector: FloatArray, rule: RegretRule) -> None:
        self._solver = ParametricCFR(family, vector, rule)

    def run(self, until: int) -> int:
        """Runs to so many iterations, earlier ones weighed; returns how many were run."""
        count = max(until - self._solver.iteration, 1)
        self._solver.run(count)
        return count

    def value_and_slope(self, step: int) -> tuple[float, FloatArray]:
        """Returns the first player's value, and its gradient."""
        return self._solver.value(), self._solver.gradient()

    def move(self, vector: FloatArray, step: int, weight: Weight) -> float:
        """Goes over to other parameters; returns the weight of what has been done."""
        return self._solver.transfer(vector, weight)

    def final(self, vector: FloatArray) -> ParametricCFR:
        """Returns the solver at the last parameters, after as many iterations as it has had once more."""
        self._solver.run(max(self._solver.iteration, 1))
        return self._solver


class _Differences:
    """Two solvers per parameter, on both sides of it, which come nearer as s^(-1/4): Algorithm 3."""

    def __init__(self, family: ParametricGame, vector: FloatArray, rule: RegretRule) -> None:
        self._count = len(vector)
        self._solvers = [ParametricCFR(family, point, rule) for point in self._points(vector, 1)]

    def _points(self, vector: FloatArray, step: int) -> list[FloatArray]:
        offsets = np.eye(self._count) * step**-0.25
        return [vector + side * offset for offset in offsets for side in (-1.0, 1.0)]

    def run(self, until: int) -> int:
        """Runs every solver to so many iterations; returns how many were run in all."""
        counts = [max(until - solver.iteration, 1) for solver in self._solvers]
        for solver, count in zip(self._solvers, counts, strict=True):
            solver.run(count)
        return sum(counts)

    def value_and_slope(self, step: int) -> tuple[float, FloatArray]:
        """Returns the mean of all values, and the slopes between those of a pair."""
        values = np.array([solver.value() for solver in self._solvers]).reshape(-1, 2)
        return float(values.mean()), (values[:, 1] - values[:, 0]) / (2.0 * step**-0.25)

    def move(self, vector: FloatArray, step: int, weight: Weight) -> float:
        """Goes over to other parameters; all solvers are weighed alike."""
        points = self._points(vector, step)
        weights = [solver.propose(point, weight) for solver, point in zip(self._solvers, points, strict=True)]
        for solver, point in zip(self._solvers, points, strict=True):
            solver.transfer(point, min(weights))
        return min(weights)

    def final(self, vector: FloatArray) -> ParametricCFR:
        """Returns a solver at the last parameters that goes on from one of the pairs'."""
        solver = self._solvers[0]
        solver.transfer(vector)
        solver.run(max(solver.iteration, 1))
        return solver
