"""Suit isomorphism: known numbers of classes, the group laws, and equivariance of the evaluator."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.games.holdem.cards import (
    HAND_CLASSES,
    HANDS,
    CardError,
    blocked_hands,
    format_card,
    parse_cards,
    parse_hand,
)
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.hand_range import parse_hand_range
from aleator.games.holdem.suits import (
    ALL_PERMUTATIONS,
    CARD_MAPS,
    HAND_MAPS,
    INVERSES,
    SUIT_PERMUTATIONS,
    board_classes,
    card_classes,
    hand_classes,
    symmetries,
)

boards = st.lists(st.integers(0, 51), min_size=1, max_size=5, unique=True)


def all_boards(size: int) -> npt.NDArray[np.int8]:
    return np.array(list(combinations(range(52), size)), dtype=np.int8)


def suit_names(permutation: int) -> str:
    return "".join("cdhs"[suit] for suit in SUIT_PERMUTATIONS[permutation])


def test_permutations_and_maps() -> None:
    assert SUIT_PERMUTATIONS.shape == (24, 4)
    assert CARD_MAPS.shape == (24, 52)
    assert HAND_MAPS.shape == (24, 1326)
    assert SUIT_PERMUTATIONS[0].tolist() == [0, 1, 2, 3]
    assert len({tuple(row) for row in SUIT_PERMUTATIONS.tolist()}) == 24
    for p in range(24):
        for card in range(52):
            image = CARD_MAPS[p, card]
            assert image // 4 == card // 4
            assert image % 4 == SUIT_PERMUTATIONS[p, card % 4]
        assert (np.sort(CARD_MAPS[p][HANDS], axis=1) == np.sort(HANDS[HAND_MAPS[p]], axis=1)).all()
        assert (CARD_MAPS[INVERSES[p]][CARD_MAPS[p]] == np.arange(52)).all()
        assert (HAND_CLASSES[HAND_MAPS[p]] == HAND_CLASSES).all()


@pytest.mark.parametrize(
    ("board", "size"),
    [
        ("", 24),
        ("As", 6),
        ("3s7hTd", 1),  # three suits: the fourth has nowhere to go
        ("3s7sTd", 2),  # hearts and clubs
        ("3s7sTs", 6),
        ("7s7hTd", 2),  # spades and hearts
        ("7s7hTs", 2),  # diamonds and clubs
        ("7s7h7d", 6),
        ("3s7hTdKs", 1),
        ("7s7hTsTh", 4),  # the two suits on the board, and the two others
        ("7s7hTdTc", 4),
        ("7s7h7d7c", 24),
        ("3s7sTsKs2s", 6),
    ],
)
def test_size_of_the_group_that_fixes_a_board(board: str, size: int) -> None:
    cards = parse_cards(board)
    group = symmetries(cards)
    assert len(group) == size
    assert group[0] == 0
    for p in range(24):
        assert (p in group) == (set(CARD_MAPS[p][list(cards)].tolist()) == set(cards))


def test_ranges_shrink_the_group() -> None:
    flop = parse_cards("3s 7s Ts")
    assert len(symmetries(flop, weights=[parse_hand_range("22+,AKs:0.5"), parse_hand_range("random")])) == 6
    assert [suit_names(p) for p in symmetries(flop, weights=[parse_hand_range("22+,AcAd:0.5")])] == ["cdhs", "dchs"]
    both = [parse_hand_range("22+,AcAd:0.5"), parse_hand_range("AcKd")]
    assert symmetries(flop, weights=both).tolist() == [0]
    assert len(symmetries(flop, weights=[parse_hand_range("22+,As2c")])) == 2  # diamonds and hearts


def test_hands_that_the_board_blocks_do_not_shrink_the_group() -> None:
    flop = parse_cards("3s 7s Ts")
    weights = parse_hand_range("random")
    weights[parse_hand("3s2c")] = 0.0
    assert len(symmetries(flop, weights=[weights])) == 6
    weights[parse_hand("4s2c")] = 0.0
    assert len(symmetries(flop, weights=[weights])) == 2


def test_groups_narrow_street_by_street() -> None:
    flop = symmetries(parse_cards("7s 7h Td"))
    assert [suit_names(p) for p in flop] == ["cdhs", "cdsh"]
    # As a set 7s 7h Td Tc has four symmetries, but only those of the flop that also keep the turn card are sound.
    assert len(symmetries(parse_cards("7s 7h Td Tc"))) == 4
    assert symmetries(parse_cards("Tc"), within=flop).tolist() == flop.tolist()
    assert symmetries(parse_cards("2s"), within=flop).tolist() == [0]


def test_classes_of_the_next_card() -> None:
    flop = parse_cards("3s 7s Td")
    group = symmetries(flop)
    classes = card_classes(group, flop)
    # 11 spades, 12 diamonds, and 13 ranks of clubs or hearts
    assert len(classes.representatives) == 11 + 12 + 13
    assert classes.multiplicities.sum() == 49
    assert sorted(set(classes.multiplicities.tolist())) == [1, 2]
    two = int(classes.class_of[parse_cards("2h")[0]])
    assert [format_card(int(card)) for card in classes.members(two)] == ["2c", "2h"]
    assert suit_names(int(classes.permutation_of[parse_cards("2h")[0]])) == "hdcs"
    assert (classes.class_of[list(flop)] == -1).all()
    assert (classes.permutation_of[list(flop)] == -1).all()


@settings(deadline=None)
@given(boards)
def test_classes_partition_the_cards_and_the_hands(board: list[int]) -> None:
    group = symmetries(board)
    free_cards = ~np.isin(np.arange(52), board)
    for classes, maps, free in (
        (card_classes(group, board), CARD_MAPS, free_cards),
        (hand_classes(group, board), HAND_MAPS, ~blocked_hands(board)),
    ):
        assert ((classes.class_of >= 0) == free).all()
        assert classes.multiplicities.sum() == np.count_nonzero(free)
        for index, representative in enumerate(classes.representatives.tolist()):
            members = classes.members(index).tolist()
            assert members[0] == representative
            assert len(members) == classes.multiplicities[index]
            assert set(members) == set(maps[group, representative].tolist())
            assert classes.permutation_of[representative] == 0
            for member in members:
                assert classes.permutation_of[member] in group
                assert maps[classes.permutation_of[member], representative] == member


@settings(deadline=None)
@given(st.lists(st.integers(0, 51), min_size=4, max_size=4, unique=True))
def test_strengths_are_equivariant_across_a_class_of_rivers(turn: list[int]) -> None:
    group = symmetries(turn)
    classes = card_classes(group, turn)
    for index, representative in enumerate(classes.representatives.tolist()):
        expected = strengths([*turn, representative])
        for member in classes.members(index).tolist():
            p = classes.permutation_of[member]
            values = strengths([*turn, member])
            assert (values[HAND_MAPS[p]] == expected).all()
            assert (values == expected[HAND_MAPS[INVERSES[p]]]).all()


def test_there_are_169_canonical_hands() -> None:
    classes = hand_classes()
    assert len(classes.representatives) == 169
    for members in (classes.members(index) for index in range(169)):
        assert len(set(HAND_CLASSES[members].tolist())) == 1


@pytest.mark.parametrize(("size", "number"), [(1, 13), (2, 169), (3, 1755), (4, 16432)])
def test_number_of_canonical_boards(size: int, number: int) -> None:
    """Known counts: 1,755 flops and 16,432 boards of four cards as sets."""
    rows = all_boards(size)
    assert len(rows) == comb(52, size)
    classes = board_classes(rows)
    assert len(classes.representatives) == number
    assert classes.multiplicities.sum() == comb(52, size)
    representatives = rows[classes.representatives[classes.class_of]]
    images = np.take_along_axis(CARD_MAPS[classes.permutation_of], representatives.astype(np.int64), axis=1)
    assert (np.sort(images, axis=1) == rows).all()


def test_multiplicities_of_flops() -> None:
    """Of three ranks 286 rainbow, 858 two-tone and 286 one-suit flops; 156 + 156 with a pair, 13 of one rank."""
    rows = all_boards(3)
    classes = board_classes(rows)
    kinds: dict[tuple[int, int], set[int]] = {}
    numbers: dict[tuple[int, int], int] = {}
    for representative, multiplicity in zip(rows[classes.representatives], classes.multiplicities, strict=True):
        kind = (len(set((representative // 4).tolist())), len(set((representative % 4).tolist())))
        kinds.setdefault(kind, set()).add(int(multiplicity))
        numbers[kind] = numbers.get(kind, 0) + 1
    assert numbers == {(3, 3): 286, (3, 2): 858, (3, 1): 286, (2, 3): 156, (2, 2): 156, (1, 3): 13}
    assert kinds == {(3, 3): {24}, (3, 2): {12}, (3, 1): {4}, (2, 3): {12}, (2, 2): {12}, (1, 3): {4}}


def test_errors() -> None:
    with pytest.raises(CardError, match="twice"):
        symmetries([3, 3])
    with pytest.raises(CardError, match="1,326 finite weights"):
        symmetries([3], weights=[np.ones(169)])
    with pytest.raises(CardError, match="1,326 finite weights"):
        symmetries([3], weights=[np.full(1326, np.nan)])
    with pytest.raises(CardError, match="do not all fix the board"):
        card_classes(ALL_PERMUTATIONS, [3])
    with pytest.raises(CardError, match="with 0 in it"):
        card_classes(np.array([1, 2]))
    with pytest.raises(CardError, match="with 0 in it"):
        card_classes(np.array([0, 24]))
    with pytest.raises(CardError, match="product of two lies outside"):
        card_classes(np.array([0, 1, 2]))
    with pytest.raises(CardError, match=r"row 1, \[5, 5\], is not a board"):
        board_classes(np.array([[1, 2], [5, 5]]))
    with pytest.raises(CardError, match="every image"):
        board_classes(np.array([[1, 2]]))
    with pytest.raises(CardError, match="distinct"):
        board_classes(np.array([[1, 2], [2, 1]]), np.array([0]))
    with pytest.raises(CardError, match=r"integers \[N, 1..5\]"):
        board_classes(np.zeros((3, 6), dtype=np.int8))
