"""Leaves before a card: equal to matrices over all pairs of hands."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.abstraction.blueprint.values import BoardNumbers
from aleator.games.holdem.cards import HANDS, blocked_hands, parse_cards
from aleator.search.whole_hands.card_leaves import CardLeaves, hands_by_card

NUMBERS = 13


def random_board(cards: str, seed: int) -> BoardNumbers:
    """Returns a board whose hands have random numbers after each next card."""
    board = parse_cards(cards)
    hands = np.flatnonzero(~blocked_hands(board))
    held, rng = HANDS[hands], np.random.default_rng(seed)
    coming = [card for card in range(52) if card not in board]
    numbers = rng.integers(0, NUMBERS, (len(coming), len(hands))).astype(np.int32)
    for row, card in enumerate(coming):
        numbers[row, (held == card).any(axis=1)] = -1
    blocked = (held[:, None, :, None] == held[None, :, None, :]).any(axis=(2, 3))
    return BoardNumbers(hands, numbers, blocked)


def pairs(board: BoardNumbers, matrix: np.ndarray) -> np.ndarray:
    """Returns [H, H]: the mean over cards that neither hand holds, 0 for hands that share a card."""
    total = np.zeros(board.blocked.shape)
    for numbers in board.numbers:
        alive = np.flatnonzero(numbers >= 0)
        total[np.ix_(alive, alive)] += matrix[np.ix_(numbers[alive], numbers[alive])]
    return np.where(board.blocked, 0.0, total / (len(board.numbers) - 4))


@pytest.mark.parametrize(("cards", "chooser"), [("Ah 7c 2d", 0), ("Ah 7c 2d", 1), ("Ah 7c 2d Ts", None)])
def test_leaves_are_worth_what_matrices_over_hands_say(cards: str, chooser: int | None) -> None:
    board, rng = random_board(cards, 1), np.random.default_rng(2)
    options = 1 if chooser is None else 3
    matrices = [rng.normal(size=(options, NUMBERS, NUMBERS)).astype(np.float32) for _ in range(2)]
    leaves = CardLeaves(board, matrices, chooser)
    whole = [[pairs(board, matrix) for matrix in leaf] for leaf in matrices]
    searcher = 0 if chooser is None else 1 - chooser
    size = len(board.hands)
    chosen = rng.uniform(size=(2, options, size)).astype(np.float32)  # the chooser's reach by continuation
    own = np.repeat(rng.uniform(size=(2, 1, size)).astype(np.float32), options, axis=1)
    sides = {0: lambda matrix, reach: matrix @ reach, 1: lambda matrix, reach: -(reach @ matrix)}
    by_choice, summed = leaves.cfvs(1 - searcher, own), leaves.cfvs(searcher, chosen)
    for leaf in range(2):
        wanted = np.stack([sides[1 - searcher](whole[leaf][k], own[leaf, k]) for k in range(options)])
        np.testing.assert_allclose(by_choice[leaf], wanted, atol=2e-4)
        total = sum(sides[searcher](whole[leaf][k], chosen[leaf, k]) for k in range(options))
        np.testing.assert_allclose(summed[leaf, 0], total, atol=4e-4)
        assert not summed[leaf, 1:].any()


def test_hands_are_found_at_both_of_their_cards() -> None:
    board = random_board("Ah 7c 2d", 3)
    holding, at = hands_by_card(board)
    assert holding.shape == (49, 48) and at.shape == (1176, 2)
    flat = holding.ravel()
    assert (flat[at] == np.arange(1176)[:, None]).all()
