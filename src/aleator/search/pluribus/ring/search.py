"""A search of Pluribus: the round is solved from its start, at everybody's beliefs there, with one's own past held.

Algorithm:
    Linear Monte Carlo CFR (`walk`), in periods: after period t everything is multiplied by t / (t + 1), and the current
    policy is added to the average with weight t. What the searcher has done in the round is held fixed, for all of its
    hands; everybody else may have done otherwise. The current policy at the end is what is played; beliefs in
    the next round follow from the average.
    Traversals that begin with the round come to the decision as seldom as the others do what they have done. Where that
    was hardly ever, as many traversals follow that begin at the decision, at beliefs by the average policy.

Reference: N. Brown, T. Sandholm, "Superhuman AI for multiplayer poker" (Science 2019), supplement; thesis 6.6.
Deviations: the average is taken at the end of periods, not in all iterations. The papers do not say what is played
    after a bet that the solution never makes; here the traversals that begin at the decision say it.
Status: tests/search/pluribus/ring/test_search.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.betting import MOST_ACTIONS
from aleator.abstraction.ring.policy import RingPolicy
from aleator.caching import lru_cache
from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action, BettingState
from aleator.games.holdem.cards import HAND_CLASSES, HAND_MASKS, NUM_CARDS, NUM_HANDS, blocked_hands
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.hand_state import BOARD_CARDS
from aleator.search.pluribus.ring.arrays import Chances, Guide, Room
from aleator.search.pluribus.ring.average import add_average
from aleator.search.pluribus.ring.tree import CONTINUATIONS, DECISION, RoundTree, build_round
from aleator.search.pluribus.ring.walk import search_deals

_PERIODS: Final = 40
_MEETINGS: Final = 200  # of a decision in traversals that begin with the round, if these are to suffice
_LEAST: Final = 1e-3  # of a hand's probability to do what was done
Held = Mapping[tuple[Action, ...], Mapping[Action, FloatArray]]
"""What the searcher played in a round: each action's probabilities ``[1326]``, by the actions before the decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RingTask:
    """What is searched.

    Attributes:
        start: the betting at the start of the round, or where its search begins.
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
        columns: of each of them in the tables.
        regrets, sums: the tables, of the last iteration and of the average.

    Attributes:
        visits: of nodes, so far.
    """

    def __init__(
        self, tree: RoundTree, hands: npt.NDArray[np.int64], columns: npt.NDArray[np.int64],
        regrets: npt.NDArray[np.float32], sums: npt.NDArray[np.float32],
    ) -> None:  # fmt: skip
        self.tree, self.hands, self.columns = tree, hands, columns
        self.visits = 0
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

    def follow(self, beliefs: FloatArray, actions: Sequence[Action]) -> FloatArray:
        """Returns beliefs at the start times how likely hands are to have done what was done, ``[P, 1326]``.

        That is by the average policy; a hand that never does it is kept with a thousandth.
        """
        reach, node = beliefs.copy(), 0
        for action in actions:
            reach[self.tree.arrays.player[node]] *= np.maximum(self.average(node)[action], _LEAST)
            node = self.tree.child(node, action)
        return reach

    def _policy(self, node: int, table: npt.NDArray[np.float32]) -> dict[Action, FloatArray]:
        actions, count = self.tree.actions[node], int(self.columns.max()) + 1
        at = int(self.tree.arrays.row[node])
        block = np.maximum(table[at : at + len(actions) * count], 0.0).reshape(len(actions), count).astype(np.float64)
        total = block.sum(axis=0)
        block = np.divide(block, total, out=np.full_like(block, 1.0 / len(actions)), where=total > 0.0)
        rows = np.full((len(actions), NUM_HANDS), 1.0 / len(actions))
        rows[:, self.hands] = block[:, self.columns]
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
    search = _Search(task, policy, most, np.random.default_rng([seed, len(task.board), *task.board, len(task.played)]))
    chances = draw_chances(task, policy, search.found.hands, boards, seed)
    search.run(0, chances, iterations)
    decision, line = search.tree.path[-1], task.played[: len(search.tree.path) - 1]
    reach = search.found.follow(task.beliefs / task.beliefs.sum(axis=1, keepdims=True), line)
    others = np.arange(len(reach)) != search.tree.arrays.player[decision]
    if iterations * float(reach[others].sum(axis=1).prod()) < _MEETINGS:
        search.run(decision, _believing(chances, reach[:, search.found.hands]), iterations)
    return search.found


