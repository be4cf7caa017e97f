"""A rule bot by hand strength: it plays good hands, bets them, and bluffs a little.

It knows how many of all other hands each hand is ahead of on the board as it lies (before the flop: by equity), and the
odds that the pot offers. It has no idea of ranges. Good as a first opponent and as something to exploit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aleator.agents.whole_hands.base import BatchAgent, BatchPolicy
from aleator.agents.whole_hands.scripted import raise_amounts
from aleator.caching import lru_cache
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.equity import hand_strengths
from aleator.games.holdem.hand_batch import CALL_CODE, FOLD_CODE, NO_CODE, HandBatch
from aleator.settings import check_settings, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class TightAggressive:
    """The numbers of the rules; strengths are shares of all hands, 0 to 1."""

    value_bet: float = setting(0.68, name="value-bet", least=0.0, most=1.0, help="bets hands from this strength on")
    bluff: float = setting(0.15, least=0.0, most=1.0, help="bluffs with hands below this strength")
    bluff_share: float = setting(0.3, name="bluff-share", least=0.0, most=1.0, help="how often it bluffs with them")
    value_raise: float = setting(
        0.9, name="value-raise", least=0.0, most=1.0, help="raises bets with hands from here on"
    )
    margin: float = setting(0.15, least=-1.0, most=1.0, help="how much stronger than the pot odds a call must be")
    size: float = setting(0.75, least=0.01, most=100.0, unit="pots", help="of bets and raises")

    def __post_init__(self) -> None:
        check_settings(self, AgentError)


class TightAggressiveAgent(BatchAgent):
    """Plays by `TightAggressive`'s numbers."""

    name = "tight-aggressive"

    def __init__(self, rules: TightAggressive | None = None) -> None:
        self.rules = rules or TightAggressive()

    def policies_at(self, hands: HandBatch, rows: npt.NDArray[np.int64]) -> BatchPolicy:
        return self._by_strength(hands, rows, np.stack(_shares_on(hands, rows)))

    def held_policies(
        self, hands: HandBatch, rows: npt.NDArray[np.int64], held: npt.NDArray[np.int64]
    ) -> BatchPolicy | None:
        strengths = [shares[hand] for shares, hand in zip(_shares_on(hands, rows), held, strict=True)]
        return self._by_strength(hands, rows, np.array(strengths)[:, None])

    def _by_strength(self, hands: HandBatch, rows: npt.NDArray[np.int64], strength: FloatArray) -> BatchPolicy:
        """Returns what is done with hands of given strengths, ``[R, H]``."""
        rules, legal = self.rules, hands.legal(rows)
        raises = raise_amounts(hands, rows, legal, np.array([rules.size]))
        codes = np.empty((len(rows), 3), np.int32)
        codes[:, 0] = np.where(legal.can_fold, FOLD_CODE, NO_CODE)
        codes[:, 1], codes[:, 2] = CALL_CODE, raises[:, 0]
        odds = (legal.call_amount / (hands.pot[rows] + legal.call_amount))[:, None]
        faces_bet, can_raise = legal.can_fold[:, None], raises != NO_CODE
        wants = np.where(strength < rules.bluff, rules.bluff_share, strength >= rules.value_bet)
        wants = np.where(faces_bet, strength >= rules.value_raise, wants) * can_raise
        calls = (strength >= odds + rules.margin) | (strength >= rules.value_raise) | ~faces_bet
        rest = 1.0 - wants
        return BatchPolicy(codes, np.stack([np.where(calls, 0.0, rest), np.where(calls, rest, 0.0), wants], axis=1))


def _shares_on(hands: HandBatch, rows: npt.NDArray[np.int64]) -> list[FloatArray]:
    """Returns the strengths of all hands on the board of each hand."""
    boards, counts = hands.board[rows].tobytes(), hands.num_board[rows].tolist()
    return [_shares(boards[5 * number : 5 * number + count]) for number, count in enumerate(counts)]


@lru_cache(maxsize=4096)
def _shares(board: bytes) -> FloatArray:
    """Returns the share of hands that each hand is ahead of, ``[1326]``; before the flop by the order of equities."""
    ranks = hand_strengths(np.frombuffer(board, np.int8))
    if not board:
        ordered = np.sort(ranks)
        ranks = (np.searchsorted(ordered, ranks, "left") + np.searchsorted(ordered, ranks, "right")) / (2 * NUM_HANDS)
    ranks = np.asarray(ranks)
    ranks.setflags(write=False)
    return ranks
