"""Every family of games says its rules, and so does a game of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from aleator.games.registry import known_games, load_game
from aleator.games.rules import RULES, rules_of

OWN = '''from __future__ import annotations

from dataclasses import dataclass

from neighbour import COUNT
from aleator.games.one_card import OneCardPoker


@dataclass(frozen=True)
class Deck:
    cards: int = COUNT


class Mine(OneCardPoker):
    """Poker with
    four cards.

    More than anybody asked for.
    """

    def __init__(self) -> None:
        super().__init__(Deck().cards, name="mine")
'''


def test_every_family_has_rules() -> None:
    assert set(RULES) == {known.family for known in known_games()} - {"python", "openspiel", "leduc"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("leduc", "Bets and raises are 2 in the first round and 4 in the second, at most two in each."),
        ("leduc:nolimit", "any whole number of chips; nobody puts in more than 5 chips"),
        ("leduc:5", "are 0.5 or 1 or 2 or 4 or 8 in the first round"),
    ],
)
def test_leduc_says_the_bets_of_its_variant(name: str, said: str) -> None:
    assert said in rules_of(load_game(name))


@pytest.mark.parametrize("name", [example for known in known_games() for example in known.examples])
def test_listed_games_have_their_familys_rules(name: str) -> None:
    family = name.partition(":")[0]
    assert family == "leduc" or rules_of(load_game(name)) == RULES[family]


def test_a_game_of_ones_own_imports_its_neighbours_and_says_its_rules(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("COUNT = 4\n")
    (tmp_path / "own_rules.py").write_text(OWN)
    game = load_game(f"python:{tmp_path / 'own_rules.py'}:Mine")
    assert rules_of(game) == "Poker with four cards." and game.num_hands(game.root()) == (4, 4)
