"""The hand that a player has, in words: `two pair, kings and sevens`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from aleator.games.holdem.cards import HANDS, NUM_SUITS
from aleator.games.holdem.evaluator import Category, categories, evaluate

_RANKS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace")


def hand_name(hand: int, board: Sequence[int]) -> str:
    """Returns what a hand is on a board of 0, 3, 4 or 5 cards."""
    cards = [int(card) for card in (*HANDS[hand], *board)]
    ranks = sorted((card // NUM_SUITS for card in cards), reverse=True)
    if not board:
        if ranks[0] == ranks[1]:
            return f"a pair of {_many(ranks[0])}"
        suited = "suited" if cards[0] % NUM_SUITS == cards[1] % NUM_SUITS else "offsuit"
        return f"{_RANKS[ranks[0]]}-{_RANKS[ranks[1]]} {suited}"
    kind = Category(int(categories(evaluate(np.array([cards], np.int8)))[0]))
    return _name(kind, cards, ranks)


def _name(kind: Category, cards: list[int], ranks: list[int]) -> str:
    by_count = sorted(Counter(ranks).items(), key=lambda entry: (-entry[1], -entry[0]))
    first = by_count[0][0]
    match kind:
        case Category.HIGH_CARD:
            return f"{_RANKS[first]} high"
        case Category.PAIR:
            return f"a pair of {_many(first)}"
        case Category.TWO_PAIR:
            return f"two pair, {_many(first)} and {_many(by_count[1][0])}"
        case Category.THREE_OF_A_KIND:
            return f"three {_many(first)}"
        case Category.FULL_HOUSE:
            second = max(rank for rank, count in by_count[1:] if count >= 2)
            return f"a full house, {_many(first)} full of {_many(second)}"
        case Category.FOUR_OF_A_KIND:
            return f"four {_many(first)}"
        case Category.FLUSH:
            return f"a flush, {_RANKS[max(_flush_ranks(cards))]} high"
        case Category.STRAIGHT:
            return f"a straight to the {_RANKS[_straight_top(set(ranks))]}"
    top = _straight_top(set(_flush_ranks(cards)))
    return "a royal flush" if top == len(_RANKS) - 1 else f"a straight flush to the {_RANKS[top]}"


def _many(rank: int) -> str:
    return _RANKS[rank] + ("es" if _RANKS[rank] == "six" else "s")


def _flush_ranks(cards: list[int]) -> list[int]:
    suit, _ = Counter(card % NUM_SUITS for card in cards).most_common(1)[0]
    return [card // NUM_SUITS for card in cards if card % NUM_SUITS == suit]


def _straight_top(ranks: set[int]) -> int:
    """Returns the highest card of the best straight among some ranks; the ace also counts below the two."""
    for top in range(len(_RANKS) - 1, 3, -1):
        if all(rank in ranks for rank in range(top - 4, top + 1)):
            return top
    return 3
