"""The flops up to suits, and what they look like."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from aleator.games.holdem.cards import format_cards, parse_cards
from aleator.games.holdem.flops import all_flops, canonical_flop, texture


def test_there_are_1755_of_22100_with_the_counts_of_their_suits() -> None:
    flops = all_flops()
    assert len(flops) == 1755 and sum(flop.times for flop in flops) == 22_100
    counts = Counter(canonical_flop(cards).cards for cards in combinations(range(0, 52, 3), 3))
    assert set(counts) <= {flop.cards for flop in flops}
    assert (flops[0].text, flops[0].times) == ("As Ah Ad", 4)
    # published shares: 5.18 % of flops have one suit, 16.94 % a pair, 0.235 % three of a kind
    shares: Counter[str] = Counter()
    for flop in flops:
        for name in flop.texture[:2]:
            shares[name] += flop.times
    assert (shares["monotone"], shares["rainbow"]) == (1144, 8788)
    assert (shares["paired"], shares["trips"]) == (3744, 52)


def test_a_renaming_of_suits_is_the_same_flop() -> None:
    for text in ("7c 2d Kc", "2h Kd 7d", "Ks 7s 2h"):
        assert format_cards(canonical_flop(parse_cards(text)).cards) == "Ks 7s 2h"
    assert canonical_flop(parse_cards("2c 3c 4c")).times == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("As 2h 4d", ("rainbow", "unpaired", "A", "connected")),  # the wheel
        ("As 5s 2s", ("monotone", "unpaired", "A", "connected")),
        ("As Kh 2d", ("rainbow", "unpaired", "A", "close")),
        ("Ks 8s 3d", ("two-tone", "unpaired", "K", "apart")),
        ("9s 7h 5d", ("rainbow", "unpaired", "9", "connected")),
        ("8s 8h 7d", ("rainbow", "paired", "8", "close")),
        ("8s 8h 2s", ("two-tone", "paired", "8", "apart")),
        ("As Ah Ad", ("rainbow", "trips", "A", "apart")),
    ],
)
def test_textures(text: str, expected: tuple[str, ...]) -> None:
    assert tuple(texture(parse_cards(text))) == expected
