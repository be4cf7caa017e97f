"""Betting by turns among several players: who is to act, what is allowed, when a round is over. No cards.

A bet adds a fixed amount to what everybody must have put in; after it all others who have not folded answer. States are
kept, since the same betting follows on every deal.
"""

from __future__ import annotations

from typing import NamedTuple

from aleator.caching import cache

FOLD, CALL, CHECK, BET, RAISE = "fold", "call", "check", "bet", "raise"

_LETTERS = {FOLD: "f", CALL: "c", CHECK: "k", BET: "b", RAISE: "r"}


class BettingState(NamedTuple):
    """The betting so far.

    Attributes:
        chips: [P] what each player has put in.
        folded: [P] who is out.
        waiting: players who have yet to answer in this round, in their order; the first is to act.
        bets: bets and raises of this round.
        round: 0, 1, ...
        moves: everything that was done, one letter per move, rounds separated by a slash.
    """

    chips: tuple[float, ...]
    folded: tuple[bool, ...]
    waiting: tuple[int, ...]
    bets: int = 0
    round: int = 0
    moves: str = ""

    @property
    def live(self) -> list[int]:
        """Who has not folded."""
        return [player for player, out in enumerate(self.folded) if not out]

    @property
    def is_over(self) -> bool:
        """Whether all others have folded."""
        return self.folded.count(False) == 1


def first_state(players: int, ante: float) -> BettingState:
    """Returns the betting before the first move."""
    return BettingState((ante,) * players, (False,) * players, tuple(range(players)))


@cache
def next_round(state: BettingState) -> BettingState:
    """Returns the betting at the start of the next round: those who are left act in the order of their seats."""
    return BettingState(state.chips, state.folded, tuple(state.live), 0, state.round + 1, state.moves + "/")


@cache
def legal(state: BettingState, max_bets: int) -> tuple[str, ...]:
    """Returns the names of the actions that the player to act has."""
    if state.chips[state.waiting[0]] < max(state.chips):
        return (FOLD, CALL, RAISE) if state.bets < max_bets else (FOLD, CALL)
    return CHECK, BET


@cache
def act(state: BettingState, action: str, size: float) -> BettingState:
    """Returns the betting after an action; `size` is that of a bet."""
    player, *others = state.waiting
    chips, folded = list(state.chips), list(state.folded)
    waiting, bets = tuple(others), state.bets
    if action == FOLD:
        folded[player] = True
    else:
        chips[player] = max(state.chips)
    if action in (BET, RAISE):
        chips[player] += size
        bets += 1
        count = len(chips)
        order = [(player + step) % count for step in range(1, count)]
        waiting = tuple(other for other in order if not folded[other])
    if folded.count(False) == 1:
        waiting = ()
    return BettingState(tuple(chips), tuple(folded), waiting, bets, state.round, state.moves + _LETTERS[action])
