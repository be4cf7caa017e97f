"""Policies of this package's own games, evaluated by OpenSpiel in its games of the same rules."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import GameError
from aleator.games.registry import load_game
from aleator.solvers.best_response import nash_conv
from aleator.trees.openspiel_policy import to_openspiel_policy
from aleator.trees.policy import random_policy, uniform_policy
from aleator.trees.public_tree import build_tree

pytest.importorskip("pyspiel")


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("kuhn", 1.0),
        ("leduc", 1.0),
        ("liars-dice:1x3", 1.0),
        ("liars-dice:2x2", 1.0),
        ("goofspiel:3", 0.5),  # OpenSpiel pays points less their mean, which is half the difference
        ("goofspiel:4,descending", 0.5),
        ("goofspiel:4,win-loss", 1.0),
    ],
)
def test_a_random_policy_is_as_exploitable_in_openspiel(name: str, unit: float) -> None:
    from open_spiel.python.algorithms.exploitability import nash_conv as theirs

    policy = random_policy(build_tree(load_game(name)), np.random.default_rng(1))
    exported = to_openspiel_policy(policy)
    assert theirs(exported.game, exported) == pytest.approx(unit * nash_conv(policy), abs=1e-9)


@pytest.mark.parametrize("name", ["one-card:5", "leduc:5", "leduc:nolimit", "coin-toss", "leduc:bets=1/2"])
def test_other_games_are_refused_with_those_that_it_has(name: str) -> None:
    with pytest.raises(GameError, match=r"OpenSpiel has no game like .*; it has kuhn, leduc, liars-dice:DxF"):
        to_openspiel_policy(uniform_policy(build_tree(load_game(name))))
