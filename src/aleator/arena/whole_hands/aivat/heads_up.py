"""AIVAT for whole hands: what an agent won, without the luck of the cards, of its own dice, and of the hand it held.

Algorithm:
    Let V be some value of every public state to player 0, given what each player may hold. Each card was as lucky as V
    rose above what was expected before it; so was each action of an agent, since the probabilities by which it was
    drawn are known. Taken off the winnings, the sum changes no expectation, whatever V is, and most of the variance.
    `RangeLuck` moreover averages the winnings and V over all hands that the agents could hold, as likely as their own
    answers make them (the paper's imaginary observations). `PairLuck` does not, and takes microseconds.
    `playout.Playout` knows V on the last street exactly, from both agents' answers there.
    Elsewhere V is a share of the pot less half of what was paid; a bet counts as far as it is called, which is taken
    to be as often as makes bluffs break even, pot / (pot + bet), or always if the opponent is known to call whatever is
    bet. By default the share is the equity, which on average no card changes.

Reference: N. Burch, M. Schmid, M. Moravčík, D. Morrill, M. Bowling, "AIVAT: A New Variance Reduction Technique for
    Agent Evaluation in Imperfect Information Games" (2018), equations 7 to 11.
Deviations: two players. Where both are known, both are averaged over. A value that cards change on average is not used
    for the three cards of the flop, whose 22,100 possibilities are too many to ask it about: there the equity counts.
Status: tests/arena/whole_hands/aivat/test_heads_up.py (unbiased: by enumeration for random values;
    within 3 standard errors).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aleator.agents.whole_hands.base import BatchPolicy
from aleator.arena.luck import luck_of_draw
from aleator.arena.whole_hands.aivat.base import IntArray, Luck
from aleator.arena.whole_hands.aivat.hand_value import EquityValue, HandValue, Situation
from aleator.arena.whole_hands.aivat.playout import Playout
from aleator.games.base import FloatArray
from aleator.games.holdem.cards import HAND_MASKS, NUM_HANDS
from aleator.games.holdem.equity import pair_equities
from aleator.games.holdem.hand_batch import CALL_CODE, FOLD_CODE, HandBatch


class HeadsUpLuck(Luck):
    """The luck of two players, counted for the first one; `share` and `luck` are player 0's."""

    def __init__(
        self,
        hands: HandBatch,
        known: Sequence[bool] = (True, True),
        *,
        callers: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        """Begins with hands before their first action.

        Args:
            hands: the batch, with all cards.
            known: whose probabilities are known; the other's actions are taken as they come.
            callers: ``[B, 2, streets]`` who calls whatever is bet on a street; None for nobody.
        """
        self.hands, self.known, self._callers = hands, tuple(known), callers
        self.luck = np.zeros(len(hands))  # of player 0, in chips
        self.share = np.full(len(hands), 0.5)  # of the pot that player 0 expects
        self._cap = min(hands.setup.stacks)

    def estimates(self) -> FloatArray:
        first = self._estimates()
        return np.stack((first, self.hands.setup.pot - first), axis=1)

    @abstractmethod
    def _estimates(self) -> FloatArray:
        """Returns ``[B]``: what player 0 won in chips, without luck; all hands are over."""

    def paid(self, rows: IntArray) -> IntArray:
        """Returns the chips that both have put in and that can be won, ``[R, 2]``."""
        return np.minimum(self.hands.betting.contributions[rows], self._cap).astype(np.int64)

    def values(self, rows: IntArray, codes: npt.NDArray[np.int32], share: FloatArray) -> FloatArray:
        """Returns what player 0 expects after each action, ``[R, A]``.

        Args:
            rows: the hands.
            codes: of the actions of the acting player, ``[R, A]``.
            share: of the pot that player 0 expects after each, ``[R, A]`` or ``[R, 1]``.
        """
        betting, dead = self.hands.betting, self.hands.dead
        actor = betting.player[rows].astype(np.int64)[:, None]
        whole = np.minimum(betting.contributions[rows], self._cap).astype(np.float64)
        mine, other = np.take_along_axis(whole, actor, 1), np.take_along_axis(whole, 1 - actor, 1)
        bet = np.take_along_axis(betting.bets[rows], actor, 1)
        stack = np.take_along_axis(betting.stacks[rows], actor, 1)
        highest = betting.bets[rows].max(axis=1, keepdims=True)
        to = np.where(codes == CALL_CODE, highest, np.maximum(codes, 0))
        after = np.minimum(mine + np.clip(to - bet, 0, stack), self._cap)
        matched, bet_on_top = np.minimum(after, other), np.abs(after - other)
        pot = 2.0 * matched + dead
        called = np.divide(pot, pot + bet_on_top, out=np.zeros_like(pot), where=pot > 0)
        if self._callers is not None:
            called[self._callers[rows, 1 - actor[:, 0], betting.street[rows]]] = 1.0
        played = (share - 0.5) * 2.0 * (matched + called * bet_on_top) + share * dead
        folded = np.where(actor == 0, -mine, mine + dead)
        return np.where(codes == FOLD_CODE, folded, played)

    def folds(self) -> tuple[npt.NDArray[np.bool_], FloatArray]:
        """Returns who won by a fold, and what player 0 then won, ``[B]`` each."""
        folded = self.hands.betting.folded
        paid = self.paid(np.arange(len(self.hands)))
        won = np.where(folded[:, 0], -paid[:, 0], paid[:, 1] + self.hands.dead)
        return np.asarray(folded.any(axis=1)), won.astype(np.float64)


class PairLuck(HeadsUpLuck):
    """Luck by the equity of the two hands that were really held."""

    def __init__(self, hands: HandBatch, *, callers: npt.NDArray[np.bool_] | None = None) -> None:
        super().__init__(hands, callers=callers)
        self._take_cards(np.arange(len(hands)), hands.num_board)

    def acted(self, rows: IntArray, policy: BatchPolicy, chosen: IntArray) -> None:
        chances = policy.held(self.hands.hands[rows, self.hands.betting.player[rows]])
        values = self.values(rows, policy.codes, self.share[rows, None])
        self.luck[rows] += values[np.arange(len(rows)), chosen] - (chances * values).sum(axis=1)

    def advanced(self, rows: IntArray) -> None:
        self._take_cards(rows, self.hands.num_board[rows])

    def _estimates(self) -> FloatArray:
        by_fold, _ = self.folds()
        self._take_cards(np.flatnonzero(~by_fold), np.full(int((~by_fold).sum()), self.hands.setup.last_board))
        return self.hands.payoffs()[:, 0] - self.luck

    def _take_cards(self, rows: IntArray, counts: IntArray) -> None:
        """Adds the luck of the board up to so many cards, which are the first ones it sees at the start."""
        for count in np.unique(counts):
            here = rows[counts == count]
            share = pair_equities(self.hands.hands[here], self.hands.board[here, :count])
            self.luck[here] += (share - self.share[here]) * (self.paid(here).sum(axis=1) + self.hands.dead)
            self.share[here] = share


class RangeLuck(HeadsUpLuck):
    """Luck by what both players' whole ranges expect.

    Attributes:
        reach: of both players' hands by their own actions, ``[B, 2, 1326]``, scaled at will; one hand for a player who
            is not known.
        is_uniform: who may still hold every hand alike, ``[B, 2]``.
    """

    def __init__(
        self,
        hands: HandBatch,
        known: Sequence[bool] = (True, True),
        value: HandValue | None = None,
        playout: Playout | None = None,
        callers: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        super().__init__(hands, known, callers=callers)
        self.playout = playout if all(self.known) else None
        self.value = value or EquityValue()
        self._equity = self.value if isinstance(self.value, EquityValue) else EquityValue()
        self.reach = np.ones((len(hands), 2, NUM_HANDS))
        self.is_uniform = np.ones((len(hands), 2), np.bool_)
        self._rows: dict[tuple[int, int], tuple[FloatArray, FloatArray]] = {}
        everyone = np.arange(len(hands))
        for player in (0, 1):
            if not self.known[player]:
                self.reach[:, player] = 0.0
                self.reach[everyone, player, hands.hands[:, player]] = 1.0
                self.is_uniform[:, player] = False
        self._block(everyone)
        if not all(self.known) or not self.value.is_fair:
            for row in everyone:
                self._begin(int(row))

    def _begin(self, row: int) -> None:
        """Sets the share at the start, and takes the luck of an unknown player's hand."""
        self.share[row] = self._share(row)
        if not all(self.known):
            fair = self._by_equity(row, 0)
            self.luck[row] += (fair - 0.5) * (int(self.paid(np.array([row])).sum()) + self.hands.dead)

    def acted(self, rows: IntArray, policy: BatchPolicy, chosen: IntArray) -> None:
        actor = self.hands.betting.player[rows].astype(np.int64)
        here = np.asarray(self.known)[actor]
        rows, chosen, actor = rows[here], chosen[here], actor[here]
        if not len(rows):
            return
        codes, probabilities = policy.codes[here], policy.probabilities[here]
        places = np.arange(len(rows))
        is_blind = probabilities.shape[2] == 1 and self.playout is None
        if is_blind and self.value.is_fair:  # nobody learns anything: ranges stay as they are
            values = self.values(rows, codes, self.share[rows, None])
            self.luck[rows] += values[places, chosen] - (probabilities[:, :, 0] * values).sum(axis=1)
            return
        for position in places:
            self._acted(
                int(rows[position]),
                int(actor[position]),
                codes[position],
                probabilities[position],
                int(chosen[position]),
            )

    def _acted(
        self, row: int, actor: int, codes: npt.NDArray[np.int32], probabilities: FloatArray, chosen: int
    ) -> None:
        won, met = self.rows(row, actor)
        reach = self.reach[row, actor]
        probabilities = np.broadcast_to(probabilities, (len(codes), NUM_HANDS))
        weights, shares = probabilities @ (reach * met), probabilities @ (reach * won)
        chances = weights / weights.sum()
        shares = np.divide(shares, weights, out=np.zeros_like(shares), where=weights > 0)
        first = shares if actor == 0 else 1.0 - shares
        values = None if self.playout is None else self.playout.values(self.hands, row, codes, self.reach[row])
        if values is None:
            values = self.values(np.array([row]), codes[None], first[None])[0]
        self.luck[row] += luck_of_draw(values, chances, chosen)
        self.share[row] = first[chosen]
        taken = probabilities[chosen][reach > 0.0]
        if (taken != taken[0]).any():  # else nobody learns anything
            reach *= probabilities[chosen]
            reach /= reach.max()
            self.is_uniform[row, actor] = False
            self._rows.pop((row, 1 - actor), None)
            if not self.value.is_fair:  # it may depend on one's own range, too
                self._rows.pop((row, actor), None)

    def advanced(self, rows: IntArray) -> None:
        before = self.share[rows]
        if not self.value.is_fair:
            before = np.array([self._before_cards(int(row)) for row in rows])
        self._block(rows)
        for row in rows:
            for player in (0, 1):
                self._rows.pop((int(row), player), None)
            if not self.value.is_fair:
                self.share[row] = self._mean(*self.value.rows(self._situation(row), 0, self.reach[row]), row)
            elif not self.is_uniform[row].all():
                player = (
                    0 if self.is_uniform[row, 1] else 1 if self.is_uniform[row, 0] else self.hands.betting.player[row]
                )
                self.share[row] = self._share(int(row), int(player))
        pot = self.paid(rows).sum(axis=1) + self.hands.dead
        self.luck[rows] += (self._compared(rows) - before) * pot

    def _compared(self, rows: IntArray) -> FloatArray:
        """Returns the shares after the cards that are compared with those before, by the value or by the equity."""
        if self.value.is_fair:
            return self.share[rows]
        told = np.isin(self.hands.num_board[rows], self.value.told_boards)
        return np.array(
            [
                self.share[row] if is_told else self._by_equity(int(row), 0)
                for row, is_told in zip(rows, told, strict=True)
            ]
        )

    def _before_cards(self, row: int) -> float:
        """Returns the mean share over the cards that could have come to the board as it is now, weighted by ranges."""
        board = self.hands.board[row, : self.hands.num_board[row]]
        before = self._situation(row)._replace(board=board[: 0 if len(board) == 3 else -1])
        if len(board) in self.value.told_boards:
            return self.value.mean_share(before, self.reach[row])
        return self._mean(*self._equity.rows(before, 0, self.reach[row]), row)

    def _estimates(self) -> FloatArray:
        by_fold, won = self.folds()
        for row in np.flatnonzero(~by_fold):
            if not self.value.is_fair:  # at the end cards decide, not the value
                self.share[row] = self._by_equity(int(row), 0)
        paid = self.paid(np.arange(len(self.hands)))
        shown = self.share * (paid.sum(axis=1) + self.hands.dead) - paid[:, 0]
        return np.where(by_fold, won, shown) - self.luck

    def rows(self, row: int, player: int) -> tuple[FloatArray, FloatArray]:
        """Returns a player's rows against the opponent's reach as actions are told by, ``[1326]`` each."""
        value = self.value if self.value.tells_actions else self._equity
        key = (row, player)
        if key not in self._rows:
            board = self.hands.board[row, : self.hands.num_board[row]]
            if value is self._equity and self.is_uniform[row, 1 - player]:
                self._rows[key] = self._equity.rows_of_all_hands(board)
            else:
                self._rows[key] = value.rows(self._situation(row), player, self.reach[row])
        return self._rows[key]

    def showdowns(self, row: int, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Returns `showdown_rows` on a hand's board, for reach ``[K, 1326]``."""
        return self._equity.showdowns(self.hands.board[row, : self.hands.num_board[row]], reach)

    def _share(self, row: int, player: int = 0) -> float:
        """Returns the share of the pot that player 0 expects, from the rows of ``player``."""
        won, met = self.rows(row, player)
        reach = self.reach[row, player]
        share = float(reach @ won) / float(reach @ met)
        return share if player == 0 else 1.0 - share

    def _by_equity(self, row: int, player: int) -> float:
        return self._mean(*self._equity.rows(self._situation(row), player, self.reach[row]), row)

    def _mean(self, won: FloatArray, met: FloatArray, row: int) -> float:
        return float(self.reach[row, 0] @ won) / float(self.reach[row, 0] @ met)

    def _situation(self, row: int) -> Situation:
        betting = self.hands.betting
        paid, behind = betting.contributions[row], betting.stacks[row]
        board = self.hands.board[row, : self.hands.num_board[row]]
        return Situation(board, (int(paid[0]), int(paid[1])), (int(behind[0]), int(behind[1])), self.hands.dead)

    def _block(self, rows: IntArray) -> None:
        """Takes hands out of both reaches that share a card with the board."""
        seen = np.arange(5) < self.hands.num_board[rows][:, None]
        bits = np.where(seen, np.uint64(1) << self.hands.board[rows].astype(np.uint64), np.uint64(0))
        mask = np.bitwise_or.reduce(bits, axis=1)
        self.reach[rows] *= ((HAND_MASKS & mask[:, None]) == 0)[:, None, :]
