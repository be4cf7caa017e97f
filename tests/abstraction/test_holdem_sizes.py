"""Bet sizes of spots: the best one is at least as good as a search by hand, and menus that grow reach large ones."""

from __future__ import annotations

import pytest

from aleator.abstraction.holdem_sizes import (
    CANDIDATES,
    grow_menu,
    optimise_size,
    parse_place,
    spot_memory,
    spot_values,
    with_bets,
)
from aleator.errors import SolveError
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import parse_spot
from tests.apps.calls import call

SPOT = """
board = "Qs Jh 2h 8c 3d"
pot = 1000
stack = 2000
oop = "AA,QQ,JTs,98s,AhKh,T9s"
ip = "KK,QJs,AQs,KQs,TT,88,A5s"

[river.oop]
bet = ["50%"]
raise = ["all-in"]

[river.ip]
bet = ["50%"]
raise = ["all-in"]
"""


def spot() -> Spot:
    return parse_spot(SPOT)


@pytest.mark.slow
def test_the_best_size_is_at_least_what_twenty_sizes_by_hand_find():
    found = optimise_size(spot(), 3, 0, target=0.0005)
    by_hand = max(spot_values(with_bets(spot(), 3, 0, [f"{size}%"]), 0.0005)[0] for size in range(10, 210, 10))
    assert found.best.value >= by_hand - 0.0005  # what solves know
    assert found.best.value == max(one.value for one in found.tried)
    assert found.best.value > spot_values(with_bets(spot(), 3, 0, ["20%"]), 0.0005)[0] + 0.001
    assert [str(size) for size in found.spot.menu.river[0].bets] == [found.best.size]


@pytest.mark.slow
def test_a_grown_menu_is_worth_what_ten_sizes_are():
    grown = grow_menu(spot())
    full = spot()
    for player in (0, 1):
        full = with_bets(full, 3, player, CANDIDATES)
    assert grown.value == pytest.approx(spot_values(full, 0.0003)[0], abs=0.001)
    assert all(1 <= len(sizes) <= 3 and set(sizes) <= set(CANDIDATES) for sizes in grown.sizes)
    assert spot_memory(grown.spot) < spot_memory(full) / 2
    start = with_bets(with_bets(spot(), 3, 0, ["20%", "all-in"]), 3, 1, ["20%", "all-in"])
    assert grown.solves > 5 and grown.value != spot_values(start, 0.0005)[0]


def test_a_true_answer_ends_both():
    seen: list[str] = []
    optimise_size(spot(), 3, 1, target=0.01, on_solve=lambda size, value: bool(seen.append(size)) or len(seen) == 2)
    assert seen == ["10%", "20%"]
    assert grow_menu(spot(), target=0.01, on_solve=lambda menus, value: True).solves == 1


@pytest.mark.parametrize(("candidates", "most"), [(("50%", "100%"), 2), (("50%", "100%", "all-in"), 1)])
def test_a_menu_has_at_most_what_it_may_have(candidates: tuple[str, ...], most: int) -> None:
    for sizes in grow_menu(spot(), candidates=candidates, most=most, target=0.02).sizes:
        assert 1 <= len(sizes) <= most and set(sizes) <= set(candidates)


def test_the_command_line(capsys, tmp_path):
    file = tmp_path / "spot.toml"
    file.write_text(SPOT)
    code, text, error = call(capsys, "holdem", "optimise", str(file), "--size", "river.oop", "--target", "0.05")
    assert code == 0 and "best" in text, error
    code, text, error = call(capsys, "holdem", "solve", str(file), "--grow-sizes", "2", "--target", "0.05")
    assert code == 0 and "oop bets" in text and "exploitability" in text, error
    for place, words in (("turn.oop", "allowed: river"), ("river", "street and player"), ("river.bb", "oop, ip")):
        code, _, error = call(capsys, "holdem", "optimise", str(file), "--size", place)
        assert code == 2 and words in error and error.count("\n") == 1


def test_what_is_refused():
    with pytest.raises(SolveError, match="unknown street of this spot"):
        parse_place(spot(), "flop.oop")
    with pytest.raises(SolveError, match="at least 2 candidates"):
        grow_menu(spot(), candidates=["50%"])
