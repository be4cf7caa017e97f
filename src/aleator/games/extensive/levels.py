"""Public states from histories: which histories belong together, and who holds which hand in them.

Algorithm:
    Histories are taken in the order of *time*. The rows of a level are the histories reached so far, each with the
    public state and the hands it comes from. A player's hand is its previous hand and, if the player just moved, the
    action, together with the player's infostate now. Rows that share a hand of either player belong to one public
    state: the connected components are what is common knowledge. Or rows are grouped by what the game calls a public
    observation. Hands only ever refine hands, so that the map from a hand to the hand before is a function.

    If everybody knows how many decisions were made, that number is the time. Otherwise time is a number given to every
    infostate, larger than that of any infostate before it in any history, even for player 0 and odd for player 1. A
    history whose time has not come waits: its hands take a forced move.

Reference: for time that is not public, Jakobsen, Sørensen, Conitzer, "Timeability of extensive-form games" (2016).
Deviations: none.
Status: sizes, values and NashConv equal OpenSpiel's (tests/games/extensive/test_openspiel.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from aleator.games.base import CHANCE, TERMINAL, FloatArray, IntArray
from aleator.games.extensive.menus import ActionSet, Menus
from aleator.games.extensive.walk import Walk
from aleator.meter import Meter

BoolArray = npt.NDArray[np.bool_]

MAX_PAIRS = 50_000_000
MIXED = -1
_ROW_BYTES = 300  # of a history while its level is grouped


class NotPublicError(Exception):
    """The histories cannot be grouped this way: an infostate would lie in two public states or under two hands."""


class Nodes(NamedTuple):
    """Public states [N].

    Attributes:
        actor: 0, 1, TERMINAL or, at state 0, CHANCE.
        parent: the public state before; -1 at state 0.
        action, last_action: the smallest and the largest action that lead here.
        outcome: index into `Walk.outcomes`; MIXED if the histories differ in it.
        first: the first history that passes here.
        time: when the decision is made.
        hands0, hands1: the number of hands of each player.
        action_set: index into `PublicForm.action_sets`; 0 where nobody decides.
    """

    actor: IntArray
    parent: IntArray
    action: IntArray
    last_action: IntArray
    outcome: IntArray
    first: IntArray
    time: IntArray
    hands0: IntArray
    hands1: IntArray
    action_set: IntArray


class PublicForm(NamedTuple):
    """A game in public form. State 0 is a move of chance before everything else, with one hand for each player.

    Attributes:
        nodes: the public states.
        action_sets: what can be done in them.
        hand_start: per player [N + 1] where a state's hands begin in `origin` and `sample`.
        origin: per player, as in `Child.origin`.
        sample: per player, a history in which the hand is held.
        pair_start: [N + 1] where a state's pairs of hands begin in the next three.
        pairs: [2, pairs] the hands.
        chance: [pairs] probability of chance's part in reaching the state with these hands.
        value: [pairs] at terminals, chance x utility summed over the histories.
        time: [M] when the decision of each history is made.
    """

    nodes: Nodes
    action_sets: list[ActionSet]
    hand_start: tuple[IntArray, IntArray]
    origin: tuple[IntArray, IntArray]
    sample: tuple[IntArray, IntArray]
    pair_start: IntArray
    pairs: IntArray
    chance: FloatArray
    value: FloatArray
    time: IntArray


class _LevelRows(NamedTuple):
    """Histories [R] and where they come from: public state, action, hands as in `Child.origin`."""

    history: IntArray
    parent: IntArray
    action: IntArray
    origin0: IntArray
    origin1: IntArray

    def take(self, which: BoolArray | npt.NDArray[np.intp]) -> _LevelRows:
        return _LevelRows(*(column[which] for column in self))


def _number(*columns: IntArray) -> tuple[IntArray, IntArray]:
    """Returns (ids [R], first row of each id): equal rows get equal numbers, in lexicographic order."""
    ids = columns[0]
    for column in columns[1:]:
        low = int(column.min(initial=0))
        codes = ids * (int(column.max(initial=0)) - low + 1) + (column - low)
        _, first, ids = np.unique(codes, return_index=True, return_inverse=True)
    return ids, first


def starts(counts: IntArray) -> IntArray:
    """Returns where each of successive runs of these lengths begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts)])


