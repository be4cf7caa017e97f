"""Public states from histories: which histories belong together, and who holds which hand in them.

Algorithm:
    Histories are taken in the order of *time*. The rows of a level are the histories reached so far at which the game
    goes on, each with the public state it comes from and the hands it comes from. A player's hand is where it comes from
    (its previous hand and, if it just moved, the action) together with its infostate now. Rows that share a hand of
    either player belong to one public state: the connected components are what is common knowledge (or the rows are
    grouped by what the game calls a public observation). Hands refine hands, so the map to the hand before is a function.

    If the number of decisions so far is known to everybody, it is the time. Otherwise time is a number given to every
    infostate, larger than that of any infostate before it in any history, even for player 0 and odd for player 1. A history
    whose time has not come waits: its hands take a forced move.

Reference: for time that is not public, Jakobsen, Sørensen, Conitzer, "Timeability of extensive-form games" (2016).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from aleator.errors import GameError
from aleator.games.base import CHANCE, TERMINAL, FloatArray, IntArray
from aleator.games.history_walk import Walk

MIXED = -1


class NotPublicError(Exception):
    """The histories cannot be grouped this way: an infostate would lie in two public states."""


class _Rows(NamedTuple):
    """Histories of a level [R]: where they come from (public state, action, hands as in `Child.origin`)."""

    history: IntArray
    parent: IntArray
    action: IntArray
    origin: tuple[IntArray, IntArray]

    def take(self, which: npt.NDArray[np.bool_] | IntArray) -> _Rows:
        return _Rows(self.history[which], self.parent[which], self.action[which], (self.origin[0][which], self.origin[1][which]))


def _number(*columns: IntArray) -> tuple[IntArray, IntArray]:
    """Returns (ids [R], first row of each id): equal rows get equal numbers, in lexicographic order."""
    ids, first = columns[0], np.zeros(0, dtype=np.int64)
    for column in (*columns[1:], np.zeros(1, dtype=np.int64)):
        low = column.min(initial=0)
        width = int(column.max(initial=0) - low) + 1
        _, first, ids = np.unique(ids * width + (column - low), return_index=True, return_inverse=True)
    return ids.astype(np.int64), first.astype(np.int64)


def _starts(counts: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


@dataclass
class ActionSet:
    """The actions of a public state whose hands have different legal actions.

    Attributes:
        size: the number of actions.
        places: for each menu, the number of each of its actions.
    """

    size: int
    places: dict[int, tuple[int, ...]]


@dataclass
class _Columns:
    """Per public state, per hand and per pair of hands, what a level adds (concatenated in the end)."""

    node: list[IntArray] = field(default_factory=list)  # [8, new nodes]: see PublicForm
    hand: tuple[list[IntArray], list[IntArray]] = field(default_factory=lambda: ([], []))  # [2, hands]: origin, sample
    pair: list[IntArray] = field(default_factory=list)  # [3, pairs]: node, hand of player 0, hand of player 1
    weight: list[FloatArray] = field(default_factory=list)  # [2, pairs]: chance, chance x utility


@dataclass(frozen=True, eq=False)
class PublicForm:
    """Public states 0 .. N-1. State 0 is a move of chance before everything, with one hand each.

    Attributes:
        walk: the histories.
        actor: [N].
        parent: [N].
        action, last_action: [N] the smallest and the largest action that leads here.
        outcome: [N] index into `walk.outcomes`, MIXED if histories differ in it.
        first: [N] the first history that passes here.
        time: [N] the time of the decision.
        actions: [N] the menu that all hands have; -1 - index into `action_sets` if they differ.
        action_sets: actions of the states whose hands have different menus.
        num_actions: [N].
        num_hands: [2, N].
        hand_start: [2, N + 1] where a state's hands begin in `origin` and `sample`.
        origin: per player, as in `Child.origin`.
        sample: per player, for each hand a history in which it is held.
        pair_start: [N + 1] where a state's pairs of hands begin.
        pair: [2, pairs] hands.
        chance: [pairs] probability of chance's part.
        value: [pairs] chance x utility at terminals.
        history_time: [M] the time of every decision.
    """

    walk: Walk
    actor: IntArray
    parent: IntArray
    action: IntArray
    last_action: IntArray
    outcome: IntArray
    first: IntArray
    time: IntArray
    actions: IntArray
    action_sets: list[ActionSet]
    num_actions: IntArray
    num_hands: IntArray
    hand_start: IntArray
    origin: tuple[IntArray, IntArray]
    sample: tuple[IntArray, IntArray]
    pair_start: IntArray
    pair: IntArray
    chance: FloatArray
    value: FloatArray
    history_time: IntArray


class _Builder:
    """Groups the histories level by level."""

    def __init__(self, walk: Walk, time: IntArray, *, patient: bool, public: IntArray | None) -> None:
        """Sets up the grouping.

        Args:
            walk: the histories.
            time: [M] when each decision is made.
            patient: hands are refined only when their player decides; else whenever anybody does.
            public: [M] the public observations to group by; None: what is common knowledge.
        """
        self.walk, self.time, self.patient, self.public = walk, time, patient, public
        self.columns = _Columns()
        self.count = 1
        self.action_sets: list[ActionSet] = []
        self._set_of: dict[tuple[int, ...], int] = {}
        self._holder = tuple(np.full(len(known), -1, dtype=np.int64) for known in walk.infostates)
        self._children = np.argsort(walk.parent, kind="stable")
        self._children_start = np.searchsorted(walk.parent[self._children], np.arange(len(walk) + 1))
        self._menu_size = np.array([len(actions) for _, actions in walk.menus], dtype=np.int64)
        one = np.zeros(1, dtype=np.int64)
        self._hands_of = (np.ones(1, dtype=np.int64), np.ones(1, dtype=np.int64))
        self.columns.node.append(np.array([[CHANCE], [-1], [0], [0], [0], [0], [-1], [0], [0]]))
        for player in (0, 1):
            self.columns.hand[player].append(np.stack([one, one]))
        self.columns.pair.append(np.stack([one, one, one]))
        self.columns.weight.append(np.array([[1.0], [0.0]]))

    def run(self) -> PublicForm:
        walk = self.walk
        start = np.flatnonzero(walk.parent < 0)
        nothing = np.zeros(len(start), dtype=np.int64)
        rows = _Rows(start, nothing, nothing, (nothing, nothing))
        while True:
            over = walk.actor[rows.history] == TERMINAL
            if over.any():
                self._end(rows, over)
                rows = rows.take(~over)
            if not len(rows.history):
                return self._pack()
            rows = self._advance(rows)

    def _end(self, rows: _Rows, over: npt.NDArray[np.bool_]) -> None:
        """Makes public states of the rows at which the game is over.

        There is one per action, or a single one if the game is over anyway and the hands are few or differ in their actions.
        """
        form = self.columns
        ended = rows.take(over)
        goes_on = np.zeros(self.count, dtype=np.bool_)
        goes_on[rows.parent[~over]] = True
        actor, num_actions, actions = self._last_level(ended.parent)
        hands = np.where(actor == 1, self._last_hands(1, ended.parent), self._last_hands(0, ended.parent))
        single = ~goes_on[ended.parent] & (actor >= 0) & ((actions < 0) | (hands < num_actions))
        group, first = _number(ended.parent, np.where(single, 0, ended.action))
        codes = (ended.origin[0], ended.origin[1])
        local = self._add_nodes(ended, group, first, codes, np.full(len(first), TERMINAL), 0)
        value = self.walk.chance[ended.history] * self.walk.utility[ended.history]
        del form
        self._add_pairs(group, local, self.walk.chance[ended.history], value)
        self.count += len(first)
