"""AIVAT for a table of any number of players: what everybody won, without the luck of the cards and of their own dice.

Algorithm:
    The value V of a state to a player is its share of the pot less what it has paid: the share is the chance to win a
    showdown with the hands that are really held, by those who are still in; a bet counts as far as it is called, which
    is taken to be as often as makes bluffs break even, pot / (pot + bet). A card was as lucky as V rose above its mean
    over all cards, an action as V rose above its mean over what its player might have done. Taken off the
    winnings, the sum changes no expectation. The hands that were dealt were as lucky as the share was above one part in
    P, of the blinds.

Reference: N. Burch, M. Schmid, M. Moravčík, D. Morrill, M. Bowling, "AIVAT" (2018), equations 7 to 11; Pluribus was
    measured by it (Brown and Sandholm 2019).
Deviations: hands that were not held are not averaged over. Before the flop the share is the mean over boards drawn at
    random, without the one that comes: its error changes no expectation either.
Status: tests/arena/whole_hands/aivat/test_table.py (unbiased by enumeration with three players).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from aleator.agents.whole_hands.base import BatchPolicy
from aleator.arena.luck import luck_of_draw
from aleator.arena.whole_hands.aivat.base import IntArray, Luck
from aleator.games.base import FloatArray
from aleator.games.holdem.cards import HANDS, NUM_CARDS
from aleator.games.holdem.evaluator import EvaluatorTables, evaluator_tables, strength_of
from aleator.games.holdem.hand_batch import CALL_CODE, FOLD_CODE, HandBatch
from aleator.jit import njit

_BOARDS: Final = 250  # that are drawn before the flop


class TableLuck(Luck):
    """Follows a batch of hands as they are played; `estimates` are everybody's winnings without luck.

    Args:
        hands: the batch before its first action, with all cards.
        seeds: ``[B]`` of the boards that are drawn for each hand.
        since: the street from which on luck is counted. From a later one than the first, the hands that are held there
            are taken to be as lucky as their share of its pot: only differences between matches that are alike up to
            that street say something then.
    """

    def __init__(self, hands: HandBatch, seeds: npt.NDArray[np.uint64], *, since: int = 0) -> None:
        self.hands, self._seeds, self._since = hands, seeds, since
        count, players = len(hands), hands.setup.num_players
        self.luck = np.zeros((count, players))  # in chips
        self._strengths = [np.zeros((0, players), np.int16)] * count  # on the boards that may come
        self.share = np.zeros((count, players))
        for row in range(count if since == 0 else 0):
            self._look(row, int(hands.num_board[row]))
            self.luck[row] += (self.share[row] - 1.0 / players) * int(hands.pot[row])

    def acted(self, rows: IntArray, policy: BatchPolicy, chosen: IntArray) -> None:
        chances = policy.held(self.hands.hands[rows, self.hands.betting.player[rows]])
        for number, row in enumerate(rows.tolist()):
            if self.hands.betting.street[row] >= self._since:
                self._acted(row, policy.codes[number], chances[number], int(chosen[number]))

    def _acted(self, row: int, codes: npt.NDArray[np.int32], chances: FloatArray, chosen: int) -> None:
        betting = self.hands.betting
        actor, live = int(betting.player[row]), ~betting.folded[row]
        after = live.copy()
        after[actor] = False
        without = self._share(row, after) if (codes == FOLD_CODE).any() else self.share[row]
        values = np.zeros((len(codes), len(live)))
        for number, code in enumerate(codes.tolist()):
            if chances[number] > 0.0 or number == chosen:
                folds = code == FOLD_CODE
                values[number] = self._value(row, actor, code, without if folds else self.share[row])
        self.luck[row] += luck_of_draw(values, chances, chosen)
        if codes[chosen] == FOLD_CODE:
            self.share[row] = without

    def _value(self, row: int, actor: int, code: int, share: FloatArray) -> FloatArray:
        """Returns what everybody expects after an action, ``[P]``."""
        betting = self.hands.betting
        bets, stacks = betting.bets[row].astype(np.float64), betting.stacks[row].astype(np.float64)
        paid, live = betting.contributions[row].astype(np.float64), ~betting.folded[row]
        to = bets.max() if code == CALL_CODE else float(code)
        if code == FOLD_CODE:
            live[actor] = False
        else:
            more = min(max(to - bets[actor], 0.0), stacks[actor])
            bets[actor] += more
            paid[actor] += more
            stacks[actor] -= more
        missing = np.where(live, np.minimum(bets.max() - bets, stacks), 0.0)
        pot = paid.sum() + self.hands.dead
        called = pot / (pot + missing.max()) if pot > 0.0 else 0.0
        return np.asarray(share * (pot + called * missing.sum()) - paid - called * missing)

    def advanced(self, rows: IntArray) -> None:
        for row in rows[self.hands.betting.street[rows] >= self._since].tolist():
            before = self.share[row].copy()  # 0 on the first street that counts
            self._look(row, int(self.hands.num_board[row]))
            self.luck[row] += (self.share[row] - before) * int(self.hands.pot[row])

    def estimates(self) -> FloatArray:
        folded, board = self.hands.betting.folded, self.hands.setup.last_board
        for row in np.flatnonzero((~folded).sum(axis=1) > 1).tolist():
            before = self.share[row].copy()
            self._look(row, board)
            self.luck[row] += (self.share[row] - before) * int(self.hands.pot[row])
        return np.asarray(self.hands.payoffs() - self.luck)

    def _look(self, row: int, seen: int) -> None:
        """Takes in the board up to so many cards."""
        last = self.hands.setup.last_board
        hole, board = HANDS[self.hands.hands[row]], self.hands.board[row, :seen]
        rest = np.setdiff1d(np.arange(NUM_CARDS), np.concatenate((hole.reshape(-1), board)))
        missing = last - seen
        if missing == 0:
            futures = np.zeros((1, 0), np.int8)
        elif missing == 1:
            futures = rest[:, None].astype(np.int8)
        elif missing == 2:
            one, other = np.triu_indices(len(rest), 1)
            futures = np.stack((rest[one], rest[other]), axis=1).astype(np.int8)
        else:
            rng = np.random.default_rng(int(self._seeds[row]))
            places = np.argsort(rng.random((_BOARDS, len(rest))), axis=1)[:, :missing]
            futures = rest[places].astype(np.int8)
        strengths = np.zeros((len(futures), len(hole)), np.int16)
        _strengths(np.ascontiguousarray(hole), np.ascontiguousarray(board), futures, evaluator_tables(), strengths)
        self._strengths[row] = strengths
        self.share[row] = self._share(row, ~self.hands.betting.folded[row])

    def _share(self, row: int, live: npt.NDArray[np.bool_]) -> FloatArray:
        """Returns everybody's chance to win a showdown of some players, ``[P]``; ties are shared."""
        strengths = np.where(live, self._strengths[row], -1)
        best = strengths == strengths.max(axis=1, keepdims=True)
        best &= live
        return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


@njit()
def _strengths(
    hole: npt.NDArray[np.int8], board: npt.NDArray[np.int8], futures: npt.NDArray[np.int8], tables: EvaluatorTables,
    strengths: npt.NDArray[np.int16],
) -> None:  # fmt: skip
    """Fills ``strengths`` ``[K, P]`` of hands ``[P, 2]`` on a board and each of some cards ``[K, missing]``."""
    seen, missing = len(board), futures.shape[1]
    cards = np.empty(seen + missing + 2, np.int8)
    cards[:seen] = board
    for row in range(len(futures)):
        cards[seen : seen + missing] = futures[row]
        for player in range(len(hole)):
            cards[seen + missing :] = hole[player]
            strengths[row, player] = strength_of(cards, tables)
