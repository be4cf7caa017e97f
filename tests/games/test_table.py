"""The table: play by random policies wins what the exact value says, in games with private moves and draws, too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.errors import GameError
from aleator.games import known_games, load_game
from aleator.games.table import Table
from aleator.solvers.best_response import expected_value
from aleator.trees import Policy, build_tree
from aleator.trees.policy import block, legal_actions, random_policy
from tests.games.random_game import RandomGame


def play(policy: Policy, rng: np.random.Generator) -> float:
    """Returns what player 0 wins in one game, and checks that nodes, hands and legal actions fit the tree."""
    tree, node, table = policy.tree, 0, Table(policy.tree.game, rng)
    legal = legal_actions(tree)
    seen = 0
    while True:
        for event in table.events[seen:]:
            node = int(tree.first_child[node]) + event
        seen = len(table.events)
        assert tree.states[node] == table.state
        if table.is_over:
            return table.payoff(0)
        seen_by = table.observe()
        assert seen_by.legal == tuple(np.flatnonzero(block(tree, legal, node)[:, seen_by.hand]))
        table.act(int(rng.choice(tree.num_actions[node], p=policy[node][:, seen_by.hand])))


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_play_wins_the_expected_value(seed: int) -> None:
    """n = 400 games each; z < 5."""
    rng = np.random.default_rng(seed)
    policy = random_policy(build_tree(RandomGame(seed)), rng)
    won = np.array([play(policy, rng) for _ in range(400)])
    assert abs(won.mean() - expected_value(policy)) <= 5 * won.std() / 20 + 1e-9


@pytest.mark.parametrize("name", ["leduc", "goofspiel:4", "liars-dice:1x4", "rps-plus"])
def test_games_of_the_registry_can_be_played(name: str) -> None:
    """n = 1000, z < 5."""
    rng = np.random.default_rng(3)
    policy = random_policy(build_tree(load_game(name)), rng)
    won = np.array([play(policy, rng) for _ in range(1000)])
    assert abs(won.mean() - expected_value(policy)) <= 5 * won.std() / np.sqrt(1000)


def test_what_everybody_saw_is_told_in_words() -> None:
    table = Table(load_game("kuhn"), np.random.default_rng(0))
    table.act(0)
    table.act(1)
    assert table.labels == ["check", "bet"]
    with pytest.raises(GameError, match="not over yet"):
        table.payoff(0)
    with pytest.raises(GameError, match=r"action 2 is not legal; allowed: \[\(0, 'fold'\), \(1, 'call'\)\]"):
        table.act(2)
    table.act(0)
    assert table.is_over and table.payoff(0) == -1 and table.payoff(1) == 1
    with pytest.raises(GameError, match="the game is over"):
        table.observe()


def test_every_known_game_begins() -> None:
    for known in known_games():
        for name in known.examples[:1]:
            assert Table(load_game(name), np.random.default_rng(1)).observe().legal


def test_a_table_goes_on_where_it_was_left() -> None:
    game, rng = load_game("leduc"), np.random.default_rng(5)
    table = Table(game, rng)
    while not table.is_over:
        again = Table.resumed(game, table.events, table.past_hands, np.random.default_rng(1))
        assert again.observe() == table.observe() and again.labels == table.labels
        table.act(int(rng.choice(table.observe().legal)))
    again = Table.resumed(game, table.events, table.past_hands, rng)
    assert again.is_over and again.payoff(0) == table.payoff(0)
    with pytest.raises(GameError, match="no event 9; this public state has children 0 to 1"):
        Table.resumed(game, (9,), [table.hands] * 2, rng)
    with pytest.raises(GameError, match="2 pairs of hands, not 1"):
        Table.resumed(game, (0,), [table.hands], rng)
