"""What the actions of a decision are worth against players whose policies are known: the hand is played out many times.

Algorithm:
    What the others did tells how likely their hands are, by their own policies. Everybody's hands and the cards to come
    are drawn so. Each action is tried in every draw, with the same cards and the same luck afterwards; then all play
    on, the one who decides like each of some agents in turn. An action is worth the mean of the chips that are won from
    the decision on by the best of these, so that a fold is worth nothing. It works with any number of players.
    Where agents take long to look at a board, boards come from a few hundred flops with a turn (`turns`), the same for
    all decisions: draws with the same one are counted as one observation in what the values may be off by.

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
from aleator.arena.whole_hands.ranges import reach_along
from aleator.caching import lru_cache
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action
from aleator.games.holdem.cards import HAND_MASKS, HANDS, NUM_CARDS, NUM_HANDS, blocked_hands
from aleator.games.holdem.hand_batch import OVER, HandBatch, action_code
from aleator.games.holdem.hand_state import HandState
from aleator.search.whole_hands.rounds import nearest_of

DRAWS: Final = 2000
_TRIES: Final = 8  # of hands for each draw, in each of
_ROUNDS: Final = 25
_RIVERS: Final = 8  # that come after each turn, where turns are few


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
    turns: int | None = None,
    reach: FloatArray | None = None,
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
        turns: how many different boards of four cards may come; None: any.
        reach: how likely each hand of each player is to have come here, ``[P, 1326]``; None: by the agents' policies.
        seed: of all draws.

    Raises:
        AgentError: no hands of the others fit what they did.
    """
    reach = _reach(state, agents) if reach is None else reach.copy()
    assert state.player is not None
    reach[:, blocked_hands(state.board)] = 0.0
    reach[state.player] = 0.0
    reach[state.player, hand] = 1.0
    rng = np.random.default_rng(seed)
    hands = _draw_hands(reach, draws, rng)
    if turns is None:
        boards, groups = _boards(state.board, hands, rng), np.arange(len(hands))
    else:
        hands, boards, groups = _few_boards(_pool(state.board, turns, seed), hands, rng)
    if not len(hands):
        raise AgentError("no hands of the other players fit what they did: the hand cannot be played out")
    won = np.empty((len(going_on), len(actions), len(hands)))
    for number, own in enumerate(going_on):
        table = [own if seat == state.player else agent for seat, agent in enumerate(agents)]
        for column, action in enumerate(actions):
            won[number, column] = _play_on(state, action, table, hands, boards, seed)
    best = won.mean(axis=2).argmax(axis=0)
    won = won[best, np.arange(len(actions))]
    values = won.mean(axis=1)
    behind = won - won[int(values.argmax())]
    return Rollout(tuple(actions), values, _errors(behind, groups))


def _errors(numbers: FloatArray, groups: npt.NDArray[np.int64]) -> FloatArray:
    """Returns the standard errors of the means of rows ``[A, K]`` in which groups of draws are not independent."""
    away = numbers - numbers.mean(axis=1, keepdims=True)
    sums = np.stack([np.bincount(groups, row) for row in away])
    return np.asarray(np.sqrt((sums**2).sum(axis=1)) / numbers.shape[1])


def _draw_hands(reach: FloatArray, draws: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Returns hands of all players, ``[K, P]``; fewer than were asked for if most have common cards."""
    found = np.zeros((0, len(reach)), np.int64)
    for _ in range(_ROUNDS):
        found = np.concatenate([found, draw_hands(reach, draws, rng, tries=_TRIES)])[:draws]
        if len(found) == draws:
            break
    return found


def _reach(state: HandState, agents: Sequence[HandAgent]) -> FloatArray:
    """Returns how likely each other player is to have acted as it did with each hand, [P, 1326]."""

    def likely(now: HandState, player: int, action: Action) -> FloatArray:
        if player == state.player:
            return np.ones(NUM_HANDS)
        policy = agents[player].policy_at(now)
        acted: FloatArray = policy.probabilities[nearest_of(policy.actions, action)]
        return acted

    return reach_along(state, likely)


def _boards(board: tuple[int, ...], hands: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Returns all five board cards for each draw of hands [K, P], those that are seen first, [K, 5]."""
    order = rng.random((len(hands), NUM_CARDS))
    used = HANDS[hands].reshape(len(hands), -1).astype(np.int64)
    np.put_along_axis(order, used, 2.0, axis=1)
    order[:, list(board)] = 2.0
    coming = np.argsort(order, axis=1)[:, : 5 - len(board)]
    return np.concatenate([np.tile(np.array(board, np.int64), (len(hands), 1)), coming], axis=1)


class _Pool(NamedTuple):
    """Boards that may come: ``boards`` ``[N, 5]``, and which of them have the same first four cards, ``[N]``."""

    boards: npt.NDArray[np.int64]
    groups: npt.NDArray[np.int64]


@lru_cache(maxsize=64)
def _pool(board: tuple[int, ...], turns: int, seed: int) -> _Pool:
    """Returns boards that begin with given cards: so many of four cards, each with a few rivers."""
    rng, missing = np.random.default_rng(seed), max(4 - len(board), 0)
    rest = np.setdiff1d(np.arange(NUM_CARDS), board)
    firsts = [board + tuple(rng.choice(rest, missing, replace=False).tolist()) for _ in range(turns)]
    boards, groups = list[tuple[int, ...]](), list[int]()
    for number, first in enumerate(dict.fromkeys(firsts)):
        rivers = np.setdiff1d(rest, first) if len(first) < 5 else np.zeros(0, np.int64)
        count = len(rivers) if len(board) == 4 else min(_RIVERS, len(rivers))
        ends = [(*first, card) for card in rng.choice(rivers, count, replace=False).tolist()] or [first]
        boards += ends
        groups += range(len(ends)) if len(board) > 3 else [number] * len(ends)
    return _Pool(np.array(boards, np.int64), np.array(groups, np.int64))


def _few_boards(
    pool: _Pool, hands: npt.NDArray[np.int64], rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns hands ``[K, P]``, for each a board of a pool ``[K, 5]``, and its group; without hands that none fits."""
    held = np.bitwise_or.reduce(HAND_MASKS[hands], axis=1)
    shown = np.bitwise_or.reduce(np.uint64(1) << pool.boards.astype(np.uint64), axis=1)
    chosen = np.full(len(hands), -1)
    for _ in range(_ROUNDS * _TRIES):
        left = np.flatnonzero(chosen < 0)
        if not len(left):
            break
        wanted = rng.integers(0, len(shown), len(left))
        fits = (held[left] & shown[wanted]) == 0
        chosen[left[fits]] = wanted[fits]
    kept = chosen >= 0
    return hands[kept], pool.boards[chosen[kept]], pool.groups[chosen[kept]]


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
