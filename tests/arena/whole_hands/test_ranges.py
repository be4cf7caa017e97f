"""Ranges at a table of several: by the blueprint where it knows the line, else by the rule alone."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.agents.whole_hands.ring_blueprint import ring_blueprint_agent
from aleator.agents.whole_hands.river_perfect import implied_range, likely_by_rule
from aleator.agents.whole_hands.stand_in import StandInAgent
from aleator.arena.whole_hands.ranges import SLIP, believed, table_reach
from aleator.games.holdem.betting import CALL, FOLD, raise_to
from aleator.games.holdem.cards import NUM_HANDS, blocked_hands, parse_hand
from tests.abstraction.ring.test_tables import SIX, played, table

ACES, RAGS, SUITED = (parse_hand(text) for text in ("AsAh", "8c4d", "JhTh"))


@pytest.fixture(scope="module")
def blueprint() -> StandInAgent:
    return StandInAgent(ring_blueprint_agent())


def test_without_a_blueprint_the_rule_tells() -> None:
    state = played(SIX.setup, "f f f r300 f c", "Ks 7h 2d")
    reach = table_reach(state, None)
    for seat in (1, 5):
        np.testing.assert_allclose(reach[seat], implied_range(state, seat))
    np.testing.assert_allclose(reach[2], np.where(blocked_hands(state.board), 0, 1), err_msg="a fold tells nothing")


def test_a_caller_is_no_longer_nearly_random(blueprint: StandInAgent) -> None:
    state = played(table(6), "f f r6 c f f", "Ks 7h 2d")
    by_rule, reach = table_reach(state, None), table_reach(state, blueprint)
    opener, caller = 4, 5
    assert by_rule[caller].mean() > 2 * reach[caller].mean()
    assert reach[caller][RAGS] < 0.1 * reach[caller][SUITED] and reach[opener][RAGS] < 0.1 * reach[opener][ACES]
    assert (reach[[opener, caller]] > 0).sum() == 2 * (~blocked_hands(state.board)).sum(), "nothing is impossible"


def test_what_is_believed_is_the_policy_and_now_and_then_the_rule(blueprint: StandInAgent) -> None:
    start, action = SIX.setup.start(), raise_to(350)
    policy = blueprint.policy_at(start).probabilities
    opened = table_reach(start.act(action), blueprint)[2]
    expected = believed(policy[1], start, action)
    np.testing.assert_allclose(opened, np.maximum(expected / expected.max(), 1e-3))
    folded = table_reach(start.act(FOLD), blueprint)[2]
    expected = (1 - SLIP) * policy[0] + SLIP
    np.testing.assert_allclose(folded, expected / expected.max())


def test_what_the_blueprint_lacks_or_hardly_met_is_told_by_the_rule(blueprint: StandInAgent) -> None:
    start = SIX.setup.start()
    for action in (CALL, raise_to(10_000)):
        expected = likely_by_rule(start, action)
        reach = table_reach(start.act(action), blueprint)[2]
        np.testing.assert_allclose(reach, np.maximum(expected / expected.max(), 1e-3))
    rare = played(SIX.setup, "r350 r1200 r10000")
    np.testing.assert_array_equal(table_reach(rare, blueprint)[4], table_reach(rare, None)[4])
    straddled = table(6, straddles=(4,)).start()
    reach = table_reach(straddled.act(raise_to(12)), blueprint)
    np.testing.assert_array_equal(reach, table_reach(straddled.act(raise_to(12)), None))
    assert reach.shape == (6, NUM_HANDS)
