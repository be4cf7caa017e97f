"""What a player wins more than the blueprint, by advantages: 0 for the blueprint itself, else as chips say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aleator.agents.whole_hands.base import HandAgent, HandPolicy
from aleator.agents.whole_hands.pluribus import PluribusAgent
from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.agents.whole_hands.ring_blueprint import RingBlueprintAgent
from aleator.arena.whole_hands.paired import knows_rest, play_paired
from aleator.arena.whole_hands.play import TABLE_RANGES, play_hands
from aleator.errors import AgentError
from aleator.games.holdem.betting import raise_to
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import load_hand_game
from aleator.search.ring.tree import keeps_to_menu
from tests.search.ring.small import three_players

SETUP = load_hand_game("ring:3").setup


class Other(PluribusAgent):
    """Calls from the flop on in half of all cases; bets what the blueprint lacks, if it is asked to."""

    strange = False

    def policy_at(self, state: HandState) -> HandPolicy:
        policy = self.blueprint.policy_at(state)
        if state.street < self.first_street:
            return policy
        if self.strange and len(policy.actions) > 2:
            return HandPolicy((raise_to(policy.actions[-1].amount - 1),), np.ones((1, 1326)))
        calls = [action.kind.value == "call" for action in policy.actions]
        mixed = 0.5 * policy.probabilities + 0.5 * np.array(calls, np.float64)[:, None]
        return HandPolicy(policy.actions, mixed)


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> RingBlueprintAgent:
    agent = load_hand_agent(f"blueprint:{three_players(tmp_path_factory.mktemp('gain'), deals=500)}")
    assert isinstance(agent, RingBlueprintAgent) and knows_rest(agent)
    return agent


def other(blueprint: RingBlueprintAgent) -> Other:
    agent = load_hand_agent(f"pluribus:{blueprint.name.partition(':')[2]}")
    assert isinstance(agent, PluribusAgent)
    return Other("other", blueprint, agent.settings)


def test_the_blueprint_wins_nothing_more_than_itself(blueprint: RingBlueprintAgent) -> None:
    hands = play_paired(SETUP, [blueprint] * 3, np.arange(60), 4, street=1, blueprint=blueprint)
    assert len(hands.rows)
    np.testing.assert_array_equal(hands.fair, 0.0)


def test_the_mean_is_that_of_other_estimates_and_the_spread_smaller(blueprint: RingBlueprintAgent) -> None:
    """1,200 hands of 400 deals, and 400 other deals by AIVAT over ranges; |z| < 4."""
    agents: list[HandAgent] = [other(blueprint), blueprint, blueprint]
    gained = play_paired(SETUP, agents, np.arange(1200), 5, street=1, blueprint=blueprint)
    plain = play_hands(SETUP, agents, np.arange(1200, 2400), 5, aivat=TABLE_RANGES, same_draws=True).fair_winnings(0)
    assert plain is not None
    found = [won.reshape(-1, 3).mean(axis=1) for won in (gained.fair, gained.won, plain)]
    means, errors = [deals.mean() for deals in found], [deals.std(ddof=1) / math.sqrt(400) for deals in found]
    assert errors[0] < 0.25 * errors[1]
    assert abs(means[0]) > 4.0 * errors[0], "it is another player"
    for place in (1, 2):
        assert abs(means[0] - means[place]) < 4.0 * math.hypot(errors[0], errors[place])


def test_what_the_blueprint_lacks_is_refused(blueprint: RingBlueprintAgent) -> None:
    agent = other(blueprint)
    agent.strange = True
    with pytest.raises(AgentError, match="does not consider"):
        play_paired(SETUP, [agent, blueprint, blueprint], np.arange(90), 5, street=1, blueprint=blueprint)


@pytest.mark.parametrize(
    ("menu", "keeps"),
    [
        (("100%; all-in", "50% 100%; 100% all-in; all-in", "100%; all-in", "100%; all-in"), True),
        (("50%", "50%; all-in", "100%; all-in", "100%; all-in"), False),
        (("100%; all-in", "100%; 100%", "100%; all-in", "100%; all-in"), False),
        (None, True),
    ],
)
def test_searches_have_the_menus_sizes_or_not(menu: tuple[str, ...] | None, keeps: bool) -> None:
    assert keeps_to_menu(menu) is keeps
