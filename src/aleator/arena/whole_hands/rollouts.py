"""What the actions of a decision are worth against players whose policies are known: the hand is played out many times.

Algorithm:
    What the others did tells how likely their hands are, by their own policies. Everybody's hands and the cards to come
    are drawn so. Each action is tried in every draw, with the same cards and the same luck afterwards; then all play
    on, the one who decides like each of some agents in turn. An action is worth the mean of the chips that are won from
    the decision on by the best of these, so that a fold is worth nothing. It works with any number of players.

Reference: G. Tesauro, G. R. Galperin, "On-line policy improvement using Monte-Carlo search" (NIPS 1996); H. S. Chang,
    R. Givan, E. K. P. Chong, "Parallel Rollout for Online Solution of POMDPs" (2004), for the best of several.
Deviations: none. What an action is worth is a bound from below: who plays on better than all of these wins more.
Status: tests/arena/whole_hands/test_rollouts.py (checking down is worth the exact equity, by a stated z).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.agents.whole_hands.base import HandAgent, ask_held
from aleator.arena.whole_hands.aivat.table_ranges import draw_hands
from aleator.arena.whole_hands.deals import uniform_draws
from aleator.arena.whole_hands.play import choose_actions
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action
from aleator.games.holdem.cards import HANDS, NUM_CARDS, NUM_HANDS, blocked_hands
from aleator.games.holdem.hand_batch import OVER, HandBatch, action_code
from aleator.games.holdem.hand_state import HandState
from aleator.search.whole_hands.rounds import nearest_of

DRAWS: Final = 2000


class Rollout(NamedTuple):
    """What the actions of a decision are worth.

    Attributes:
        actions: that were tried.
        values: [A], chips that each wins from the decision on, a fold nothing.
        errors: [A], the standard error of how much less each is worth than the best one.
    """

    actions: tuple[Action, ...]
    values: FloatArray
    errors: FloatArray


def roll_out(
    state: HandState,
    hand: int,
    agents: Sequence[HandAgent],
    actions: Sequence[Action],
    *,
    going_on: Sequence[HandAgent],
    draws: int = DRAWS,
    seed: int = 0,
) -> Rollout:
    """Returns what actions are worth to the player who decides.

    Args:
        state: of the decision.
        hand: that the player holds.
        agents: who plays in each seat; that of the player who decides is not asked.
        actions: to try, each legal.
        going_on: who may play on for the player; the best after each action counts.
        draws: of everybody's hands and the cards to come.
        seed: of all draws.

    Raises:
        AgentError: no hands of the others fit what they did.
    """
    reach, rng = _reach(state, hand, agents), np.random.default_rng(seed)
    hands = draw_hands(reach, draws, rng)
    if not len(hands):
        raise AgentError("no hands of the other players fit what they did: the hand cannot be played out")
    boards = _boards(state.board, hands, rng)
    won = np.empty((len(going_on), len(actions), len(hands)))
    for number, own in enumerate(going_on):
        table = [own if seat == state.player else agent for seat, agent in enumerate(agents)]
        for column, action in enumerate(actions):
            won[number, column] = _play_on(state, action, table, hands, boards, seed)
    best = won.mean(axis=2).argmax(axis=0)
    won = won[best, np.arange(len(actions))]
    values = won.mean(axis=1)
    behind = won - won[int(values.argmax())]
    return Rollout(tuple(actions), values, np.asarray(behind.std(axis=1) / np.sqrt(len(hands))))


def _reach(state: HandState, hand: int, agents: Sequence[HandAgent]) -> FloatArray:
    """Returns how likely each player is to have acted as it did with each hand, [P, 1326]; 0 for blocked hands."""
    reach = np.ones((state.setup.num_players, NUM_HANDS))
    now = state.setup.start()
    for action in state.actions:
        while due := now.cards_due:
            now = now.deal(state.board[len(now.board) : len(now.board) + due])
        assert now.player is not None
        if now.player != state.player:
            policy = agents[now.player].policy_at(now)
            acted = reach[now.player] * policy.probabilities[nearest_of(policy.actions, action)]
            if acted.max() > 0.0:  # what no hand does tells nothing
                reach[now.player] = acted / acted.max()
        now = now.act(action)
    reach[:, blocked_hands(state.board)] = 0.0
    reach[state.player] = 0.0
    reach[state.player, hand] = 1.0
    return reach


def _boards(board: tuple[int, ...], hands: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Returns all five board cards for each draw of hands [K, P], those that are seen first, [K, 5]."""
    order = rng.random((len(hands), NUM_CARDS))
    used = HANDS[hands].reshape(len(hands), -1).astype(np.int64)
    np.put_along_axis(order, used, 2.0, axis=1)
    order[:, list(board)] = 2.0
    coming = np.argsort(order, axis=1)[:, : 5 - len(board)]
    return np.concatenate([np.tile(np.array(board, np.int64), (len(hands), 1)), coming], axis=1)


def _play_on(
    state: HandState,
    action: Action,
    agents: Sequence[HandAgent],
    hands: npt.NDArray[np.int64],
    boards: npt.NDArray[np.int64],
    seed: int,
) -> FloatArray:
    """Returns the chips that an action wins in each draw from the decision on, [K]."""
    batch, everyone = HandBatch.start(state.setup, hands, boards), np.arange(len(hands))
    for done in (*state.actions, action):
        batch.act(everyone, np.full(len(hands), action_code(done)))
    while len(active := np.flatnonzero(batch.betting.player != OVER)):
        codes = np.empty(len(active), np.int64)
        acting = batch.betting.player[active]
        for seat in np.unique(acting):
            here = np.flatnonzero(acting == seat)
            rows = active[here]
            policy = ask_held(agents[seat], batch, rows, batch.hands[rows, seat].astype(np.int64))
            draws = uniform_draws(seed, rows, batch.num_actions[rows])
            codes[here] = policy.codes[np.arange(len(rows)), choose_actions(batch, rows, policy, draws)]
        batch.act(active, codes)
    assert state.player is not None
    paid = state.betting.contributions[state.player]
    return (batch.payoffs()[:, state.player] + paid).astype(np.float64)
