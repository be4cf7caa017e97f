"""Local best response: a lower bound on what an agent can be beaten for.

Algorithm:
    It keeps the exact range of its opponent, by Bayes' rule from the opponent's own answers. With wp the chance to win
    a showdown against that range over all cards to come, a call is worth wp · pot − (1 − wp) · asked. A bet of a more
    chips, to which the opponent folds with chance fp, is worth fp · pot + (1 − fp)(wp' (pot + a) − (1 − wp')(asked +
    a)), wp' against the range that does not fold. It takes the best, and folds if nothing is worth more than 0. In
    other rounds it calls. It answers for all of its hands at once, and is scored by AIVAT over both ranges: what is
    left is the luck of the board.

Reference: V. Lisý, M. Bowling, "Equilibrium Approximation Quality of Current No-Limit Poker Bots" (2017), Algorithm 1.
Deviations: the paper samples single hands. Amounts are clamped to what is legal.
Status: `aleator paper lbr-chumps`; never above the exact best response (tests/arena/whole_hands/test_lbr.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from aleator.agents.whole_hands.base import BatchPolicy, HandAgent, ask_policies
from aleator.agents.whole_hands.scripted import ALL_IN, raise_amounts
from aleator.arena.whole_hands.aivat.heads_up import RangeLuck
from aleator.errors import AgentError, check_known
from aleator.games.base import FloatArray
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.hand_batch import CALL_CODE, FOLD_CODE, NO_CODE, HandBatch

MENUS: Final[dict[str, tuple[float, ...]]] = {
    "fc": (),
    "fcpa": (1.0, ALL_IN),
    "56bets": (*(0.05 * 1.15**k for k in range(55)), ALL_IN),
}
"""Bets in pots that a local best response considers besides folding and calling."""

ALL_ROUNDS: Final = (0, 1, 2, 3)


def parse_menu(text: str) -> tuple[float, ...]:
    """Returns the bet sizes of a menu by its name."""
    check_known(text, MENUS, "menu", AgentError)
    return MENUS[text]


def parse_rounds(text: str) -> tuple[int, ...]:
    """Returns the streets, 0 preflop to 3 river, of rounds written as people do: ``1-4``, ``3-4`` or ``4``."""
    match = re.fullmatch(r"([1-4])(?:[-–]([1-4]))?", text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if match is None or last < first:
        raise AgentError(f"rounds {text!r}: write 1-4 for all, 3-4 for turn and river, 4 for the river")
    return tuple(range(first - 1, last))


class LocalBestResponse(HandAgent):
    """The local best response to an agent; sits in a match that follows ranges.

    Args:
        opponent: whose answers are known.
        menu: bets that are considered, in pots.
        rounds: streets on which anything but a call is considered.
    """

    name = "lbr"

    def __init__(
        self, opponent: HandAgent, menu: Sequence[float] = MENUS["fcpa"], rounds: Sequence[int] = ALL_ROUNDS
    ) -> None:
        self.opponent, self.menu, self.rounds = opponent, np.array(menu), tuple(rounds)
        self.calls_on = tuple(street for street in ALL_ROUNDS if street not in rounds)

    def policy_at(self, state: object) -> None:  # type: ignore[override]
        """Is never asked: what it does depends on its opponent's range, which `respond` is given."""
        raise AgentError("a local best response plays only against the agent that it responds to")

    def respond(self, hands: HandBatch, rows: npt.NDArray[np.int64], luck: RangeLuck) -> BatchPolicy:
        """Returns the response of every hand, ``[R, A, 1326]`` of zeros and ones; all call in other rounds."""
        own = np.isin(hands.betting.street[rows], self.rounds)
        legal = hands.legal(rows)
        bets = raise_amounts(hands, rows, legal, self.menu)
        bets[:, 1:][bets[:, 1:] == bets[:, :-1]] = NO_CODE  # sizes that were clamped to the same amount
        bets[~own] = NO_CODE
        codes = np.concatenate([np.full((len(rows), 1), FOLD_CODE), np.full((len(rows), 1), CALL_CODE), bets], axis=1)
        codes[~(legal.can_fold & own), 0] = NO_CODE
        if not own.any():  # the same whatever it holds
            return BatchPolicy(codes.astype(np.int32), (codes == CALL_CODE).astype(np.float64)[:, :, None])
        fold = self._fold_probabilities(hands, rows, bets)
        probabilities = np.zeros((*codes.shape, NUM_HANDS))
        pots = hands.pot[rows]
        for position, row in enumerate(rows):
            if not own[position]:
                probabilities[position, 1] = 1.0
                continue
            to_call = float(legal.call_amount[position])
            utilities = self._utilities(
                hands, int(row), luck, float(pots[position]), to_call, bets[position], fold[position]
            )
            considered = np.flatnonzero(codes[position] != NO_CODE)
            best = utilities[considered].argmax(axis=0)
            probabilities[position, considered[best], np.arange(NUM_HANDS)] = 1.0
        return BatchPolicy(codes.astype(np.int32), probabilities)

    def _fold_probabilities(
        self, hands: HandBatch, rows: npt.NDArray[np.int64], bets: npt.NDArray[np.int32]
    ) -> list[dict[int, FloatArray]]:
        """Returns for each hand, by the place of a bet, how likely each of the opponent's hands is to fold to it."""
        where = np.argwhere(bets != NO_CODE)
        utilities: list[dict[int, FloatArray]] = [{} for _ in rows]
        if not len(where):
            return utilities
        children = hands.take(rows[where[:, 0]])
        everyone = np.arange(len(where))
        children.act(everyone, bets[where[:, 0], where[:, 1]])
        policy = ask_policies(self.opponent, children, everyone)
        folds = (policy.probabilities * (policy.codes == FOLD_CODE)[:, :, None]).sum(axis=1)
        for (position, bet), row in zip(where.tolist(), folds, strict=True):
            utilities[position][bet] = row
        return utilities

    def _utilities(
        self,
        hands: HandBatch,
        row: int,
        luck: RangeLuck,
        pot: float,
        to_call: float,
        bets: npt.NDArray[np.int32],
        fold: dict[int, FloatArray],
    ) -> FloatArray:
        """Returns what folding, calling and each bet are worth, ``[A, 1326]``; bets that are not considered −∞."""
        player = int(hands.betting.player[row])
        won, met = luck.rows(row, player)
        some = met > 0.0
        chance = np.divide(won, met, out=np.zeros(NUM_HANDS), where=some)
        utilities = np.full((2 + len(bets), NUM_HANDS), -np.inf)
        utilities[0] = 0.0
        utilities[1] = chance * pot - (1.0 - chance) * to_call
        highest = float(hands.betting.bets[row].max())
        varied = [bet for bet, chances in fold.items() if len(chances) > 1]
        if varied:
            reach = luck.reach[row, 1 - player] * (1.0 - np.stack([fold[bet] for bet in varied]))
            later_won, later_met = luck.showdowns(row, reach)
        for bet, chances in fold.items():
            added = float(bets[bet]) - highest
            if len(chances) == 1:
                folds, then = float(chances[0]), chance
            else:
                column = varied.index(bet)
                stays = later_met[column]
                folds = 1.0 - np.divide(stays, met, out=np.ones(NUM_HANDS), where=some)
                then = np.divide(later_won[column], stays, out=np.zeros(NUM_HANDS), where=stays > 0.0)
            called = then * (pot + added) - (1.0 - then) * (to_call + added)
            utilities[2 + bet] = folds * pot + (1.0 - folds) * called
        return utilities
