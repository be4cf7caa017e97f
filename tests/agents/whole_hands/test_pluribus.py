"""Pluribus in hold'em of three players: legal and repeatable everywhere, the blueprint before the flop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction.ring.values import RingValues
from aleator.agents.whole_hands.pluribus import PluribusAgent
from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.errors import AgentError
from aleator.games.holdem.betting import CALL, FOLD, Action, raise_to
from aleator.games.holdem.cards import blocked_hands, parse_hand
from aleator.games.holdem.hand_state import HandState, states_before
from aleator.games.holdem.variants import load_hand_game
from tests.search.pluribus.ring.small import three_players


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return three_players(tmp_path_factory.mktemp("pluribus"))


def agent_of(file: Path, preflop: int = 40) -> PluribusAgent:
    agent = load_hand_agent(f"pluribus:{file},preflop={preflop},flop=40,turn=40,river=80")
    assert isinstance(agent, PluribusAgent)
    return agent


def play(*moves: Action | list[int]) -> HandState:
    state = load_hand_game("ring:3").setup.start()
    for move in moves:
        state = state.deal(move) if isinstance(move, list) else state.act(move)
    return state


def test_before_the_flop_it_plays_the_blueprint(file: Path) -> None:
    agent = agent_of(file)
    expected = agent.blueprint.policy_at(play())
    np.testing.assert_array_equal(agent.policy_at(play()).probabilities, expected.probabilities)


@pytest.mark.parametrize(
    ("moves", "departure"),
    [
        ((raise_to(350),), None),
        ((raise_to(450),), None),  # a big blind more than the menu's 350
        ((raise_to(451),), 0),
        ((raise_to(350), FOLD, raise_to(900)), 2),
        ((CALL,), 0),  # the blueprint does not limp
        ((raise_to(350), CALL, CALL), 2),  # nor does it see a flop with three
    ],
)
def test_the_blueprint_knows_what_it_does_not_consider(
    file: Path, moves: tuple[Action, ...], departure: int | None
) -> None:
    assert agent_of(file).blueprint.policy.departure(play(*moves), 100) == departure


def test_nobody_leaves_the_blueprint_who_plays_it(file: Path) -> None:
    """So tables that begin with one blueprint begin alike (`arena.whole_hands.stakes`)."""
    agent, rng = agent_of(file), np.random.default_rng(4)
    for _ in range(40):
        state = play()
        while not state.is_over and state.street == 0 and not state.cards_due:
            assert not agent.searches(state)
            actions = agent.blueprint.policy_at(state).actions
            state = state.act(actions[rng.integers(len(actions))])


def test_bets_before_the_flop_that_the_blueprint_lacks_are_searched(file: Path) -> None:
    """Against somebody who bets everything at once the small blind calls with aces and folds seven-deuce."""
    agent, state = agent_of(file, preflop=300), play(raise_to(10_000))
    assert agent.searches(state)
    assert not agent_of(file, preflop=0).searches(state)
    searched = agent.search_at(state)
    assert (searched.tree.street, searched.tree.actions[0][-1]) == (0, raise_to(10_000))
    answer = agent.policy_at(state)
    rows = dict(zip(answer.actions, answer.probabilities, strict=True))
    assert rows[CALL][parse_hand("AsAd")] > 0.9
    assert rows[FOLD][parse_hand("7h2c")] > 0.9
    np.testing.assert_array_equal(rows[CALL][parse_hand("KsQs")], rows[CALL][parse_hand("KhQh")])


def test_the_flop_is_believed_as_the_search_before_it_has_it(file: Path) -> None:
    agent = agent_of(file)
    before, state = play(raise_to(900), FOLD), play(raise_to(900), FOLD, CALL, [0, 17, 34])
    states = states_before(state)
    beliefs = agent._beliefs(states, len(states) - 1, before.player)
    searched = agent.search_at(before)
    likely = np.maximum(searched.average(searched.tree.path[-1])[CALL], 1e-3)
    likely[blocked_hands(state.board)] = 0.0
    np.testing.assert_allclose(beliefs[before.player or 0], likely / likely.max())
    assert likely.min(where=likely > 0, initial=1.0) < 0.9 * likely.max()


def test_answers_are_the_same_whatever_was_asked_before(file: Path) -> None:
    moves = (raise_to(350), FOLD, CALL, [0, 17, 34], CALL, raise_to(400), CALL, [25], CALL, raise_to(900))
    asked, fresh = agent_of(file), agent_of(file)
    for end in (4, 5, 6, 8, 9):
        asked.policy_at(play(*moves[:end]))
    first, second = asked.policy_at(play(*moves)), fresh.policy_at(play(*moves))
    assert first.actions == second.actions
    np.testing.assert_array_equal(first.probabilities, second.probabilities)


def test_guarded_no_hand_does_worse_against_the_blueprint_than_by_it(file: Path) -> None:
    """On the river, where values are exact; hands that the search is better with play what it says."""
    plain, guarded = agent_of(file), load_hand_agent(f"pluribus:{file},guarded,flop=40,turn=40,river=80")
    assert isinstance(guarded, PluribusAgent) and guarded.settings.guard
    state = play(raise_to(350), FOLD, CALL, [0, 17, 34], CALL, CALL, [25], CALL, CALL, [40])
    own, policy = state.player, plain.blueprint.policy
    assert own is not None
    decision, (other,) = policy.decision_at(state), set(state.betting.live_players) - {own}
    answers = [agent.policy_at(state) for agent in (plain.blueprint, plain, guarded)]
    assert decision is not None and len({answer.actions for answer in answers}) == 1
    reach = np.ones(1326)
    for turn, before in enumerate(states_before(state)[:-1]):
        if before.player == other:
            line = plain.blueprint.policy_at(before)
            reach *= line.probabilities[line.actions.index(state.actions[turn])]
    values = RingValues(policy).of_actions(decision, state.board, reach, np.random.default_rng(0))
    blueprint, search, mixed = ((answer.probabilities * values).sum(axis=0) for answer in answers)
    scale = np.abs(values).max()
    np.testing.assert_allclose(mixed, np.maximum(blueprint, search), atol=1e-6 * scale)
    assert (search < blueprint - 1e-3 * scale).any() and (search > blueprint + 1e-3 * scale).any()


def test_beliefs_follow_the_line(file: Path) -> None:
    agent = agent_of(file)
    state = play(raise_to(350), FOLD, CALL, [0, 17, 34])
    searched = agent.search_at(state)
    assert searched.tree.street == 1
    assert (searched.tree.arrays.live[0] & 1) == 0  # the small blind has folded
    assert not np.isin(np.flatnonzero(blocked_hands(state.board)), searched.hands).any()


def test_random_hands_get_legal_answers(file: Path) -> None:
    """Limps, odd sizes, three players on the flop, all-ins."""
    agent, rng, searched = agent_of(file), np.random.default_rng(2), 0
    for _ in range(6):
        state, deck = load_hand_game("ring:3").setup.start(), rng.permutation(52).tolist()
        while not state.is_over:
            if state.cards_due:
                state = state.deal([deck.pop() for _ in range(state.cards_due)])
                continue
            answer, legal = agent.policy_at(state), state.legal_actions()
            searched += state.street > 0
            assert all(legal.allows(action) for action in answer.actions)
            alive = ~blocked_hands(state.board)
            np.testing.assert_allclose(answer.probabilities[:, alive].sum(axis=0), 1.0, atol=1e-6)
            options = [CALL, CALL, *([FOLD] if legal.can_fold and rng.random() < 0.3 else [])]
            if legal.min_raise_to is not None and legal.max_raise_to is not None:
                high = max(legal.min_raise_to, min(legal.max_raise_to, 2500))
                options.append(raise_to(int(rng.integers(legal.min_raise_to, high + 1))))
            state = state.act(options[rng.integers(len(options))])
    assert searched > 10


def test_other_games_are_refused(file: Path) -> None:
    state = load_hand_game("ring:6").setup.start()
    with pytest.raises(AgentError, match="plays only"):
        agent_of(file).policy_at(state)
    with pytest.raises(AgentError, match="flop"):
        load_hand_agent(f"pluribus:{file},flop=0")
