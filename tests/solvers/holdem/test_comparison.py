"""Two solutions side by side: equal ones, locks, sizes and ranges that differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aleator import solve
from aleator.errors import SolveError
from aleator.games.holdem.cards import HAND_CLASS_NAMES, parse_cards
from aleator.games.holdem.lock import parse_lock
from aleator.games.holdem.node_path import NodePathError
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import parse_spot
from aleator.solvers.holdem.comparison import Comparison
from aleator.solvers.holdem.solution import HoldemSolution

SPOT = parse_spot("""
board = "Qs Jh 2h 8c 3d"
pot = 100
stack = 200
oop = "AA,KK,JTs,T9s"
ip = "QQ,AQs,KQs,98s"
[river.oop]
bet = ["75%"]
[river.ip]
bet = ["75%"]
[solve]
target = 0.002
""")


def solved(spot: Spot) -> HoldemSolution:
    found = solve(spot)
    assert isinstance(found, HoldemSolution)
    return found


@pytest.fixture(scope="module")
def plain() -> HoldemSolution:
    return solved(SPOT)


@pytest.fixture(scope="module")
def locked() -> HoldemSolution:
    return solved(replace(SPOT, locks=(parse_lock("r:0 b75=1"),)))


def test_a_solution_does_not_differ_from_itself(plain: HoldemSolution) -> None:
    both = Comparison(plain, plain)
    found = both.node("r:0")
    assert found.distance == 0 and (found.evs[0] == found.evs[1]).all()
    np.testing.assert_array_equal(found.class_evs[0], found.class_evs[1])
    assert [line.distance for line in both.lines()] == [0.0] * len(both.lines())
    assert found.evs[0].sum() == pytest.approx(SPOT.pot)
    assert found.kinds.sum(axis=1).tolist() == pytest.approx([1, 1])


def test_a_lock_is_where_play_differs(plain: HoldemSolution, locked: HoldemSolution) -> None:
    both = Comparison(plain, locked)
    found = both.node("r:0")
    bets = next(share for share in found.shares if share.token == "b75")
    assert bets.second == pytest.approx(1) and bets.first < 1
    # with one bet to choose, hands act otherwise exactly as often as they checked
    assert found.distance == pytest.approx(1 - bets.first) == pytest.approx(found.kinds[0, 1])
    assert found.evs[1, 0] <= found.evs[0, 0] + 0.5  # who is locked cannot gain
    aces = HAND_CLASS_NAMES.index("AA")
    assert found.class_kinds[1, 2, aces] == pytest.approx(1)
    assert np.isnan(found.class_kinds[:, :, HAND_CLASS_NAMES.index("72o")]).all()
    assert np.isnan(found.class_evs[0, 1, aces])  # ip has none
    lines = both.lines()
    assert str(lines[0].path) == "r:0" and lines[0].reached == (1.0, 1.0)
    assert "r:0:c" not in {str(line.path) for line in lines}  # the second never gets there


def test_bets_of_other_sizes_are_compared_by_kind(plain: HoldemSolution) -> None:
    other = solved(parse_spot(_text().replace("75%", "150%")))
    both = Comparison(plain, other)
    found = both.node("r:0")
    assert {share.token for share in found.shares} == {"c", "b75", "b150"}
    assert np.isnan(next(share.first for share in found.shares if share.token == "b150"))
    assert {str(line.path) for line in both.lines()} == {"r:0", "r:0:c"}
    facing = both.node("r:0:b75", "r:0:b150")
    assert facing.player == 1 and facing.kinds[1, 0] > 0
    with pytest.raises(NodePathError):
        both.node("r:0:b75")
    with pytest.raises(SolveError, match="another player acts at r:0 than at r:0:c"):
        both.node("r:0", "r:0:c")


def _text() -> str:
    from aleator.games.holdem.spot_file import format_spot

    return format_spot(SPOT)


def test_other_ranges_are_compared_where_both_have_a_hand(plain: HoldemSolution) -> None:
    found = Comparison(plain, solved(replace(SPOT, oop="AA,KK,55"))).node("r:0")
    jacks = HAND_CLASS_NAMES.index("JTs")
    assert np.isfinite(found.class_evs[0, 0, jacks]) and np.isnan(found.class_evs[1, 0, jacks])
    assert 0 <= found.distance <= 1


def test_boards_must_be_the_same(plain: HoldemSolution) -> None:
    other = solved(replace(SPOT, board=parse_cards("Qs Jh 2h 8c 3c")))
    with pytest.raises(SolveError, match="only solutions of one board can be compared"):
        Comparison(plain, other)
