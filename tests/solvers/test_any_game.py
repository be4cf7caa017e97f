"""Any game is solved alike in any unit by every algorithm, and none leaves the range of numbers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.solvers.algorithms import ALGORITHMS
from aleator.solvers.best_response import expected_value, nash_conv
from aleator.solvers.limits import Limits
from aleator.solvers.solve import make_solver, solve
from aleator.trees import build_tree
from aleator.trees.policy import Policy, uniform_policy
from aleator.trees.public_tree import PublicTree
from tests.games.changed_game import Changed
from tests.trees.ties import without_ties

NAMES = [
    *ALGORITHMS,
    "fp/simultaneous",
    "mccfr+:outcome",
    "mccfr:public-chance",
    "lmccfr:period=100",
    "pp:cfr+",
]


def check_in_another_unit(seed: int, algorithm: str, power: int) -> None:
    """Checks that a solve of a random game finds the same policy if all payoffs are multiplied by a power of two."""
    unit, limits = 2.0**power, Limits(iterations=12)
    plain, counted = (
        solve(Changed(seed), algorithm, limits=limits),
        solve(Changed(seed, unit=unit), algorithm, limits=limits),
    )
    ours = Policy(plain.policy.tree, counted.policy.probabilities)
    scale = np.abs([plain.summary.exploitability, plain.policy.tree.unit]).max()
    # Rounding is that of a power of two: none. Yet bounds of pruning are sums that can tie.
    assert nash_conv(ours) / 2 == pytest.approx(plain.summary.exploitability, abs=1e-9 * scale)
    assert counted.summary.exploitability / unit == pytest.approx(plain.summary.exploitability, abs=1e-9 * scale)
    assert counted.summary.value / unit == pytest.approx(plain.summary.value, abs=1e-9 * scale)
    assert plain.summary.exploitability >= -1e-12 * scale


@pytest.mark.parametrize("algorithm", NAMES)
def test_units_change_nothing(algorithm: str) -> None:
    for seed, power in ((2, -80), (5, -33), (11, 33), (1, 114), (17, 300)):
        check_in_another_unit(seed, algorithm, power)


def test_public_states_that_no_pair_of_hands_can_reach_change_nothing() -> None:
    tree = build_tree(Changed(3927))
    assert any(not tree.game.deal(state).any() for state in tree.states)
    check_in_another_unit(3927, "mccfr:public-chance", 1)


@pytest.mark.slow
def test_units_change_nothing_in_many_games() -> None:
    rng = np.random.default_rng(1)
    for seed in range(20_000):
        check_in_another_unit(seed, NAMES[seed % len(NAMES)], int(rng.integers(-80, 300)))


def random_name(rng: np.random.Generator) -> str:
    """Returns the name of an algorithm with options as far out as they can be written."""

    def number(low: float, high: float) -> str:
        return f"{10 ** rng.uniform(low, high):.6g}"

    def exponent() -> str:
        return str(rng.choice(["inf", "-inf", number(-3, 6), f"-{number(-3, 6)}", "0", "1.5"]))

    family = str(rng.choice(["dcfr", "sampled", "pruned", "egt"], p=[0.3, 0.4, 0.2, 0.1]))
    if family == "dcfr":
        return f"dcfr:{exponent()},{exponent()},{exponent()}" + str(rng.choice(["", "/simultaneous"]))
    if family == "egt":
        return f"egt:threshold={number(-6, 3)}"
    if family == "pruned":
        rule = str(rng.choice(["cfr", "cfr+", "lcfr", "rm+", f"dcfr:{exponent()},{exponent()},{exponent()}", "hedge"]))
        option = f"{rng.choice(['skip', 'threshold', 'discard'])}={number(-6, 6)}"
        return f"{rng.choice(['rbp', 'pp', 'brp'])}:{rule},{option}"
    scheme = str(rng.choice(["external", "outcome", "robust1", "chance", "public-chance"]))
    options = [scheme, f"gamma={number(-3, 3.2)}"]
    for option in rng.choice(["batch", "epsilon", "discount", "period", "skip", "from"], 2, replace=False):
        values = {
            "batch": str(rng.integers(1, 40)), "epsilon": f"{rng.random():.3f}", "period": str(rng.integers(1, 10**6)),
            "discount": str(rng.choice(["linear", "initial"])), "skip": str(rng.choice(["libratus", "pluribus"])),
            "from": str(rng.integers(1, 100)),
        }  # fmt: skip
        options.append(f"{option}={values[option]}")
    options += [f"threshold=-{number(-3, 6)}", f"constant={number(-3, 6)}"] if rng.random() < 0.3 else []
    return f"{rng.choice(['mccfr', 'mccfr+', 'lmccfr'])}:{','.join(options)}"


@cache
def kuhn() -> PublicTree:
    return without_ties(build_tree(load_game("kuhn")))


def solve_by_random_names(seeds: range) -> int:
    """Runs whatever the names stand for and checks what comes out; returns how many names were refused."""
    refused, worst = 0, 2 * nash_conv(uniform_policy(kuhn()))
    for seed in seeds:
        rng = np.random.default_rng(seed)
        name, dtype = random_name(rng), str(rng.choice(["float64", "float32"]))
        try:
            solver = make_solver(kuhn(), name, dtype=dtype, seed=seed)
        except SolveError:
            refused += 1
            continue
        for iterations in (1, 3, 60, 1500 if seed % 10 == 0 else 1):
            solver.run(iterations)
        policy, close = solver.average_policy(), 1e-9 if dtype == "float64" else 1e-6
        policy.check(close)
        solver.current_policy().check(close)
        assert -1e-9 <= solver.nash_conv() <= 2 * worst, f"{name} in {dtype}"
        assert np.isfinite(expected_value(policy)), name
        vectors = [vector for vector in solver.state().values() if vector.dtype.kind == "f"]
        assert all(np.isfinite(vector).all() for vector in vectors), f"{name} in {dtype}"
    return refused


def test_whatever_can_be_named_stays_in_range() -> None:
    assert solve_by_random_names(range(30)) < 20


@pytest.mark.slow
def test_many_names_stay_in_range() -> None:
    assert solve_by_random_names(range(150, 20_150)) < 13_000
