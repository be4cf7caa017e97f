"""AIVAT at a table over everybody's ranges: draws follow their law, and matches score the same on average."""

from __future__ import annotations

from itertools import product

import numpy as np

from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.agents.whole_hands.tight_aggressive import TightAggressiveAgent
from aleator.arena.whole_hands.aivat.table_ranges import draw_hands
from aleator.arena.whole_hands.match import HandMatch
from aleator.arena.whole_hands.play import TABLE, TABLE_RANGES, play_hands
from aleator.games.holdem.cards import HANDS, parse_hand
from aleator.games.holdem.variants import load_hand_game


def test_hands_are_drawn_as_likely_as_the_product_of_reaches_without_common_cards() -> None:
    """n = 20,000, seed 1: every frequency within 4.5 standard errors."""
    ranges = (
        {"AsAd": 1.0, "KsKd": 3.0},
        {"AsKd": 2.0, "7h2c": 1.0},
        {"QcQd": 1.0, "KdQd": 4.0},
    )
    reach = np.zeros((3, 1326))
    for player, own in enumerate(ranges):
        for hand, weight in own.items():
            reach[player, parse_hand(hand)] = weight
    law = {}
    for hands in product(*ranges):
        numbers = tuple(parse_hand(hand) for hand in hands)
        if len(set(HANDS[list(numbers)].reshape(-1).tolist())) == 6:
            law[numbers] = np.prod([own[hand] for own, hand in zip(ranges, hands, strict=True)])
    drawn = draw_hands(reach, 20_000, np.random.default_rng(1))
    assert len(drawn) == 20_000
    assert {tuple(row) for row in np.unique(drawn, axis=0).tolist()} == set(law)
    for hands, weight in law.items():
        chance = weight / sum(law.values())
        found = float((drawn == hands).all(axis=1).mean())
        assert abs(found - chance) < 4.5 * np.sqrt(chance * (1 - chance) / len(drawn))


def test_hands_that_exclude_one_another_are_not_drawn() -> None:
    reach = np.zeros((2, 1326))
    reach[0, parse_hand("AsAd")] = reach[1, parse_hand("AsKd")] = 1.0
    assert len(draw_hands(reach, 5, np.random.default_rng(0))) == 0


def test_matches_score_the_same_on_average_with_less_luck() -> None:
    """150 hands of three players, seed 5: |z| < 3.5 fails by chance in 0.05 % of seeds; chips are a zero sum."""
    agents = [load_hand_agent(name) for name in ("tight-aggressive", "tight-aggressive:value-bet=0.85", "random")]
    setup = load_hand_game("ring:3,20bb").setup
    played = play_hands(setup, agents, np.arange(150), 5, aivat=TABLE_RANGES)
    by_hands = play_hands(setup, agents, np.arange(150), 5, aivat=TABLE)
    assert played.fair is not None and by_hands.fair is not None
    np.testing.assert_array_equal(played.payoffs, by_hands.payoffs)
    np.testing.assert_allclose(played.fair.sum(axis=1), 0.0, atol=1e-6)
    variances = np.zeros((3, 2))
    for agent in range(3):
        fair, pairs = played.fair_winnings(agent), by_hands.fair_winnings(agent)
        assert fair is not None and pairs is not None
        apart = (played.winnings(agent) - fair).reshape(-1, 3).mean(axis=1)
        assert abs(apart.mean()) < 3.5 * apart.std() / np.sqrt(len(apart))
        variances[agent] = [deals.reshape(-1, 3).mean(axis=1).var() for deals in (fair, pairs)]
    assert variances[:, 0].sum() < 0.95 * variances[:, 1].sum()
    again = play_hands(setup, agents, np.arange(40, 46), 5, aivat=TABLE_RANGES)
    np.testing.assert_array_equal(again.fair, played.fair[40:46])


class SlowAgent(TightAggressiveAgent):
    is_quick = False


def test_ranges_are_averaged_over_where_an_agent_takes_longer_anyway() -> None:
    quick, match = TightAggressiveAgent(), HandMatch(game="ring:3", agents=("a", "b", "c"), hands=3)
    assert match.mode([quick, quick, quick]) == TABLE
    assert match.mode([SlowAgent(), quick, quick]) == TABLE_RANGES
