"""AIVAT at a table changes no expectation: over all histories of an ending of three, and in matches by a stated z."""

from __future__ import annotations

import zlib
from itertools import permutations

import numpy as np
import pytest

from aleator.agents.whole_hands.base import HandAgent, HandPolicy, ask_policies
from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.arena.whole_hands.aivat.table import TableLuck
from aleator.arena.whole_hands.play import TABLE, play_hands
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import CALL, FOLD, Action, BettingRules, raise_to
from aleator.games.holdem.cards import HANDS, NUM_HANDS, parse_cards, parse_hand
from aleator.games.holdem.hand_batch import OVER, HandBatch, action_code
from aleator.games.holdem.hand_state import HandSetup, HandState
from aleator.games.holdem.variants import load_hand_game

HELD = tuple(parse_hand(hand) for hand in ("AsQd", "9s8s", "6c6d"))


class NoisyAgent(HandAgent):
    """Does the same with every hand: fold, call and bet the pot with probabilities drawn once for every history."""

    def __init__(self, name: str) -> None:
        self.name = name

    def policy_at(self, state: HandState) -> HandPolicy:
        legal = state.legal_actions()
        actions: list[Action] = [FOLD] * legal.can_fold + [CALL]
        if legal.max_raise_to is not None:
            actions.append(raise_to(legal.max_raise_to))
        key = f"{self.name} {state.actions} {state.board}".encode()
        weights = np.random.default_rng(zlib.crc32(key)).random(len(actions)) ** 2
        return HandPolicy(tuple(actions), np.tile((weights / weights.sum())[:, None], NUM_HANDS))


AGENTS = tuple(NoisyAgent(name) for name in "abc")


def ends_of(state: HandState, hands: tuple[int, ...], chance: float) -> list[tuple[HandState, float]]:
    """Returns every end of a hand that a player's cards allow, and how likely it is."""
    if state.is_over:
        return [(state, chance)]
    if state.cards_due:
        rest = [card for card in range(52) if card not in state.board and card not in HANDS[list(hands)]]
        return [end for card in rest for end in ends_of(state.deal((card,)), hands, chance / len(rest))]
    assert state.player is not None
    policy = AGENTS[state.player].policy_at(state)
    return [
        end
        for action, row in zip(policy.actions, policy.probabilities, strict=True)
        for end in ends_of(state.act(action), hands, chance * float(row[0]))
    ]


def means(setup: HandSetup, hands: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Returns what everybody wins on average by chips and by AIVAT."""
    ends = ends_of(setup.start(), hands, 1.0)
    boards = np.array([[*end.board, *[-1] * (5 - len(end.board))] for end, _ in ends])
    unknown = (boards < 0).any(axis=1)  # folded before the river: any card will do
    boards[unknown, 4] = next(card for card in range(52) if card not in setup.board and card not in HANDS[list(hands)])
    batch = HandBatch.start(setup, np.tile(hands, (len(ends), 1)), boards)
    luck = TableLuck(batch, np.zeros(len(ends), np.uint64))
    step = 0
    while len(active := np.flatnonzero(batch.betting.player != OVER)):
        street = batch.betting.street[active].copy()
        codes = np.array([action_code(ends[row][0].actions[step]) for row in active])
        for player, agent in enumerate(AGENTS):
            here = batch.betting.player[active] == player
            if here.any():
                policy = ask_policies(agent, batch, active[here])
                luck.acted(active[here], policy, (policy.codes == codes[here, None]).argmax(axis=1))
        batch.act(active, codes)
        went_on = (batch.betting.street[active] != street) & (batch.betting.player[active] != OVER)
        luck.advanced(active[went_on])
        step += 1
    weights = np.array([chance for _, chance in ends])
    assert weights.sum() == pytest.approx(1.0)
    chips, fair = batch.payoffs().astype(np.float64), luck.estimates()
    assert np.abs(chips - fair).max() > 1.0  # there was luck to remove
    return weights @ chips, weights @ fair


@pytest.mark.parametrize("board", ["Kh 7c 2s 9d 3d", pytest.param("Kh 7c 2s 9d", marks=pytest.mark.slow)])
def test_the_mean_over_all_histories_is_what_everybody_wins(board: str) -> None:
    """Three players with a pot of 90 and 60 chips each; with all deals of three hands to the seats, and every card."""
    cards = parse_cards(board)
    rules = BettingRules(num_players=3, small_blind=1, big_blind=2)
    setup = HandSetup(rules=rules, stacks=(60, 60, 60), first_street=len(cards) - 2, pot=90, board=cards)
    chips, fair = np.zeros(3), np.zeros(3)
    for hands in permutations(HELD):
        won, found = means(setup, hands)
        chips, fair = chips + won, fair + found
    np.testing.assert_allclose(fair, chips, atol=1e-9)
    assert np.ptp(chips) > 1.0


def test_matches_score_the_same_on_average() -> None:
    """800 hands of four players, seed 9: |z| < 3.5 fails by chance in 0.05 % of seeds; chips are a zero sum."""
    names = ("tight-aggressive", "random", "always-call", "half-call-half-raise")
    agents = [load_hand_agent(name) for name in names]
    setup = load_hand_game("ring:4,20bb").setup
    played = play_hands(setup, agents, np.arange(800), 9, aivat=TABLE)
    assert played.fair is not None
    np.testing.assert_allclose(played.fair.sum(axis=1), 0.0, atol=1e-6)
    fair = played.fair_winnings(0)
    assert fair is not None
    apart = (played.winnings(0) - fair).reshape(-1, 4).mean(axis=1)
    assert abs(apart.mean()) < 3.5 * apart.std() / np.sqrt(len(apart))
    assert fair.reshape(-1, 4).mean(axis=1).std() < 0.8 * played.winnings(0).reshape(-1, 4).mean(axis=1).std()
    again = play_hands(setup, agents, np.arange(40, 48), 9, aivat=TABLE)
    np.testing.assert_array_equal(again.fair, played.fair[40:48])
