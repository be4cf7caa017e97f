from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from aleator.agents.whole_hands import BatchPolicy, HandAgent, HandPolicy, known_hand_agents, load_hand_agent
from aleator.agents.whole_hands.base import ask_policies
from aleator.errors import AgentError
from aleator.games.holdem.betting import CALL, FOLD, Action, raise_to
from aleator.games.holdem.cards import NUM_HANDS, parse_cards, parse_hand
from aleator.games.holdem.hand_batch import HandBatch
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import HULH, HUNL

START = HUNL.setup.start()
RAISED = START.act(raise_to(300))
FLOP = RAISED.act(CALL).deal(parse_cards("Ah 7c 2d"))
SHOVED = START.act(raise_to(20_000))
STATES = (START, RAISED, FLOP, SHOVED, HULH.setup.start())


class Fixed(HandAgent):
    """Says what it was told to."""

    name = "fixed"

    def __init__(self, *answer: tuple[Action, float]) -> None:
        self.answer = answer

    def policy_at(self, state: HandState) -> HandPolicy:
        probabilities = np.array([[chance] * 1326 for _, chance in self.answer])
        return HandPolicy(tuple(action for action, _ in self.answer), probabilities)


def ask(agent: HandAgent, state: HandState) -> BatchPolicy:
    rows: npt.NDArray[np.int64] = np.zeros(1, np.int64)
    return ask_policies(agent, HandBatch.of_states([state]), rows)


def _named() -> list[str]:
    """Returns the agents that need no file."""
    names = [known.family for known in known_hand_agents() if "FILE" not in known.usage]
    return ["biased:always-call" if name == "biased" else name for name in names]


@pytest.mark.parametrize("name", _named())
def test_every_agent_answers_for_every_hand(name: str) -> None:
    searches = name in ("deepstack", "rebel")
    agent = load_hand_agent(f"{name}:preflop=2,flop=2" if searches else name)
    for state in STATES[: 4 if searches or name == "river-perfect" else None]:
        codes, probabilities = ask(agent, state)
        single = agent.policy_at(state)
        np.testing.assert_allclose(single.probabilities.sum(axis=0)[~_blocked(state)], 1.0)
        legal = state.legal_actions()
        assert all(legal.allows(action) for action in single.actions)
        assert codes.shape == probabilities.shape[:2]


def _blocked(state: HandState) -> npt.NDArray[np.bool_]:
    from aleator.games.holdem.cards import blocked_hands

    return blocked_hands(state.board)


def chances(name: str, state: HandState, hand: str = "AsKs") -> dict[str, float]:
    policy = load_hand_agent(name).policy_at(state)
    return {
        str(action): float(chance)
        for action, chance in zip(policy.actions, policy.probabilities[:, parse_hand(hand)], strict=True)
        if chance > 0
    }


def test_chumps_do_what_they_are_called_for() -> None:
    assert chances("always-fold", RAISED) == {"fold": 1.0} and chances("always-fold", FLOP) == {"call": 1.0}
    assert chances("always-call", SHOVED) == {"call": 1.0}
    assert chances("half-call-half-raise", SHOVED) == {"call": 1.0}
    half = chances("half-call-half-raise", START)
    assert half["call"] == pytest.approx(0.5) and len(half) == 33
    assert half["raise to 200"] == pytest.approx(0.5 * 200 / 20_000)  # what is too little becomes the smallest raise
    later = START.act(raise_to(5_000)).act(CALL).deal(parse_cards("Ah 7c 2d"))
    assert chances("half-call-half-raise", later)["raise to 100"] == pytest.approx(0.5 * 5_100 / 20_000)
    assert chances("random", SHOVED) == {"fold": 0.5, "call": 0.5}
    drawn = chances("random", START)
    assert drawn["fold"] == drawn["call"] == pytest.approx(1 / 19_803)  # fold, call, and raises to 200 .. 20,000
    assert chances("random", HULH.setup.start()) == pytest.approx({"fold": 1 / 3, "call": 1 / 3, "raise to 4": 1 / 3})


def test_tight_aggressive_folds_rags_and_raises_aces() -> None:
    assert chances("tight-aggressive", SHOVED, "7c2d") == {"fold": 1.0}
    assert "call" in chances("tight-aggressive", SHOVED, "AsAd")
    assert list(chances("tight-aggressive", RAISED, "AsAd")) == ["raise to 750"]
    assert list(chances("tight-aggressive", FLOP, "AsAd")) == ["raise to 450"]


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (Fixed((raise_to(150), 1.0)), "fixed considered raise to 150; legal are fold, call 50, raise to 200..20000"),
        (Fixed((CALL, 0.5)), "2d2c probabilities that sum to 0.5"),
        (Fixed((CALL, 1.5), (FOLD, -0.5)), "must be 0 or more"),
    ],
)
def test_wrong_answers_are_said_with_the_agents_name(agent: HandAgent, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        ask(agent, START)


def test_agents_have_names() -> None:
    with pytest.raises(AgentError, match="did you mean 'always-call'"):
        load_hand_agent("alway-call")
    with pytest.raises(AgentError, match="takes no settings"):
        load_hand_agent("random:3")


def test_hands_that_look_alike_are_asked_about_once() -> None:
    class Counting(HandAgent):
        name = "counting"
        asked = 0

        def policy_at(self, state: HandState) -> HandPolicy:
            self.asked += 1
            share = len(state.board) / 10
            return HandPolicy((FOLD, CALL), np.stack([np.full(NUM_HANDS, share), np.full(NUM_HANDS, 1.0 - share)]))

    setup, agent = HUNL.setup, Counting()
    start = setup.start().act(raise_to(300))
    flops = [start.act(CALL).deal(board).act(raise_to(400)) for board in ((0, 1, 2), (0, 1, 3))]
    states = [start, flops[0], start, flops[1], flops[0]]
    codes, probabilities = agent.policies_at(HandBatch.of_states(states), np.arange(5))
    assert agent.asked == 3 and codes.shape == (5, 2)
    np.testing.assert_allclose(probabilities[:, 0, 0], [0.0, 0.3, 0.0, 0.3, 0.3])
