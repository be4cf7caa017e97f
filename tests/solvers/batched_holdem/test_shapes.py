"""Betting shapes: structure, stakes, and that a menu in pots gives the trees of the rules."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games.holdem.bet_menu import BetMenu, PlayerSizes, parse_sizes
from aleator.games.holdem.betting_tree import TreeConfig, build_tree
from aleator.solvers.engines.batched_holdem.shapes import DECISION, FOLD, LEAF, SHOWDOWN, PotMenu, betting_of


def rules_tree(bets: list[str], raises: list[str], pot: int, stack: int, street: int = 3):  # type: ignore[no-untyped-def]
    sizes = PlayerSizes(bets=parse_sizes(bets, is_raise=False), raises=parse_sizes(raises))
    menu = BetMenu(flop=(sizes, sizes), turn=(sizes, sizes), river=(sizes, sizes))
    return build_tree(TreeConfig(pot=pot, stack=stack, street=street, menu=menu), one_street=True)


@pytest.mark.parametrize("stack", [0.3, 0.5, 0.75, 1.0, 2.0, 2.5, 3.0, 4.0, 8.0, 12.0])
@pytest.mark.parametrize("street", [2, 3])
def test_a_menu_in_pots_is_the_tree_of_the_rules(stack: float, street: int) -> None:
    pot = 1000
    tree = rules_tree(["50%", "100%", "all-in"], ["100%", "all-in"], pot, int(stack * pot), street)
    shape, stakes = betting_of(tree, pot)
    betting = PotMenu(bets=(0.5, 1.0), to_showdown=street == 3).betting(stack)
    assert betting.shape == shape
    np.testing.assert_allclose(betting.stakes([stack])[0], stakes)
    assert betting.above < stack <= betting.up_to


def test_shapes_are_in_sibling_order_and_rows_are_nodes() -> None:
    shape = PotMenu(bets=(0.5, 1.0)).betting(50.0).shape
    assert (shape.num_rows, len(shape.decisions)) == (80, 28)
    for node in shape.decisions:
        below = shape.children[node]
        assert len(below) >= 2 and all(shape.parent[child] == node for child in below)
        assert shape.rows(node) == slice(below[0] - 1, below[-1])
        for child in below:
            assert shape.kind[child] != DECISION or shape.player[child] == 1 - shape.player[node]
            assert shape.kind[child] != FOLD or shape.player[child] == shape.player[node]
    assert {shape.kind[n] for n in range(shape.num_nodes) if not shape.children[n]} == {FOLD, SHOWDOWN}


def test_split_gives_every_game_its_shape_once() -> None:
    stacks = np.array([0.2, 30.0, 5.0, 1.0, 0.9, 13.0, 13.1])
    menu = PotMenu(to_showdown=False)
    seen: list[int] = []
    for betting, games in menu.split(stacks):
        seen += games.tolist()
        for game in games:
            assert menu.betting(float(stacks[game])).shape == betting.shape
        assert LEAF in betting.shape.kind
    assert sorted(seen) == list(range(len(stacks)))
    assert len({betting.shape for betting, _ in menu.split(stacks)}) == 3  # up to 1, 4 to 13, above


def test_what_makes_no_betting_is_refused() -> None:
    with pytest.raises(SolveError, match="positive fractions of the pot"):
        PotMenu(bets=(0.0,))
    with pytest.raises(SolveError, match="at least 0, not -1"):
        PotMenu(most=-1)
    for stack in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(SolveError, match="positive number of pots"):
            PotMenu().betting(stack)
    with pytest.raises(SolveError, match="must be at least 1, not 0"):
        betting_of(rules_tree(["100%"], ["100%"], 10, 10), 0)
