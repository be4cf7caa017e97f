"""Grades of decisions: a fold is worth nothing, a call is worth its equity, and mistakes are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="searches before the river need PyTorch")

from aleator.agents.whole_hands.pot_odds import equities
from aleator.agents.whole_hands.ring_blueprint import ring_blueprint_agent
from aleator.agents.whole_hands.river_perfect import implied_range, likely_by_rule
from aleator.agents.whole_hands.search_settings import SearchSettings
from aleator.agents.whole_hands.stand_in import StandInAgent
from aleator.arena.whole_hands.decisions import Decision, decision_now, decisions_of
from aleator.arena.whole_hands.grading import HandGrader
from aleator.arena.whole_hands.ranges import believed, table_reach
from aleator.errors import AgentError
from aleator.games.holdem.betting import CALL, FOLD, Action, raise_to
from aleator.games.holdem.cards import HANDS, NUM_HANDS, parse_cards, parse_hand
from aleator.games.holdem.equity import preflop_equities
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.hand_record import HandRecord, parse_actions
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import load_hand_game

BOARD = parse_cards("Ks 7h 2d 9c 3s")
SETUP = load_hand_game("hunl:stack=2000").setup


@pytest.fixture(scope="module")
def grader() -> HandGrader:
    return HandGrader(SearchSettings(preflop=40, flop=3, turn=3, river=150))


def record(actions: str, hands: str = "KdKh 7s7c", stacks: tuple[int, int] = (2000, 2000)) -> HandRecord:
    held = tuple(parse_hand(text) for text in hands.split())
    setup = replace(SETUP, stacks=stacks)
    return HandRecord(setup=setup, hands=held, board=BOARD, actions=parse_actions(actions), names=("A", "B"))


def decided(state: HandState, action: Action | None = None) -> Decision:
    return Decision(state=state, step=len(state.actions), action=action)


def river_facing_all_in() -> HandState:
    """Returns the river after checks, with an all-in of player 0 to call."""
    states = list(record("c c / c c / c c / r1900 c").states())
    (state,) = [state for state in states if state.player == 1 and state.street == 3 and max(state.betting.bets)]
    return state


def test_a_call_of_all_chips_is_worth_its_equity_and_a_fold_nothing(grader: HandGrader) -> None:
    state, order = river_facing_all_in(), strengths(BOARD).astype(int)
    for text in ("KdKh", "QcJc", "9d8d"):
        hand = parse_hand(text)
        grade = grader.grade(decided(state, CALL), hand)
        apart = ~(HANDS[:, :, None] == HANDS[hand]).any(axis=(1, 2))
        weights = grade.reach[0] * apart
        share = weights @ ((order[hand] > order) + 0.5 * (order[hand] == order)) / weights.sum()
        assert grade.actions == (FOLD, CALL)
        assert grade.values == pytest.approx([0.0, share * 4000 - 1900], abs=2.0)
    assert grader.grade(decided(state, FOLD), parse_hand("KdKh")).given_up > 1000, "folding the nuts is a mistake"
    assert grader.grade(decided(state, CALL), parse_hand("KdKh")).given_up == 0


def test_an_action_beside_the_menu_is_graded_as_it_is(grader: HandGrader) -> None:
    decision, *_ = decisions_of(record("c c / c c / c c / r137 c"), 0)[3:]
    assert decision.action == raise_to(137) and decision.state.street == 3 and decision.step == 6
    grade = grader.grade(decision, parse_hand("KdKh"))
    assert grade.taken is not None and grade.actions[grade.taken] == decision.action
    assert np.isfinite(grade.values).all() and grade.policy.sum() == pytest.approx(1)


def test_decisions_begin_with_the_blinds_and_stacks_are_the_smaller_one() -> None:
    played = record("r300 c / r1700 c", stacks=(2000, 9000))
    first, second = decisions_of(played, 1)
    assert (first.state.street, first.action) == (0, raise_to(300))
    assert (second.state.street, second.action) == (1, CALL)
    assert second.state.setup.stacks == (2000, 2000)
    deeper = record("r300 c / c r8700 c", stacks=(2000, 9000))
    assert decisions_of(deeper, 1)[1].action == raise_to(1700), "no more can be lost than the smaller stack"


def test_before_the_flop_a_call_of_all_chips_is_worth_its_equity(grader: HandGrader) -> None:
    state = SETUP.start().act(raise_to(2000))
    wins = preflop_equities()
    for text in ("AsAh", "9d8d", "7c2d"):
        hand = parse_hand(text)
        grade = grader.grade(decided(state, CALL), hand)
        apart = ~(HANDS[:, :, None] == HANDS[hand]).any(axis=(1, 2))
        weights = grade.reach[1] * apart
        share = weights @ wins[hand] / weights.sum()
        assert grade.actions == (FOLD, CALL)
        assert grade.values == pytest.approx([0.0, share * 4000 - 1900], abs=2.0)


def test_before_the_flop_mistakes_are_found_and_good_plays_are_not(grader: HandGrader) -> None:
    def lost(state: HandState, action: Action, hand: str) -> float:
        return grader.grade(decided(state, action), parse_hand(hand)).given_up

    start = SETUP.start()
    assert lost(start, FOLD, "AsAh") > 300, "folded aces, in chips of a hundredth of a big blind"
    assert lost(start, raise_to(2000), "7c2d") > 30, "all-in with rags"
    assert lost(start, raise_to(200), "AsAh") < 20 > lost(start, FOLD, "3c2d")
    raised = start.act(raise_to(250))  # not in the menu
    assert lost(raised, FOLD, "KsKh") > 200 and lost(raised, FOLD, "7c2d") < 20


def test_ranges_follow_the_search_and_where_it_never_goes_a_rule(grader: HandGrader) -> None:
    _, called, *_ = decisions_of(record("r300 c / c r400 c / c c / c c"), 0)
    big_blind = grader.reach_on_street(called)[0]
    assert big_blind[parse_hand("JcTc")] > 10 * big_blind[parse_hand("8c4d")], "which the search folds"
    assert 0.0 < big_blind[parse_hand("AcAd")] < 1.0, "which it mostly raises"
    state = SETUP.start()
    never = believed(np.zeros(NUM_HANDS), state, raise_to(2000))
    np.testing.assert_allclose(never / never.max(), likely_by_rule(state, raise_to(2000)) / equities(()).max() ** 2)


def six(actions: str, stacks: tuple[int, ...] = (10_000,) * 6) -> HandRecord:
    """Returns a hand of six: the button has kings, the small blind sevens, the big blind queens."""
    hands = tuple(parse_hand(text) for text in ["7s7c", "QsQc", "4h4c", "5h5c", "6h6c", "KdKh"])
    setup = replace(load_hand_game("6max").setup, stacks=stacks)
    return HandRecord(setup=setup, hands=hands, board=BOARD, actions=parse_actions(actions))


def test_at_a_table_of_six_decisions_are_graded_once_two_are_left(grader: HandGrader) -> None:
    whole = six("f f f r300 f c / r400 c / r800 c / c c", stacks=(10_000, 4_000, *(10_000,) * 4))
    decisions = decisions_of(whole, 5)
    assert [(decision.step, decision.action) for decision in decisions] == [(7, CALL), (9, CALL), (11, CALL)]
    assert decisions_of(whole, 0) == [] == decisions_of(whole, 2), "they folded"
    state = decisions[0].state
    assert state.betting.pot == 650 + 400 and state.betting.stacks == (3_300, 3_700) and state.player == 1
    ranges = decisions[0].ranges()
    start = decisions[0].start
    assert start is not None and start.setup.num_players == 6
    np.testing.assert_allclose(ranges[1], implied_range(start, 5))
    aces, rags = parse_hand("AsAh"), parse_hand("8c4d")
    assert ranges[1][aces] > 15 * ranges[1][rags], "who raises two players has a good hand"
    grade = grader.grade(decisions[2], parse_hand("KdKh"))
    assert grade.taken is not None and grade.values[grade.taken] > 0 and grade.policy.sum() == pytest.approx(1)


def test_at_a_table_a_blueprint_tells_the_ranges_once_it_is_needed() -> None:
    asked, blueprint = list[int](), StandInAgent(ring_blueprint_agent())

    def load() -> StandInAgent:
        asked.append(1)
        return blueprint

    grader = HandGrader(SearchSettings(flop=1, turn=1, river=20), load)
    (decision, *_) = decisions_of(six("f f f r300 f c / r400 c / r800 c / c c"), 5)
    grader.reach_on_street(decisions_of(record("c c / c c / c c / c c"), 0)[0])
    assert asked == [], "two players need none"
    reach = grader.reach_on_street(decision)
    assert asked == [1] and decision.start is not None
    np.testing.assert_array_equal(reach, table_reach(decision.start, blueprint)[[1, 5]])
    assert reach[0][parse_hand("8c4d")] < 0.2 * implied_range(decision.start, 1)[parse_hand("8c4d")], (
        "who called a raise"
    )


def test_a_call_of_all_chips_at_a_table_is_worth_its_share_of_the_pot_with_what_others_left(grader: HandGrader) -> None:
    """Three see the flop, one folds there, and on the turn a player is all-in against the other."""
    whole = six("f f f r300 c c / c r600 c f / r9100 c", stacks=(10_000,) * 6)
    (decision,) = decisions_of(whole, 5)
    assert (decision.step, decision.state.street) == (11, 2), "on the flop there were three"
    assert decision_now(replace(whole, actions=whole.actions[:-1], board=BOARD[:4]), 5) is not None
    assert decision_now(replace(whole, actions=whole.actions[:5], board=()), 5) is None
    pot, hand = decision.state.betting.pot, parse_hand("KdKh")
    assert pot == 300 * 3 + 600 * 2 + 9100
    grade = grader.grade(decision, hand)
    fold, call = (grade.actions.index(action) for action in (FOLD, CALL))
    assert grade.values[fold] == pytest.approx(0, abs=0.1)
    assert 0.9 * (pot + 9100) - 9100 < grade.values[call] <= pot, "three kings hardly ever lose"


def test_what_cannot_be_graded_is_refused(grader: HandGrader) -> None:
    with pytest.raises(AgentError, match="equal stacks"):
        grader.grade(decided(replace(SETUP, stacks=(2000, 3000)).start()), parse_hand("AsAh"))
    hidden = HandRecord(setup=SETUP, hands=(None, parse_hand("AsAh")), actions=parse_actions("f"), names=("A", "B"))
    with pytest.raises(AgentError, match="hand of A is not known"):
        decisions_of(hidden, 0)
