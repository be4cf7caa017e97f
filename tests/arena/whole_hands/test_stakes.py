"""Hands played out in proportion to what is at stake: which, how often they count, and what stays as it is."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from aleator.agents.whole_hands.base import HandAgent, HandPolicy
from aleator.agents.whole_hands.blueprint import BlueprintAgent
from aleator.agents.whole_hands.libratus import LibratusAgent
from aleator.agents.whole_hands.modicum import ModicumAgent
from aleator.agents.whole_hands.pot_odds import PotOddsAgent
from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.agents.whole_hands.search_settings import NestedSettings
from aleator.arena.whole_hands.match import HandMatch, MatchState, play_hand_match
from aleator.arena.whole_hands.match_file import MatchFile
from aleator.arena.whole_hands.play import TABLE_RANGES, play_hands
from aleator.arena.whole_hands.stakes import common_start, hand_weights, played_to, pots_of
from aleator.errors import AgentError
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import load_hand_game
from tests.abstraction.blueprint.small import whole_blueprint
from tests.search.pluribus.ring.small import three_players

SETUP = load_hand_game("hunl").setup


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> BlueprintAgent:
    return whole_blueprint(tmp_path_factory.mktemp("whole"), deals=20_000)


class Caller(LibratusAgent):
    """Plays by pot odds from the turn on, in place of a search: quick, and different from its blueprint."""

    def policies_of(self, states: Sequence[HandState]) -> list[HandPolicy]:
        rest = PotOddsAgent()
        return [(self.blueprint if now.street < self.first_street else rest).policy_at(now) for now in states]


def test_who_begins_alike(blueprint: BlueprintAgent) -> None:
    libratus, modicum = LibratusAgent(blueprint), ModicumAgent(blueprint)
    assert common_start([libratus, blueprint]) == (blueprint, 2)
    assert common_start([blueprint, modicum]) == (blueprint, 1)
    assert common_start([libratus, modicum]) == (blueprint, 1)
    with pytest.raises(AgentError, match="of which one searches"):
        common_start([blueprint, blueprint])
    with pytest.raises(AgentError, match="not pot-odds"):
        common_start([libratus, PotOddsAgent()])


def test_a_table_of_several_begins_alike(tmp_path: Path) -> None:
    file = three_players(tmp_path, deals=200)
    names = f"pluribus:{file},flop=5,turn=5,river=5", f"blueprint:{file}"
    search, blueprint = (load_hand_agent(name) for name in names)
    start, street = common_start([search, blueprint, blueprint])
    assert start.name == blueprint.name and street == 1
    setup, numbers = load_hand_game("ring:3").setup, np.arange(60)
    pots = pots_of(played_to(setup, blueprint, 1, numbers, 3))
    agents = (names[0], names[1], names[1])
    state = play_hand_match(HandMatch(game="ring:3", agents=agents, hands=60, seed=3, stakes=5.0))
    assert state.mode == TABLE_RANGES and (state.won[pots == 0] == 0.0).all() and (state.won[pots > 500] != 0.0).any()


@pytest.mark.parametrize("street", [1, 2])
def test_pots_are_those_of_the_hands_as_they_are_played(blueprint: BlueprintAgent, street: int) -> None:
    numbers = np.arange(40, 100)
    pots = pots_of(played_to(SETUP, blueprint, street, numbers, 3))
    played = play_hands(SETUP, [blueprint, blueprint], numbers, 3, same_draws=True)
    for row, pot in enumerate(pots.tolist()):
        states = played.hands.record(row).states()
        first = next((state for state in states if state.street == street and state.player is not None), None)
        assert pot == (0 if first is None else first.betting.pot)
    assert 0 < (pots > 0).sum() < len(pots)
    np.testing.assert_array_equal(pots[0::2], pots[1::2])  # both hands of a deal go the same way


def test_luck_before_the_search_cancels(blueprint: BlueprintAgent) -> None:
    """Agents that play alike are even in every deal, not only on average, if a deal's hands have the same draws."""
    numbers = np.arange(60)
    for same_draws in (True, False):
        played = play_hands(SETUP, [blueprint, blueprint], numbers, 3, aivat="pairs", same_draws=same_draws)
        assert played.fair is not None
        of_deals = played.winnings(0).reshape(-1, 2).sum(axis=1)
        assert of_deals.any() != same_draws
        fair = played.fair_winnings(0)
        assert fair is not None
        assert (np.abs(fair.reshape(-1, 2).sum(axis=1)) > 1e-9).any() != same_draws


