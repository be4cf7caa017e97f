"""Customs: a traveller with hidden goods against an inspector with a dog."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aleator.games import TERMINAL, Game

Moves = tuple[str, ...]
ITEMS = np.arange(4)
MENUS = (
    tuple(f"declare {items}" for items in ITEMS),  # the traveller
    ("wave through", "challenge"),  # the inspector
    ("confess", "insist"),  # the traveller
    ("let go", "open"),  # the inspector
)


class Customs(Game[Moves]):
    """The traveller (player 0) carries 0 to 3 items; the dog tells the inspector (player 1) alone what it smells.

    Hidden items that come through win 1 each; to be let go after a challenge wins 0.5 on top. To confess costs 1. If
    the bag is opened, hidden items cost 2 each; if there are none, the traveller wins 1. Declared but missing items
    cost 1 each.
    """

    name = "customs"

    def root(self) -> Moves:
        return ()

    def actor(self, state: Moves) -> int:
        return TERMINAL if state and state[-1] in ("wave through", "confess", "let go", "open") else len(state) % 2

    def actions(self, state: Moves) -> Sequence[str]:
        return MENUS[len(state)]

    def child(self, state: Moves, action: int) -> Moves:
        return (*state, self.actions(state)[action])

    def hands(self, state: Moves, player: int) -> Sequence[str]:
        return [f"{items} items" for items in ITEMS] if player == 0 else ["quiet", "barks"]

    def deal(self, state: Moves) -> npt.NDArray[np.float64]:
        barks = 0.2 + 0.2 * ITEMS  # the more items, the more likely
        return np.stack([1 - barks, barks], axis=1) / len(ITEMS)

    def utility(self, state: Moves) -> npt.NDArray[np.float64]:
        undeclared = ITEMS - int(state[0].removeprefix("declare "))
        hidden, missing = np.maximum(undeclared, 0), np.maximum(-undeclared, 0)
        opened = np.where(hidden > 0, -2.0 * hidden, 1.0)
        wins = {"wave through": hidden, "confess": -1.0, "let go": hidden + 0.5, "open": opened}[state[-1]]
        return np.repeat((wins - missing)[:, None], 2, axis=1)
