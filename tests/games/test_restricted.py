"""Games without some of their moves."""

from __future__ import annotations

import pytest

from aleator.errors import GameError
from aleator.games import load_game
from aleator.games.contract import check_game
from aleator.games.restricted import RestrictedGame, smallest_and_largest, split_label, without
from aleator.trees import build_tree


def test_bets_between_the_smallest_and_the_largest_are_left_out() -> None:
    assert smallest_and_largest(["check", "bet 1", "bet 2", "bet 3", "bet 4"]) == {"check", "bet 1", "bet 4"}
    assert smallest_and_largest(["f", "c", "r50", "r75", "r100"]) == {"f", "c", "r50", "r100"}
    assert smallest_and_largest(["1x1", "1x2", "1x3"]) == {"1x1", "1x2", "1x3"}
    assert split_label("raise 0.75") == ("raise", 0.75) and split_label("b500") == ("b", 500.0)
    assert split_label("check") is None and split_label("card 1 of 4") is None


def test_a_restricted_game_is_a_game() -> None:
    game = RestrictedGame(load_game("leduc:nolimit"))
    check_game(game)
    tree, whole = build_tree(game), build_tree(load_game("leduc:nolimit"))
    assert tree.num_nodes == 582 and whole.num_nodes == 1050
    assert game.actions(game.root()) == ["check", "bet 1", "bet 4"]


def test_moves_by_name() -> None:
    tree = build_tree(RestrictedGame(load_game("leduc"), without(["raise 2", "raise 4"])))
    assert not {"raise 2", "raise 4"} & {tree.labels[node] for node in range(1, tree.num_nodes)}
    with pytest.raises(GameError, match="no action is left of check, bet"):
        build_tree(RestrictedGame(load_game("kuhn"), without(["check", "bet"])))
    with pytest.raises(GameError, match="not everybody sees"):
        build_tree(RestrictedGame(load_game("rps-plus"), without(["rock"])))
