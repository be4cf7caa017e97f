"""Flop hold'em with a reduced deck: the rules, and the cards against the general evaluator."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import GameError
from aleator.games import check_game, load_game
from aleator.games.flop_holdem import FlopHoldem
from aleator.trees import build_tree


def test_contract() -> None:
    report = check_game(FlopHoldem(4, 2, sizes=((0.5, 1.0), (1.0,)), stack=6.0))
    assert report.max_hands == 28  # two of eight cards


def test_betting() -> None:
    tree = build_tree(FlopHoldem(sizes=((0.5, 1.0), (1.0,)), max_bets=(1, 2)))
    root = [tree.labels[child] for child in tree.children(0)]
    assert root == ["fold", "call", "raise 0.5", "raise 1"]
    node = tree.find(["raise 0.5", "call", "AdAcKd", "bet 1", "raise 1", "call"])
    # a raise of half the pot after a call: 1 + 0.5 x 2 = 2; then a pot of 4 is bet and a pot of 12 raised
    assert tree.states[node].chips == (18.0, 18.0)
    assert tree.stake[tree.find(["raise 1", "fold"])] == 1.0 and tree.stake[tree.find(["fold"])] == -0.5


def test_strengths_and_card_removal() -> None:
    game = FlopHoldem()
    board = (0, 1, 7)  # Jc Jd Ad
    strengths = game.strengths(board)
    names = game.hands(game.root(), 0)
    order = sorted((strength, name) for strength, name in zip(strengths, names, strict=True) if strength >= 0)
    assert order[-1][1] == "AcQd" or strengths[names.index("AcQd")] > strengths[names.index("KdKc")]
    assert strengths[names.index("QdJc")] == -1 and len(order) == 10


def test_impossible_decks() -> None:
    for text in ("flop-holdem:2x2", "flop-holdem:13x4", "flop-holdem:x"):
        with pytest.raises(GameError):
            load_game(text)
    with pytest.raises(GameError, match="increasing"):
        FlopHoldem(sizes=((1.0, 0.5), (1.0,)))


def test_a_symmetric_deal_is_fair_when_all_check() -> None:
    tree = build_tree(FlopHoldem(max_bets=(0, 0)))
    ends = np.flatnonzero(tree.payoff_group >= 0)
    total = sum(tree.stake[node] * tree.payoffs[tree.payoff_group[node]].sum() for node in ends if tree.stake[node] > 0)
    assert total == pytest.approx(0.0, abs=1e-12)
