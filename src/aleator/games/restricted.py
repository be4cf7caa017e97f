"""A game without some of its moves: an action abstraction. States stay those of the whole game."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from aleator.errors import GameError
from aleator.games.base import Child, FloatArray, Game, Payoff
from aleator.games.operators import Deal, PayoffOperator

_SIZED = re.compile(r"(bet|raise|[br](?=\d)) ?(\d+(?:\.\d+)?)")
Leaves = Callable[[Sequence[str]], Collection[str]]


def split_label(label: str) -> tuple[str, float] | None:
    """Returns kind and size of a bet such as "raise 0.75" or "b500"; None for other moves."""
    match = _SIZED.fullmatch(label)
    return (match[1], float(match[2])) if match else None


def smallest_and_largest(names: Sequence[str]) -> set[str]:
    """Returns the moves without those bets that lie between the smallest and the largest of their kind."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        bet = split_label(name)
        kinds.setdefault(bet[0] if bet else name, []).append(name)
    return {name for of_kind in kinds.values() for name in (of_kind[0], of_kind[-1])}


def without(dropped: Collection[str]) -> Leaves:
    """Returns the rule that leaves all moves but those of the given names."""
    return lambda names: [name for name in names if name not in dropped]


class RestrictedGame(Game[Any]):
    """A game in which players have fewer actions; chance's moves, hands and payoffs are those of the whole game.

    Args:
        game: the whole game. Moves can be left out where everybody sees them.
        leaves: from the names of a decision's actions to those that are left.
    """

    def __init__(self, game: Game[Any], leaves: Leaves = smallest_and_largest) -> None:
        self.whole, self._leaves = game, leaves
        self.name = f"{game.name}, restricted"

    def _kept(self, state: Any) -> list[int]:
        """Returns the numbers of the actions that are left."""
        names = self.whole.actions(state)
        if self.whole.actor(state) < 0:
            return list(range(len(names)))
        left = set(self._leaves(names))
        kept = [action for action, name in enumerate(names) if name in left]
        if not kept:
            raise GameError(f"{self.whole.name}: no action is left of {', '.join(names)}")
        return kept

    @property
    def shipped(self) -> bool:
        return self.whole.shipped

    def root(self) -> Any:
        return self.whole.root()

    def actor(self, state: Any) -> int:
        return self.whole.actor(state)

    def actions(self, state: Any) -> Sequence[str]:
        names = self.whole.actions(state)
        return [names[action] for action in self._kept(state)]

    def children(self, state: Any) -> Sequence[Child[Any]]:
        children, kept, player = self.whole.children(state), self._kept(state), self.whole.actor(state)
        if player < 0 or len(kept) == len(self.whole.actions(state)):
            return children
        if any(child.origin[player] is not None for child in children):
            raise GameError(f"{self.whole.name} has moves that not everybody sees: they cannot be left out")
        return [children[action] for action in kept]

    def hands(self, state: Any, player: int) -> Sequence[str]:
        return self.whole.hands(state, player)

    def num_hands(self, state: Any) -> tuple[int, int]:
        return self.whole.num_hands(state)

    def deal(self, state: Any) -> FloatArray:
        return self.whole.deal(state)

    def utility(self, state: Any) -> FloatArray:
        return self.whole.utility(state)

    def payoff(self, state: Any) -> Payoff:
        return self.whole.payoff(state)

    def payoff_matrix(self, state: Any) -> Any:
        return self.whole.payoff_matrix(state)

    def payoff_operator(self, state: Any, stake: float) -> PayoffOperator:
        return self.whole.payoff_operator(state, stake)

    def deal_operator(self, state: Any) -> Deal:
        return self.whole.deal_operator(state)
