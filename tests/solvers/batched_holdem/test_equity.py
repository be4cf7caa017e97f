"""Equities of all pairs of hands: three ways to count, and what a board before the river means for hands."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
import torch

from aleator.games.holdem.cards import HAND_CLASSES, parse_cards
from aleator.games.holdem.equity import pair_equities
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.equity import count_wins, count_wins_on_device
from aleator.solvers.engines.batched_holdem.rounds import (
    canonical_flops,
    equity_matrices,
    hand_classes,
    live_cards,
    round_boards,
)

SMALL = Deck(range(36, 52))  # jacks to aces
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


def random_runouts(count: int, hands: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randint(-1, 9, (2, count, hands), dtype=torch.int16, generator=generator)


def test_wins_are_counted_pair_by_pair() -> None:
    runouts = random_runouts(37, 21)
    wins = count_wins(runouts[0].numpy())
    rows = runouts[0].int().numpy()
    for one in range(21):
        for two in range(21):
            there = (rows[:, one] >= 0) & (rows[:, two] >= 0)
            assert wins[one, two] == (there & (rows[:, one] > rows[:, two])).sum()


@needs_cuda
def test_the_device_counts_the_same() -> None:
    for count, hands in ((37, 21), (1176, 150), (48, 1128)):
        runouts = random_runouts(count, hands)
        found = count_wins_on_device(runouts.cuda()).cpu().numpy()
        for board in (0, 1):
            np.testing.assert_array_equal(found[board], count_wins(runouts[board].numpy()))


def test_equities_on_a_flop_are_those_of_all_runouts() -> None:
    deck = Deck()
    board = parse_cards("Ks7h2d")
    flop = round_boards(deck, torch.tensor([board]))
    matrix = equity_matrices(flop)[0]
    hands = flop.hands[0].numpy()
    for one, two in ((3, 700), (44, 1100), (17, 1050), (900, 12)):
        cards = deck.hand_cards[hands[[one, two]]].numpy()
        expected = 0.0
        if len(set(cards.flatten().tolist())) == 4:
            pair, boards = np.array([hands[[one, two]]]), np.array([board])
            expected = 2.0 * float(pair_equities(pair, boards)[0]) - 1.0
        assert abs(float(matrix[one, two]) - expected) < 1e-6
    assert torch.equal(matrix, -matrix.T)


def test_preflop_the_table_and_counting_agree_in_form() -> None:
    """With 16 cards all boards are counted; with 52 the table is read."""
    small = round_boards(SMALL, torch.zeros(1, 0, dtype=torch.int64))
    assert small.runouts.shape == (1, comb(16, 5), 120)
    matrix = equity_matrices(small)[0]
    assert torch.equal(matrix, -matrix.T) and float(matrix.max()) <= 1.0
    aces, jacks = int(small.strength[0].argmax()), 0
    assert float(matrix[aces, jacks]) > 0.5
    classes = hand_classes(SMALL)
    assert int(classes.max()) + 1 == 4 + 6 + 6
    assert torch.unique(small.spread[0].mul(1e6).round()).numel() <= 16  # the same for all hands of a class
    assert int(hand_classes(Deck()).max()) + 1 == 169
    whole = hand_classes(Deck()).numpy()
    assert len(set(zip(whole.tolist(), HAND_CLASSES.tolist(), strict=True))) == 169


def test_flops_up_to_suits() -> None:
    flops = canonical_flops(Deck())
    assert (len(flops.boards), int(flops.weights.sum())) == (1755, comb(52, 3))
    few = canonical_flops(SMALL)
    assert int(few.weights.sum()) == comb(16, 3)
    assert live_cards(SMALL, few.boards).shape == (len(few.boards), 13)