def hidden_times(walk: Walk) -> IntArray:
    """Returns [M]: for each decision the time of its infostate, larger than the times of all that can come before.

    Raises:
        NotPublicError: two infostates come in either order, so that there is no such time.
    """
    number = len(walk.infostates[0]) + len(walk.infostates[1])
    decides = walk.actor >= 0
    player = np.where(decides, walk.actor, 0)
    infostate = walk.infostate[player, np.arange(len(walk))] + player * len(walk.infostates[0])
    later = np.flatnonzero(decides & (walk.parent >= 0))
    _, first = _number(infostate[walk.parent[later]], infostate[later])
    before, after = infostate[walk.parent[later[first]]], infostate[later[first]]
    graph = coo_array((np.ones(len(first)), (before, after)), shape=(number, number))
    if connected_components(graph, connection="strong", return_labels=False) < number:
        raise NotPublicError
    owner = np.repeat([0, 1], [len(known) for known in walk.infostates])
    step = np.where(owner[before] == owner[after], 2, 1)
    time, changed = owner.astype(np.int64), True
    while changed:
        earliest = time.copy()
        np.maximum.at(earliest, after, time[before] + step)
        time, changed = earliest, bool((earliest != time).any())
    return np.where(decides, time[infostate], -1)


def group_histories(walk: Walk, time: IntArray, *, patient: bool = False, public: IntArray | None = None) -> PublicForm:
    """Returns the public form of a game.

    Args:
        walk: the histories.
        time: [M] when each decision is made.
        patient: hands are refined only by the infostates in which their player decides, not by those in between.
        public: [M] public observations to group by; None: group by what is common knowledge.

    Raises:
        NotPublicError: an infostate would lie in two public states, or be held by two hands.
        TooBigError: it takes more than half of the memory that is free.
    """
    task = f"finding the public states of {walk.name}"
    with Meter(walk.name, task, "histories grouped", total=len(walk)) as meter:
        return _Grouping(walk, time, patient=patient, public=public, meter=meter).run()


