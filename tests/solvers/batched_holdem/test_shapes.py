"""Betting shapes: structure, stakes, and that a menu in pots gives the trees of the rules."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games.holdem.bet_menu import BetMenu, PlayerSizes, parse_sizes
from aleator.games.holdem.betting import BettingRules
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, TreeConfig, build_tree, build_tree_from_state
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


def test_the_round_with_the_blinds_is_that_of_the_rules() -> None:
    """Blinds 50 and 100, stacks of 2,000; two players, the button has the small blind and acts first."""
    sizes = PlayerSizes(bets=parse_sizes(["100%", "all-in"]), raises=parse_sizes(["100%", "all-in"]))
    rules = BettingRules(small_blind=50, big_blind=100)
    tree = build_tree_from_state(rules.start((2000, 2000)), BetMenu(preflop=(sizes, sizes)), one_street=True)
    betting = PotMenu(to_showdown=False, blinds=True).betting(9.5)  # 1,900 behind the big blind, in pots of 200

    def lines(node: BettingNode, line: tuple[int, ...]) -> list[tuple[tuple[int, ...], int, int]]:
        if node.kind is not NodeKind.DECISION:
            return [(line, int(node.kind), min(node.chips))]
        return [found for place, child in enumerate(node.children) for found in lines(child, (*line, place))]

    def ours(node: int, line: tuple[int, ...]) -> list[tuple[tuple[int, ...], int, int]]:
        shape, stakes = betting.shape, betting.stakes([9.5])[0]
        if shape.kind[node] != DECISION:
            return [(line, shape.kind[node], round(200 * stakes[shape.stake[node]]))]
        return [f for place, child in enumerate(shape.children[node]) for f in ours(child, (*line, place))]

    assert ours(0, ()) == lines(tree, ())
    assert betting.shape.player[0] == 1
    with pytest.raises(SolveError, match="ends before the flop"):
        PotMenu(blinds=True)


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
