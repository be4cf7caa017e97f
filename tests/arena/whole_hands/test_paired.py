"""Search against copies of its blueprint, where only what it may change is played: nothing is won by playing alike."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from aleator.agents.whole_hands.base import HandAgent, HandPolicy
from aleator.agents.whole_hands.pluribus import PluribusAgent
from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.arena.whole_hands import paired
from aleator.arena.whole_hands.match import PAIRED, HandMatch, play_hand_match
from aleator.arena.whole_hands.match_file import MatchFile
from aleator.arena.whole_hands.paired import are_paired, play_paired
from aleator.arena.whole_hands.play import play_hands
from aleator.errors import AgentError
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import load_hand_game
from tests.search.pluribus.ring.small import three_players

SETUP = load_hand_game("ring:3").setup
_CALLS = load_hand_agent("always-call")


class Caller(PluribusAgent):
    """Calls from the flop on, in place of a search: quick, and different from its blueprint."""

    def policy_at(self, state: HandState) -> HandPolicy:
        return (self.blueprint if state.street < self.first_street else _CALLS).policy_at(state)


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> PluribusAgent:
    agent = load_hand_agent(f"pluribus:{three_players(tmp_path_factory.mktemp('three'), deals=500)}")
    assert isinstance(agent, PluribusAgent)
    return agent


@pytest.fixture
def by_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the blueprint let three see the flop."""
    monkeypatch.setattr(paired, "knows_rest", lambda _: False)


@pytest.mark.usefixtures("by_ranges")
def test_who_plays_the_blueprint_wins_nothing_in_any_deal(search: PluribusAgent) -> None:
    blueprint = search.blueprint
    hands = play_paired(SETUP, [blueprint] * 3, np.arange(90), 4, street=1, blueprint=blueprint)
    assert 0 < len(hands.rows) < 80
    for won in (hands.won, hands.fair):
        assert (np.abs(won) > 1.0).any()
        np.testing.assert_allclose(won.reshape(-1, 3).sum(axis=1), 0.0, atol=1e-6)


@pytest.mark.usefixtures("by_ranges")
def test_the_mean_is_that_of_all_hands(search: PluribusAgent) -> None:
    """900 hands of 300 deals each way, other deals; |z| < 4, and errors are smaller."""
    agents: list[HandAgent] = [Caller("other", search.blueprint, search.settings), search.blueprint, search.blueprint]
    pairs = play_paired(SETUP, agents, np.arange(900), 5, street=1, blueprint=search.blueprint)
    plain = play_hands(SETUP, agents, np.arange(900, 1800), 5)
    found = [won.reshape(-1, 3).mean(axis=1) for won in (pairs.fair, pairs.won, plain.winnings(0))]
    means, errors = [deals.mean() for deals in found], [deals.std(ddof=1) / math.sqrt(300) for deals in found]
    assert errors[0] < errors[2] and errors[1] < errors[2]
    assert abs(means[0] - means[2]) < 4.0 * math.hypot(errors[0], errors[2])
    assert abs(means[1] - means[2]) < 4.0 * math.hypot(errors[1], errors[2])


def test_matches_are_paired_and_go_on_from_their_file(search: PluribusAgent, tmp_path: Path) -> None:
    file = search.blueprint.name.partition(":")[2]
    names = (f"pluribus:{file},flop=5,turn=5,river=5", f"blueprint:{file}", f"blueprint:{file}")
    straight = play_hand_match(
        HandMatch(
            game="ring:3",
            agents=names,
            hands=60,
            seed=3,
        )
    )
    assert straight.mode == PAIRED and straight.played == 60 and straight.score().hands == 60
    for hands in (30, 60):
        match = HandMatch(game="ring:3", agents=names, hands=hands, seed=3, aivat=PAIRED)
        output = MatchFile(tmp_path / "paired.jsonl", match.header(PAIRED))
        state = play_hand_match(match, file=output)
        output.close()
    np.testing.assert_allclose(state.fair, straight.fair)
    np.testing.assert_allclose(state.won, straight.won)


def test_who_cannot_be_paired_is_refused(search: PluribusAgent) -> None:
    blueprint = search.blueprint
    assert are_paired([search, blueprint, blueprint])
    for agents in ([blueprint, search, blueprint], [search, search, blueprint], [search, _CALLS, _CALLS]):
        assert not are_paired(agents)
    with pytest.raises(AgentError, match="copies of its blueprint, not for always-call"):
        play_hand_match(HandMatch(game="ring:3", agents=("always-call",) * 3, hands=3, aivat=PAIRED))
    with pytest.raises(AgentError, match="no --stakes"):
        HandMatch(game="ring:3", agents=("a", "b", "b"), hands=3, aivat=PAIRED, stakes=3.0)
