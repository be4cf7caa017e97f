from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aleator.abstraction.hand_index import HandIndexer
from aleator.games.holdem.cards import HAND_CLASSES, HANDS, CardError
from aleator.games.holdem.suits import CARD_MAPS

ROUNDS = [(2,), (2, 3), (2, 4), (2, 5), (2, 3, 1), (2, 3, 1, 1), (3,), (4,), (5,), (3, 1), (3, 1, 1), (7,)]


def simplest(cards: np.ndarray, rounds: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The reference: of the 24 renamings the one that comes first, with the cards of each round sorted."""
    ends = np.cumsum((0, *rounds))
    return min(
        tuple(tuple(sorted(renaming[cards[low:high]].tolist())) for low, high in pairwise(ends))
        for renaming in CARD_MAPS
    )


def random_hands(rng: np.random.Generator, count: int, cards: int) -> np.ndarray:
    return rng.random((count, 52)).argsort(axis=1)[:, :cards]


@pytest.mark.parametrize(
    ("rounds", "count"),
    [
        ((2,), 169),  # Waugh 2013, Table 2
        ((2, 3), 1_286_792),
        ((2, 3, 1), 55_190_538),
        ((2, 3, 1, 1), 2_428_287_420),
        ((2, 4), 13_960_050),
        ((2, 5), 123_156_254),
        ((3,), 1_755),
        ((4,), 16_432),
        ((5,), 134_459),
    ],
)
def test_there_are_as_many_hands_as_published(rounds: tuple[int, ...], count: int) -> None:
    assert len(HandIndexer(rounds)) == count


def test_two_cards_are_the_169_classes() -> None:
    numbers = HandIndexer((2,)).index(HANDS)
    pairs = set(zip(numbers.tolist(), HAND_CLASSES.tolist(), strict=True))
    assert len(pairs) == 169 and set(numbers.tolist()) == set(range(169))


@pytest.mark.parametrize("rounds", [(2,), (3,), (4,), (2, 1), (1, 1, 1)])
def test_numbers_of_all_hands_are_the_reference_s_classes(rounds: tuple[int, ...]) -> None:
    indexer = HandIndexer(rounds)
    every = np.array(list(combinations(range(52), sum(rounds))))
    rng = np.random.default_rng(0)
    sample = rng.permuted(every[rng.choice(len(every), 3000)], axis=1)
    numbers = indexer.index(sample)
    classes: dict[tuple[tuple[int, ...], ...], int] = {}
    for cards, number in zip(sample, numbers.tolist(), strict=True):
        assert classes.setdefault(simplest(cards, rounds), number) == number
    assert len(set(classes.values())) == len(classes)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_number_s_hand_has_this_number(rounds: tuple[int, ...]) -> None:
    indexer = HandIndexer(rounds)
    size = len(indexer)
    numbers = np.unique(np.concatenate([np.random.default_rng(1).integers(0, size, 20_000), [0, size - 1]]))
    np.testing.assert_array_equal(indexer.index(indexer.unindex(numbers)), numbers)


@pytest.mark.parametrize("rounds", [(2, 3), (5,)])
def test_every_number_is_taken(rounds: tuple[int, ...]) -> None:
    indexer = HandIndexer(rounds)
    numbers = np.arange(len(indexer))
    np.testing.assert_array_equal(indexer.index(indexer.unindex(numbers)), numbers)


@given(st.sampled_from(ROUNDS), st.integers(0, 2**32 - 1), st.integers(0, 23))
def test_renaming_suits_and_order_inside_a_round_change_nothing(
    rounds: tuple[int, ...], seed: int, renaming: int
) -> None:
    rng = np.random.default_rng(seed)
    cards = random_hands(rng, 8, sum(rounds))
    ends = np.cumsum((0, *rounds))
    shuffled = [rng.permuted(cards[:, low:high], axis=1) for low, high in pairwise(ends)]
    other = CARD_MAPS[renaming][np.concatenate(shuffled, axis=1)]
    indexer = HandIndexer(rounds)
    np.testing.assert_array_equal(indexer.index(cards), indexer.index(other))


@given(st.sampled_from([(2, 3), (2, 3, 1), (2, 5), (5,)]), st.integers(0, 2**32 - 1))
def test_hands_with_one_number_are_the_same_up_to_suits(rounds: tuple[int, ...], seed: int) -> None:
    indexer = HandIndexer(rounds)
    cards = random_hands(np.random.default_rng(seed), 2, sum(rounds))
    for one, other in zip(cards, indexer.unindex(indexer.index(cards)), strict=True):
        assert simplest(one, rounds) == simplest(other, rounds)


def test_mistakes_are_named() -> None:
    with pytest.raises(CardError, match=r"rounds must be .* not \(2, 6\)"):
        HandIndexer((2, 6))
    indexer = HandIndexer((2, 3))
    with pytest.raises(CardError, match="row 1"):
        indexer.index(np.array([[0, 1, 2, 3, 4], [5, 6, 7, 8, 5]]))
    with pytest.raises(CardError, match="row 0"):
        indexer.index(np.array([[0, 1, 2, 3, 52]]))
    with pytest.raises(CardError, match=r"\[N, 5\]"):
        indexer.index(np.array([[0, 1]]))
    with pytest.raises(CardError, match="1286792 is not the number"):
        indexer.unindex(np.array([1_286_792]))
