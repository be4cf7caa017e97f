"""States of whole hands that several tests begin with."""

from __future__ import annotations

import numpy as np

from aleator.games.base import FloatArray
from aleator.games.holdem.betting import CALL, raise_to
from aleator.games.holdem.cards import NUM_HANDS, parse_cards
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import HUNL

BOARD = parse_cards("3s 7h Td Ks 2c")


def dealt(street: int, opening: int = 2_000) -> HandState:
    """Returns the start of a street after a raise and a call before the flop, and checks since."""
    first = CALL if opening == HUNL.rules.big_blind else raise_to(opening)
    state = HUNL.setup.start().act(first).act(CALL)
    for later in range(1, street + 1):
        state = state.deal(BOARD[len(state.board) : 2 + later])
        if later < street:
            state = state.act(CALL).act(CALL)
    return state


def random_reach(seed: int) -> FloatArray:
    """Returns reach of both players that tells all hands apart, ``[2, 1326]``."""
    return np.random.default_rng(seed).uniform(0.05, 1.0, (2, NUM_HANDS))
