"""Numbers for the actions of a public state when its hands differ in what they may do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aleator.games.base import IntArray
from aleator.games.extensive.walk import Walk


class ActionSet(NamedTuple):
    """The actions of a public state.

    Attributes:
        names: of the actions.
        places: for each menu that hands have there, the number of each of its actions.
        meaningful: an action means the same for all hands that may take it.
    """

    names: tuple[str, ...]
    places: dict[int, IntArray]
    meaningful: bool = True


def distinct(names: Sequence[str]) -> list[str]:
    """Returns the names; those that occur more than once are numbered."""
    if len(set(names)) == len(names):
        return list(names)
    total, seen, labels = Counter(names), Counter[str](), []
    for name in names:
        seen[name] += 1
        labels.append(f"{name} #{seen[name]}" if total[name] > 1 else name)
    return labels


class Menus:
    """The action sets of a game; those in which all hands have the same menu come first and are numbered like menus."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self.sets = [
            ActionSet(tuple(distinct(names)), {menu: np.arange(len(names))}) for menu, names in enumerate(walk.names)
        ]
        self._known: dict[tuple[int, ...], int] = {(menu,): menu for menu in range(len(walk.names))}

    def _join(self, menus: tuple[int, ...]) -> int:
        """Returns the number of the action set of hands with these menus.

        If one hand may do all that any hand may do, its menu is the action set. Otherwise an action is a place in each
        hand's own menu, which keeps the number of actions small.
        """
        if menus not in self._known:
            legal = [self._walk.menus[menu][1] for menu in menus]
            widest = max(legal, key=len)
            meaningful = set(widest).issuperset(set().union(*legal))
            if meaningful:
                names = self.sets[menus[legal.index(widest)]].names
                places = [[widest.index(action) for action in actions] for actions in legal]
            else:
                names = tuple(f"action {index + 1}" for index in range(len(widest)))
                places = [list(range(len(actions))) for actions in legal]
            self._known[menus] = len(self.sets)
            self.sets.append(ActionSet(names, dict(zip(menus, map(np.array, places), strict=True)), meaningful))
        return self._known[menus]

    def choose(self, group: IntArray, menu: IntArray, count: int) -> tuple[IntArray, IntArray, IntArray]:
        """Numbers the actions of `count` public states.

        Args:
            group: [R] the public state of each row.
            menu: [R] its menu.
            count: the number of public states; each has a row.

        Returns:
            chosen: [count] the action set of each state.
            table: numbers of actions, menu after menu.
            start: [R] where the numbers of each row's menu begin in the table.
        """
        chosen = np.full(count, len(self._walk.menus), dtype=np.int64)
        np.minimum.at(chosen, group, menu)
        mixed = np.zeros(count, dtype=np.bool_)
        mixed[group[menu != chosen[group]]] = True
        which = np.flatnonzero(mixed[group])
        members: dict[int, set[int]] = {}
        for node, of_row in zip(group[which].tolist(), menu[which].tolist(), strict=True):
            members.setdefault(node, set()).add(of_row)
        for node, menus in members.items():
            chosen[node] = self._join(tuple(sorted(menus)))
        pairs, pair = np.unique(chosen[group] * len(self._walk.menus) + menu, return_inverse=True)
        tables = [
            self.sets[code // len(self._walk.menus)].places[code % len(self._walk.menus)] for code in pairs.tolist()
        ]
        sizes = np.array([len(table) for table in tables])
        return chosen, np.concatenate(tables), (np.cumsum(sizes) - sizes)[pair]
