"""Whole games of two players by tables of policies, counted.

Algorithm:
    Before a game each player chooses by chance which of two policies it plays. Every decision is counted at its entry,
    the row of its infostate and the action, together with what came of it: the reward if the player does not decide
    again, else its next infostate. Players forget nothing, so that an infostate has one entry of its player before it:
    how often a decision led there is how often somebody came there.

Reference: Heinrich and Silver 2016, Algorithm 1 (the episodes).
Deviations: none.
Status: tests/solvers/test_self_play.py, tests/learning/sampled/test_self_play.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.games.base import TERMINAL, FloatArray
from aleator.jit import kernel
from aleator.solvers.engines.sampling.histories import (
    ACTIONS,
    ACTOR,
    FIRST_CHILD,
    MOVES,
    PAIRS,
    ROW,
    UTILITY,
    Histories,
)
from aleator.solvers.engines.sampling.random import advance, pick, stream, uniform
from aleator.solvers.engines.sampling.rows import wide

NOBODY = -1


class Counts(NamedTuple):
    """What was counted; E entries of rows.

    Attributes:
        number: [E] int64: decisions for an action.
        rewards: [E]: won by those who did not decide again after it.
        arrivals: [E] int64: how often a row's player came there from a decision of its own; at the row's first entry.
        before: [E] int64: the entry of that decision, NOBODY where there was none.
        responses: [E] int64: decisions by the first policy; at the row's first entry.
        last: [2] int64: the entry of each player's last decision in a game.
        plays: [2] int64: which policy each player plays in it.
    """

    number: npt.NDArray[np.int64]
    rewards: FloatArray
    arrivals: npt.NDArray[np.int64]
    before: npt.NDArray[np.int64]
    responses: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    plays: npt.NDArray[np.int64]


def new_counts(entries: int) -> Counts:
    """Returns counts of nothing."""
    number, arrivals, before, responses = (np.zeros(entries, np.int64) for _ in range(4))
    before[:] = NOBODY
    return Counts(number, np.zeros(entries), arrivals, before, responses, np.zeros(2, np.int64), np.zeros(2, np.int64))


@kernel()
def play_games(
    game: Histories, ends: FloatArray, share: float, games: int, seed: np.uint64, epoch: int, counts: Counts
) -> int:
    """Plays games and counts; returns how many nodes were visited.

    Args:
        game: what is played.
        ends: [2, E]: of both policies the probability of an action and those before it.
        share: the chance that a player plays the first policy in a game.
        games: how many.
        seed, epoch: of the random numbers.
        counts: what is counted, added to what was.
    """
    nodes, hands = game.nodes, game.hands
    last, plays = counts.last, counts.plays
    touched = wide(0)
    for number in range(games):
        state = stream(seed, epoch, 0, number)
        for player in range(2):
            state = advance(state)
            plays[player] = 0 if uniform(state) < share else 1
            last[player] = NOBODY
        state = advance(state)
        pair = wide(pick(game.deal_end, 0, len(game.deal_end), uniform(state)))
        node = wide(0)
        touched += 1
        while nodes[node, ACTOR] != TERMINAL:
            touched += 1
            actor, actions, action = wide(nodes[node, ACTOR]), wide(nodes[node, ACTIONS]), wide(0)
            if actor >= 0:
                row = nodes[node, ROW] + actions * hands[nodes[node, PAIRS] + pair, actor]
                state = advance(state)
                action = wide(pick(ends[plays[actor]], row, row + actions, uniform(state))) - row
                if last[actor] != NOBODY:
                    counts.arrivals[row] += 1
                    counts.before[row] = last[actor]
                if plays[actor] == 0:
                    counts.responses[row] += 1
                last[actor] = row + action
                counts.number[row + action] += 1
            child = nodes[node, FIRST_CHILD]
            if nodes[node, MOVES] < 0:
                node = wide(child + action)
            else:
                move = nodes[node, MOVES] + pair * max(actions, 1) + action
                state = advance(state)
                outcome = pick(game.outcome_end, game.move_at[move], game.move_at[move + 1], uniform(state))
                node, pair = wide(child + game.outcome_child[outcome]), wide(game.outcome_pair[outcome])
        won = game.stake[node] * game.utility[nodes[node, UTILITY] + pair]
        if last[0] != NOBODY:
            counts.rewards[last[0]] += won
        if last[1] != NOBODY:
            counts.rewards[last[1]] -= won
    return touched