class _Grouping:
    """The work of `group_histories`: the public states made so far."""

    def __init__(self, walk: Walk, time: IntArray, *, patient: bool, public: IntArray | None, meter: Meter) -> None:
        self.walk, self.time, self.patient, self.public, self.meter = walk, time, patient, public, meter
        self.menus = Menus(walk)
        self.nodes = Nodes(*(np.array([value], dtype=np.int64) for value in (CHANCE, -1, 0, 0, 0, 0, -1, 1, 1, 0)))
        zero = np.zeros(1, dtype=np.int64)
        self._origin, self._sample = ([zero], [zero]), ([zero], [zero])
        self._pairs, self._weights = [np.zeros((3, 1), dtype=np.int64)], [np.array([[1.0], [0.0]])]
        self._holder = tuple(np.full(len(known), -1, dtype=np.int64) for known in walk.infostates)
        self._by_parent = np.argsort(walk.parent, kind="stable")
        self._children_at = np.searchsorted(walk.parent[self._by_parent], np.arange(len(walk) + 1))

    def run(self) -> PublicForm:
        start = np.flatnonzero(self.walk.parent < 0)
        nothing = np.zeros(len(start), dtype=np.int64)
        rows = _LevelRows(start, nothing, nothing, nothing, nothing)
        while True:
            over = self.walk.actor[rows.history] == TERMINAL
            if over.any():
                self._end(rows, over)
                rows = rows.take(~over)
            if not len(rows.history):
                return self._pack()
            rows = self._advance(rows)

    def _end(self, rows: _LevelRows, over: BoolArray) -> None:
        """Makes terminals: one per action, or a single one if no game goes on and actions differ or outnumber hands."""
        nodes = self.nodes
        goes_on = np.zeros(len(nodes.actor), dtype=np.bool_)
        goes_on[rows.parent[~over]] = True
        sets = self.menus.sets
        plain = np.array([len(entry.places) == 1 for entry in sets] or [True])[nodes.action_set]
        actions = np.array([len(entry.names) for entry in sets] or [0])[nodes.action_set]
        hands = np.where(nodes.actor == 1, nodes.hands1, nodes.hands0)
        single = ~goes_on & (nodes.actor >= 0) & (~plain | (hands < actions))
        ended = rows.take(over)
        group, first = _number(ended.parent, np.where(single[ended.parent], 0, ended.action))
        nobody = np.full(len(first), TERMINAL)
        self._add(ended, group, first, nobody, -1, (ended.origin0, ended.origin1))

    def _advance(self, rows: _LevelRows) -> _LevelRows:
        """Makes the public states whose decision is next; returns the rows that follow and those that wait."""
        walk, now = self.walk, int(self.time[rows.history].min())
        acting = self.time[rows.history] == now
        codes = []
        for player, origin in enumerate((rows.origin0, rows.origin1)):
            infostate = walk.infostate[player, rows.history]
            if self.patient:
                infostate = np.where(acting & (walk.actor[rows.history] == player), infostate, -1)
            codes.append(_number(rows.parent, origin, infostate)[0])
        shared = None if self.public is None else self.public[rows.history]
        group = _components(codes[0], codes[1]) if shared is None else _number(rows.parent, shared)[0]
        decided = np.zeros(int(group.max()) + 1, dtype=np.bool_)
        decided[group[acting]] = True
        chosen = decided[group]
        waiting = rows.take(~chosen)
        rows, acting = rows.take(chosen), acting[chosen]
        group, first = _number(np.zeros(len(acting), dtype=np.int64), group[chosen])
        actor = np.zeros(len(first), dtype=np.int64)
        actor[group[acting]] = walk.actor[rows.history[acting]]
        base = len(self.nodes.actor)
        hands = self._add(rows, group, first, actor, now, (codes[0][chosen], codes[1][chosen]))
        self._prove(rows, acting, actor[group], (hands[0], hands[1]), group)
        following = self._follow(base, rows, acting, group, hands)
        merged = _LevelRows(*(np.concatenate(both) for both in zip(waiting, following, strict=True)))
        return merged.take(np.argsort(merged.history, kind="stable"))

    def _add(
        self,
        rows: _LevelRows,
        group: IntArray,
        first: IntArray,
        actor: IntArray,
        time: int,
        codes: tuple[IntArray, IntArray],
    ) -> tuple[IntArray, IntArray]:
        """Makes a public state of every group of rows; returns each player's hands [R] in them."""
        self.meter.add(len(rows.history))
        self.meter.check_memory(_ROW_BYTES * len(rows.history))
        walk, base, count = self.walk, len(self.nodes.actor), len(first)
        lowest, highest = rows.action[first], rows.action[first]
        np.minimum.at(lowest, group, rows.action)
        np.maximum.at(highest, group, rows.action)
        outcome = walk.outcome[rows.history[first]]
        outcome[group[walk.outcome[rows.history] != outcome[group]]] = MIXED
        hands, counts = [], []
        for player, origin in enumerate((rows.origin0, rows.origin1)):
            hand, sample = _number(group, codes[player])
            counts.append(np.bincount(group[sample], minlength=count))
            hands.append(hand - starts(counts[player])[group])
            self._origin[player].append(origin[sample])
            self._sample[player].append(rows.history[sample])
        pair, at = _number(group, hands[0], hands[1])
        chance, utility = walk.chance[rows.history], walk.utility[rows.history]
        self._pairs.append(np.stack([base + group[at], hands[0][at], hands[1][at]]))
        self._weights.append(np.stack([np.bincount(pair, chance), np.bincount(pair, chance * utility)]))
        history, parent = rows.history[first], rows.parent[first]
        times, sets = np.full(count, time), np.zeros(count, dtype=np.int64)
        new = Nodes(actor, parent, lowest, highest, outcome, history, times, counts[0], counts[1], sets)
        self.nodes = Nodes(*(np.concatenate(both) for both in zip(self.nodes, new, strict=True)))
        return hands[0], hands[1]

    def _prove(
        self, rows: _LevelRows, acting: BoolArray, actor: IntArray, hands: tuple[IntArray, IntArray], group: IntArray
    ) -> None:
        """Raises NotPublicError unless each infostate in which somebody decides now is one hand in one public state."""
        if (actor != self.walk.actor[rows.history])[acting].any():
            raise NotPublicError
        for player in (0, 1):
            own = acting & (actor == player)
            infostate = self.walk.infostate[player, rows.history[own]]
            hand = group[own] * (int(hands[player].max()) + 1) + hands[player][own]
            holder = self._holder[player]
            if (holder[infostate] >= 0).any():
                raise NotPublicError
            holder[infostate] = hand
            if (holder[infostate] != hand).any():
                raise NotPublicError

    def _follow(
        self, base: int, rows: _LevelRows, acting: BoolArray, group: IntArray, hands: tuple[IntArray, IntArray]
    ) -> _LevelRows:
        """Returns the rows one move further; a row that is not acting stays where it is after the forced action 0."""
        walk, count = self.walk, len(self.nodes.actor) - base
        sets, table, start = self.menus.choose(group[acting], walk.menu[rows.history[acting]], count)
        self.nodes.action_set[base:] = sets
        mover = rows.history[acting]
        lengths = self._children_at[mover + 1] - self._children_at[mover]
        source = np.repeat(np.arange(len(mover)), lengths)
        inside = np.arange(len(source)) - starts(lengths)[source]
        child = self._by_parent[self._children_at[mover][source] + inside]
        stays = np.flatnonzero(~acting)
        history = np.concatenate([child, rows.history[stays]])
        action = np.concatenate([table[start[source] + walk.action[child]], np.zeros(len(stays), dtype=np.int64)])
        row = np.concatenate([np.flatnonzero(acting)[source], stays])
        parent = base + group[row]
        origins = []
        for player, counts in enumerate((self.nodes.hands0, self.nodes.hands1)):
            moved = np.where(self.nodes.actor[parent] == player, action, 0)
            origins.append(moved * counts[parent] + hands[player][row])
        return _LevelRows(history, parent, action, origins[0], origins[1])

    def _pack(self) -> PublicForm:
        nodes, pairs, weights = self.nodes, np.concatenate(self._pairs, axis=1), np.concatenate(self._weights, axis=1)
        origin, sample = ([np.concatenate(part) for part in parts] for parts in (self._origin, self._sample))
        return PublicForm(
            nodes=nodes,
            action_sets=self.menus.sets,
            hand_start=(starts(nodes.hands0), starts(nodes.hands1)),
            origin=(origin[0], origin[1]),
            sample=(sample[0], sample[1]),
            pair_start=np.searchsorted(pairs[0], np.arange(len(nodes.actor) + 1)),
            pairs=pairs[1:],
            chance=weights[0],
            value=weights[1],
            time=self.time,
        )


def _components(first: IntArray, second: IntArray) -> IntArray:
    """Returns [R]: rows that share a value in either column, directly or through others, get the same number."""
    shift = int(first.max()) + 1
    size = shift + int(second.max()) + 1
    graph = coo_array((np.ones(len(first)), (first, second + shift)), shape=(size, size))
    _, component = connected_components(graph, directed=False)
    numbers: IntArray = component[first].astype(np.int64)
    return numbers
