"""Slow and plain: values and best responses by recursion over histories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from aleator.games.base import CHANCE, TERMINAL
from aleator.games.multiplayer.base import MultiplayerGame

PolicyAt = Callable[[int, Hashable], Sequence[float]]


def value(game: MultiplayerGame[Any], policy: PolicyAt, history: Any) -> np.ndarray[Any, Any]:
    """Returns what everybody wins from a history on."""
    actor = game.actor(history)
    if actor == TERMINAL:
        return np.array(game.returns(history), dtype=float)
    chances = game.outcomes(history) if actor == CHANCE else policy(actor, game.infostate(history, actor))
    return sum(p * value(game, policy, game.act(history, k)) for k, p in enumerate(chances) if p > 0)


def best_value(game: MultiplayerGame[Any], policy: PolicyAt, player: int) -> float:
    """Returns what a best response wins: at each infostate the best action for all histories that it may be."""

    def expand(history: Any, reach: float) -> list[tuple[Any, float]]:
        actor = game.actor(history)
        if actor in (player, TERMINAL):
            return [(history, reach)]
        chances = game.outcomes(history) if actor == CHANCE else policy(actor, game.infostate(history, actor))
        return [x for k, p in enumerate(chances) if p > 0 for x in expand(game.act(history, k), reach * p)]

    def respond(histories: list[tuple[Any, float]]) -> float:
        total, infostates = 0.0, defaultdict(list)
        for history, reach in histories:
            if game.actor(history) == TERMINAL:
                total += reach * game.returns(history)[player]
            else:
                infostates[game.infostate(history, player)].append((history, reach))
        for alike in infostates.values():
            total += max(
                respond([x for h, reach in alike for x in expand(game.act(h, k), reach)])
                for k in range(len(game.legal(alike[0][0])))
            )
        return total

    return respond(expand(game.start(), 1.0))
