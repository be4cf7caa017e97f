"""The rest of a hand from a street on: equal to a recursion over pairs of hands, and fair on average."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from aleator.agents.whole_hands.base import HandAgent, HandPolicy
from aleator.agents.whole_hands.blueprint import BlueprintAgent
from aleator.agents.whole_hands.libratus import LibratusAgent
from aleator.agents.whole_hands.pot_odds import PotOddsAgent
from aleator.agents.whole_hands.tight_aggressive import TightAggressiveAgent
from aleator.arena.whole_hands.match import HandMatch, play_hand_match
from aleator.arena.whole_hands.play import play_hands
from aleator.arena.whole_hands.rest import Line, RestOfHand, line_to
from aleator.errors import AgentError
from aleator.games.holdem.betting import CALL, raise_to
from aleator.games.holdem.cards import HANDS, NUM_CARDS, NUM_HANDS, parse_cards, parse_hand
from aleator.games.holdem.equity import pair_equities
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import load_hand_game
from tests.abstraction.blueprint.small import whole_blueprint

SETUP = load_hand_game("hunl").setup
BOARD = parse_cards("Ah 7c 2d Ts 3c")


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> BlueprintAgent:
    return whole_blueprint(tmp_path_factory.mktemp("whole"), deals=20_000)


class Caller(LibratusAgent):
    """Plays by pot odds from the turn on, in place of a search."""

    def policies_of(self, states: Sequence[HandState]) -> list[HandPolicy]:
        rest = PotOddsAgent()
        return [(self.blueprint if now.street < self.first_street else rest).policy_at(now) for now in states]


def turn() -> HandState:
    state = SETUP.start().act(raise_to(300)).act(CALL).deal(BOARD[:3]).act(CALL).act(CALL)
    return state.deal(BOARD[3:4])


def of_pair(agents: Sequence[HandAgent], state: HandState, pair: tuple[int, int]) -> float:
    """Returns what player 0 wins in chips with a pair of hands, on BOARD as far as it is played, all-in by equity."""
    betting = state.betting
    if betting.is_over:
        if betting.folded[0]:
            return -betting.contributions[0]
        if betting.folded[1]:
            return betting.contributions[1]
        share = pair_equities(np.array([pair], np.int16), np.array([state.board], np.int8))[0]
        return share * sum(betting.contributions) - betting.contributions[0]
    if state.cards_due:
        return of_pair(agents, state.deal(BOARD[len(state.board) : len(state.board) + 1]), pair)
    assert state.player is not None
    policy = agents[state.player].policy_at(state)
    chances = policy.probabilities[:, pair[state.player]]
    parts = zip(policy.actions, chances.tolist(), strict=True)
    return sum(chance * of_pair(agents, state.act(action), pair) for action, chance in parts if chance > 0.0)


def test_equal_to_a_recursion_over_pairs(blueprint: BlueprintAgent) -> None:
    """With hands that no river blocks, ends on the turn and on the river are weighed alike."""
    agents = [blueprint, PotOddsAgent()]
    held = [[parse_hand(text) for text in texts] for texts in (("AsKd", "9s8s"), ("QhQs", "7s6s"))]
    reach = np.zeros((2, NUM_HANDS))
    reach[0, held[0]], reach[1, held[1]] = (1.0, 0.25), (0.5, 1.0)
    whole = RestOfHand(agents, followed=1e-9).winnings(Line(turn(), reach), np.array([0, 1]), BOARD, 5)
    expected = mass = 0.0
    for first in held[0]:
        for second in held[1]:
            weight = reach[0, first] * reach[1, second]
            expected += weight * of_pair(agents, turn(), (first, second))
            mass += weight
    assert whole == pytest.approx(expected / mass, abs=1e-6) and abs(whole) > 1.0


def test_lines_that_are_left_out_are_made_up_for(blueprint: BlueprintAgent) -> None:
    agents = [blueprint, PotOddsAgent()]
    line, seats = line_to([blueprint, blueprint], turn()), np.array([0, 1])
    whole = RestOfHand(agents, followed=1e-9).winnings(line, seats, BOARD, 0)
    some = np.array([RestOfHand(agents, followed=1.0).winnings(line, seats, BOARD, deal) for deal in range(40)])
    assert some.std() > 0.0 and abs(some.mean() - whole) < 4.0 * some.std() / math.sqrt(len(some))  # z = 4


def test_reach_is_what_the_agent_did(blueprint: BlueprintAgent) -> None:
    line = line_to([blueprint, blueprint], turn())
    first = blueprint.policy_at(SETUP.start())
    opened = first.probabilities[first.actions.index(raise_to(300))]
    free = ~np.isin(HANDS, BOARD[:4]).any(axis=1)
    assert not line.reach[:, ~free].any() and line.mass > 0.0
    later = turn().setup.start().act(raise_to(300)).act(CALL).deal(BOARD[:3]).act(CALL)
    checked = blueprint.policy_at(later)
    both = opened * checked.probabilities[checked.actions.index(CALL)]
    np.testing.assert_allclose(line.reach[1, free] / line.reach[1].max(), both[free] / both[free].max(), atol=1e-9)
    assert len(BOARD) < NUM_CARDS


def test_the_mean_is_that_of_a_match(blueprint: BlueprintAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    agents: list[HandAgent] = [Caller(blueprint), blueprint]
    monkeypatch.setattr(HandMatch, "load_agents", lambda self: agents)
    scores = {}
    for mode in ("pairs", "rest"):
        match = HandMatch(game="hunl", agents=("one", "other"), hands=800, seed=5, aivat=mode, stakes=20.0)
        scores[mode] = play_hand_match(match)
    pairs, rest = (scores[mode].fair.reshape(-1, 2).sum(axis=1) for mode in ("pairs", "rest"))
    difference = pairs - rest
    assert abs(difference.mean()) < 4.0 * difference.std() / math.sqrt(len(difference))  # z = 4
    np.testing.assert_array_equal(pairs != 0.0, rest != 0.0)
    assert rest.std() < 0.5 * pairs.std()


def test_against_a_third_agent_the_difference_is_that_of_two_matches(
    blueprint: BlueprintAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents: list[HandAgent] = [Caller(blueprint), blueprint]
    monkeypatch.setattr(HandMatch, "load_agents", lambda self: agents)
    opponent = TightAggressiveAgent().name
    match = HandMatch(
        game="hunl", agents=("one", "other"), hands=800, seed=5, aivat="rest", stakes=20.0, against=opponent
    )
    gain = play_hand_match(match).fair.reshape(-1, 2).sum(axis=1)
    played = []
    for agent in agents:
        both = [agent, TightAggressiveAgent()]
        won = play_hands(SETUP, both, np.arange(3000), 5, aivat="pairs").fair_winnings(0)
        assert won is not None
        played.append(won)
    difference = (played[0] - played[1]).reshape(-1, 2).sum(axis=1)
    error = math.hypot(gain.std() / math.sqrt(len(gain)), difference.std() / math.sqrt(len(difference)))
    assert abs(gain.mean() - difference.mean()) < 4.0 * error  # z = 4
    assert gain.any()


def test_who_is_compared_with_itself_gains_nothing(blueprint: BlueprintAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    class Same(Caller):
        def policies_of(self, states: Sequence[HandState]) -> list[HandPolicy]:
            return [blueprint.policy_at(now) for now in states]

    monkeypatch.setattr(HandMatch, "load_agents", lambda self: [Same(blueprint), blueprint])
    match = HandMatch(game="hunl", agents=("a", "b"), hands=100, aivat="rest", stakes=20.0, against="always-call")
    np.testing.assert_array_equal(play_hand_match(match).fair, 0.0)


def test_it_needs_stakes() -> None:
    with pytest.raises(AgentError, match="give --stakes, too"):
        HandMatch(game="hunl", agents=("libratus:a", "blueprint:a"), hands=2, aivat="rest")