def test_hands_count_as_often_as_they_are_left_out() -> None:
    numbers = np.arange(60_000)
    pots = np.array([0, 200, 1000, 5000, 9000])[numbers % 5]  # one hand a deal
    weights = hand_weights(pots, 5000.0, numbers, 1)
    assert set(weights[pots >= 5000]) == {1.0} and not weights[pots == 0].any()
    for pot in (200, 1000):
        share = pot / 5000.0
        here = weights[pots == pot]
        np.testing.assert_allclose(np.unique(here), [0.0, 1.0 / share])
        assert abs((here > 0.0).mean() - share) < 4.0 * math.sqrt(share * (1.0 - share) / len(here))  # z = 4
    assert (hand_weights(pots, 5000.0, numbers, 2) != weights).any()


def played(agents: list[HandAgent], monkeypatch: pytest.MonkeyPatch, file: Path | None = None, **options) -> MatchState:  # type: ignore[no-untyped-def]
    match = HandMatch(game="hunl", agents=("one", "other"), seed=5, aivat="pairs", **options)
    monkeypatch.setattr(HandMatch, "load_agents", lambda self: agents)
    if file is None:
        return play_hand_match(match)
    output = MatchFile(file, match.header("pairs"))
    try:
        return play_hand_match(match, file=output)
    finally:
        output.close()


def test_the_mean_stays_what_it_is(blueprint: BlueprintAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given the deals, a sampled match is that of all hands on average: z = 4 by the spread that the weights make."""
    agents: list[HandAgent] = [Caller(blueprint, NestedSettings()), blueprint]
    everything = played(agents, monkeypatch, hands=400, stakes=1e-9)  # all that get there
    sampled = played(agents, monkeypatch, hands=400, stakes=10.0)
    numbers = np.arange(400)
    pots = pots_of(played_to(SETUP, blueprint, 2, numbers, 5))
    weights = hand_weights(pots, 10.0 * SETUP.rules.big_blind, numbers // 2, 5)
    np.testing.assert_allclose(sampled.fair, weights * everything.fair, atol=1e-9)
    assert not everything.fair[pots == 0].any() and everything.fair[pots > 0].any()
    chances = np.minimum(pots / (10.0 * SETUP.rules.big_blind), 1.0)[::2]
    deals = everything.fair.reshape(-1, 2).sum(axis=1)
    spread = math.sqrt((deals**2 * np.divide(1 - chances, chances, out=np.zeros(200), where=chances > 0)).sum())
    assert spread > 0.0 and abs(sampled.fair.sum() - everything.fair.sum()) < 4.0 * spread
    assert 0 < np.count_nonzero(weights) < 0.8 * np.count_nonzero(pots)


def test_a_match_goes_on_from_its_file(
    blueprint: BlueprintAgent, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    agents: list[HandAgent] = [Caller(blueprint, NestedSettings()), blueprint]
    file = tmp_path / "match.jsonl"
    straight = played(agents, monkeypatch, hands=300, stakes=10.0)
    half = played(agents, monkeypatch, file, hands=150, stakes=10.0)
    assert half.played == 150
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert (
        lines[0]["stakes"] == 10.0
        and lines[0]["draws"] == "deal"
        and 0 < len(lines) - 1 < 150
        and all(line["weight"] >= 1.0 for line in lines[1:])
    )
    whole = played(agents, monkeypatch, file, hands=300, stakes=10.0)
    np.testing.assert_array_equal(whole.fair, straight.fair)
    np.testing.assert_array_equal(whole.won, straight.won)


@pytest.mark.parametrize("stakes", [0.0, -1.0, math.inf, math.nan])
def test_stakes_are_positive(stakes: float) -> None:
    with pytest.raises(AgentError, match="stakes are a positive number of big blinds"):
        HandMatch(game="hunl", agents=("libratus:a", "blueprint:a"), hands=2, stakes=stakes)
