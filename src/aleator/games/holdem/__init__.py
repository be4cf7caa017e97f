"""Hold'em: cards, hand strengths, hand ranges and suit isomorphism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aleator.games.holdem.cards import (
    HAND_CLASS_NAMES,
    HAND_CLASSES,
    HANDS,
    CardError,
    blocked_hands,
    format_card,
    format_cards,
    format_hand,
    hand_index,
    parse_card,
    parse_cards,
    parse_hand,
)
from aleator.games.holdem.hand_range import HandRangeError, format_hand_range, parse_hand_range
from aleator.games.holdem.suits import (
    CARD_MAPS,
    HAND_MAPS,
    SUIT_PERMUTATIONS,
    SuitClasses,
    board_classes,
    canonical_board,
    card_classes,
    hand_classes,
    symmetries,
)

if TYPE_CHECKING:
    from aleator.games.holdem.evaluator import (
        Category,
        EvaluatorTables,
        categories,
        category,
        evaluate,
        evaluator_tables,
        strength_of,
        strengths,
    )

__all__ = [
    "CARD_MAPS",
    "HANDS",
    "HAND_CLASSES",
    "HAND_CLASS_NAMES",
    "HAND_MAPS",
    "SUIT_PERMUTATIONS",
    "CardError",
    "Category",
    "EvaluatorTables",
    "HandRangeError",
    "SuitClasses",
    "blocked_hands",
    "board_classes",
    "canonical_board",
    "card_classes",
    "categories",
    "category",
    "evaluate",
    "evaluator_tables",
    "format_card",
    "format_cards",
    "format_hand",
    "format_hand_range",
    "hand_classes",
    "hand_index",
    "parse_card",
    "parse_cards",
    "parse_hand",
    "parse_hand_range",
    "strength_of",
    "strengths",
    "symmetries",
]


def __getattr__(name: str) -> Any:
    """Returns a name of the evaluator, which is imported here because Numba takes a while to load."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from aleator.games.holdem import evaluator

    return getattr(evaluator, name)
