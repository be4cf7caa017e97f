"""Hands played out: what actions are worth against known players, by exact sums where there are some."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aleator.agents.whole_hands.pot_odds import equities
from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.arena.whole_hands.rollouts import _errors, _few_boards, _pool, _reach, roll_out
from aleator.games.holdem.betting import CALL, FOLD, raise_to
from aleator.games.holdem.cards import HANDS, blocked_hands, parse_cards, parse_hand
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.hand_record import HandRecord, parse_actions
from aleator.games.holdem.variants import load_hand_game

SETUP = load_hand_game("ring:3").setup
BOARD = parse_cards("Ks 7h 2d 9c 3s")
CALLERS = [load_hand_agent("always-call")] * 3
DRAWS = 2000


def test_checking_down_is_worth_the_equity_and_a_bet_that_is_called_twice_as_much() -> None:
    """n = 2,000, seed 0, |z| < 4: the hand of the one who calls everything is any that shares no card."""
    actions = parse_actions("f c c / c c / c c")
    state = HandRecord(setup=SETUP, hands=(None,) * 3, board=BOARD, actions=actions).state()
    assert state.player == 0 and state.street == 3
    hand, order = parse_hand("9dTd"), strengths(BOARD).astype(int)
    apart = ~blocked_hands(BOARD) & ~(HANDS[:, :, None] == HANDS[hand]).any(axis=(1, 2))
    share = np.mean((order[hand] > order[apart]) + 0.5 * (order[hand] == order[apart]))
    found = roll_out(state, hand, CALLERS, (CALL, raise_to(500)), going_on=CALLERS[:1], draws=DRAWS)
    error = np.sqrt(share * (1 - share) / DRAWS)
    assert found.values[0] == pytest.approx(200 * share, abs=4 * 200 * error)
    assert found.values[1] == pytest.approx(1200 * share - 500, abs=4 * 1200 * error)
    assert found.errors[found.values.argmax()] == 0 < found.errors.max()


def test_a_fold_is_worth_nothing_and_aces_are_worth_a_raise_before_the_flop() -> None:
    rule = [load_hand_agent("tight-aggressive")] * 3
    state, tries = SETUP.start(), (FOLD, CALL, raise_to(300))
    settings: dict[str, Any] = {"going_on": rule[:1], "draws": 300}
    found = roll_out(state, parse_hand("AsAh"), rule, tries, **settings)
    assert found.values[0] == 0 and found.values[2] > 0
    again = roll_out(state, parse_hand("AsAh"), rule, tries, **settings)
    np.testing.assert_array_equal(found.values, again.values)
    assert roll_out(state, parse_hand("7c2d"), rule, tries, **settings).values[2] < found.values[2]


def test_the_best_of_those_who_may_play_on_counts() -> None:
    """Against somebody who raises at random, a call with rags and a fold later loses no more than the call."""
    wild, caller, folder = (load_hand_agent(name) for name in ("half-call-half-raise", "always-call", "always-fold"))
    state = SETUP.start().act(raise_to(300))
    alone = [roll_out(state, parse_hand("7c2d"), [wild] * 3, (FOLD, CALL), going_on=[own], draws=300).values[1]
             for own in (caller, folder)]  # fmt: skip
    both = roll_out(state, parse_hand("7c2d"), [wild] * 3, (FOLD, CALL), going_on=[caller, folder], draws=300)
    assert both.values[1] == max(alone) >= -250 > min(alone)


def test_what_others_did_tells_their_hands() -> None:
    """A raise of the rule bot means a good hand; somebody who calls everything and folds tells nothing by it."""
    rule = load_hand_agent("tight-aggressive")
    aces, rags = parse_hand("AsAh"), parse_hand("7c2d")
    raised = SETUP.start().act(raise_to(300))
    reach = _reach(raised, [CALLERS[0], CALLERS[0], rule])
    assert reach[2, aces] > 3 * reach[2, rags] and reach[1].min() == 1
    folded = SETUP.start().act(FOLD)
    assert _reach(folded, CALLERS)[2].min() == 1


@pytest.mark.parametrize("turns", [None, 200])
def test_boards_may_be_few(turns: int | None) -> None:
    """A call on the flop that is checked down: n = 2,000, seed 0, |z| < 4 by the error that is told."""
    actions = parse_actions("f c c / c r500")
    state = HandRecord(setup=SETUP, hands=(None,) * 3, board=BOARD[:3], actions=actions).state()
    hand = parse_hand("9dTd")
    found = roll_out(state, hand, CALLERS, (FOLD, CALL), going_on=CALLERS[:1], draws=DRAWS, turns=turns)
    worst = int(found.values.argmin())
    assert found.values[1] == pytest.approx(1200 * equities(BOARD[:3])[hand] - 500, abs=4 * found.errors[worst])
    assert 5 < found.errors[worst] < 40


def test_a_pool_of_boards_has_each_card_once_and_is_always_the_same() -> None:
    for board, count in (((), 30), (BOARD[:3], 30), (BOARD[:4], 48), (BOARD, 1)):
        pool, rivers = _pool(board, 30, 0), 8
        assert (pool.boards[:, : len(board)] == board).all() and pool.boards.shape[1] == 5
        assert (np.diff(np.sort(pool.boards, axis=1), axis=1) > 0).all()
        assert len(np.unique(pool.groups)) <= count and (len(board) > 3 or len(pool.boards) % rivers == 0)
        np.testing.assert_array_equal(pool.boards, _pool.__wrapped__(board, 30, 0).boards)  # type: ignore[attr-defined]
    pool = _pool((), 30, 0)
    hands = np.array([[parse_hand("AsAh"), parse_hand("KdKh")]] * 500)
    kept, boards, groups = _few_boards(pool, hands, np.random.default_rng(0))
    assert len(kept) == 500 and not np.isin(boards, HANDS[hands[0]].reshape(-1)).any()
    assert all(
        (pool.boards[pool.groups == group][0, :4] == board[:4]).all()
        for group, board in zip(groups, boards, strict=True)
    )


def test_draws_with_the_same_board_are_one_observation() -> None:
    numbers = np.repeat(np.random.default_rng(0).normal(size=(1, 50)), 20, axis=1)
    alone, together = _errors(numbers, np.arange(1000)), _errors(numbers, np.repeat(np.arange(50), 20))
    assert together[0] == pytest.approx(numbers[0, ::20].std() / np.sqrt(50))
    assert alone[0] == pytest.approx(together[0] / np.sqrt(20))


def test_ranges_may_be_told() -> None:
    """Against somebody who has nothing but a better hand, a call wins nothing."""
    state = HandRecord(
        setup=SETUP, hands=(None,) * 3, board=BOARD, actions=parse_actions("f c c / c c / c c / c r500")
    ).state()
    reach = np.zeros((3, len(HANDS)))
    reach[1, parse_hand("KdKh")] = reach[2, parse_hand("4c5c")] = 1.0
    found = roll_out(state, parse_hand("9dTd"), CALLERS, (FOLD, CALL), going_on=CALLERS[:1], draws=50, reach=reach)
    np.testing.assert_array_equal(found.values, [0.0, -500.0])
    assert reach[0].sum() == 0, "it is not changed"
