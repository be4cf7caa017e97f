"""How big a game is, counted without building its tree."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from aleator.errors import GameError
from aleator.games.base import TERMINAL, Game


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
    """Returns the size of a game; equal states are counted once and multiplied, so that even huge games are quick."""
    sizes: dict[Hashable, tuple[int, int, int]] = {}
    below: dict[Hashable, list[Any]] = {}
    waiting: list[Any] = [game.root()]
    while waiting:
        state = waiting[-1]
        if state in sizes:
            waiting.pop()
            continue
        actor = game.actor(state)
        if state not in below:
            below[state] = [] if actor == TERMINAL else [child.state for child in game.children(state)]
            unknown = [child for child in below[state] if child not in sizes]
            if any(child in below for child in unknown):
                raise GameError(f"{game.name}: the moves after {state!r} lead back to a state that came before")
            if unknown:
                waiting.extend(unknown)
                continue
        waiting.pop()
        possible = game.possible(state)
        nodes, histories = 1, int(np.count_nonzero(possible))
        infostates = int(np.count_nonzero(possible.any(axis=1 - actor))) if actor >= 0 else 0
        for child in below[state]:
            nodes, histories, infostates = (
                nodes + sizes[child][0], histories + sizes[child][1], infostates + sizes[child][2],
            )  # fmt: skip
        sizes[state] = (nodes, histories, infostates)
    return GameSize(*sizes[game.root()])
