"""What the rest of a hand is worth from a street on, when both agents play as they say: for matches with stakes.

Algorithm:
    A hand has come to the first decision of a street, and both players' reach is known. Both agents are asked what they
    do there, for all hands, and at every decision that can follow on that street: so hands and actions are no luck. An
    end on that street counts by the ranges that come to it, all-in by the equity over the cards to come. Lines that go
    on are followed with probability q, the share of their chips (how likely they are times how large the pot has grown)
    over a threshold, at most 1, and count 1 / q times; the next card is the one that was dealt. What comes out is the
    expectation of the winnings given the cards and these draws, so its mean is that of a match.
    Both hands of a duplicate deal begin at the same decision with the same ranges, have the same cards and the same
    draws: what was luck for one seat was so for the other.

Reference: D. Blackwell (1947), conditional expectations in place of results; J. von Neumann's "Russian roulette" for
which lines are followed. In AIVAT's words (Burch et al. 2018) all private cards and all actions are averaged over.
Deviations: none.
Status: tests/arena/whole_hands/test_rest.py (equal to a recursion over all actions; its mean is that of matches).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.agents.whole_hands.base import HandAgent, ask_policies
from aleator.arena.whole_hands.aivat.hand_value import EquityValue, living_hands
from aleator.arena.whole_hands.deals import uniform_draws
from aleator.arena.whole_hands.ranges import reach_along
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action
from aleator.games.holdem.cards import without_common_cards
from aleator.games.holdem.hand_batch import NO_CODE, HandBatch, code_action
from aleator.games.holdem.hand_state import HandState

FOLLOWED: Final = 0.4
"""Lines with this share of the chips, or more, are always followed."""
_FOLLOWING: Final = 0x2545F4914F6CDD1D  # keeps these draws apart from those of cards, actions and hands


class Line(NamedTuple):
    """A place in a hand: what is public there, and both players' reach, ``[2, 1326]``, 0 where the board blocks."""

    state: HandState
    reach: FloatArray

    @property
    def mass(self) -> float:
        """How many pairs of hands that share no card come here, each as often as it does."""
        return float(self.reach[0] @ without_common_cards(self.reach[1]))


class RestOfHand:
    """Values of hands from a street on.

    Args:
        agents: the players.
        seed: of which lines are followed.
        followed: see `FOLLOWED`.
    """

    def __init__(self, agents: Sequence[HandAgent], seed: int = 0, followed: float = FOLLOWED) -> None:
        self.agents, self.seed, self.followed = agents, seed, followed
        self._equity = EquityValue()

    def winnings(self, start: Line, seats: npt.NDArray[np.int64], board: Sequence[int], deal: int) -> float:
        """Returns what player 0 wins in chips.

        Args:
            start: the first decision of a street.
            seats: the agent in each seat, ``[2]``.
            board: all cards that were dealt to it.
            deal: its number, which draws follow from.
        """
        total, pot = 0.0, start.state.betting.pot
        waiting = [(start, 1.0)]
        while waiting:
            line, weight = waiting.pop()
            mass = Line(start.state, start.reach * living_hands(np.array(line.state.board, np.int64))).mass
            ends, going_on = self._play_street(line, seats)
            total += weight * self._won(ends) / mass
            for later in going_on:
                stake = weight * later.mass / mass * later.state.betting.pot / pot
                chance = min(stake / self.followed, 1.0)
                if chance > 0.0 and self._draw(later.state, deal) < chance:
                    count = len(later.state.board)
                    dealt = later.state.deal(board[count : count + later.state.cards_due])
                    reach = later.reach * living_hands(np.array(dealt.board, np.int64))
                    waiting.append((Line(dealt, reach), weight / chance))
        return total

    def _play_street(self, start: Line, seats: npt.NDArray[np.int64]) -> tuple[list[Line], list[Line]]:
        """Returns all ends of the hand on a street, and all lines that go on behind it."""
        ends, going_on, level = list[Line](), list[Line](), [start]
        while level:
            following = list[Line]()
            for seat in (0, 1):
                here = [line for line in level if line.state.player == seat]
                if not here:
                    continue
                batch = HandBatch.of_states([line.state for line in here])
                policy = ask_policies(self.agents[seats[seat]], batch, np.arange(len(here)))
                for line, codes, rows in zip(here, policy.codes, policy.probabilities, strict=True):
                    for code, chances in zip(codes.tolist(), rows, strict=True):
                        reach = line.reach.copy()
                        reach[seat] *= chances
                        if code == NO_CODE or not reach[seat].any():
                            continue
                        after = Line(line.state.act(code_action(code)), reach)
                        is_open = not after.state.betting.is_over
                        (ends if not is_open else going_on if after.state.cards_due else following).append(after)
            level = following
        return ends, going_on

    def _won(self, ends: list[Line]) -> float:
        """Returns what player 0 wins at some ends of the hand on one board, summed over pairs of hands."""
        total, shown = 0.0, list[Line]()
        for end in ends:
            paid, folded = _paid(end.state), end.state.betting.folded
            if folded[0]:
                total -= paid[0] * end.mass
            elif folded[1]:
                total += (paid[1] + end.state.betting.dead) * end.mass
            else:
                shown.append(end)
        if shown:
            board = np.array(shown[0].state.board, np.int8)
            rows = self._equity.showdowns(board, np.stack([end.reach[1] for end in shown]))
            for end, won, met in zip(shown, *rows, strict=True):
                paid = _paid(end.state)
                total += (sum(paid) + end.state.betting.dead) * float(end.reach[0] @ won)
                total -= paid[0] * float(end.reach[0] @ met)
        return total

    def _draw(self, state: HandState, deal: int) -> float:
        """Returns a number in [0, 1) that follows from the deal and what was done in it."""
        text = " ".join(f"{action.kind}{action.amount}" for action in state.actions)
        count = np.array([zlib.crc32(text.encode())], np.int64)
        return float(uniform_draws(self.seed ^ _FOLLOWING, np.array([deal]), count)[0])


def _paid(state: HandState) -> list[int]:
    """Returns the chips of both players that can be won."""
    cap = min(state.setup.stacks)
    return [min(chips, cap) for chips in state.betting.contributions]


def line_to(agents: Sequence[HandAgent], state: HandState) -> Line:
    """Returns a place with the reach that agents come there with.

    Args:
        agents: who has played so far, by seat.
        state: of a hand that they played.
    """

    def likely(now: HandState, player: int, action: Action) -> FloatArray:
        policy = agents[player].policy_at(now)
        acted: FloatArray = policy.probabilities[policy.actions.index(action)]
        return acted

    return Line(state, reach_along(state, likely) * living_hands(np.array(state.board, np.int64)))
