"""Checks, and calls with every hand whose equity against a random hand is worth it. It never bets."""

from __future__ import annotations

import numpy as np

from aleator.agents.whole_hands.base import HandAgent, HandPolicy
from aleator.caching import lru_cache
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import CALL, FOLD
from aleator.games.holdem.cards import NUM_HANDS, blocked_hands
from aleator.games.holdem.equity import showdown_rows
from aleator.games.holdem.hand_state import HandState


class PotOddsAgent(HandAgent):
    """Calls what the odds allow, heads-up."""

    name = "pot-odds"
    knows_street = True

    def policy_at(self, state: HandState) -> HandPolicy:
        if state.setup.num_players != 2:
            raise AgentError(f"{self.name} plays heads-up only, not {state.setup.num_players} players")
        if not state.legal_actions().can_fold:
            return HandPolicy((CALL,), np.ones((1, NUM_HANDS)))
        calls = (equities(state.board) >= odds(state)).astype(np.float64)
        return HandPolicy((FOLD, CALL), np.stack([1.0 - calls, calls]))


def odds(state: HandState) -> float:
    """Returns the equity that a call needs."""
    to_call = state.legal_actions().call_amount
    return to_call / (state.betting.pot + to_call)


@lru_cache(maxsize=256)
def equities(board: tuple[int, ...]) -> FloatArray:
    """Returns the equity of each hand against a random one, ``[1326]``; 0 for hands that the board blocks."""
    alive = ~blocked_hands(board)
    won, met = showdown_rows(np.array(board, np.int8), alive[None].astype(np.float64))
    shares: FloatArray = np.divide(won[0], met[0], out=np.zeros(NUM_HANDS), where=met[0] > 0.0)
    shares.setflags(write=False)
    return shares
