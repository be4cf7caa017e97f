"""Sampled play of a tree follows the rules of its game."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from aleator.games import load_game
from aleator.games.base import TERMINAL, Game
from aleator.games.table import Table, legal_actions_at
from aleator.learning.sampled.play import TreePlay
from aleator.trees import build_tree
from aleator.trees.policy import random_policy
from tests.games.random_game import RandomGame

GAMES = ["kuhn", "leduc", "liars-dice:1x3", "goofspiel:3", RandomGame(2), RandomGame(26)]


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_random_play_follows_the_rules(game: str | Game[Any]) -> None:
    """500 games, seed 5: whoever acts, what is legal and what is won is what the rules say at that state and hands."""
    rules = load_game(game) if isinstance(game, str) else game
    tree = build_tree(rules)
    play, generator = TreePlay(tree), torch.Generator().manual_seed(5)
    histories = play.deal(500, generator)
    for _ in range(50):
        going = (play.actor(histories) != TERMINAL).nonzero().squeeze(1)
        if not len(going):
            break
        before = histories.rows(going)
        infostates = play.infostate(before)
        legal = play.legal(infostates)
        assert (play.node_of[infostates] == before.node).all()
        assert (play.player_of[infostates] == play.actor(before)).all()
        for infostate in set(infostates.tolist()):
            state, hand = tree.states[int(play.node_of[infostate])], int(play.hand_of[infostate])
            allowed = legal_actions_at(rules, state)[:, hand]
            assert play.legal(torch.tensor([infostate]))[0, : len(allowed)].tolist() == allowed.tolist()
            assert rules.possible_hands(state, rules.actor(state))[hand]
        after = play.act(before, torch.multinomial(legal.float(), 1, generator=generator).squeeze(1), generator)
        assert (play.length(after) > play.length(before)).all()
        histories.node[going], histories.pair[going] = after.node, after.pair
    assert (play.actor(histories) == TERMINAL).all()
    hands = play._hands[play._pairs[histories.node] + histories.pair].tolist()
    won = [
        rules.winnings(tree.states[node], tuple(pair))
        for node, pair in zip(histories.node.tolist(), hands, strict=True)
    ]
    np.testing.assert_allclose(play.returns(histories, 0), won, atol=1e-9)
    np.testing.assert_allclose(play.returns(histories, 1), -np.array(won), atol=1e-9)


def test_chance_deals_by_its_probabilities() -> None:
    """Leduc, n = 60,000, seed 2: pairs of hands and boards as often as the rules say, z = 4.5."""
    tree = build_tree(load_game("leduc"))
    play, generator, number = TreePlay(tree), torch.Generator().manual_seed(2), 60_000
    histories = play.deal(number, generator)
    for _ in range(2):  # check, check: the board is dealt
        histories = play.act(histories, torch.zeros(number, dtype=torch.int64), generator)
    deals = np.stack([tree.game.deal(tree.states[child]) for child in tree.children(tree.find(["check", "check"]))])
    seen = np.zeros_like(deals)
    boards = histories.node - int(tree.first_child[tree.find(["check", "check"])])
    hands = play._hands[play._pairs[histories.node] + histories.pair]
    np.add.at(seen, (boards.numpy(), hands[:, 0].numpy(), hands[:, 1].numpy()), 1.0)
    error = np.sqrt(number * deals * (1 - deals))
    assert not seen[deals == 0].any() and (np.abs(seen - number * deals) <= 4.5 * error).all()


def test_tables_and_policies_are_the_same_thing() -> None:
    for game in GAMES:
        tree = build_tree(load_game(game) if isinstance(game, str) else game)
        play, policy = TreePlay(tree), random_policy(tree, np.random.default_rng(4))
        table = play.table(policy)
        again = play.policy(table)
        for player in (0, 1):
            np.testing.assert_allclose(again.probabilities[player], policy.probabilities[player], atol=1e-12)
        np.testing.assert_allclose(table.sum(dim=1), 1.0, atol=1e-12)


def test_a_table_deals_what_sampled_play_deals() -> None:
    """Goofspiel has hidden moves: every infostate that 800 random games at a table come to is met in sampled play."""
    rules, rng = load_game("goofspiel:3"), np.random.default_rng(0)
    tree = build_tree(rules)
    play, generator = TreePlay(tree), torch.Generator().manual_seed(0)
    at_table: set[tuple[Any, int]] = set()
    for _ in range(800):
        table = Table(rules, rng)
        while not table.is_over:
            seen = table.observe()
            at_table.add((seen.events, seen.hand))
            table.act(int(rng.choice(seen.legal)))
    sampled: set[int] = set()
    histories = play.deal(4000, generator)
    while len(histories.node):
        infostates = play.infostate(histories)
        sampled |= set(infostates.tolist())
        actions = torch.multinomial(play.legal(infostates).float(), 1, generator=generator).squeeze(1)
        histories = play.act(histories, actions, generator)
        histories = histories.rows((play.actor(histories) >= 0).nonzero().squeeze(1))
    assert len(sampled) == len(at_table)
