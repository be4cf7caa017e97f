"""The contract of a game of many players, checked: what is accepted here can be solved, searched and sampled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from aleator.games.multiplayer.base import MultiplayerGame
from aleator.games.multiplayer.walk import HistoryWalk

_TOLERANCE = 1e-9


class MultiplayerReport(NamedTuple):
    """What `check_multiplayer_game` found.

    Attributes:
        public_states: different ones at which somebody moves; 1 if the game does not say what is public.
        histories: all, moves of chance and ends included.
        infostates: of all players together.
        terminals: histories that are over.
        max_actions: the most that an infostate has.
        is_zero_sum: whether the players' winnings sum to zero at every end.
    """

    public_states: int
    histories: int
    infostates: int
    terminals: int
    max_actions: int
    is_zero_sum: bool


def check_multiplayer_game(game: MultiplayerGame[Any], *, twice: bool = True) -> MultiplayerReport:
    """Returns a report on a game that keeps the contract; looks at every history.

    Checked are the distributions of chance; that every infostate has one set of actions, one past of its player
    (perfect recall) and one public state; that payoffs are finite, one for each player; that rules answer the same
    twice.

    Raises:
        GameError: the rules contradict themselves; the message says where and how.
        TooBigError: there are too many histories to look at, or the game does not end.
    """
    walk = HistoryWalk(game, twice=twice)
    payoff = np.asarray(walk.payoff).reshape(-1, walk.players)
    return MultiplayerReport(
        public_states=len(walk.publics),
        histories=walk.histories,
        infostates=len(walk.actions),
        terminals=len(payoff),
        max_actions=max(map(len, walk.actions)),
        is_zero_sum=bool((np.abs(payoff.sum(axis=1)) <= _TOLERANCE * np.abs(payoff).max(axis=1)).all()),
    )
