"""Deals and payoffs of cards are those of their matrices."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.games.holdem.cards import HANDS
from aleator.games.operators import CardDeal, CardPayoff, MatrixDeal, MatrixPayoff


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
