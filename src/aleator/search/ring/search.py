"""A search of Pluribus: the round is solved from its start, at everybody's beliefs there, with one's own past held.

Algorithm:
    Linear Monte Carlo CFR (`walk`), in periods: after period t everything is multiplied by t / (t + 1), and the current
    policy is added to the average with weight t. What the searcher has done in the round is held fixed, for all of its
    hands; everybody else may have done otherwise. The current policy at the end is what is played; beliefs in
    the next round follow from the average.

Reference: N. Brown, T. Sandholm, "Superhuman AI for multiplayer poker" (Science 2019), supplement; thesis 6.6.
Deviations: the average is taken at the end of periods, not in all iterations.
Status: tests/search/ring/test_search.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from aleator.abstraction.ring.policy import RingPolicy
from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action, BettingState
from aleator.games.holdem.cards import HANDS, NUM_CARDS, NUM_HANDS, blocked_hands
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.hand_state import BOARD_CARDS
from aleator.search.ring.tree import CONTINUATIONS, DECISION, RoundTree, build_round
from aleator.search.ring.walk import Chances, Guide, Room, add_average, search_deals

_PERIODS: Final = 40
_MASKS: Final = np.bitwise_or(*(np.uint64(1) << HANDS.astype(np.uint64).T))
Held = Mapping[tuple[Action, ...], Mapping[Action, FloatArray]]
"""What the searcher played in a round: each action's probabilities ``[1326]``, by the actions before the decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RingTask:
    """What is searched.

    Attributes:
        start: the betting at the start of the round.
        board: its cards.
        played: what was done in the round; the decision after it is searched for (the last one, if it is over).
        beliefs: of all players at the start of the round, ``[P, 1326]``, not 0 everywhere for anybody.
        guide: the blueprint's decision at the start of the round; None if it has none.
        held: what the searcher played in the round.
    """

    start: BettingState
    board: tuple[int, ...]
    played: tuple[Action, ...]
    beliefs: FloatArray
    guide: int | None
    held: Held


class SearchedRound:
    """A round that was searched.

    Args:
        tree: the round.
        hands: of the 1,326, those that the board allows.
        regrets, sums: the tables, of the last iteration and of the average.
        visits: of nodes.
    """

    def __init__(
        self, tree: RoundTree, hands: npt.NDArray[np.int64], regrets: npt.NDArray[np.float32],
        sums: npt.NDArray[np.float32], visits: int,
    ) -> None:  # fmt: skip
        self.tree, self.hands, self.visits = tree, hands, visits
        self._regrets, self._sums = regrets, sums

    def played(self) -> dict[Action, FloatArray]:
        """Returns what the searcher plays at the decision that was searched for: the last iteration's policy."""
        return self._policy(self.tree.path[-1], self._regrets)

    def has(self, actions: Sequence[Action]) -> bool:
        """Returns whether the round has a line of actions from its start on."""
        node = 0
        for action in actions:
            if action not in self.tree.actions[node]:
                return False
            node = self.tree.child(node, action)
        return True

    def average(self, node: int) -> dict[Action, FloatArray]:
        """Returns the average policy of a decision of the round, ``[1326]`` for each action."""
        return self._policy(node, self._sums)

    def _policy(self, node: int, table: npt.NDArray[np.float32]) -> dict[Action, FloatArray]:
        actions, count = self.tree.actions[node], len(self.hands)
        at = int(self.tree.arrays.row[node])
        block = np.maximum(table[at : at + len(actions) * count], 0.0).reshape(len(actions), count).astype(np.float64)
        total = block.sum(axis=0)
        block = np.divide(block, total, out=np.full_like(block, 1.0 / len(actions)), where=total > 0.0)
        rows = np.full((len(actions), NUM_HANDS), 1.0 / len(actions))
        rows[:, self.hands] = block
        return dict(zip(actions, rows, strict=True))


def search_round(
    task: RingTask, policy: RingPolicy, *, iterations: int, boards: int = 300, most: int = 400, seed: int = 0
) -> SearchedRound:
    """Returns a round, searched.

    Args:
        task: what is searched.
        policy: the blueprint.
        iterations: traversals of each player who is in.
        boards: that are drawn to the end of the hand.
        most: decisions of the tree; see `build_round`.
        seed: of all randomness.
    """
    hands = np.flatnonzero(~blocked_hands(task.board))
    tree = build_round(task.start, task.played, policy, task.guide, len(hands), most=most)
    rng = np.random.default_rng([seed, len(task.board), *task.board, len(task.played)])
    chances = draw_chances(task, policy, hands, boards, rng)
    guide = Guide(policy.betting.arrays, policy.probabilities, policy.kinds, policy.counts, float(policy.betting.stack))
    fixed, held = _hold(tree, task, hands)
    regrets, sums = np.zeros(tree.size, np.float32), np.zeros(tree.size, np.float32)
    room = search_room(tree, policy, len(hands))
    before, reach = last_decisions(tree), np.zeros((len(tree.actions), len(hands)), np.float32)
    visits, done = 0, 0
    periods = min(_PERIODS, iterations)
    for period in range(1, periods + 1):
        count = iterations * period // periods - done
        made, _ = search_deals(
            np.uint64(rng.integers(2**62)), done, count, tree.arrays, guide, chances, fixed, held, regrets, room
        )
        done, visits = done + count, visits + made
        add_average(float(period), tree.arrays, before, fixed, held, regrets, sums, reach, room.policy)
        if period < periods:
            regrets *= np.float32(period / (period + 1.0))
    return SearchedRound(tree, hands, regrets, sums, visits)


