"""Strengths, orders and payoffs of many boards against comparing every pair of hands."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from aleator.errors import SolveError
from aleator.games.holdem.evaluator import strengths
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.order import order_of
from aleator.solvers.engines.batched_holdem.payoffs import PairPayoffs, RiverPayoffs


def test_strengths_are_those_of_the_evaluator() -> None:
    deck = Deck()
    boards = deck.random_boards(40, 5, torch.Generator().manual_seed(0))
    boards[0] = torch.tensor([48, 44, 40, 36, 32])
    expected = np.stack([strengths(board) for board in boards.numpy()])
    assert np.array_equal(deck.strengths(boards).numpy(), expected)
    assert torch.equal(deck.strengths_by_tables(boards), deck.strengths(boards))


def test_a_small_deck_has_the_strengths_of_its_cards() -> None:
    deck, whole = Deck(range(28, 52)), Deck()
    board = torch.tensor([[0, 5, 9, 13, 22]])
    high, low = deck.cards[deck.hand_cards].T
    hands = high * (high - 1) // 2 + low
    assert torch.equal(deck.strengths(board), whole.strengths(board + 28)[:, hands])
    with pytest.raises(SolveError, match="at least 9 cards, not 8"):
        Deck(range(8))


@pytest.mark.parametrize("cards", [range(52), range(28, 52), range(40, 52)])
def test_payoffs_compare_every_pair_of_hands(cards: range) -> None:
    deck, generator = Deck(cards), torch.Generator().manual_seed(3)
    boards = deck.random_boards(3, 5, generator)
    for ties in (None, generator):
        order = order_of(deck, boards, ties)
        strength = deck.strengths(boards).gather(1, order.hand)
        assert bool((strength >= 0).all()) and bool((strength[:, 1:] >= strength[:, :-1]).all())
        held = deck.hand_cards[order.hand]
        apart = ~(held[:, :, None, :, None] == held[:, None, :, None, :]).flatten(3).any(3)
        sign = torch.sign(strength[:, :, None] - strength[:, None, :]) * apart
        rows = torch.rand(3, 2, order.num_hands, dtype=torch.float64, generator=generator)
        payoffs = RiverPayoffs(order)
        torch.testing.assert_close(payoffs.showdown(rows), torch.einsum("bij,bnj->bni", sign.double(), rows))
        torch.testing.assert_close(payoffs.compatible(rows), torch.einsum("bij,bnj->bni", apart.double(), rows))
        assert torch.equal(order.sort(order.unsort(rows, deck.num_hands)), rows)


def test_compatible_mass_before_the_river() -> None:
    deck = Deck(range(40, 52))
    rows = torch.rand(2, 3, 66, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    held = deck.hand_cards
    apart = ~(held[:, None, :, None] == held[None, :, None, :]).flatten(2).any(2)
    torch.testing.assert_close(PairPayoffs(12, deck.device).compatible(rows), rows @ apart.double())
