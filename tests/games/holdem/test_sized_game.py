"""Spots with bets of any size: stakes are those of a spot with that menu, and regrets can be transferred."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction.parameter_optimisation import StepRule, optimise
from aleator.abstraction.parameters import parametric_game
from aleator.abstraction.regret_transfer import UNSCALED, ParametricCFR
from aleator.errors import AleatorError, GameError
from aleator.games.registry import load_game
from aleator.solvers.regret_rule import DCFR
from aleator.trees.public_tree import build_tree

SPOT = """
board = "{board}"
pot = 60
stack = {stack}
oop = "QQ,JTs,A5s"
ip = "KK,T9s,A4s"
max_raises = 2
[{street}.oop]
bet = ["{first}%"]
raise = ["100%"]
[{street}.ip]
bet = ["{first}%"]
raise = ["100%"]
"""
RANGES = ('oop = "QQ-99,AQ,KQ,QJs,JTs,T9s,A5s"', 'ip = "QQ-77,AQs,KQs,KJs,QJs,T9s,98s,A4s"')
RIVER, TURN = "Qs Jh 2h 8c 3d", "Qs Jh 2h 8c"


def spot_file(folder: Path, *, first: int = 50, board: str = RIVER, stack: int = 100_000, menu: str = SPOT) -> str:
    file = folder / f"bet-{first}.toml"
    street = "river" if board == RIVER else "turn"
    file.write_text(menu.format(board=board, stack=stack, first=first, street=street))
    return f"holdem:{file}"


@pytest.mark.parametrize("board", [RIVER, TURN])
def test_stakes_are_those_of_a_spot_with_the_size(tmp_path: Path, board: str) -> None:
    menu, other = (spot_file(tmp_path, first=first, board=board) for first in (50, 150))
    whole = build_tree(load_game(other))
    for sizes in ("r:0:b30=150,r:0:c:b30=150", "r:0:c:b30=150,r:0:b30=150"):
        tree = build_tree(load_game(f"{menu}@{sizes}"))
        np.testing.assert_array_equal(tree.parent, whole.parent)
        np.testing.assert_allclose(tree.stake, whole.stake)
    same = build_tree(load_game(f"{menu}@r:0:b30=50"))
    np.testing.assert_allclose(same.stake, build_tree(load_game(menu)).stake)
    assert np.abs(same.stake).max() < np.abs(whole.stake).max()


def test_who_is_all_in_stays_so_and_nobody_puts_in_more(tmp_path: Path) -> None:
    menu = spot_file(tmp_path, stack=180, menu=SPOT.replace('"100%"', '"all-in"'))
    stakes = [np.abs(build_tree(load_game(f"{menu}@r:0:b30={size}")).stake) for size in (20, 300)]
    assert stakes[0].max() == stakes[1].max() == 210.0 and not np.allclose(*stakes)
    with pytest.raises(GameError, match="301 % of the pot at r:0:b30 is more than the stack"):
        load_game(f"{menu}@r:0:b30=301")


def test_regrets_are_transferred_and_a_size_is_optimised(tmp_path: Path) -> None:
    text = SPOT.replace('"100%"', '"all-in"')
    for line, (name, hands) in zip(RANGES, (("oop", "QQ,JTs,A5s"), ("ip", "KK,T9s,A4s")), strict=True):
        text = text.replace(f'{name} = "{hands}"', line)
    family = parametric_game(f"{spot_file(tmp_path, stack=180, menu=text)}@r:0:b30={{size}}", {"size": 50.0})
    np.testing.assert_allclose(family.stakes({"size": 20.0}), family.tree({"size": 20.0}).stake)
    solver = ParametricCFR(family, {"size": 50.0}, DCFR)
    solver.run(300)
    before = solver.value()
    solver.transfer({"size": 20.0}, UNSCALED)
    solver.run(2000)
    assert solver.tree.game.name.endswith("@r:0:b30=20.0") and solver.nash_conv() < 0.1
    bounds = {"size": (5.0, 140.0)}
    found = optimise(family, {"size": 33.0}, bounds=bounds, step_rule=StepRule(tolerance=0.1))
    assert found.parameters["size"] == pytest.approx(20.5, abs=0.5)  # so the linear program says, too
    assert found.value > before + 0.2
    with pytest.raises(GameError, match="more than the stack"):
        optimise(family, {"size": 50.0})  # twenty times as much is out of reach: said before it begins


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ("r:0:b31=5", "no 'b31' at r:0"),
        ("r:0=5", "does not end in a bet below all-in"),
        ("r:0:c=5", "does not end in a bet below all-in"),
        ("r:0:b30=x", "must be a number"),
        ("r:0:b30=-1", "from 0 to"),
        ("r:0:b30", "PATH=PERCENT"),
        ("r:0:b30=5,r:0:b30=6", "once for each bet"),
    ],
)
def test_what_is_refused(tmp_path: Path, sizes: str, words: str) -> None:
    with pytest.raises(AleatorError, match=words):
        load_game(f"{spot_file(tmp_path)}@{sizes}")