class _Search:
    """A search in the making: the round, its tables, and what is held.

    Args:
        task: what is searched.
        policy: the blueprint.
        most: decisions of the tree.
        rng: of all randomness.
    """

    def __init__(self, task: RingTask, policy: RingPolicy, most: int, rng: np.random.Generator) -> None:
        hands = np.flatnonzero(~blocked_hands(task.board))
        columns = hand_columns(task.start.street, hands)
        count = int(columns.max()) + 1
        self.rng, self.tree = rng, build_round(task.start, task.played, policy, task.guide, count, most=most)
        self.regrets, self.sums = np.zeros(self.tree.size, np.float32), np.zeros(self.tree.size, np.float32)
        self.found = SearchedRound(self.tree, hands, columns, self.regrets, self.sums)
        self.guide = Guide(
            policy.betting.arrays, policy.probabilities, policy.kinds, policy.counts, float(policy.betting.stack)
        )
        self.fixed, self.held = _hold(self.tree, task, hands, columns)
        self.room, self.before = search_room(self.tree, policy, len(hands)), last_decisions(self.tree)
        self.reach = np.zeros((len(self.tree.actions), count), np.float32)

    def run(self, root: int, chances: Chances, iterations: int) -> None:
        """Solves what is below a decision, at the beliefs there."""
        tree, done, periods = self.tree, 0, min(_PERIODS, iterations)
        wanted, seed = _nodes_below(tree, root), np.uint64(self.rng.integers(2**62))
        for period in range(1, periods + 1):
            count = iterations * period // periods - done
            visits, _ = search_deals(
                seed, done, count, root, tree.arrays, self.guide, chances, self.fixed, self.held, self.regrets,
                self.room,
            )  # fmt: skip
            done, self.found.visits = done + count, self.found.visits + visits
            add_average(
                float(period), wanted, tree.arrays, self.before, self.fixed, self.held, self.regrets, self.sums,
                self.reach, self.room.policy,
            )  # fmt: skip
            if period < periods:
                self.regrets *= np.float32(period / (period + 1.0))


def hand_columns(street: int, hands: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Returns the column of each hand in the tables of a round: its class before the flop, one of its own later."""
    return HAND_CLASSES[hands].astype(np.int64) if street == 0 else np.arange(len(hands))


def _nodes_below(tree: RoundTree, root: int) -> npt.NDArray[np.bool_]:
    """Returns which nodes are a node or below it, ``[N]``."""
    below = np.zeros(len(tree.actions), np.bool_)
    below[root] = True
    for node in np.flatnonzero(tree.arrays.kind == DECISION):  # parents before children
        if below[node]:
            below[tree.arrays.child[tree.arrays.first[node] : tree.arrays.first[node + 1]]] = True
    return below


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
        odds=np.zeros(max(most, MOST_ACTIONS)),  # of the tree's decisions, and of the blueprint's behind it
    )


def draw_chances(task: RingTask, policy: RingPolicy, hands: npt.NDArray[np.int64], count: int, seed: int) -> Chances:
    """Returns beliefs, and boards to the end of the hand: all of them if there are no more than are asked for."""
    boards = _draw_boards(policy, task.start.rules.num_streets, task.board, count, seed)
    columns, street = hand_columns(task.start.street, hands), task.start.street
    numbers = boards.numbers.copy()
    numbers[:, street] = columns
    blank, columns_used = np.zeros((len(task.beliefs), len(hands))), int(columns.max()) + 1
    chances = Chances(
        HAND_MASKS[hands], blank, blank.astype(np.float32), boards.masks, boards.strengths, numbers, columns_used
    )
    return _believing(chances, task.beliefs[:, hands])


class _Boards(NamedTuple):
    """Cards that may come: see `Chances`; nothing on the street of the search."""

    masks: npt.NDArray[np.uint64]
    strengths: npt.NDArray[np.int16]
    numbers: npt.NDArray[np.int16]


@lru_cache(maxsize=8)  # all searches of a round have the same
def _draw_boards(policy: RingPolicy, num_streets: int, board: tuple[int, ...], count: int, seed: int) -> _Boards:
    rest, hands = np.setdiff1d(np.arange(NUM_CARDS), board), np.flatnonzero(~blocked_hands(board))
    missing, rng = BOARD_CARDS[num_streets - 1] - len(board), np.random.default_rng([seed, len(board), *board])
    if missing == 0:
        futures = np.zeros((1, 0), np.int64)
    elif missing == 1:
        futures = rest[:, None]
    else:
        futures = np.array([rng.permutation(rest)[:missing] for _ in range(count)])
    numbers, strong = np.zeros((len(futures), 4, len(hands)), np.int16), np.zeros((len(futures), len(hands)), np.int16)
    for row, future in enumerate(futures):
        whole = np.concatenate((np.asarray(board, np.int64), future))
        strong[row] = strengths(whole.astype(np.int8))[hands]
        for street in range(BOARD_CARDS.index(len(board)) + 1, num_streets):
            numbers[row, street] = policy.buckets.numbers(whole[: BOARD_CARDS[street]])[hands]
    masks = np.bitwise_or.reduce(np.uint64(1) << futures.astype(np.uint64), axis=1, initial=np.uint64(0))
    return _Boards(masks.astype(np.uint64), strong, numbers)


def _believing(chances: Chances, beliefs: FloatArray) -> Chances:
    """Returns the same with other beliefs, ``[P, H]``, not normalised."""
    total = beliefs.sum(axis=1, keepdims=True)
    if not (total > 0.0).all():
        raise SolveError("a player is believed to hold no hand that the board allows")
    beliefs = beliefs / total
    ends = np.cumsum(beliefs, axis=1)
    ends[:, -1] = 1.0
    return chances._replace(ends=ends, beliefs=np.ascontiguousarray(beliefs, np.float32))


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
    tree: RoundTree, task: RingTask, hands: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Returns the policies that are held, and where that of each node begins."""
    hands = hands[np.unique(columns, return_index=True)[1]]  # one of each column
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
