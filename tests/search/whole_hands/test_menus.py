"""Bet sizes of searches, read from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.errors import AleatorError, SolveError
from aleator.games.holdem.variants import HUNL
from aleator.search.whole_hands.menus import MENU, read_menu


def test_streets_that_are_left_out_are_as_usual(tmp_path: Path) -> None:
    path = tmp_path / "menu.toml"
    path.write_text('flop = "50% 100% 200% all-in; 100% all-in"\n')
    menu = read_menu(path)
    assert [menu.levels[street] == MENU.levels[street] for street in range(4)] == [True, False, True, True]
    assert menu.levels[1] == (MENU.levels[3][0], MENU.levels[1][1])


def test_an_agent_considers_the_bets_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "menu.toml"
    path.write_text('preflop = "300%"\n')
    policy = load_hand_agent(f"rebel:menu={path},preflop=1").policy_at(HUNL.setup.start())
    assert [action.amount for action in policy.actions][2:] == [100 + 3 * 200]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flop = 3", "flop must be a text of at most 12 sizes"),
        ('flop = "' + "50% " * 13 + '"', "at most 12 sizes"),
        ('flop = "50% much"', "much"),
        ('flops = "50%"', "unknown street 'flops'; allowed: preflop, flop, turn, river"),
        ("flop", r"menu\.toml: not a TOML file"),
        ("#" * 10_001, "too long"),
        ("flop = \ud800", "cannot read"),
    ],
)
def test_files_that_are_no_menu_are_refused_in_a_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "menu.toml"
    path.write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(SolveError, match=message) as caught:
        read_menu(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(AleatorError, match=r"cannot read the bet sizes in .*nothing\.toml"):
        load_hand_agent(f"deepstack:menu={tmp_path / 'nothing.toml'}").policy_at(HUNL.setup.start())