def search_room(tree: RoundTree, policy: RingPolicy, hands: int) -> Room:
    """Returns working memory."""
    nodes, players = len(tree.actions), tree.arrays.paid.shape[1]
    most = max(CONTINUATIONS, *(len(actions) for actions in tree.actions))
    buckets = int(policy.counts.max())
    return Room(
        visit=np.zeros(nodes + 1, np.int32),
        below=np.zeros(nodes + 1, np.int32),
        hands=np.zeros(players, np.int32),
        chosen=np.zeros(players, np.int32),
        alive=np.zeros(hands, np.float32),
        values=np.zeros((nodes + 1, hands), np.float32),
        policy=np.zeros((most + 1, max(hands, buckets)), np.float32),
        weights=np.zeros((CONTINUATIONS, hands), np.float32),
        shares=np.zeros((CONTINUATIONS, buckets), np.float32),
        mean=np.zeros(16),
    )


def draw_chances(
    task: RingTask, policy: RingPolicy, hands: npt.NDArray[np.int64], count: int, rng: np.random.Generator
) -> Chances:
    """Returns beliefs, and boards to the end of the hand: all of them if there are no more than are asked for."""
    beliefs = task.beliefs[:, hands]
    total = beliefs.sum(axis=1, keepdims=True)
    if not (total > 0.0).all():
        raise SolveError("a player is believed to hold no hand that the board allows")
    beliefs = beliefs / total
    ends = np.cumsum(beliefs, axis=1)
    ends[:, -1] = 1.0
    last = BOARD_CARDS[task.start.rules.num_streets - 1]
    rest = np.setdiff1d(np.arange(NUM_CARDS), task.board)
    missing = last - len(task.board)
    if missing == 0:
        futures = np.zeros((1, 0), np.int64)
    elif missing == 1:
        futures = rest[:, None]
    else:
        futures = np.array([rng.permutation(rest)[:missing] for _ in range(count)])
    numbers = np.zeros((len(futures), 4, len(hands)), np.int16)
    strong = np.zeros((len(futures), len(hands)), np.int16)
    for row, future in enumerate(futures):
        board = np.concatenate((np.asarray(task.board, np.int64), future))
        strong[row] = strengths(board.astype(np.int8))[hands]
        for street in range(task.start.street, task.start.rules.num_streets):
            numbers[row, street] = (
                np.arange(len(hands))
                if street == task.start.street
                else policy.buckets.numbers(board[: BOARD_CARDS[street]])[hands]
            )
    masks = np.bitwise_or.reduce(np.uint64(1) << futures.astype(np.uint64), axis=1, initial=np.uint64(0))
    return Chances(
        _MASKS[hands], ends, np.ascontiguousarray(beliefs, np.float32), masks.astype(np.uint64), strong, numbers
    )


def last_decisions(tree: RoundTree) -> npt.NDArray[np.int32]:
    """Returns the last decision of the same player above each decision, and the action there, ``[N, 2]``; -1: none."""
    arrays = tree.arrays
    parent = np.full((len(tree.actions), 2), -1, np.int64)
    for node, actions in enumerate(tree.actions):
        for action in range(len(actions)):
            parent[arrays.child[arrays.first[node] + action]] = node, action
    before = np.full((len(tree.actions), 2), -1, np.int32)
    for node in range(len(tree.actions)):
        above, action = parent[node]
        while arrays.kind[node] == DECISION and above >= 0:
            if arrays.player[above] == arrays.player[node]:
                before[node] = above, action
                break
            above, action = parent[above]
    return before


def _hold(
    tree: RoundTree, task: RingTask, hands: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Returns the policies that are held, and where that of each node begins."""
    held, blocks, size = np.full(len(tree.actions), -1, np.int64), list[npt.NDArray[np.float32]](), 0
    for turn, node in enumerate(tree.path[:-1]):
        played = task.held.get(task.played[:turn])
        if played is None:
            continue
        rows = np.array([played.get(action, np.zeros(NUM_HANDS))[hands] for action in tree.actions[node]])
        total = rows.sum(axis=0)
        rows = np.divide(rows, total, out=np.full_like(rows, 1.0 / len(rows)), where=total > 0.0)
        held[node] = size
        size += rows.size
        blocks.append(rows.astype(np.float32).reshape(-1))
    return np.concatenate([*blocks, np.zeros(1, np.float32)]), held
