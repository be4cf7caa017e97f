"""The 1,755 flops that differ by more than a renaming of suits, and their textures."""

from __future__ import annotations

from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from aleator.caching import cache
from aleator.games.holdem.cards import NUM_CARDS, NUM_SUITS, RANKS, format_cards
from aleator.games.holdem.suits import CARD_MAPS

SUITS_OF_FLOP: Final = ("monotone", "two-tone", "rainbow")
PAIRING: Final = ("trips", "paired", "unpaired")
CONNECTION: Final = ("connected", "close", "apart")
"""`connected`: some hand has a straight; `close`: none has, but two ranks are next to each other or one apart."""

_WINDOW: Final = 5  # ranks of a straight


class Texture(NamedTuple):
    """What a flop looks like.

    Attributes:
        suits: one of `SUITS_OF_FLOP`.
        pairing: one of `PAIRING`.
        high: the rank of its highest card, such as ``A``.
        connection: one of `CONNECTION`; an ace is high and low.
    """

    suits: str
    pairing: str
    high: str
    connection: str


class Flop(NamedTuple):
    """A flop that stands for all that a renaming of suits makes of it.

    Attributes:
        cards: the highest first; its suits are as high as they can be.
        times: how many of the 22,100 flops it stands for.
    """

    cards: tuple[int, ...]
    times: int

    @property
    def text(self) -> str:
        """As people write it: ``As Ks 7d``."""
        return format_cards(self.cards)

    @property
    def texture(self) -> Texture:
        """What it looks like."""
        return texture(self.cards)


@cache
def all_flops() -> tuple[Flop, ...]:
    """Returns the 1,755 flops, high cards first."""
    flops = np.array(list(combinations(range(NUM_CARDS), 3)), np.int64)
    images = np.sort(CARD_MAPS.astype(np.int64)[:, flops], axis=2)[:, :, ::-1]
    codes = (images @ np.array([NUM_CARDS**2, NUM_CARDS, 1])).max(axis=0)
    found, counts = np.unique(codes, return_counts=True)
    split = [(code // NUM_CARDS**2, code // NUM_CARDS % NUM_CARDS, code % NUM_CARDS) for code in found[::-1].tolist()]
    return tuple(Flop(cards, int(count)) for cards, count in zip(split, counts[::-1], strict=True))


@cache
def flop_numbers() -> dict[tuple[int, ...], int]:
    """Returns the number of each flop in `all_flops` by its cards."""
    return {flop.cards: number for number, flop in enumerate(all_flops())}


def canonical_flop(cards: tuple[int, ...]) -> Flop:
    """Returns the flop of `all_flops` that any three cards are, up to suits."""
    images = np.sort(CARD_MAPS[:, list(cards)], axis=1)[:, ::-1]
    return all_flops()[flop_numbers()[max(tuple(image) for image in images.tolist())]]


def texture(cards: tuple[int, ...]) -> Texture:
    """Returns what a flop looks like."""
    ranks = sorted({card // NUM_SUITS for card in cards}, reverse=True)
    suits = len({card % NUM_SUITS for card in cards})
    low_ace = [-1 if rank == len(RANKS) - 1 else rank for rank in ranks]
    spans = [max(ordered) - min(ordered) for ordered in (ranks, low_ace)]
    gaps = [abs(one - other) for ordered in (ranks, low_ace) for one, other in combinations(ordered, 2)]
    if len(ranks) == 3 and min(spans) < _WINDOW:
        connection = CONNECTION[0]
    else:
        connection = CONNECTION[1] if gaps and min(gaps) <= 2 else CONNECTION[2]
    return Texture(SUITS_OF_FLOP[suits - 1], PAIRING[len(ranks) - 1], RANKS[ranks[0]], connection)
