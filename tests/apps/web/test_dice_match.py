"""Matches of Liar's Dice: dice are lost one by one, and every round is a game of its own."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from aleator.apps.web.catalogue import EQUILIBRIUM, MATCH, opponents
from aleator.apps.web.dice_match import begin, end_round, game_of, next_round
from aleator.games.registry import load_game
from tests.apps.web.running import RunningServer


def test_other_games_are_no_matches() -> None:
    assert begin("liars-dice:2x3") is None and game_of({"game": "kuhn", "match": None}) == "kuhn"


def test_who_loses_a_round_loses_a_die_and_begins() -> None:
    match = begin("dice-match:2x4")
    assert match is not None
    next_round(match)
    assert match["playing"] == "liars-dice:2x4" and match["first"] == 0
    end_round(match, won=False)
    next_round(match)
    assert match["dice"] == [1, 2] and match["first"] == 0 and match["playing"] == "liars-dice:1+2x4"
    end_round(match, won=True)
    next_round(match)
    assert match["dice"] == [1, 1] and match["first"] == 1 and match["playing"] == "liars-dice:1x4"
    end_round(match, won=True)
    assert match["dice"] == [1, 0] and match["won"] == [1, 0]
    next_round(match)
    assert match["dice"] == [2, 2] and match["playing"] == "liars-dice:2x4", "a new match"


def test_every_round_is_a_game() -> None:
    match: dict[str, Any] = begin(MATCH.name) or {}
    draws = np.random.default_rng(1)
    for _ in range(40):
        next_round(match)
        game = load_game(game_of({"match": match, "game": MATCH.name}))
        counts = [len(str(game.hands(game.root(), player)[0])) for player in (0, 1)]
        assert counts == [match["dice"][match["first"]], match["dice"][1 - match["first"]]]
        end_round(match, won=bool(draws.integers(2)))


def test_whoever_plays_all_rounds_is_offered_and_why_others_are_not_is_said() -> None:
    rounds = set()
    for dice, first in product(product((1, 2), repeat=2), (0, 1)):
        match = (begin(MATCH.name) or {}) | {"dice": list(dice), "first": first}
        next_round(match)
        rounds.add(match["playing"])
    assert rounds == {"liars-dice:2x4", "liars-dice:1+2x4", "liars-dice:2+1x4", "liars-dice:1x4"}
    others = [agent for agent in opponents() if agent.name != EQUILIBRIUM]
    assert others and all((MATCH.name in agent.games) == (rounds <= set(agent.games)) for agent in others)
    left_out = [agent.title for agent in others if MATCH.name not in agent.games]
    assert all(title in MATCH.note for title in left_out)


@pytest.mark.slow
def test_a_match_is_played_to_its_end(server: RunningServer) -> None:
    """Slow: the rounds are solved when they are first played."""
    answer = server.client.post("/api/play/sessions", json={"game": MATCH.name})
    session = answer.raise_for_status().json()
    rounds = 0
    while 0 not in session["match"]["dice"]:
        before = list(session["match"]["dice"])
        while not session["deal"]["over"]:
            options = [option["label"] for option in session["deal"]["options"]]
            move = "liar" if "liar" in options else options[0]
            path = f"/api/play/sessions/{session['id']}"
            session = server.client.post(f"{path}/move", json={"move": move}).raise_for_status().json()
            assert server.client.get(path).json()["match"] == session["match"]
        rounds += 1
        assert sum(before) - sum(session["match"]["dice"]) == 1
        if 0 not in session["match"]["dice"]:
            session = server.client.post(f"{path}/move", json={"move": "deal"}).raise_for_status().json()
    assert 2 <= rounds <= 3 and sum(session["match"]["won"]) == 1
