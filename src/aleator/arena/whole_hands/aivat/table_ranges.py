"""AIVAT for a table of any number of players that averages over the hands that everybody might have held.

Algorithm:
    Given everything public, the hands that were really held are one draw from what everybody's answers make of all
    hands: the product of the players' reaches, without common cards. Any other draw is as good, so that the mean over
    many has the same expectation and less variance: of K draws each is scored by `TableLuck` along the line that was
    played, with the probabilities of the hands that were drawn.

Reference: N. Burch, M. Schmid, M. Moravčík, D. Morrill, M. Bowling, "AIVAT" (2018), imaginary observations; M. Bowling,
    M. Johanson, N. Burch, D. Szafron, "Strategy Evaluation in Extensive Games with Importance Sampling" (ICML 2008).
Deviations: hands are drawn, where two players' can be summed over.
Status: tests/arena/whole_hands/aivat/test_table_ranges.py (draws by their law, scores in matches by a stated z).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.agents.whole_hands.base import BatchPolicy
from aleator.arena.whole_hands.aivat.base import IntArray, Luck
from aleator.arena.whole_hands.aivat.table import TableLuck
from aleator.games.base import FloatArray
from aleator.games.holdem.cards import HAND_MASKS, NUM_HANDS, blocked_hands
from aleator.games.holdem.hand_batch import OVER, HandBatch

_DRAWS: Final = 16  # of everybody's hands
_TRIES: Final = 200  # for each of them


class Answer(NamedTuple):
    """What a player was likely to do with each hand, ``[A, 1326]`` or ``[A, 1]``, and which of the actions it chose."""

    player: int
    codes: npt.NDArray[np.int32]
    probabilities: FloatArray
    chosen: int


class TableRangeLuck(Luck):
    """Follows a batch of hands as they are played; `estimates` are everybody's winnings without luck.

    Args:
        hands: the batch before its first action, with all cards.
        seeds: ``[B]`` of what is drawn for each hand.
        since: the street from which on luck is counted; see `TableLuck`.
    """

    def __init__(self, hands: HandBatch, seeds: npt.NDArray[np.uint64], *, since: int = 0) -> None:
        self.hands, self._seeds, self._since = hands, seeds, since
        self._answers: list[list[Answer]] = [[] for _ in range(len(hands))]

    def acted(self, rows: IntArray, policy: BatchPolicy, chosen: IntArray) -> None:
        for place, row in enumerate(rows.tolist()):
            player = int(self.hands.betting.player[row])
            answer = Answer(player, policy.codes[place], policy.probabilities[place].copy(), int(chosen[place]))
            self._answers[row].append(answer)

    def advanced(self, rows: IntArray) -> None:
        """Is told whose next street has been dealt; hands are followed again when they are over."""

    def estimates(self) -> FloatArray:
        return np.stack([self._estimate(row) for row in range(len(self.hands))])

    def _estimate(self, row: int) -> FloatArray:
        hands, answers = self.hands, self._answers[row]
        drawn = draw_hands(self._reach(row), _DRAWS, np.random.default_rng(int(self._seeds[row])))
        if not len(drawn):
            drawn = hands.hands[row : row + 1].astype(np.int64)
        everyone = np.arange(len(drawn))
        batch = HandBatch.start(hands.setup, drawn, np.tile(hands.board[row], (len(drawn), 1)))
        luck = TableLuck(batch, np.full(len(drawn), self._seeds[row]), since=self._since)
        for answer in answers:
            street = int(batch.betting.street[0])
            held = drawn[:, answer.player] if answer.probabilities.shape[1] > 1 else np.zeros(len(drawn), np.int64)
            codes = np.tile(answer.codes, (len(drawn), 1))
            policy = BatchPolicy(codes, answer.probabilities[:, held].T[:, :, None])
            luck.acted(everyone, policy, np.full(len(drawn), answer.chosen))
            batch.act(everyone, codes[:, answer.chosen].astype(np.int64))
            if int(batch.betting.street[0]) != street and batch.betting.player[0] != OVER:
                luck.advanced(everyone)
        return np.asarray(luck.estimates().mean(axis=0))

    def _reach(self, row: int) -> FloatArray:
        """Returns how likely each player was to act as it did with each hand, ``[P, 1326]``; 0 for blocked hands."""
        hands = self.hands
        shown = int((~hands.betting.folded[row]).sum()) > 1
        seen = hands.setup.last_board if shown else int(hands.num_board[row])
        reach = np.ones((hands.setup.num_players, NUM_HANDS))
        for answer in self._answers[row]:
            reach[answer.player] *= answer.probabilities[answer.chosen]
            reach[answer.player] /= reach[answer.player].max()
        reach[:, blocked_hands(hands.board[row, :seen])] = 0.0
        return reach


def draw_hands(reach: FloatArray, count: int, rng: np.random.Generator, *, tries: int = _TRIES) -> IntArray:
    """Returns hands of all players without common cards, as likely as the product of their reaches, ``[K, P]``.

    Args:
        reach: of each player's hands, ``[P, 1326]``, not normalised.
        count: how many are wanted; fewer, if most draws have common cards.
        rng: of the draws.
        tries: draws for each that is wanted.
    """
    ends = np.cumsum(reach, axis=1)
    draws = rng.random((len(reach), count * tries)) * ends[:, -1:]
    hands = np.stack([np.searchsorted(own, row, side="right") for own, row in zip(ends, draws, strict=True)], axis=1)
    hands = np.minimum(hands, NUM_HANDS - 1)
    taken, apart = np.zeros(len(hands), np.uint64), np.ones(len(hands), np.bool_)
    for player in range(len(reach)):
        masks = HAND_MASKS[hands[:, player]]
        apart &= (taken & masks) == 0
        taken |= masks
    return np.asarray(hands[apart][:count], np.int64)
