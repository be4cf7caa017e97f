"""Whole hands with real cards beside pokerkit: the same turns, the same amounts, the same result.

Where pokerkit's rules differ from ours is said, and asserted, in `test_betting_referee`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import pokerkit
import pytest
from tests.games.holdem.test_betting_referee import Referee, compare, merge_pots, random_rules, skip_forced_checks
from tests.games.holdem.test_betting_referee import random_stacks as stacks_for

from aleator.games.holdem.betting import CALL, FOLD, raise_to
from aleator.games.holdem.cards import format_cards, hand_index
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import HandSetup


@lru_cache(maxsize=128)
def _best_hand(hole: tuple[pokerkit.Card, ...], board: tuple[pokerkit.Card, ...]) -> Any:
    return pokerkit.StandardHighHand.from_game(hole, board)


class HighHand(pokerkit.StandardHighHand):
    """pokerkit's hands, each of which is found once: it asks for every hand of a showdown a dozen times."""

    @classmethod
    def from_game(cls, hole_cards: Iterable[Any], board_cards: Iterable[Any] = ()) -> Any:  # type: ignore[override]
        return _best_hand(tuple(hole_cards), tuple(board_cards))


def play_one_hand(rng: np.random.Generator, seen: Counter[str]) -> None:
    rules = random_rules(rng)
    setup = HandSetup(rules=rules, stacks=stacks_for(rules, rng))
    deck = rng.permutation(52)[: 5 + 2 * rules.num_players].tolist()
    board, holes = deck[:5], [deck[5 + 2 * player : 7 + 2 * player] for player in range(rules.num_players)]
    theirs = [list(pokerkit.Card.parse(format_cards(cards, ""))) for cards in (board, *holes)]
    referee = Referee(rules, setup.stacks, theirs[1:], theirs[0], 1, HighHand)
    state, aggression = setup.start(), rng.random()
    while True:
        while due := state.cards_due:
            state = state.deal(board[len(state.board) : len(state.board) + due])
        skip_forced_checks(referee, state.betting, seen)
        if state.is_over:
            break
        can_raise, legal = compare(referee, state.betting, seen), state.legal_actions()
        if can_raise and rng.random() < aggression:
            assert legal.min_raise_to is not None and legal.max_raise_to is not None
            low, high = legal.min_raise_to, legal.max_raise_to
            amounts = [low, min(high, 2 * low), high, int(rng.integers(low, high + 1))]
            amount = int(rng.choice(amounts, p=[0.5, 0.2, 0.1, 0.2]))
            state = state.act(raise_to(amount))
            referee.state.complete_bet_or_raise_to(amount)
        elif legal.can_fold and rng.random() < 0.2:
            state = state.act(FOLD)
            referee.state.fold()
        else:
            state = state.act(CALL)
            referee.state.check_or_call()
        referee.deal()
    assert not referee.state.status
    record = HandRecord(
        setup=setup, hands=tuple(int(hand_index(*pair)) for pair in holes), board=state.board, actions=state.actions
    )
    assert record.state() == state
    seen["showdown"] += state.is_showdown
    payoffs = record.payoffs()
    if payoffs != tuple(referee.state.payoffs):  # pokerkit merges pots of hands that were killed: one odd chip less
        merged = merge_pots(state.betting.pots(), referee.killed())
        assert len(merged) < len(state.betting.pots())
        assert max(abs(a - b) for a, b in zip(payoffs, referee.state.payoffs, strict=True)) < rules.num_players
        seen["odd chip of merged pots"] += 1
    for player in range(rules.num_players):
        view = record.view(player)
        shown = state.betting.live_players if state.is_showdown else ()
        assert [hand is not None for hand in view.hands] == [
            other == player or other in shown for other in range(rules.num_players)
        ]


def check_hands(count: int, seed: int) -> Counter[str]:
    rng, seen = np.random.default_rng(seed), Counter[str]()
    for _ in range(count):
        play_one_hand(rng, seen)
    return seen


def test_a_thousand_hands_match_pokerkit() -> None:
    seen = check_hands(1_000, seed=5)
    assert seen["decision"] > 5_000 and seen["showdown"] > 400
    assert seen["odd chip of merged pots"] < 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", [6, 7, 8, 9])  # beside each other
def test_a_hundred_thousand_hands_match_pokerkit(seed: int) -> None:
    seen = check_hands(25_000, seed)
    assert seen["decision"] > 125_000 and seen["forced check"] and seen["short opening all-in"]
    assert seen["odd chip of merged pots"] < 500
