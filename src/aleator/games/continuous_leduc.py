"""Continuous Leduc hold'em: bets of any size from 1 % to 100 % of the pot; a tree has a menu of them at every decision.

A bet of x adds x times the pot after the call. No stacks limit it, so that after a bet that is called or raised all
payoffs are multiplied by 1 + 2x: how to play on does not depend on x. Who folds loses what was put in before.

Reference: thesis 4.3.6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aleator.errors import GameError
from aleator.games.leduc import BETTING, Leduc, LeducState

SMALLEST, LARGEST = 0.01, 1.0
History = tuple[str, ...]
Menus = Mapping[History, Sequence[float]]


class ContinuousLeduc(Leduc):
    """Leduc with menus of bets in pots.

    Args:
        sizes: of every decision that has no menu of its own, in pots, ascending.
        menus: sizes by the labels of all moves on the way to a decision.
    """

    def __init__(
        self, sizes: Sequence[float] = (SMALLEST, LARGEST), menus: Menus | None = None, *, name: str = "leduc:pots"
    ) -> None:
        super().__init__(name=name)
        self.sizes, self.menus = tuple(sizes), dict(menus or {})
        for menu in (self.sizes, *self.menus.values()):
            if not menu or list(menu) != sorted(set(menu)) or not SMALLEST <= menu[0] <= menu[-1] <= LARGEST:
                raise GameError(
                    f"bets of continuous Leduc are {SMALLEST} to {LARGEST} pots, ascending, each once, not {list(menu)}"
                )

    def menu(self, state: LeducState) -> Sequence[float]:
        """Returns the sizes at a decision, in pots; none where the cap of bets is reached."""
        assert self.max_bets is not None
        return self.menus.get(state.history, self.sizes) if state.bets < self.max_bets else ()

    def raises(self, state: LeducState) -> list[float]:
        """Returns the sizes in chips, on top of a call."""
        return [size * 2.0 * max(state.chips) for size in self.menu(state)]

    def actions(self, state: LeducState) -> Sequence[str]:
        """Returns the names of the actions; bets are named by their size in pots, so that they mean the same later."""
        if state.phase != BETTING:
            return super().actions(state)
        passive = ["fold", "call"] if state.chips[0] != state.chips[1] else ["check"]
        return passive + [f"{'raise' if state.bets else 'bet'} {size:.6g}" for size in self.menu(state)]

    def child(self, state: LeducState, action: int) -> LeducState:
        return super().child(state, action)._replace(history=(*state.history, self.actions(state)[action]))
