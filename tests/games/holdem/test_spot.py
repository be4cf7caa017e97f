import numpy as np
import pytest

from aleator.errors import TooBigError
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.betting_tree import count_nodes, find_node
from aleator.games.holdem.cards import parse_cards, parse_hand
from aleator.games.holdem.node_path import parse_path
from aleator.games.holdem.spot import Rake, SolveSettings, Spot, SpotError
from aleator.games.holdem.spot_file import spot_from_table

MENU = BetMenu.uniform(bets=["50%"], raises=["100%"])


def spot(board: str = "3s 7h Td Ks", oop: str = "random", ip: str = "random", **options: object) -> Spot:
    values = {"pot": 100, "stack": 500, "menu": MENU, **options}
    return Spot(board=parse_cards(board), oop=oop, ip=ip, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("board", "street", "hands"), [("AsKdQh", 1, 1_176), ("AsKdQh2c", 2, 1_128), ("AsKdQh2c3c", 3, 1_081)]
)
def test_board_gives_the_street_and_blocks_hands(board: str, street: int, hands: int) -> None:
    assert spot(board).street == street
    assert spot(board).weights().sum(axis=1).tolist() == [hands, hands]


def test_weights_are_those_of_the_ranges() -> None:
    weights = spot(oop="KK,AA:0.5", ip="7h7d,22").weights()
    assert weights.shape == (2, 1_326)
    assert weights[0].sum() == 3 + 6 * 0.5
    assert weights[0, parse_hand("AsAh")] == 0.5
    assert weights[0, parse_hand("KsKh")] == 0
    assert weights[1].sum() == 6
    assert np.flatnonzero(weights[1]).size == 6


def test_tree_is_built_from_the_spot() -> None:
    root = spot(min_bet=60, added=(parse_path("r:0:c:b77"),)).build_tree()
    assert root.tokens == ("c", "b60")
    assert find_node(root, "r:0:c").tokens == ("c", "b60", "b77")
    assert count_nodes(root)[:2] == (0, 0)


def test_rake_is_a_capped_fraction_of_the_pot() -> None:
    assert Rake().amount(1_000) == 0
    assert Rake(rate=0.05, cap=30).amount(400) == pytest.approx(20)
    assert Rake(rate=0.05, cap=30).amount(1_000) == 30
    assert Rake(rate=0.05).amount(1_000) == pytest.approx(50)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"board": "As Kd"}, "3, 4 or 5 cards, not 2"),
        ({"board": "As Kd 2c 3c 4c 5c"}, "3, 4 or 5 cards, not 6"),
        ({"pot": 0}, "pot must be a whole number from 1 to 1,000,000,000, not 0"),
        ({"stack": -5}, "stack must be a whole number from 1 to 1,000,000,000, not -5"),
        ({"min_bet": 0}, "min_bet must be a whole number from 1 to 1,000,000,000, not 0"),
        ({"oop": "AKx"}, "oop: 'AKx' at position 0"),
        ({"ip": "Ks7h"}, "ip: the board 3s 7h Td Ks leaves no hand of 'Ks7h'"),
        ({"oop": "AA:0"}, "oop: the board 3s 7h Td Ks leaves no hand"),
        ({"oop": "AsAh", "ip": "AsKd,AhKd"}, "shares a card"),
        ({"oop": "AsAh", "ip": "AsAh"}, "shares a card"),
        ({"oop": "AsAh", "ip": "AsAd,QdQc:0.000000001"}, "oop: all but 1e-09 of ip's weight shares a card with AsAh"),
        (
            {"ip": "AsAh", "oop": "AsAd,QdQc:0.00009"},
            "ip: all but 9e-05 of oop's weight shares a card with AsAh, 0.0001 or",
        ),
        ({"oop": "AA:0.0000001"}, "oop: no hand weighs more than 1e-07; some hand needs 1e-06 or more"),
        ({"added": (parse_path("r:0:b501"),)}, "added: cannot add 'b501' at r:0: legal are b1 to b500"),
    ],
)
def test_impossible_spots_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(SpotError, match=message):
        spot(**change)  # type: ignore[arg-type]


def test_board_with_a_card_twice_is_refused() -> None:
    card = parse_cards("As")[0]
    with pytest.raises(SpotError, match="board: card As comes twice"):
        Spot(board=(card, card, 0), pot=1, stack=1, oop="random", ip="random")


def test_one_hand_each_that_can_be_dealt_is_allowed() -> None:
    assert spot(oop="AsAh", ip="AdAc").weights().sum(axis=1).tolist() == [1, 1]
    assert spot(oop="AsAh", ip="AsAh,QdQc").weights().sum(axis=1).tolist() == [1, 2]
    assert spot(oop="AsAh", ip="AsAd,QdQc:0.001").weights().sum(axis=1).tolist() == [1, 1.001]
    assert spot(oop="AsAh", ip="AdAc,QdQc:0.000000001").weights()[1].max() == 1


@pytest.mark.parametrize("rake", [{"rate": -0.1}, {"rate": 1.1}, {"rate": 0.1, "cap": -1.0}])
def test_impossible_rakes_are_refused(rake: dict[str, float]) -> None:
    with pytest.raises(SpotError, match=r"rake\."):
        Rake(**rake)


@pytest.mark.parametrize("settings", [{"rule": ""}, {"target": -1.0}, {"target": float("nan")}, {"max_iterations": 0}])
def test_impossible_solve_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(SpotError, match=f"solve.{next(iter(settings))}"):
        SolveSettings(**settings)  # type: ignore[arg-type]


def test_a_tree_that_is_too_big_is_refused_with_advice() -> None:
    sizes = [f"{size}%" for size in range(20, 201, 20)]
    street = {side: {"bet": sizes, "raise": sizes} for side in ("oop", "ip")}
    table = {"board": "Qs Jh 2h", "pot": 100, "stack": 10_000, "oop": "AA", "ip": "KK", "flop": street, "turn": street}
    with pytest.raises(
        TooBigError,
        match=r"more than the 40,000 nodes that are allowed: use fewer sizes, a cap on raises \(max_raises\)",
    ):
        spot_from_table(table).build_tree()
