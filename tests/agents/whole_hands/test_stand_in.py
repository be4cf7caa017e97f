"""The blueprint of six at other tables: its own policy at its own, the same elsewhere, and where it knows nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aleator.agents.whole_hands.base import ask_held, ask_policies
from aleator.agents.whole_hands.ring_blueprint import RingBlueprintAgent, ring_blueprint_agent
from aleator.agents.whole_hands.stand_in import LEAST_MET, StandInAgent
from aleator.arena.whole_hands.play import play_hands
from aleator.errors import AgentError
from aleator.games.holdem.betting import CALL, FOLD, raise_to
from aleator.games.holdem.cards import parse_hand
from aleator.games.holdem.hand_batch import HandBatch
from aleator.games.holdem.hand_state import HandState
from tests.abstraction.ring.test_tables import SIX, played, table


@pytest.fixture(scope="module")
def shipped() -> RingBlueprintAgent:
    return ring_blueprint_agent()


@pytest.fixture(scope="module")
def agent(shipped: RingBlueprintAgent) -> StandInAgent:
    return StandInAgent(shipped)


def six(actions: str, board: str = "") -> HandState:
    return played(SIX.setup, actions, board)


def test_at_its_own_table_it_is_the_blueprint(agent: StandInAgent, shipped: RingBlueprintAgent) -> None:
    for state in (six(""), six("f f f r350 f"), six("f f f r350 f c / c r375", "Ks 7h 2d"), six("f f c r400")):
        expected, found = shipped.policy_at(state), agent.policy_at(state)
        assert found.actions == expected.actions
        np.testing.assert_array_equal(found.probabilities, expected.probabilities)


def test_its_charts_have_the_line_of_another_table(agent: StandInAgent) -> None:
    path, is_exact = agent.chart(six("f f f"))
    assert (str(path), is_exact) == ("r:0:f:f:f", True)
    path, is_exact = agent.chart(six("f f f r330"))
    assert str(path).startswith("r:0:f:f:f:b") and not is_exact, "the nearest raise of the menu"
    path, is_exact = agent.chart(played(table(4), "f"))
    assert (str(path), is_exact) == ("r:0:f:f:f", False), "those who are missing have folded"
    with pytest.raises(AgentError, match="straddle"):
        agent.chart(replace(SIX.setup, rules=replace(SIX.setup.rules, straddles=(200,))).start())


def test_one_hand_in_each_of_many_hands_is_answered_as_all_hands_are(agent: StandInAgent) -> None:
    """Hands of five players on the way, among them some in which the blueprint has lost the line."""
    setup, seen = table(5, stack=240, ante=0), 0
    hands = play_hands(setup, [agent] * 5, np.arange(40), 3).hands
    for turns in (0, 3, 5, 6):
        rows = np.flatnonzero(hands.num_actions > turns)
        batch = HandBatch.start(setup, hands.hands, hands.board)
        for turn in range(turns):
            batch.act(rows, hands.codes[rows, turn])
        rows = rows[batch.betting.player[rows] >= 0]
        held = batch.hands[rows, batch.betting.player[rows]].astype(np.int64)
        one, whole = ask_held(agent, batch, rows, held), ask_policies(agent, batch, rows)
        for place in range(len(rows)):
            shares = dict(zip(one.codes[place].tolist(), one.probabilities[place, :, 0], strict=True))
            for code, row in zip(whole.codes[place].tolist(), whole.probabilities[place], strict=True):
                assert shares.get(code, 0.0) == pytest.approx(row[held[place]], abs=1e-6)
        seen += len(rows)
    assert seen > 60


def test_other_blinds_stacks_and_seats_get_the_same_answers(agent: StandInAgent) -> None:
    aces = parse_hand("AsAh")
    own, cents = agent.policy_at(six("f f f")), agent.policy_at(played(table(3, stack=300), ""))
    assert cents.actions == (FOLD, raise_to(7)), "in chips of half a big blind"
    np.testing.assert_array_equal(cents.probabilities, own.probabilities)
    reraised = agent.policy_at(played(table(3, stack=300), "r7 r24"))
    assert reraised.actions == (FOLD, CALL, raise_to(300)), "all-in with more than the blueprint's stack"
    assert reraised.probabilities[0, aces] < 0.01
    flop = agent.policy_at(played(table(3), "r7 f c", "Ks 7h 2d"))
    np.testing.assert_array_equal(flop.probabilities, agent.policy_at(six("f f f r350 f c", "Ks 7h 2d")).probabilities)
    assert flop.actions[1:] == (raise_to(8), raise_to(15)), "half the pot and the pot"


def test_it_says_what_it_does_not_know(agent: StandInAgent) -> None:
    for state, message in (
        (six("f c"), "limped"),
        (six("f r350 c c"), "limped"),
        (six("f r350 c c f f", "Ks 7h 2d"), "limped"),
        (six("f r900"), "more than twice"),
        (six("r350 r1200"), "hardly ever met"),
        (played(table(7), ""), "7 players"),
        (played(replace(table(6), stacks=(20,) * 6), ""), "less than 50 big blinds"),
    ):
        with pytest.raises(AgentError, match=message):
            agent.check_known(state)
    for state in (six(""), six("f f f r250"), six("f c r450 r1300 f f f"), six("f f f r350 r1150")):
        agent.check_known(state)
    assert agent.known_policy(six("f c f f")) is not None, "as if the one who limped had folded"
    assert agent.known_policy(six("f c f f f")) is None
    assert FOLD not in agent.policy_at(six("f c f f f")).actions, "somebody else plays there"


def test_what_it_has_met_is_what_others_play_to(agent: StandInAgent) -> None:
    met, policy = agent.blueprint.policy.met, agent.blueprint.policy
    assert met[0] == pytest.approx(1) and met.max() == pytest.approx(1) and met.min() >= 0
    opens = agent.policy_at(six("")).probabilities[1].mean()
    (after,) = [policy.decision_at(six("r350"))]
    assert after is not None and met[after] == pytest.approx(opens)
    assert agent.is_met(six("r350"), FOLD) and agent.is_met(six("f f f"), raise_to(250))
    assert not agent.is_met(six("r350"), raise_to(1200)), "raises behind a raise under the gun are rare"
    assert not agent.is_met(six("f"), CALL) and not agent.is_met(six("f f f"), raise_to(10_000))
    reraised = policy.decision_at(six("r350 r1200"))
    line, aces = six("f f f r350 f r1150"), parse_hand("AsAh")
    assert agent.own_reach(line, aces) > 0.9 and agent.own_reach(line, parse_hand("7c2d")) < 0.1
    assert reraised is not None and 0 < met[reraised] < LEAST_MET


def test_random_hands_at_random_tables_get_legal_answers_or_a_reason(agent: StandInAgent) -> None:
    rng, known, refused = np.random.default_rng(4), 0, 0
    for _ in range(150):
        big = int(rng.integers(2, 30))
        start = table(int(rng.integers(3, 8)), small=big // 2, big=big, ante=int(rng.integers(0, 3) == 0))
        state = replace(start, stacks=tuple((rng.integers(2, 250, start.num_players) * big).tolist())).start()
        deck = rng.permutation(52).tolist()
        while not state.is_over:
            state = state.deal_from(deck[:5])
            if state.player is None:
                break
            policy, legal = agent.policy_at(state), state.legal_actions()
            assert all(map(legal.allows, policy.actions)) and len(set(policy.actions)) == len(policy.actions)
            np.testing.assert_allclose(policy.probabilities.sum(axis=0), 1.0)
            try:
                agent.check_known(state)
                known += 1
            except AgentError:
                refused += 1
            moves = [CALL, FOLD if legal.can_fold else CALL]
            if legal.min_raise_to is not None and legal.max_raise_to is not None and rng.random() < 0.3:
                moves = [raise_to(min(legal.min_raise_to * int(rng.integers(1, 4)), legal.max_raise_to))]
            state = state.act(moves[int(rng.random() < 0.5) % len(moves)])
    assert refused > 300 and known > 20
