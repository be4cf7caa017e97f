"""Hold'em: spots, cards, hand ranges, betting, hand strengths and suit isomorphism.

A `Spot` is what is solved: a board, ranges, a pot, stacks and bet sizes; `load_spot` reads one from a file. A hand is a
number from 0 to 1,325, a place in `HANDS`. The modules have the rest: `evaluator` hand strengths, `betting` and
`betting_tree` the rules of betting, `bet_menu` the notation of bet sizes, `suits` what a renaming of suits does.
"""

from aleator.games.holdem.cards import HAND_CLASS_NAMES, HANDS, format_cards, format_hand, parse_cards, parse_hand
from aleator.games.holdem.hand_range import format_hand_range, parse_hand_range
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import load_spot

__all__ = [
    "HANDS",
    "HAND_CLASS_NAMES",
    "Spot",
    "format_cards",
    "format_hand",
    "format_hand_range",
    "load_spot",
    "parse_cards",
    "parse_hand",
    "parse_hand_range",
]
