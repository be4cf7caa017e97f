"""Deals and payoffs of cards, and deals of independent hands, are those of their matrices."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.games import load_game
from aleator.games.base import TERMINAL
from aleator.games.holdem.cards import HANDS
from aleator.games.operators import CardDeal, CardPayoff, MatrixDeal, MatrixPayoff, ProductDeal


def cards(seed: int) -> tuple[CardDeal, CardPayoff, CardPayoff]:
    rng = np.random.default_rng(seed)
    hands = [np.sort(rng.choice(1326, size=count, replace=False)) for count in (300, 170)]
    weights = [rng.random(len(own)) * (rng.random(len(own)) < 0.8) for own in hands]
    deal = CardDeal((weights[0], weights[1]), (HANDS[hands[0]], HANDS[hands[1]]), 0.37)
    strength = rng.integers(0, 40, size=1326)
    return deal, CardPayoff(deal), CardPayoff(deal, (strength[hands[0]], strength[hands[1]]))


@pytest.mark.parametrize("seed", range(3))
def test_cards_are_their_matrices(seed: int) -> None:
    deal, fold, showdown = cards(seed)
    rng, written = np.random.default_rng(seed + 10), MatrixDeal(deal.matrix())
    shared = (deal.cards[0][:, None, :, None] == deal.cards[1][None, :, None, :]).any(axis=(2, 3))
    np.testing.assert_allclose(deal.matrix(), 0.37 * np.outer(*deal.weights) * ~shared)
    for player, count in ((0, 170), (1, 300)):
        reach = rng.random((4, count))
        for rows in (reach, reach[0]):
            np.testing.assert_allclose(deal.cf_reach(player, rows), written.cf_reach(player, rows), atol=1e-12)
            for payoff in (fold, showdown):
                expected = MatrixPayoff(payoff.matrix()).apply(player, rows)
                np.testing.assert_allclose(payoff.apply(player, rows), expected, atol=1e-12)
    both = rng.random(300), rng.random(170)
    assert deal.total(both) == pytest.approx(float(both[0] @ deal.matrix() @ both[1]))
    assert deal.probability((3, 5)) == deal.matrix()[3, 5]


def test_pairs_are_drawn_as_often_as_they_are_likely() -> None:
    """20,000 draws; the first hand's frequency and that of a fixed pair within 4 standard errors."""
    deal, _, _ = cards(0)
    rng, likely = np.random.default_rng(1), deal.matrix() / deal.matrix().sum()
    pairs = [deal.sample(rng) for _ in range(20_000)]
    assert all(likely[pair] > 0 for pair in pairs)
    hand = int(likely.sum(axis=1).argmax())
    for found, chance in (
        (np.mean([pair[0] == hand for pair in pairs]), likely[hand].sum()),
        (np.mean([pair[1] < 60 for pair in pairs]), likely[:, :60].sum()),
    ):
        assert abs(found - chance) < 4 * np.sqrt(chance * (1 - chance) / len(pairs))


def test_independent_hands_are_their_matrix() -> None:
    rng = np.random.default_rng(4)
    weights = (rng.random(7) * (rng.random(7) < 0.7), rng.random(5))
    deal, written = ProductDeal(weights), MatrixDeal(np.outer(*weights))
    assert deal.shape == written.shape
    np.testing.assert_array_equal(deal.matrix(), written.matrix())
    for player, count in ((0, 5), (1, 7)):
        reach = rng.random((3, count))
        for rows in (reach, reach[0]):
            np.testing.assert_allclose(deal.cf_reach(player, rows), written.cf_reach(player, rows), atol=1e-15)
        np.testing.assert_allclose(deal.row(player, 3), written.row(player, 3), atol=1e-15)
    both = rng.random(7), rng.random(5)
    assert deal.total(both) == pytest.approx(written.total(both)) and deal.total(both) > 0.1
    first, second = np.random.default_rng(5), np.random.default_rng(5)
    draws = [deal.sample(first) for _ in range(2000)]
    assert draws == [written.sample(second) for _ in range(2000)], "the same pairs from the same random numbers"
    assert len(set(draws)) == np.count_nonzero(deal.matrix())


@pytest.mark.parametrize("name", ["liars-dice:2x3", "rps-plus"])
def test_games_with_independent_hands_deal_by_products(name: str) -> None:
    game = load_game(name)
    state = game.root()
    while game.actor(state) != TERMINAL:
        deal = game.deal_operator(state)
        assert isinstance(deal, ProductDeal)
        np.testing.assert_array_equal(deal.matrix(), game.deal(state))
        state = game.children(state)[-1].state
