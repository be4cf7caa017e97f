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
from aleator.errors import AgentError
from aleator.games.holdem.betting import raise_to
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import load_hand_game
from aleator.search.pluribus.ring.tree import keeps_to_menu
from tests.search.pluribus.ring.small import three_players

SETUP = load_hand_game("ring:3").setup


class Other(PluribusAgent):
    """Does anything from the flop on; bets what the blueprint lacks, if it is asked to."""

    strange = False

    def policy_at(self, state: HandState) -> HandPolicy:
        policy = self.blueprint.policy_at(state)
        if state.street < self.first_street:
            return policy
        if self.strange and len(policy.actions) > 2:
            return HandPolicy((raise_to(policy.actions[-1].amount - 1),), np.ones((1, 1326)))
        return HandPolicy(policy.actions, np.full_like(policy.probabilities, 1.0 / len(policy.actions)))


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


def test_the_mean_is_that_of_chips_and_the_spread_smaller(blueprint: RingBlueprintAgent) -> None:
    """450 hands of 150 deals; |z| < 4."""
    agents: list[HandAgent] = [other(blueprint), blueprint, blueprint]
    hands = play_paired(SETUP, agents, np.arange(450), 5, street=1, blueprint=blueprint)
    fair, won = (deals.reshape(-1, 3).mean(axis=1) for deals in (hands.fair, hands.won))
    errors = [deals.std(ddof=1) / math.sqrt(150) for deals in (fair, won)]
    assert errors[0] < 0.5 * errors[1]
    assert fair.mean() < -4.0 * errors[0], "who does anything loses"
    assert abs(fair.mean() - won.mean()) < 4.0 * math.hypot(*errors)


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
