"""Locks: how they are written, where they apply, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aleator.games.holdem.betting_tree import find_node
from aleator.games.holdem.cards import parse_hand
from aleator.games.holdem.lock import Lock, LockError, parse_lock
from aleator.games.holdem.node_path import parse_path
from aleator.games.holdem.spot import SpotError
from aleator.games.holdem.spot_file import format_spot, parse_spot
from aleator.games.holdem.subgame import subgame_of

SPOT = """
board = "3s 7h Td Ks"
pot = 100
stack = 300
oop = "AA,76s,AKo"
ip = "KK-TT,A7s"
[turn.oop]
bet = ["50%"]
[turn.ip]
bet = ["100%"]
[river.oop]
bet = ["75%"]
[river.ip]
bet = ["75%"]
"""


def test_a_lock_says_how_often_each_hand_takes_each_action() -> None:
    spot = parse_spot(SPOT)
    lock = parse_lock("r:0 b50=AA:0.25,7h6h c=rest")
    found = lock.find(spot.build_tree())
    policy = lock.policy(found.node)
    assert found.node.tokens == ("c", "b50") and found.cards == ()
    for hand, bet in (("AsAh", 0.25), ("7h6h", 1.0), ("AsKh", 0.0)):
        np.testing.assert_allclose(policy[:, parse_hand(hand)], [1 - bet, bet])
    even = parse_lock("r:0:c c=0.2 b100=0.2").policy(find_node(spot.build_tree(), "r:0:c"))
    np.testing.assert_allclose(even, 0.5)  # shares are scaled to sum to 1


def test_cards_may_be_left_out() -> None:
    root = parse_spot(SPOT).build_tree()
    everywhere, on_a_card = (parse_lock(f"{path} c=1").find(root) for path in ("r:0:c:c:c", "r:0:c:c:2h:c"))
    assert everywhere.node == on_a_card.node and everywhere.node.player == 1
    assert (everywhere.cards, on_a_card.cards) == ((None,), ("2h",))
    assert parse_lock("r:0:c:c c=1").find(root).node == find_node(root, "r:0:c:c:2h"), (
        "the first decision after any card"
    )


def test_spot_files_keep_locks() -> None:
    text = SPOT + '[lock]\n"r:0:c" = { c = 0.3, b100 = "rest" }\n"r:0:c:c:2h:b75" = { c = "KK,QQ:0.5", f = "rest" }\n'
    spot = parse_spot(text)
    assert [str(lock) for lock in spot.locks] == ["r:0:c c=0.3 b100=rest", "r:0:c:c:2h:b75 c=KK,QQ:0.5 f=rest"]
    assert parse_spot(format_spot(spot)) == spot
    assert parse_lock(str(spot.locks[1])) == spot.locks[1]


def test_a_subgame_takes_its_locks_along() -> None:
    texts = ("r:0 c=1", "r:0:c:c:2h:b75 c=1", "r:0:c:c:3h:b75 c=1", "r:0:c:c:c c=1", "r:0:b50:c:c c=1")
    spot = replace(parse_spot(SPOT), locks=tuple(parse_lock(text) for text in texts))
    below = subgame_of(spot, "r:0:c:c:2h", spot.weights())
    assert [str(lock.path) for lock in below.locks] == ["r:0:b75", "r:0:c"]
    assert below.street == 3 and not below.weights()[:, parse_hand("AhKh")].any()


@pytest.mark.parametrize(
    ("lock", "message"),
    [
        ('"r:0" = { b60 = 1 }', "no 'b60' there, possible are c, b50"),
        ('"r:0:c:b100:f" = { c = 1 }', "nobody acts there"),
        ('"r:0:b77" = { c = 1 }', "no 'b77'"),
        ('"r:0:c:c:7h" = { c = 1 }', "dealt already"),
        ('"r:0" = { c = 1.5 }', "from 0 to 1"),
        ('"r:0" = { c = "ZZ" }', "'ZZ'"),
        ('"r:0" = { c = "AA" }', "takes no action"),
        ('"r:0" = { c = "rest", b50 = "rest" }', "only one action can take the rest"),
        ('"r:0" = {}', "at least one action"),
        ('"r:0" = "AA"', "must be a table"),
        ('"r:0" = { c = [1] }', "a number, a hand range or 'rest'"),
        ('"r:0" = { c = 1 }\n"r" = { c = 1 }', "locked twice"),
    ],
)
def test_locks_that_do_not_fit_are_refused(lock: str, message: str) -> None:
    with pytest.raises(SpotError, match=message):
        parse_spot(f"{SPOT}[lock]\n{lock}\n")


def test_lock_texts_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(LockError, match="ACTION=FREQUENCY"):
        parse_lock("r:0 c")
    with pytest.raises(LockError, match="twice"):
        Lock(path=parse_path("r"), shares=(("c", "1"), ("c", "rest")))
