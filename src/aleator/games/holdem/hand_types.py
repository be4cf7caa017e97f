"""What poker players call a hand on a board: set, top pair, flush draw; one made type and, before the river, one draw.

A pair counts as the hand's own only if a card of the hand takes part in it: on K K 7 a hand of A Q has no pair, and 9 9
is an underpair: a pocket pair below the highest card of the board. Second pair is with the second highest rank of the
board. Two ranks that complete a straight make an open-ended draw, wherever they lie; a combo draw is one to a flush and
to a straight. On the flop a hand without a draw may have a backdoor one, which two cards complete: to a flush with
three cards of a suit, or to a straight with both of its cards and one of the board among five ranks in a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from aleator.caching import lru_cache
from aleator.games.holdem.cards import HANDS, NUM_HANDS, NUM_RANKS, NUM_SUITS, blocked_hands
from aleator.games.holdem.evaluator import Category, categories, evaluate

MADE: Final = (
    "straight flush", "four of a kind", "full house", "flush", "straight", "three of a kind", "two pair", "overpair",
    "top pair", "underpair", "second pair", "lower pair", "ace high", "nothing",
)  # fmt: skip
DRAWS: Final = (
    "combo draw", "flush draw", "open-ended draw", "gutshot", "backdoor flush draw", "backdoor straight draw",
    "no draw",
)  # fmt: skip
NO_TYPE: Final = -1

_ACE: Final = NUM_RANKS - 1
_STRAIGHTS: Final = [{_ACE, 0, 1, 2, 3}, *({low + step for step in range(5)} for low in range(NUM_RANKS - 4))]


@lru_cache(maxsize=64)
def hand_types(board: tuple[int, ...]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Returns for each hand its place in `MADE` and in `DRAWS`, both ``[1326]``; `NO_TYPE` where the board blocks it.

    Draws are those of hands that are worth less than what they draw to; on the river all are `NO_TYPE`.

    Args:
        board: three to five cards.
    """
    made, draws = np.full(NUM_HANDS, NO_TYPE, np.int8), np.full(NUM_HANDS, NO_TYPE, np.int8)
    free = np.flatnonzero(~blocked_hands(board))
    cards = np.concatenate([HANDS[free], np.tile(np.array(board, np.int8), (len(free), 1))], axis=1)
    for hand, kind in zip(free, categories(evaluate(cards)), strict=True):
        made[hand] = MADE.index(_made(HANDS[hand].tolist(), board, Category(kind)))
        if len(board) < 5:
            draws[hand] = DRAWS.index(_draw(HANDS[hand].tolist(), board, Category(kind)))
    made.flags.writeable = draws.flags.writeable = False
    return made, draws


def _made(hand: Sequence[int], board: Sequence[int], kind: Category) -> str:
    own, table = [card // NUM_SUITS for card in hand], [card // NUM_SUITS for card in board]
    own_pair = own[0] == own[1] or bool({*own} & {*table})
    if kind > Category.TWO_PAIR or (kind is Category.TWO_PAIR and own_pair and not _only_one_pair(own, table)):
        return kind.label
    if own_pair and kind >= Category.PAIR:
        if own[0] == own[1]:
            return "overpair" if own[0] > max(table) else "underpair"
        places = sorted({*table}, reverse=True)
        return {0: "top pair", 1: "second pair"}.get(
            min(places.index(rank) for rank in own if rank in places), "lower pair"
        )
    return "ace high" if _ACE in own else "nothing"


def _only_one_pair(own: Sequence[int], table: Sequence[int]) -> bool:
    """Returns whether the hand makes one pair, the other one being on the table."""
    matched = {rank for rank in own if rank in table} if own[0] != own[1] else {own[0]}
    return len(matched) == 1 and len({*table}) < len(table)


def _draw(hand: Sequence[int], board: Sequence[int], kind: Category) -> str:
    suits = [card % NUM_SUITS for card in (*hand, *board)]
    flush = kind < Category.FLUSH and any(suits.count(card % NUM_SUITS) == 4 for card in hand)
    outs = _straight_outs(hand, board) if kind < Category.STRAIGHT else 0
    if flush:
        return "combo draw" if outs else "flush draw"
    if outs:
        return "open-ended draw" if outs > 1 else "gutshot"
    if len(board) == 3 and kind < Category.STRAIGHT:
        return _backdoor_draw(hand, board)
    return "no draw"


def _backdoor_draw(hand: Sequence[int], board: Sequence[int]) -> str:
    suits = [card % NUM_SUITS for card in (*hand, *board)]
    if any(suits.count(card % NUM_SUITS) == 3 for card in hand):
        return "backdoor flush draw"
    own, table = {card // NUM_SUITS for card in hand}, {card // NUM_SUITS for card in board}
    connected = any(len(own & straight) == 2 and len((own | table) & straight) == 3 for straight in _STRAIGHTS)
    return "backdoor straight draw" if connected else "no draw"


def _straight_outs(hand: Sequence[int], board: Sequence[int]) -> int:
    """Returns how many ranks complete a straight in which a card of the hand takes part."""
    table = {card // NUM_SUITS for card in board}
    ranks = table | {card // NUM_SUITS for card in hand}
    missing = [straight - ranks for straight in _STRAIGHTS if (ranks - table) & straight]
    return len({rank for lacks in missing if len(lacks) == 1 for rank in lacks})
