"""The rules of betting and of pots for arrays of hands, compiled: what `HandBatch` runs on."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.games.holdem.betting import BettingRules
from aleator.games.holdem.evaluator import EvaluatorTables, strength_of
from aleator.jit import njit

IntArray = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]

FOLD_CODE: Final = -1
CALL_CODE: Final = 0
NO_CODE: Final = -2
OVER: Final = -1
"""The player of a hand that is over."""


class ArrayRules(NamedTuple):
    """`BettingRules` as numbers for compiled code; per street, -1 for no cap of raises."""

    num_streets: int
    is_limit: bool
    min_bets: IntArray
    max_raises: IntArray


class BettingArrays(NamedTuple):
    """The betting of B hands of P players; see `BettingState` for what each means."""

    street: npt.NDArray[np.int8]  # [B]
    player: npt.NDArray[np.int8]  # [B], OVER when nobody has anything left to decide
    stacks: Int32Array  # [B, P]
    bets: Int32Array  # [B, P]
    contributions: Int32Array  # [B, P]
    folded: npt.NDArray[np.bool_]  # [B, P]
    acted: npt.NDArray[np.bool_]  # [B, P]
    num_raises: Int32Array  # [B]
    full_raise: Int32Array  # [B]


class LegalArrays(NamedTuple):
    """What the acting players of some hands may do; see `LegalActions`."""

    can_fold: npt.NDArray[np.bool_]  # [R]
    call_amount: Int32Array  # [R]
    min_raise_to: Int32Array  # [R], 0 if no raise is legal
    max_raise_to: Int32Array  # [R], 0 if no raise is legal


def array_rules(rules: BettingRules) -> ArrayRules:
    """Returns rules as numbers for compiled code."""
    streets = range(rules.num_streets)
    caps = [rules.max_raises_on(street) for street in streets]
    return ArrayRules(
        rules.num_streets,
        rules.fixed_bets is not None,
        np.array([rules.min_bet(street) for street in streets], np.int64),
        np.array([-1 if cap is None else cap for cap in caps], np.int64),
    )


@njit()
def _someone_can_call_more(betting: BettingArrays, row: int, player: int, highest: int) -> bool:
    for other in range(betting.bets.shape[1]):
        can_call = betting.bets[row, other] + betting.stacks[row, other] > highest
        if other != player and not betting.folded[row, other] and can_call:
            return True
    return False


@njit()
def _highest(betting: BettingArrays, row: int) -> int:
    highest = 0
    for player in range(betting.bets.shape[1]):
        highest = max(highest, betting.bets[row, player])
    return highest


@njit()
def find_legal(rules: ArrayRules, betting: BettingArrays, rows: IntArray, legal: LegalArrays) -> None:
    for index in range(len(rows)):
        row = rows[index]
        player, street = betting.player[row], betting.street[row]
        highest, bet, stack = _highest(betting, row), betting.bets[row, player], betting.stacks[row, player]
        to_call, full = highest - bet, betting.full_raise[row]
        legal.can_fold[index] = to_call > 0
        legal.call_amount[index] = min(to_call, stack)
        is_reopened = not betting.acted[row, player] or to_call >= full
        is_capped = betting.num_raises[row] == rules.max_raises[street]
        if stack > to_call and is_reopened and not is_capped and _someone_can_call_more(betting, row, player, highest):
            lowest = min(bet + stack, highest + full)
            legal.min_raise_to[index] = lowest
            legal.max_raise_to[index] = lowest if rules.is_limit else bet + stack
        else:
            legal.min_raise_to[index] = 0
            legal.max_raise_to[index] = 0


@njit()
def act_in(rules: ArrayRules, betting: BettingArrays, rows: IntArray, codes: Int32Array) -> None:
    players = betting.bets.shape[1]
    for index in range(len(rows)):
        row, code = rows[index], codes[index]
        player = betting.player[row]
        betting.acted[row, player] = True
        if code == FOLD_CODE:
            betting.folded[row, player] = True
        else:
            highest = _highest(betting, row)
            to = highest if code == CALL_CODE else code
            chips = min(to - betting.bets[row, player], betting.stacks[row, player])
            betting.stacks[row, player] -= chips
            betting.bets[row, player] += chips
            betting.contributions[row, player] += chips
            if code != CALL_CODE:
                betting.num_raises[row] += 1
                if code - highest >= betting.full_raise[row]:
                    betting.full_raise[row] = code - highest
                    for other in range(players):
                        betting.acted[row, other] = other == player
        _next_player(rules, betting, row, player)


@njit()
def _next_player(rules: ArrayRules, betting: BettingArrays, row: int, after: int) -> None:
    """Finds who acts after a player, on a later street if need be."""
    players = betting.bets.shape[1]
    while True:
        live, with_chips = 0, 0
        for player in range(players):
            if not betting.folded[row, player]:
                live += 1
                with_chips += betting.stacks[row, player] > 0
        if live == 1:
            betting.player[row] = OVER
            return
        highest = _highest(betting, row)
        for step in range(1, players + 1):
            player = (after + step) % players
            if betting.folded[row, player] or betting.stacks[row, player] == 0:
                continue
            owes = betting.bets[row, player] < highest
            if owes or (not betting.acted[row, player] and _someone_can_call_more(betting, row, player, highest)):
                betting.player[row] = player
                return
        if with_chips < 2 or betting.street[row] == rules.num_streets - 1:
            betting.player[row] = OVER
            return
        betting.street[row] += 1
        betting.num_raises[row] = 0
        betting.full_raise[row] = rules.min_bets[betting.street[row]]
        for player in range(players):
            betting.bets[row, player] = 0
            betting.acted[row, player] = False
        after = players - 1


@njit()
def find_payoffs(
    betting: BettingArrays, hands: npt.NDArray[np.int16], boards: npt.NDArray[np.int8], cards: npt.NDArray[np.int8],
    starts: IntArray, dead: int, tables: EvaluatorTables, payoffs: IntArray,
) -> None:  # fmt: skip
    """Fills ``payoffs`` ``[B, P]``: each level of contributions is a pot, odd chips to its first winner; see `pots`."""
    count, players = betting.bets.shape
    seven = np.empty(boards.shape[1] + 2, np.int8)
    strength = np.zeros(players, np.int64)
    for row in range(count):
        live = 0
        for player in range(players):
            live += not betting.folded[row, player]
        if live > 1:
            seven[2:] = boards[row]
        for player in range(players):
            payoffs[row, player] = betting.stacks[row, player] - starts[player]
            strength[player] = -1
            if not betting.folded[row, player]:
                strength[player] = 0
                if live > 1:
                    seven[:2] = cards[hands[row, player]]
                    strength[player] = strength_of(seven, tables)
        _share_pots(betting.contributions[row], betting.folded[row], strength, dead, payoffs[row])


@njit()
def _share_pots(
    contributions: Int32Array, folded: npt.NDArray[np.bool_], strength: IntArray, dead: int, payoffs: IntArray
) -> None:
    """Adds to ``payoffs`` ``[P]`` what each player takes out of the main pot and the side pots, lowest level first."""
    players = len(contributions)
    below, amount = -1, dead
    while True:
        level, above = -1, False  # where the chips of the next live player end; whether others go on
        for player in range(players):
            if not folded[player] and contributions[player] > below:
                if level < 0 or contributions[player] < level:
                    above, level = level >= 0, contributions[player]
                elif contributions[player] > level:
                    above = True
        best, winners = -1, 0
        for player in range(players):
            chips = contributions[player]
            amount += (min(chips, level) if above else chips) - max(min(chips, below), 0)
            if not folded[player] and chips >= level:
                if strength[player] > best:
                    best, winners = strength[player], 1
                elif strength[player] == best:
                    winners += 1
        rest = amount % winners
        for player in range(players):
            if not folded[player] and contributions[player] >= level and strength[player] == best:
                payoffs[player] += amount // winners + rest
                rest = 0
        if not above:
            return
        below, amount = level, 0
