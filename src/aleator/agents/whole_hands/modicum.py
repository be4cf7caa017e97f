"""Modicum in whole hands: a blueprint before the flop, depth-limited search on it, turn and river to the end.

Algorithm:
    Nested search (`agents.whole_hands.nested`) from the flop on. The flop is solved to its end, where the opponent
    chooses, hand by hand, by which continuation of the blueprint it goes on (`search.whole_hands.multi_valued`); turn
    and river are solved to the end of the hand without abstraction. A street is first searched unsafely, from the
    ranges that the solutions before lead to; off-tree bets on turn and river are searched safely.

Reference: N. Brown, T. Sandholm, B. Amos, "Depth-Limited Solving for Imperfect-Information Games" (NeurIPS 2018);
N. Brown's thesis (2020), 5.2.3 and 6.5.
Deviations: before the flop the blueprint plays, and translates bets that its menu lacks; Modicum solves that round
    with ten values at its leaves. CFR over all hands on the flop in place of MCCFR; the river is solved anew when its
    card has come.
Status: tests/agents/whole_hands/test_modicum.py; matches and local best responses in docs/algorithms/modicum.md.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

from aleator.agents.whole_hands.blueprint import BlueprintAgent
from aleator.agents.whole_hands.nested import NestedAgent, NestedSolver
from aleator.agents.whole_hands.search_settings import NestedSettings

LEAVES: Final = ("multi-valued", "naive")


class ModicumAgent(NestedAgent):
    """Searches from the flop on; see the module.

    Args:
        blueprint: what it plays before the flop, and prices leaves by.
        settings: how it searches.
        naive: whether leaves have the blueprint's value only, for comparison.
    """

    first_street = 1

    def __init__(
        self, blueprint: BlueprintAgent, settings: NestedSettings | None = None, *, naive: bool = False
    ) -> None:
        super().__init__(blueprint, settings or NestedSettings())
        self.name, self._naive = blueprint.name.replace("blueprint", "modicum", 1), naive

    @cached_property
    def solver(self) -> NestedSolver:
        """What solves rounds."""
        return NestedSolver(self.values, self.nested, naive=self._naive)
