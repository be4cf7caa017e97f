"""Who can be played against, by name."""

from __future__ import annotations

from collections.abc import Callable

from aleator.apps.web.worker.tables import Position, Table
from aleator.errors import AleatorError
from aleator.games.base import FloatArray

PolicyOf = Callable[[Table, Position, int], FloatArray]


def _equilibrium(table: Table, position: Position, hand: int) -> FloatArray:
    return table.policy(position, hand)


_OPPONENTS: dict[str, PolicyOf] = {"equilibrium": _equilibrium}


def opponent_policy(name: str) -> PolicyOf:
    """Returns the function (table, position, hand) -> [A] of an opponent.

    Raises:
        AleatorError: there is no such opponent.
    """
    if name not in _OPPONENTS:
        raise AleatorError(f"unknown opponent {name!r}; known: {', '.join(_OPPONENTS)}")
    return _OPPONENTS[name]
