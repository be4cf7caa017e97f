"""ReBeL Theorem 1, numerically: values of infostates are the supergradient of the value of a public belief state."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aleator.apps.papers.base import Claim, OnProgress, Report, Settings
from aleator.games.base import FloatArray
from aleator.games.registry import load_game
from aleator.solvers.best_response import best_response_cfvs
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import PCFR_PLUS
from aleator.trees.public_tree import PublicTree, build_tree
from aleator.trees.subgame import cut

_GAMES = ("kuhn", "leduc", "liars-dice:1x4")
_STATES, _STATES_QUICK, _OTHERS = 12, 2, 8
_STEP, _PRECISION, _MOST = 1e-3, 2e-6, 200_000
_STEPS = (0.1, 0.03, 0.01, 0.003, _STEP)
_TOLERANCE = 4 * _PRECISION / _STEP
_DEVIATIONS = (
    "Beliefs are over the infostates of player 1, those of player 2 held fixed, and drawn inside the simplex. Values "
    f"come from PCFR+ to a NashConv of {_PRECISION:g}, derivatives from one-sided differences of {_STEP:g}: the "
    f"tolerance is {_TOLERANCE:.3g}, four times their quotient. At a kink any value between the two derivatives is a "
    "supergradient."
)


class _Value(NamedTuple):
    """Of a public belief state: V to player 0, and v(s) of each of its infostates in an equilibrium."""

    value: float
    infostates: FloatArray


class _Findings(NamedTuple):
    """Largest differences over the states of one game."""

    states: int
    smooth: float
    error: float
    violation: float
    above: float
    curve: list[tuple[float, float]]


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns how far V + g differs from infostate values, for derivatives g from either side."""
    count = _STATES_QUICK if settings.quick else _STATES
    results: dict[str, _Findings] = {}
    for number, name in enumerate(_GAMES):
        rng = np.random.default_rng(settings.seed)
        on_progress(number / len(_GAMES), name)
        results[name] = _check(build_tree(load_game(name)), count, rng)
    return Report(
        title="Infostate values as supergradients of the value of a public belief state (ReBeL Theorem 1)",
        setting=f"{count} random public belief states per game, seed {settings.seed}",
        convention="V(b) is the value to player 1, extended to b of other sums by V(b / |b|); v(s) = V(b) + g(s).",
        columns=(
            "game",
            "states",
            "smooth",
            "largest |V + g - v| where smooth",
            "outside the derivatives",
            "above the plane",
        ),
        rows=tuple((name, *findings[:-1]) for name, findings in results.items()),
        claims=tuple(
            claim
            for name, findings in results.items()
            for claim in (
                Claim(
                    text=f"V + g = v where V is smooth, and v lies between the derivatives elsewhere ({name})",
                    measured=f"off by {findings.error:.2g} and {findings.violation:.2g}",
                    agrees=max(findings.error, findings.violation) <= _TOLERANCE,
                ),
                Claim(
                    text=f"V lies below the plane of infostate values: it is concave in player 1's beliefs ({name})",
                    measured=f"at most {findings.above:.2g} above",
                    agrees=findings.above <= 2 * _PRECISION,
                ),
            )
        ),
        panels={"the first state of each game": {name: findings.curve for name, findings in results.items()}},
        x_label="step of the differences",
        y_label="largest |V + g - v|",
        deviations=_DEVIATIONS,
    )


def _check(full: PublicTree, count: int, rng: np.random.Generator) -> _Findings:
    """Returns what differs at some random public belief states of a game."""
    inner = np.flatnonzero((full.num_children > 0) & (full.num_hands.min(axis=0) > 1) & (full.depth > 0))
    smooth, error, violation, above = [0.0], 0.0, 0.0, 0.0
    curve: list[tuple[float, float]] = []
    for node in rng.choice(inner, count, replace=count > len(inner)):
        game = _BeliefGame(cut(full, int(node)).tree, rng)
        belief = rng.dirichlet(np.full(game.hands, 3.0))
        here = game.value(belief)
        gradient = here.infostates - here.value
        right, left = game.derivatives(belief, here.value, _STEP)
        is_smooth = left - right <= _TOLERANCE
        smooth.extend(is_smooth.tolist())
        error = max(error, np.abs((left + right) / 2 - gradient)[is_smooth].max(initial=0.0))
        violation = max(violation, (right - gradient).max(), (gradient - left).max())
        for other in rng.dirichlet(np.ones(game.hands), _OTHERS):
            above = max(above, game.value(other).value - float(other @ here.infostates))
        if not curve:
            for step in _STEPS:
                right, left = game.derivatives(belief, here.value, step)
                curve.append((step, float(np.abs((left + right) / 2 - gradient).max())))
    return _Findings(count, float(np.mean(smooth[1:])), float(error), float(violation), float(above), curve)


class _BeliefGame:
    """A subgame in which player 1's beliefs are fixed, as a function of player 0's."""

    def __init__(self, tree: PublicTree, rng: np.random.Generator) -> None:
        self._tree = tree
        self._opponent = rng.dirichlet(np.ones(tree.num_hands[1, 0]))
        self._cf_reach = tree.game.deal(tree.states[0]) @ self._opponent
        self.hands = int(tree.num_hands[0, 0])

    def value(self, belief: FloatArray) -> _Value:
        """Returns the value of the public belief state in which player 0's infostates are this likely ([H])."""
        reach = (belief / self._cf_reach, self._opponent)
        solver = CFR(self._tree, PCFR_PLUS, root_reach=reach)
        while solver.iteration < _MOST and (solver.iteration == 0 or solver.nash_conv() > _PRECISION):
            solver.run(max(50, solver.iteration // 2))
        policy = solver.average_policy()
        cfvs = [best_response_cfvs(policy, player, reach)[0] for player in (0, 1)]
        value = float(cfvs[0] @ reach[0] - cfvs[1] @ reach[1]) / 2
        return _Value(value, cfvs[0] / self._cf_reach)

    def derivatives(self, belief: FloatArray, value: float, step: float) -> tuple[FloatArray, FloatArray]:
        """Returns [H], [H]: derivatives of V(b / |b|) towards each infostate, from the right and from the left.

        They are found as those of |b| V(b / |b|) less V: that function is linear wherever V is smooth.
        """
        slopes: tuple[list[float], list[float]] = ([], [])
        for direction in np.eye(self.hands):
            for side, sign in enumerate((1.0, -1.0)):
                moved = belief + sign * min(step, 0.9 * float(belief @ direction)) * direction
                size = float(np.abs(moved - belief).sum())
                extended = moved.sum() * self.value(moved / moved.sum()).value
                slopes[side].append(sign * (extended - value) / size - value)
        return np.array(slopes[0]), np.array(slopes[1])
