"""How big a game is, counted without building its tree."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from aleator.errors import GameError, TooBigError
from aleator.games.base import TERMINAL, Game
from aleator.meter import Meter

MAX_STATES = 20_000_000  # different public states that are counted
_ENDLESS = 10**300  # nodes of a tree that nobody needs to know more about


class GameSize(NamedTuple):
    """Counts of a game.

    Attributes:
        public_states: nodes of the public tree, terminals included.
        histories: pairs of hands that chance allows, summed over the nodes of the public tree. Moves of chance that
            deal the first hands are not counted as histories of their own.
        infostates: hands of the player to act, summed over the decision nodes.
    """

    public_states: int
    histories: int
    infostates: int


def measure(game: Game[Any]) -> GameSize:
    """Returns the size of a game; equal states are counted once and multiplied, so that even huge games are quick.

    Raises:
        TooBigError: there are too many different states to count, or the game does not end.
    """

    def count(state: Any) -> GameSize:
        possible, actor = game.possible(state), game.actor(state)
        infostates = int(np.count_nonzero(possible.any(axis=1 - actor))) if actor >= 0 else 0
        return GameSize(1, int(np.count_nonzero(possible)), infostates)

    return GameSize(*_total(game, count))


def count_public_states(game: Game[Any]) -> int:
    """Returns the nodes of the public tree, terminals included, without looking at hands; raises as `measure` does."""
    return _total(game, lambda state: (1,))[0]


def _total(game: Game[Any], count: Callable[[Any], tuple[int, ...]]) -> tuple[int, ...]:
    """Returns the sums of what `count` says about a state, over all nodes of the public tree."""

    def below(state: Any) -> list[Any]:
        return [] if game.actor(state) == TERMINAL else [child.state for child in game.children(state)]

    total = totals_below(game.name, game.root(), below, count)[game.root()]
    if max(total) >= _ENDLESS:
        raise TooBigError(f"the public tree of {game.name} has more than 1e300 nodes: choose a smaller game")
    return total


def format_count(number: int) -> str:
    """Returns a count as people read it: 1,234,567, or 1.2e+15 where nobody would read all digits."""
    return f"{number:,}" if number < 10**12 else f"{number:.2e}"


def totals_below(
    name: str, root: Any, below: Callable[[Any], list[Any]], count: Callable[[Any], tuple[int, ...]]
) -> dict[Hashable, tuple[int, ...]]:
    """Returns for every state the sums of what `count` says, over all nodes of the public tree from it on.

    Args:
        name: of the game.
        root: the state to begin with.
        below: the states after a state, each as often as it follows.
        count: numbers of one state.

    Raises:
        GameError: a state comes after itself.
        TooBigError: there are too many different states, or too many moves in a row.
    """
    with Meter(name, f"counting the states of {name}", "different public states", most=MAX_STATES) as meter:
        return _totals(name, root, below, count, meter)


def _totals(
    name: str, root: Any, below: Callable[[Any], list[Any]], count: Callable[[Any], tuple[int, ...]], meter: Meter
) -> dict[Hashable, tuple[int, ...]]:
    totals: dict[Hashable, tuple[int, ...]] = {}
    children: dict[Hashable, list[Any]] = {}
    waiting: list[Any] = [root]
    while waiting:
        state = waiting[-1]
        if state in totals:
            waiting.pop()
            continue
        if state not in children:
            children[state] = below(state)
            meter.add()
            meter.check_moves(len(children) - len(totals))  # the states on the way to this one
            unknown = [child for child in children[state] if child not in totals]
            if any(child in children for child in unknown):
                raise GameError(f"{name}: the moves after {state!r} lead back to a state that came before")
            if unknown:
                waiting.extend(unknown)
                continue
        waiting.pop()
        totals[state] = tuple(map(sum, zip(count(state), *(totals[child] for child in children[state]), strict=True)))
    return totals
