"""Hands in arrays against hands as objects: random play of 2 to 10 players, every number equal."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.games.holdem.betting import BettingRules
from aleator.games.holdem.cards import hand_index
from aleator.games.holdem.hand_batch import CALL_CODE, FOLD_CODE, OVER, HandBatch, action_code, code_action
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import HandSetup, HandState


def random_setup(rng: np.random.Generator) -> HandSetup:
    players = int(rng.integers(2, 11))
    big_blind = int(rng.integers(2, 21))
    streets = int(rng.choice([2, 3, 4], p=[0.15, 0.15, 0.7]))
    ante = {}
    if rng.random() < 0.4:
        ante = {str(rng.choice(["ante", "big_blind_ante"])): int(rng.integers(1, big_blind + 1))}
    straddles = ()
    if players > 2 and rng.random() < 0.3:
        straddles = tuple(int(big_blind * 2**k) for k in range(1, int(rng.integers(2, players))))
    limit = {}
    if rng.random() < 0.35:
        limit = {
            "fixed_bets": tuple(big_blind * (1 if street < 2 else 2) for street in range(streets)),
            "max_raises": tuple(int(rng.integers(2, 5)) for _ in range(streets)),
        }
    rules = BettingRules(
        num_players=players,
        small_blind=int(rng.integers(1, big_blind)),
        big_blind=big_blind,
        num_streets=streets,
        straddles=straddles,
        **ante,
        **limit,
    )
    depth = big_blind * rng.choice([2, 8, 30, 100], size=players)
    stacks = tuple(int(rng.integers(1, most + 1)) for most in depth)
    if players == 2 and streets > 1 and rng.random() < 0.2:
        return HandSetup(rules=rules, stacks=stacks, first_street=1, pot=int(rng.integers(1, 50)))
    return HandSetup(rules=rules, stacks=stacks)


def random_code(state: HandState, rng: np.random.Generator, aggression: float) -> int:
    legal = state.legal_actions()
    if legal.min_raise_to is not None and rng.random() < aggression:
        assert legal.max_raise_to is not None
        low, high = legal.min_raise_to, legal.max_raise_to
        return int(
            rng.choice([low, min(high, 2 * low), high, int(rng.integers(low, high + 1))], p=[0.5, 0.2, 0.1, 0.2])
        )
    return FOLD_CODE if legal.can_fold and rng.random() < 0.2 else CALL_CODE


def same_betting(batch: HandBatch, row: int, state: HandState) -> None:
    ours, theirs = batch.betting, state.betting
    assert int(ours.player[row]) == (OVER if theirs.player is None else theirs.player)
    assert int(ours.street[row]) == theirs.street
    for name in ("stacks", "bets", "contributions", "folded", "acted"):
        assert tuple(getattr(ours, name)[row].tolist()) == getattr(theirs, name), name
    assert (int(ours.num_raises[row]), int(ours.full_raise[row])) == (theirs.num_raises, theirs.full_raise)
    assert int(batch.pot[row]) == theirs.pot


def play(setup: HandSetup, rng: np.random.Generator, count: int) -> tuple[HandBatch, list[HandState]]:
    """Plays hands at random both ways and compares them after each action."""
    decks = np.argsort(rng.random((count, 52)), axis=1)
    players = setup.num_players
    hands = np.array([hand_index(*deck[5 : 5 + 2 * players].reshape(players, 2).T) for deck in decks])
    batch = HandBatch.start(setup, hands, decks[:, :5])
    states, aggression = [setup.start()] * count, rng.random(count)
    while True:
        for row in range(count):
            while due := states[row].cards_due:
                dealt = len(states[row].board)
                states[row] = states[row].deal(tuple(decks[row, dealt : dealt + due].tolist()))
            same_betting(batch, row, states[row])
        rows = np.flatnonzero(batch.betting.player != OVER)
        if not len(rows):
            return batch, states
        legal = batch.legal(rows)
        codes = []
        for place, row in enumerate(rows):
            allowed = states[row].legal_actions()
            assert bool(legal.can_fold[place]) == allowed.can_fold
            assert int(legal.call_amount[place]) == allowed.call_amount
            assert (int(legal.min_raise_to[place]) or None) == allowed.min_raise_to
            assert (int(legal.max_raise_to[place]) or None) == allowed.max_raise_to
            codes.append(random_code(states[row], rng, aggression[row]))
            states[row] = states[row].act(code_action(codes[-1]))
        batch.act(rows, np.array(codes))


def check(hands: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(hands // 10):
        setup = random_setup(rng)
        batch, states = play(setup, rng, 10)
        payoffs = batch.payoffs()
        for row, state in enumerate(states):
            record = batch.record(row, number=row)
            assert record.state() == state
            assert record.payoffs() == tuple(payoffs[row].tolist())
            assert HandRecord.from_dict(record.to_dict()) == record
        assert (payoffs.sum(axis=1) == setup.pot).all()


def test_hands_in_arrays_are_hands_as_objects() -> None:
    check(150, seed=3)


@pytest.mark.slow
def test_many_hands_in_arrays_are_hands_as_objects() -> None:
    check(20_000, seed=4)


def test_a_batch_is_made_of_states_in_progress() -> None:
    rng = np.random.default_rng(0)
    setup = HandSetup(rules=BettingRules(small_blind=50, big_blind=100), stacks=(20_000, 20_000))
    start = setup.start()
    raised = start.act(code_action(300))
    flop = raised.act(code_action(CALL_CODE)).deal((0, 5, 10))
    batch = HandBatch.of_states([start, raised, flop])
    for row, state in enumerate((start, raised, flop)):
        same_betting(batch, row, state)
        assert batch.state(row) == state
    copies = batch.take(np.array([2, 2, 0]))
    assert copies.state(1) == flop and copies.state(2) == start
    assert action_code(code_action(457)) == 457 and rng is not None
