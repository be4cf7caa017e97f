"""Payoff matrices are made at the first look, once, and those of a subgame are those of its tree."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.games import load_game
from aleator.games.operators import MatrixPayoff
from aleator.games.registry import known_games
from aleator.games.size import count_public_states, measure
from aleator.trees import build_tree, cut
from aleator.trees.payoffs import Payoffs


def test_a_matrix_is_made_once_when_it_is_asked_for() -> None:
    made: list[int] = []

    def make(number: int) -> MatrixPayoff:
        made.append(number)
        return MatrixPayoff(np.full((1, 1), float(number)))

    payoffs = Payoffs([lambda number=number: make(number) for number in range(4)])  # type: ignore[misc]
    assert len(payoffs) == 4 and not made
    assert payoffs[2] is payoffs[2] is payoffs[-2] and made == [2]
    assert [matrix.item() for matrix in payoffs] == [0.0, 1.0, 2.0, 3.0] and sorted(made) == [0, 1, 2, 3]
    assert [matrix.item() for matrix in payoffs[1:3]] == [1.0, 2.0]
    with pytest.raises(IndexError):
        payoffs[4]


def test_a_tree_is_built_and_cut_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game("leduc")
    asked = []
    matrix = game.payoff_matrix
    monkeypatch.setattr(game, "payoff_matrix", lambda state: asked.append(state) or matrix(state))
    tree = build_tree(game)
    node = tree.find(["check", "check", "K"])
    subgame = cut(tree, node)
    assert not asked and 0 < len(subgame.tree.payoffs) < len(tree.payoffs)
    assert subgame.nodes is not None
    for place in np.flatnonzero(subgame.tree.payoff_group >= 0):
        here = subgame.tree.payoffs[subgame.tree.payoff_group[place]]
        assert here is tree.payoffs[tree.payoff_group[subgame.nodes[place]]]
    assert len(asked) == len(subgame.tree.payoffs)


@pytest.mark.parametrize("name", [name for known in known_games() for name in known.examples])
def test_public_states_are_counted_alike(name: str) -> None:
    game = load_game(name)
    assert count_public_states(game) == measure(game).public_states
