"""Every game keeps the contract, has the published size, and plays by its rules."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.errors import GameError
from aleator.games import CHANCE, TERMINAL, Child, Game, check_game, known_games, load_game, measure
from aleator.games.goofspiel import Goofspiel
from aleator.games.leduc import Leduc
from aleator.games.liars_dice import LiarsDice, LiarsDiceState
from aleator.games.matrix import MatrixGame
from aleator.solvers.solve import solve
from aleator.trees import build_tree
from tests.games.random_game import RandomGame

LISTED = [example for known in known_games() for example in known.examples]
MORE = [
    "goofspiel:5,descending",
    "goofspiel:4,win-loss",
    "matrix:7x4",
    "leduc:bets=1+2/2+4,cap=3,ranks=4",
    "one-card:13",
    "liars-dice:3x2",
    "liars-dice:2+1x3",
    "liars-dice:1+2x2",
]


@pytest.mark.parametrize("name", LISTED + MORE)
def test_every_game_keeps_the_contract(name: str) -> None:
    game = load_game(name)
    assert game.name == name
    report = check_game(game)
    assert report.size == measure(game)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_random_games_keep_the_contract(seed: int) -> None:
    game = RandomGame(seed)
    report, tree = check_game(game), build_tree(game)
    assert report.size.public_states == tree.num_nodes and report.size.infostates == tree.num_infostates
    assert report.payoff_groups == len(tree.payoffs)
    assert (report.max_hands, report.max_actions) == (tree.num_hands.max(), tree.num_actions.max())


@pytest.mark.parametrize(
    ("name", "infostates", "source"),
    [
        ("kuhn", 12, "OpenSpiel kuhn_poker"),
        ("leduc", 288, "thesis 2.4.1, up to suit symmetry"),
        ("leduc:5", 34224, "thesis 2.4.1, up to suit symmetry"),
        ("liars-dice:1x4", 1024, "OpenSpiel liars_dice"),
        ("liars-dice:1x5", 5120, "OpenSpiel liars_dice"),
        ("liars-dice:1x6", 24576, "OpenSpiel liars_dice"),
        ("goofspiel:5,descending", 2124, "OpenSpiel goofspiel, imp_info"),
    ],
)
def test_sizes_agree_with_the_literature(name: str, infostates: int, source: str) -> None:
    assert measure(load_game(name)).infostates == infostates, source


@pytest.mark.parametrize(("name", "suits", "expected"), [("leduc", 2, 936), ("leduc:nolimit", 2, 3648)])
def test_leduc_counted_with_suits_as_openspiel_does(name: str, suits: int, expected: int) -> None:
    """A suit-aware count has 6 hands before the board and 5 hands for each of 6 boards after it."""
    game = load_game(name)
    counts = {False: 0, True: 0}
    waiting = [game.root()]
    while waiting:
        state = waiting.pop()
        actor = game.actor(state)
        if actor == TERMINAL:
            continue
        if actor != CHANCE and state.board <= 0:  # one board stands for all three
            counts[state.board == 0] += 1
        waiting += [child.state for child in game.children(state)]
    assert 6 * counts[False] + 6 * 5 * counts[True] == expected


def test_histories_agree_with_openspiel_but_for_the_initial_deals() -> None:
    assert measure(load_game("kuhn")).histories == 58 - 4
    assert measure(load_game("liars-dice:1x6")).histories == 294_883 - 7
    assert measure(load_game("goofspiel:5")).histories == 26_931


def test_liars_dice_pays_by_the_dice() -> None:
    game = LiarsDice(2, 3)
    hands = list(game.hands(game.root(), 0))
    bid = list(game.actions(game.root())).index("3x1")
    state = game.child(LiarsDiceState(bid, 1), len(game.actions(LiarsDiceState(bid, 1))) - 1)
    assert game.actor(state) == TERMINAL
    utility = game.utility(state)
    # player 0 bid three ones; threes are wild
    assert utility[hands.index("13"), hands.index("12")] == 1
    assert utility[hands.index("12"), hands.index("12")] == -1
    assert utility[hands.index("33"), hands.index("13")] == 1


def test_dice_of_both_players_count_where_one_has_more() -> None:
    game = load_game("liars-dice:2+1x3")
    assert isinstance(game, LiarsDice) and game.name == "liars-dice:2+1x3" and not game.seats_are_alike
    first, second = list(game.hands(game.root(), 0)), list(game.hands(game.root(), 1))
    assert (len(first), len(second)) == (6, 3) and game.num_bids == 9
    three_ones = LiarsDiceState(bid=6, player=1, called=True)  # player 0 bid three 1s, player 1 called
    wins = game.utility(three_ones)
    assert wins[first.index("11"), second.index("1")] == 1 and wins[first.index("13"), second.index("3")] == 1
    assert wins[first.index("12"), second.index("1")] == -1
    assert load_game("liars-dice:2+2x3").name == "liars-dice:2x3"


def test_liars_dice_deals_every_roll_with_its_probability() -> None:
    game = LiarsDice(2, 3)
    hands = list(game.hands(game.root(), 0))
    chances = game.deal(game.root()).sum(axis=1)
    assert chances[hands.index("11")] == pytest.approx(1 / 9)
    assert chances[hands.index("12")] == pytest.approx(2 / 9)


def test_leduc_pairs_win_and_folders_lose_what_they_put_in() -> None:
    game = Leduc()
    state = game.root()
    for action in ("bet 2", "call", "K", "bet 4", "raise 4"):
        state = game.child(state, list(game.actions(state)).index(action))
    folded = game.child(state, list(game.actions(state)).index("fold"))
    assert game.utility(folded)[0, 0] == -7  # ante 1, bet 2, bet 4
    called = game.child(state, list(game.actions(state)).index("call"))
    wins = game.utility(called)
    assert wins[2, 0] == 11  # king pairs the board
    assert wins[0, 2] == -11
    assert wins[0, 1] == -11  # jack loses to queen
    assert "raise 4" not in game.actions(state), "two bets a round at most"


def test_no_limit_leduc_raises_at_least_the_last_raise() -> None:
    game = load_game("leduc:nolimit")
    state = game.child(game.root(), list(game.actions(game.root())).index("bet 2"))
    assert list(game.actions(state)) == ["fold", "call", "raise 2"]
    state = game.child(game.root(), list(game.actions(game.root())).index("bet 3"))
    assert list(game.actions(state)) == ["fold", "call", "raise 1"], "an all-in may be smaller"


def test_goofspiel_splits_ties_and_counts_points() -> None:
    game = Goofspiel(3)
    state = game.root()
    for label in ("bid", "tie", "bid", "player 0 wins"):
        state = next(child.state for child in game.children(state) if child.label == label)
    hands = [list(game.hands(state, player)) for player in (0, 1)]
    # both bid 1, then 3 beats 2 for the prize 2, then 2 loses to 3 for the prize 3
    assert game.utility(state)[hands[0].index("1 3"), hands[1].index("1 2")] == 2 - 3
    assert game.deal(state)[hands[0].index("1 3"), hands[1].index("2 1")] == 0


def test_goofspiel_names_cards_by_hand() -> None:
    game = Goofspiel(3)
    state = next(child.state for child in game.children(game.children(game.root())[0].state))
    names = list(game.hands(state, 0))
    assert game.action_name(state, names.index("3"), 0) == "1"
    assert game.action_name(state, names.index("3"), 1) == "2"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("chess", "unknown game 'chess'"),
        ("liar-dice:1x6", "did you mean 'liars-dice'"),
        ("liars-dice:0x6", "1 to 6 dice"),
        ("liars-dice:six", "dice x faces"),
        ("leduc:bets=2", "two rounds"),
        ("leduc:bats=2/4", "unknown 'bats'"),
        ("leduc:cap=x", "cap of Leduc must be a whole number"),
        ("leduc:nolimit1", "stack above"),
        ("leduc:nolimit100", "stacks of 2 to 25, not 100"),
        ("one-card:1", "2 to 1000 cards"),
        ("kuhn:4", "takes no parameters"),
        ("goofspiel:9", "2 to 6 cards"),
        ("liars-dice:6x10", "5,005 hands"),
        ("liars-dice:9x9x9", "expected dice x faces, as in liars-dice:1x6"),
        ("leduc:cap=0", "at least 1 bet"),
        ("leduc:bets=1+1/2", "distinct"),
        ("leduc:ranks=100000", "2 to 100 ranks"),
        ("leduc:stack=nan", "the stack of Leduc must be a number"),
        ("leduc:cap=2,cap=3", "cap is given twice"),
        ("leduc:six", "allowed: 5, pots=.*, nolimit, "),
        ("liars-dice:١x٦", "must be a whole number"),
        (f"leduc:nolimit{'9' * 5000}", "at most 4,096 characters"),
        (f"one-card:{'9' * 4000}", "must be a whole number from 0 to 1,000,000"),
        ("matrix:3x3,seed=-1", "the seed of matrix: must be a whole number"),
        ("a\nb", "cannot be printed"),
        ("holdem:\ud800", "cannot be encoded"),
        ("goofspiel:5,upwards", "ascending or descending"),
        ("matrix:3", "rows x columns"),
        ("openspiel:", "needs the name"),
    ],
)
def test_bad_names_say_what_is_allowed(name: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        load_game(name)


class _Mixed(Game[int]):
    """Player 0's first action is public, the second changes her hand; only one hand may take it."""

    name = "mixed"

    def root(self) -> int:
        return 0

    def actor(self, state: int) -> int:
        return 0 if state == 0 else TERMINAL

    def actions(self, state: int) -> list[str]:
        return ["stay", "go"]

    def children(self, state: int) -> list[Child[int]]:
        return [Child(1, "stayed"), Child(2, "went", (np.array([2]), None))]

    def hands(self, state: int, player: int) -> list[str]:
        return ["a", "b"] if player == 0 and state < 2 else ["a"]

    def deal(self, state: int) -> np.ndarray:
        return np.full((1 if state == 2 else 2, 1), 0.5)

    def utility(self, state: int) -> np.ndarray:
        return np.full(self.num_hands(state), -1.0 if state == 1 else 0.0)


def test_what_one_hand_may_not_do_stays_illegal_beside_public_moves() -> None:
    """Hand a escapes the loss by going; hand b must stay."""
    assert check_game(_Mixed()).size.infostates == 2
    for algorithm in ("dcfr", "lp"):
        assert solve(_Mixed(), algorithm).summary.value == pytest.approx(-0.5, abs=1e-3)


def test_a_game_of_ones_own_has_a_name_too(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("from aleator.games.one_card import OneCardPoker\nclass Mine(OneCardPoker):\n    pass\nsize = 3\n")
    game = load_game(f"python:{file}:Mine")
    assert game.name == f"python:{file}:Mine" and check_game(game).size.infostates == 12
    for name, message in (
        ("mine.py:Yours", "mine.py has no class 'Yours'; it has Mine"),
        ("mine.py:size", "not callable"),
        ("no.py:Mine", "no Python file"),
    ):
        with pytest.raises(GameError, match=message):
            load_game(f"python:{tmp_path / name}")
    with pytest.raises(GameError, match="expected a file"):
        load_game("python:mine")


def test_a_matrix_game_needs_a_finite_matrix() -> None:
    with pytest.raises(GameError, match="finite matrix"):
        MatrixGame([[0.0, np.nan]], name="x")
