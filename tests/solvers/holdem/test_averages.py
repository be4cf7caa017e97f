"""Sums of policies in the board engine: what is skipped and what is scaled adds up to the plain sums."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from aleator.apps.papers.holdem_curves import TYPICAL, make_spot
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.regret_rule import DCFR, SHARP_DCFR_PLUS, SHARP_MATCHING
from tests.solvers.holdem.test_solver import spot

RIVER = spot("Qs Jh 2h 8c 3d", "AA,KK:0.5,QJs,T9s,A5s,76s:0.25,22", "QQ-TT,AQo,98s,KTs:0.7,5h4h")


def sharpened(numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Returns the power 1.5 as the kernels take it, by the bits."""
    bits = numbers.view(np.int32)
    return np.maximum(bits + (bits >> 1) - (127 << 22), 0).astype(np.int32).view(np.float32)


def test_the_power_is_right_to_nine_per_cent_and_monotonous() -> None:
    numbers = np.geomspace(1e-8, 1e8, 20_001, dtype=np.float32)
    found = sharpened(numbers)
    np.testing.assert_allclose(found, numbers.astype(np.float64) ** 1.5, rtol=0.09)
    assert (np.diff(found) >= 0).all() and sharpened(np.zeros(1, np.float32))[0] == 0


def test_sharp_matching_takes_fewer_iterations() -> None:
    deep = make_spot("Qs Jh 2h 8c 3d", 1000, 9000, TYPICAL, bets='"50%", "100%", "all-in"', raises='"75%", "all-in"')
    solvers = [HoldemSolver(deep, rule) for rule in (SHARP_DCFR_PLUS, replace(DCFR, gamma=4.0))]
    for solver in solvers:
        solver.run(110)
    sharp, plain = (solver.exploitability() for solver in solvers)
    assert sharp < 0.003 * deep.pot < 0.7 * plain


@pytest.mark.parametrize(
    ("rule", "bits"),
    [
        ("dcfr", 16),
        ("sharp-dcfr+", 16),
        *((rule, 32) for rule in ("dcfr", "cfr", "hs-dcfr", "sharp-dcfr+", "restarted")),
    ],
)
def test_averages_are_the_weighted_sums_of_policies(rule: str, bits: int) -> None:
    """Sums are not touched where reach is zero, and decay by a scale: here they are summed up plainly."""
    values = replace(DCFR, restart=4) if rule == "restarted" else parse_rule(rule)
    solver = HoldemSolver(RIVER, values, bits=bits)
    engine, forest, hands = solver.engine, solver.plan.forests[0], len(solver.plan.rows(0, solver.plan.boards[0][0]))
    weights = RIVER.weights()[0][solver.plan.rows(0, solver.plan.boards[0][0])]
    checked = int(forest.first_child[0])
    facing = next(
        int(forest.first_child[checked]) + action
        for action in range(1, int(forest.num_children[checked]))
        if forest.kind[int(forest.first_child[checked]) + action] == 0
    )
    expected: dict[int, npt.NDArray[np.float64]] = {0: np.zeros(1), facing: np.zeros(1)}
    skipped = 0
    for decay in values.schedule(1, 80)[:, 2]:
        solver.run(1)
        reach = weights
        for place in (0, facing):
            positive = np.maximum(engine.read("regret", 0, 0, place)[:, :hands], 0.0)
            positive = (sharpened(positive) if values.minimiser == SHARP_MATCHING else positive).astype(np.float64)
            total = positive.sum(axis=0)
            policy = np.where(total > 0, positive / np.where(total > 0, total, 1.0), 1 / len(positive))
            expected[place] = expected[place] * decay + reach * policy
            skipped += int((reach * policy == 0).sum())
            reach = reach * policy[0]  # checking comes first
    assert skipped > 1000, "some reach was zero"
    for place, sums in expected.items():
        found = engine.read("policy_sum", 0, 0, place)[:, :hands].astype(np.float64)
        reached = sums.sum(axis=0) > 1e-3 * sums.sum(axis=0).max()
        shares = (found / np.maximum(found.sum(axis=0), 1e-30), sums / np.maximum(sums.sum(axis=0), 1e-30))
        np.testing.assert_allclose(shares[0][:, reached], shares[1][:, reached], atol=0.05 if bits == 16 else 1e-4)
