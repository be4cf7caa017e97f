"""The registry of algorithms: every name can be typed, configured, described and solved with."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.games.holdem.spot import DEFAULT_RULE
from aleator.settings import PLACED
from aleator.solvers.algorithms import (
    ALGORITHMS,
    DEFAULT_ALGORITHM,
    Algorithm,
    find_algorithm,
    rule_of,
)
from aleator.solvers.limits import Limits
from aleator.solvers.pruning_rule import PruningRule
from aleator.solvers.regret_rule import RegretRule
from aleator.solvers.sampling_rule import SamplingRule
from aleator.solvers.solve import solve
from aleator.trees import build_tree


@pytest.mark.parametrize(
    "name", [*ALGORITHMS, *(f"{one.name}:{text}" for one in ALGORITHMS.values() for text, *_ in one.variants)]
)
def test_every_name_solves(name: str) -> None:
    limits = None if find_algorithm(name).exact else Limits(iterations=3)
    found = solve("kuhn", name, limits=limits).summary
    assert found.algorithm == name and 0 <= found.exploitability < 0.4  # uniform: 0.458
    assert (found.nodes_touched is not None) == find_algorithm(name).family.counts_nodes


@pytest.mark.parametrize("known", ALGORITHMS.values(), ids=ALGORITHMS)
def test_typing_the_defaults_changes_nothing(known: Algorithm) -> None:
    typed = {one.name: one.describe()["default"] for one in known.settings if one.form in ("named", "placed")}
    text = ",".join(f"{name}={value}" for name, value in typed.items())
    assert known.configured(text) == known == find_algorithm(known.name)
    for one in known.settings:
        assert one.help and (one.form == PLACED or one.usage in known.usage)
    json.dumps(known.describe(), allow_nan=False)


@pytest.mark.parametrize("known", ALGORITHMS.values(), ids=ALGORITHMS)
def test_limits_of_settings_hold(known: Algorithm) -> None:
    for one in known.settings:
        for limit in (one.least, one.most):
            if one.form == "named" and abs(limit) not in (0.0, float("inf")):
                beyond = str(int(limit) + (1 if limit == one.most else -1))
                with pytest.raises(SolveError, match=f"{one.name} must be {one.allowed}, not '{beyond}'"):
                    known.configured(f"{one.name}={beyond}")


def test_names_of_rules() -> None:
    assert DEFAULT_ALGORITHM in ALGORITHMS and find_algorithm(DEFAULT_RULE).runs_on_boards
    assert rule_of(RegretRule, "dcfr:gamma=4") == rule_of(RegretRule, "dcfr:1.5,0,4")
    assert rule_of(SamplingRule, "mccfr,batch=5").batch == rule_of(SamplingRule, "mccfr:batch=5").batch == 5
    assert not rule_of(PruningRule, "rbp/simultaneous").rule.alternating
    with pytest.raises(SolveError, match="unknown sampling rule 'mccfrr'; did you mean 'mccfr'"):
        rule_of(SamplingRule, "mccfrr")
    with pytest.raises(SolveError, match="unknown '/simultaneous'; allowed: external, outcome"):
        find_algorithm("mccfr/simultaneous")
    with pytest.raises(SolveError, match="lp solves a game at once"):
        find_algorithm("lp").make_solver(build_tree(load_game("kuhn")))
    for name, boards in (
        ("dcfr", True),
        ("dcfr/simultaneous", False),
        ("hedge", False),
        ("mccfr", False),
        ("lp", False),
    ):
        assert find_algorithm(name).runs_on_boards == boards


def test_reading_names_loads_no_solver() -> None:
    script = (
        "import sys; from aleator.solvers.algorithms import find_algorithm; find_algorithm('rbp:cfr+,skip=5');"
        "print([name for name in ('numba', 'scipy', 'torch', 'aleator.solvers.cfr') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
