"""Rules of games for many players: payoffs by hand, sizes, OpenSpiel's games move by move, and the contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from aleator import check_game
from aleator.errors import GameError
from aleator.games import load_game
from aleator.games.base import CHANCE, TERMINAL
from aleator.games.multiplayer.base import MultiplayerGame
from aleator.games.multiplayer.kuhn import MultiplayerKuhn
from aleator.games.multiplayer.registry import is_multiplayer, load_multiplayer_game


def play(game: MultiplayerGame[Any], *moves: int | str) -> Any:
    """Returns the history after moves of chance by number and actions by name."""
    history = game.start()
    for move in moves:
        history = game.act(history, move if isinstance(move, int) else list(game.legal(history)).index(move))
    return history


@pytest.mark.parametrize(
    "name", ["kuhn:players=2", "kuhn:players=3", "kuhn:players=5", "leduc:players=2", "leduc:players=3,ranks=3,cap=1"]
)
def test_games_keep_the_contract(name: str) -> None:
    found = check_game(load_multiplayer_game(name))
    assert found.is_zero_sum
    assert found.public_states > 1


@pytest.mark.parametrize(
    ("moves", "returns"),
    [
        ((0, 0, 0, "check", "check", "check"), (-1, -1, 2)),  # cards T, J, Q
        ((0, 0, 1, "check", "check", "bet", "call", "fold"), (-2, -1, 3)),
        ((0, 0, 1, "check", "check", "bet", "fold", "fold"), (-1, -1, 2)),
        ((3, 0, 0, "bet", "call", "call"), (4, -2, -2)),
        ((0, 2, 0, "bet", "call", "fold"), (-2, 3, -1)),
    ],
)
def test_payoffs_of_three_player_kuhn(moves: Sequence[int | str], returns: Sequence[float]) -> None:
    game = MultiplayerKuhn(3)
    history = play(game, *moves)
    assert game.actor(history) == TERMINAL
    assert tuple(game.returns(history)) == returns


@pytest.mark.parametrize(
    ("moves", "returns"),
    [
        # ranks 0, 1, 2 and then 3 on the table: the highest card wins three antes and a bet of 4 each
        ((0, 1, 2, "check", "check", "check", 3, "bet", "call", "call"), (-5, -5, 10)),
        ((0, 1, 1, "bet", "call", "fold", 2, "check", "check"), (-3, 4, -1)),
        ((1, 1, 0, "bet", "call", "fold", 2, "check", "bet", "call"), (0.5, 0.5, -1)),
        ((0, 1, 1, "bet", "fold", "fold"), (2, -1, -1)),
    ],
)
def test_payoffs_of_three_player_leduc(moves: Sequence[int | str], returns: Sequence[float]) -> None:
    game = load_multiplayer_game("leduc:players=3")
    history = play(game, *moves)
    assert game.actor(history) == TERMINAL
    assert tuple(game.returns(history)) == returns


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("family", ["kuhn", "leduc"])
def test_same_moves_and_payoffs_as_openspiel(family: str, players: int) -> None:
    """Random hands, cards translated, are legal and pay the same in both."""
    pyspiel = pytest.importorskip("pyspiel")
    source = pyspiel.load_game(f"{family}_poker(players={players})")
    game = load_multiplayer_game(f"{family}:players={players}")
    rng = np.random.default_rng(players)
    for _ in range(200):
        theirs, ours = source.new_initial_state(), game.start()
        while not theirs.is_terminal():
            if theirs.is_chance_node():
                card = int(rng.choice([outcome for outcome, _ in theirs.chance_outcomes()]))
                theirs.apply_action(card)
                assert game.actor(ours) == CHANCE
                wanted = card if family == "kuhn" else card // 2
                cards = [game.act(ours, number).cards[-1] for number in range(len(game.outcomes(ours)))]
                ours = game.act(ours, cards.index(wanted))
                continue
            assert game.actor(ours) == theirs.current_player()
            assert len(game.legal(ours)) == len(theirs.legal_actions())
            action = int(rng.integers(len(theirs.legal_actions())))
            theirs.apply_action(theirs.legal_actions()[action])
            ours = game.act(ours, action)
        assert game.actor(ours) == TERMINAL
        assert game.returns(ours) == pytest.approx(theirs.returns())


def test_a_deal_follows_the_probabilities_of_chance() -> None:
    game, rng = load_multiplayer_game("leduc:players=3"), np.random.default_rng(0)
    first = np.bincount([game.deal(rng).cards[0] for _ in range(4000)], minlength=4)
    assert abs(first - 1000).max() < 4 * np.sqrt(4000 * 3 / 16)  # z = 4


@pytest.mark.parametrize("name", ["kuhn", "goofspiel:3", "liars-dice:1x2", "coin-toss"])
def test_two_player_games_keep_the_contract_history_by_history(name: str) -> None:
    found = check_game(load_multiplayer_game(name))
    assert found.is_zero_sum
    assert found.infostates == check_game(load_game(name)).size.infostates


def test_games_are_named_by_their_players() -> None:
    assert is_multiplayer("leduc:cap=1,players=3")
    assert not is_multiplayer("leduc:cap=1")
    for name, message in {
        "kuhn:players=1": "from 2 to 10, not '1'",
        "kuhn:players=11": "from 2 to 10",
        "leduc:players=3,ranks=2,suits=1": "more cards than players",
        "leduc:players=3,bets=2": "bets=2/4",
        "leduc:players=3,cap=0": "cap",
        "leduc:players=3,stack=5": "stack",
    }.items():
        with pytest.raises(GameError, match=message):
            load_multiplayer_game(name)
    with pytest.raises(GameError, match="many players"):
        load_game("kuhn:players=3")


class Broken(MultiplayerKuhn):
    """Kuhn poker with a mistake."""

    def __init__(self, mistake: str) -> None:
        super().__init__(3)
        self.mistake, self.asked = mistake, 0

    def outcomes(self, history: Any) -> Sequence[float]:
        return [0.5] * 4 if self.mistake == "not a distribution" else super().outcomes(history)

    def infostate(self, history: Any, player: int) -> Any:
        told: Any = super().infostate(history, player)
        return told[0] if self.mistake == "different legal actions|forgets" else told

    def returns(self, history: Any) -> Sequence[float]:
        self.asked += 1
        if self.mistake == "3 players win":
            return 1.0, -1.0
        if self.mistake == "not a finite number":
            return float("nan"), 0.0, 0.0
        return [self.asked, 0, 0] if self.mistake == "asked again" else super().returns(history)

    def public(self, history: Any) -> Any:
        return history.betting.moves[-1:] if self.mistake == "two ways" else super().public(history)

    def legal(self, history: Any) -> Sequence[str]:
        return ("pass", "pass") if self.mistake == "has the actions" else super().legal(history)

    def actor(self, history: Any) -> int:
        actor = super().actor(history)
        if self.mistake == "rules raise ZeroDivisionError" and actor == TERMINAL:
            return 1 // 0
        return 3 if self.mistake == "player 3 is to act" and actor == 2 else actor


@pytest.mark.parametrize(
    "mistake",
    [
        "not a distribution", "different legal actions|forgets", "3 players win", "not a finite number", "asked again",
        "two ways", "has the actions", "rules raise ZeroDivisionError", "player 3 is to act",
    ],
)  # fmt: skip
def test_rules_that_contradict_themselves_are_refused(mistake: str) -> None:
    with pytest.raises(GameError, match=mistake):
        check_game(Broken(mistake))
