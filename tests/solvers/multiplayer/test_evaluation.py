"""Values, best responses and NashConv of many players equal recursions, OpenSpiel and the two-player solvers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pytest

from aleator.games import load_game
from aleator.games.base import FloatArray
from aleator.games.multiplayer.registry import load_multiplayer_game
from aleator.solvers.best_response import expected_value, nash_conv
from aleator.solvers.multiplayer.evaluation import best_response, evaluate
from aleator.trees import build_tree
from aleator.trees.policy import uniform_policy
from aleator.trees.sequence_form import SequenceForm, build_sequence_form, uniform_profile
from tests.solvers.multiplayer import reference


def random_profile(form: SequenceForm, seed: int) -> FloatArray:
    weights = np.random.default_rng(seed).exponential(size=form.num_sequences)
    return weights / np.repeat(np.add.reduceat(weights, form.first[:-1]), np.diff(form.first))


def policy_at(form: SequenceForm, profile: FloatArray) -> reference.PolicyAt:
    known = {
        (int(form.player[k]), form.keys[k]): profile[form.first[k] : form.first[k + 1]].tolist()
        for k in range(form.num_infostates)
    }

    def policy(player: int, infostate: Hashable) -> Sequence[float]:
        return known[player, infostate]

    return policy


@pytest.mark.parametrize("name", ["kuhn:players=3", "kuhn:players=4", "leduc:players=3,ranks=2,cap=1", "goofspiel:3"])
def test_equal_to_recursions_over_histories(name: str) -> None:
    game = load_multiplayer_game(name)
    form = build_sequence_form(game)
    for seed in range(3):
        profile = random_profile(form, seed)
        found, policy = evaluate(form, profile), policy_at(form, profile)
        assert found.values == pytest.approx(reference.value(game, policy, game.start()), abs=1e-12)
        best = [reference.best_value(game, policy, player) for player in range(game.num_players)]
        assert found.best == pytest.approx(best, abs=1e-12)
        assert found.nash_conv > 0.05


def test_a_best_response_wins_what_it_says_and_changes_one_player() -> None:
    form = build_sequence_form(load_multiplayer_game("leduc:players=3,cap=1"))
    profile = random_profile(form, 7)
    for player in range(3):
        best, response = best_response(form, profile, player)
        assert evaluate(form, response).values[player] == pytest.approx(best)
        others = np.ones(form.num_sequences, np.bool_)
        others[form.sequences_of(player)] = False
        assert np.array_equal(response[others], profile[others])
        assert set(response[~others]) == {0.0, 1.0}


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel:4", "liars-dice:1x4", "rps-plus", "coin-toss:2"])
def test_two_players_as_on_the_public_tree(name: str) -> None:
    policy = uniform_policy(build_tree(load_game(name)))
    form = build_sequence_form(load_multiplayer_game(name))
    found = evaluate(form, uniform_profile(form))
    assert found.values == pytest.approx([expected_value(policy), -expected_value(policy)], abs=1e-12)
    assert found.nash_conv == pytest.approx(nash_conv(policy), abs=1e-12)


@pytest.mark.parametrize("players", [3, 4])
def test_nash_conv_is_openspiels(players: int) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    name = f"kuhn_poker(players={players})"
    form = build_sequence_form(load_multiplayer_game(f"openspiel:{name}"))
    profile = random_profile(form, players)
    source = pyspiel.load_game(name)
    table = {}
    for number, key in enumerate(form.keys):
        probabilities = profile[form.first[number] : form.first[number + 1]].tolist()
        table[key] = list(enumerate(probabilities))
    assert evaluate(form, profile).nash_conv == pytest.approx(pyspiel.nash_conv(source, pyspiel.TabularPolicy(table)))


def test_uniform_play_of_three_player_leduc() -> None:
    """OpenSpiel 2.0, `pyspiel.nash_conv` of uniform play of `leduc_poker(players=3)`, suits told apart."""
    form = build_sequence_form(load_multiplayer_game("leduc:players=3"))
    assert evaluate(form, uniform_profile(form)).nash_conv == pytest.approx(12.611221340388003, abs=1e-9)
