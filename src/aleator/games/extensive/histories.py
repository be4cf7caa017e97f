"""Games given as histories, turned into public form.

Whatever can be walked move by move (`History`) becomes a `Game`: its public states are found, not written down. They
come from the game's public observations if it has them and they are consistent, else from what is common knowledge.
Where players do not know how many moves were made, waiting is a forced move (see `levels`); where decisions have no
common order at all, players decide in a fixed one (see `sequences`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from aleator.errors import TooBigError
from aleator.games.base import TERMINAL, Child, FloatArray, Game, IntArray, Payoff
from aleator.games.extensive.levels import MAX_PAIRS, MIXED, NotPublicError, PublicForm, group_histories, hidden_times
from aleator.games.extensive.menus import ActionSet, distinct
from aleator.games.extensive.sequences import sequence_form
from aleator.games.extensive.walk import MAX_HISTORIES, History, Walk, check_recall, walk

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["MAX_HISTORIES", "History", "HistoryGame", "game_from_histories"]

_DENSE = 4096


def public_form(histories: Walk) -> PublicForm:
    """Returns the public form of a game: by public observations, by common knowledge, with hidden time, by sequences.

    Raises:
        GameError: the game has imperfect recall.
    """
    check_recall(histories)
    observations = [] if histories.public is None else [histories.public]
    for public in (*observations, None):
        try:
            return group_histories(histories, histories.depth, public=public)
        except NotPublicError:
            continue
    try:
        return group_histories(histories, hidden_times(histories), patient=True)
    except NotPublicError:
        return sequence_form(histories)


class HistoryGame(Game[int]):
    """A game found by walking its histories. A state is the number of a public state."""

    def __init__(self, histories: Walk) -> None:
        """Groups the histories.

        Raises:
            GameError: the game has imperfect recall.
            TooBigError: some public state has too many pairs of hands.
        """
        self.name = histories.name
        self._walk, self._form = histories, public_form(histories)
        nodes = self._form.nodes
        largest = int((nodes.hands0 * nodes.hands1).max())
        if largest > MAX_PAIRS:
            raise TooBigError(
                f"{self.name} has a public state with {largest:,} pairs of hands; at most {MAX_PAIRS:,} are allowed"
            )
        children = np.lexsort((nodes.first, nodes.action, nodes.parent))[1:]
        self._children_at = np.searchsorted(nodes.parent[children], np.arange(len(nodes.actor) + 1)).tolist()
        self._children: list[int] = children.tolist()
        self._actor: list[int] = nodes.actor.tolist()
        self._num_hands = list(zip(nodes.hands0.tolist(), nodes.hands1.tolist(), strict=True))
        self._keeps = self._hands_that_stay(children)
        only = self._children[0] if self._children_at[1] == 1 else 0
        self._root = only if self._actor[only] >= 0 else 0

    def _hands_that_stay(self, children: npt.NDArray[np.intp]) -> list[list[bool]]:
        """Returns for each player and state whether hands keep their numbers, as `Child` with origin None means it."""
        form, nodes = self._form, self._form.nodes
        count = len(nodes.actor)
        index = np.zeros(count, dtype=np.int64)
        index[children] = np.arange(len(children)) - np.array(self._children_at)[nodes.parent[children]]
        siblings = np.diff(self._children_at)[nodes.parent]
        actions = np.array([len(entry.names) for entry in form.action_sets] or [0])[nodes.action_set]
        keeps = []
        for player, hands in enumerate((nodes.hands0, nodes.hands1)):
            before = hands[nodes.parent]
            moves = nodes.actor[nodes.parent] == player
            node = np.repeat(np.arange(count), hands)
            expected = np.arange(len(node)) - form.hand_start[player][node] + (moves * index * before)[node]
            same = hands == before
            same[node[form.origin[player] != expected]] = False
            same &= ~moves | (siblings == actions[nodes.parent])
            changed = np.zeros(count, dtype=np.bool_)
            changed[nodes.parent[~same & moves]] = True
            keeps.append((same & ~(changed[nodes.parent] & moves)).tolist())
        return keeps

    def root(self) -> int:
        return self._root

    def actor(self, state: int) -> int:
        return self._actor[state]

    def actions(self, state: int) -> Sequence[str]:
        if self._actor[state] < 0:
            return tuple(child.label for child in self.children(state))
        return self._action_set(state).names

    def _action_set(self, state: int) -> ActionSet:
        return self._form.action_sets[int(self._form.nodes.action_set[state])]

    def action_name(self, state: int, hand: int, action: int) -> str:
        menu = self._menu(state, hand)
        if menu is None:
            return "wait"
        names: dict[int, str] = dict(
            zip(self._action_set(state).places[menu].tolist(), self._walk.names[menu], strict=True)
        )
        return names.get(action, self.actions(state)[action])

    def children(self, state: int) -> Sequence[Child[int]]:
        children = self._children[self._children_at[state] : self._children_at[state + 1]]
        labels = self._labels(state, children)
        return [
            Child(child, label, (self._origin(0, child), self._origin(1, child)))
            for child, label in zip(children, labels, strict=True)
        ]

    def _origin(self, player: int, state: int) -> IntArray | None:
        if self._keeps[player][state]:
            return None
        start = self._form.hand_start[player]
        return self._form.origin[player][start[state] : start[state + 1]]

    def _labels(self, state: int, children: list[int]) -> list[str]:
        """Returns what everybody sees happen on the way to each child; repeated labels are numbered."""
        nodes, labels = self._form.nodes, []
        for child in children:
            label = "deal" if self._actor[state] < 0 else "end" if self._actor[child] == TERMINAL else "move"
            public = self._actor[state] >= 0 and nodes.action[child] == nodes.last_action[child]
            if public and self._action_set(state).meaningful:
                label = self.actions(state)[nodes.action[child]]
            if nodes.outcome[child] != MIXED and self._walk.outcomes[nodes.outcome[child]]:
                seen = " ".join(self._walk.outcomes[nodes.outcome[child]])
                label = seen if label == "deal" else f"{label}, {seen}"
            labels.append(label)
        return distinct(labels)

    def hands(self, state: int, player: int) -> Sequence[str]:
        return tuple(self._hand_name(state, player, hand) for hand in range(self._num_hands[state][player]))

    def num_hands(self, state: int) -> tuple[int, int]:
        return self._num_hands[state]

    def _hand_name(self, state: int, player: int, hand: int) -> str:
        """Returns the infostate, or the hand before and what its player did, where the player is not asked or told."""
        done: list[str] = []
        while (known := self._known_as(state, player, hand)) is None:
            parent = int(self._form.nodes.parent[state])
            hand = int(self._form.origin[player][self._form.hand_start[player][state] + hand])
            if self._actor[parent] == player:
                action, hand = divmod(hand, self._num_hands[parent][player])
                if self._menu(parent, hand) is not None:
                    done.append(self.action_name(parent, hand, action))
            state = parent
        return ", ".join([known, *reversed(done)])

    def _known_as(self, state: int, player: int, hand: int) -> str | None:
        """Returns the infostate of a hand by the name of its source; None where the player is not asked or told."""
        if state == 0:
            return "-"
        form = self._form
        history = form.sample[player][form.hand_start[player][state] + hand]
        if self._actor[state] == TERMINAL:
            return None
        number = self._walk.infostate[player, history]
        known = self._walk.watching[player][-1 - number] if number < 0 else self._walk.infostates[player][number]
        if known is None or (self._hidden and (number < 0 or form.time[history] != form.nodes.time[state])):
            return None
        return " ".join(str(known).split()) or "-"

    def _pairs(self, state: int) -> slice:
        return slice(self._form.pair_start[state], self._form.pair_start[state + 1])

    def _dense(self, state: int, entries: npt.NDArray[np.float64]) -> FloatArray:
        """Returns [H0, H1] with the given entries at the pairs of hands that are possible, else 0."""
        matrix = np.zeros(self._num_hands[state])
        matrix[self._form.pairs[0, self._pairs(state)], self._form.pairs[1, self._pairs(state)]] = entries
        return matrix

    def deal(self, state: int) -> FloatArray:
        return self._dense(state, self._form.chance[self._pairs(state)])

    def utility(self, state: int) -> FloatArray:
        return self._dense(state, self._form.value[self._pairs(state)] / self._form.chance[self._pairs(state)])

    def payoff_matrix(self, state: int) -> FloatArray | csr_array:
        entries = self._form.value[self._pairs(state)]
        size = self._num_hands[state][0] * self._num_hands[state][1]
        if size <= _DENSE or len(entries) * 4 >= size:
            return self._dense(state, entries)
        from scipy.sparse import csr_array

        return csr_array((entries, self._form.pairs[:, self._pairs(state)]), shape=self._num_hands[state])

    @cached_property
    def _stakes(self) -> tuple[list[float], FloatArray]:
        """The largest entry of each terminal's matrix, with the sign of its first, and all entries divided by it."""
        form = self._form
        node = np.repeat(np.arange(len(self._actor)), np.diff(form.pair_start))
        largest = np.zeros(len(self._actor))
        np.maximum.at(largest, node, np.abs(form.value))
        there = np.flatnonzero(form.value)
        first = np.unique(node[there], return_index=True)[1]
        largest[node[there[first]]] *= np.sign(form.value[there[first]])
        stakes = np.where(largest == 0.0, 1.0, largest)
        # terminals that differ by rounding alone share a group
        return stakes.tolist(), np.round(form.value / stakes[node], 12) + 0.0

    def payoff(self, state: int) -> Payoff:
        stakes, entries = self._stakes
        pairs = self._pairs(state)
        where = self._form.pairs[:, pairs].tobytes()
        return Payoff((self._num_hands[state], where, entries[pairs].tobytes()), stakes[state])

    def possible(self, state: int) -> npt.NDArray[np.bool_]:
        matrix = np.zeros(self._num_hands[state], dtype=np.bool_)
        matrix[self._form.pairs[0, self._pairs(state)], self._form.pairs[1, self._pairs(state)]] = True
        return matrix

    @property
    def _hidden(self) -> bool:
        """Whether players do not know how many decisions were made."""
        return self._form.time is not self._walk.depth

    def _decision(self, state: int, hand: int) -> int | None:
        """Returns a history in which the actor decides with this hand, None if the hand waits."""
        player = self._actor[state]
        history = int(self._form.sample[player][self._form.hand_start[player][state] + hand])
        decides = self._walk.actor[history] == player and self._form.time[history] == self._form.nodes.time[state]
        return history if decides else None

    def _menu(self, state: int, hand: int) -> int | None:
        history = self._decision(state, hand)
        return None if history is None else int(self._walk.menu[history])

    def infostate(self, state: int, hand: int) -> Hashable:
        """Returns the actor's infostate in the source of the histories, None if the hand only waits."""
        history = self._decision(state, hand)
        player = self._actor[state]
        return None if history is None else self._walk.infostates[player][self._walk.infostate[player, history]]

    def source_actions(self, state: int, hand: int) -> dict[int, int]:
        """Returns for each action that the actor's hand may take the action's number in the source of the histories."""
        menu = self._menu(state, hand)
        if menu is None:
            return {}
        places = self._action_set(state).places[menu]
        return dict(zip(places.tolist(), self._walk.menus[menu][1], strict=True))


def game_from_histories(root: History, *, name: str, max_histories: int = MAX_HISTORIES) -> HistoryGame:
    """Returns the game that begins with the history `root`, in public form.

    Raises:
        GameError: the rules contradict themselves, or the game has imperfect recall.
        TooBigError: there are more than `max_histories`.
    """
    return HistoryGame(walk(root, name=name, max_histories=max_histories))
