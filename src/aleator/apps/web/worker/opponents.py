"""Who can be played against: the equilibrium of a solved game, or any agent of the library by its name."""

from __future__ import annotations

from typing import Any

import numpy as np

from aleator.agents.base import Agent
from aleator.agents.registry import load_agent
from aleator.apps.web.catalogue import EQUILIBRIUM, REBEL
from aleator.apps.web.worker.channel import Channel
from aleator.apps.web.worker.solved import Solved, belief_of
from aleator.caching import lru_cache
from aleator.games.base import FloatArray
from aleator.games.registry import load_game
from aleator.games.table import PublicHistory, Table

_SETTINGS = {REBEL: "rebel:iterations=256"}  # a move within a second, also where cores are busy


class Opponent:
    """An agent in a seat, for one deal; what it draws in the deal is drawn anew, and equally, at every turn.

    Args:
        agent: who plays.
        solved: the game, whose beliefs are told where the agent holds none.
        seat: where it sits.
        draw: seeds what the agent draws.
    """

    def __init__(self, agent: Agent, solved: Solved, seat: int, draw: tuple[int, int]) -> None:
        self._agent, self._solved, self._seat = agent, solved, seat
        self._rng = np.random.default_rng(draw)
        self._draws = self._rng.bit_generator.state  # quicker to go back to than to seed again

    def _begin(self) -> Agent:
        self._rng.bit_generator.state = self._draws
        self._agent.begin(self._seat, self._rng)
        return self._agent

    def policy(self, history: PublicHistory) -> FloatArray:
        """Returns [A, H]: how likely it takes each action at its turn, whatever it holds."""
        return self._begin().policy_at(history)

    def belief(self, history: PublicHistory, hand: int) -> FloatArray:
        """Returns [H]: how likely it, holding `hand`, takes each hand of the other to be."""
        return self._as_seen_by(self._seat, history, hand)

    def seen(self, history: PublicHistory, hand: int) -> FloatArray:
        """Returns [H]: how likely the other, holding `hand`, takes each of its hands to be if it plays as it does."""
        return self._as_seen_by(1 - self._seat, history, hand)

    def _as_seen_by(self, player: int, history: PublicHistory, hand: int) -> FloatArray:
        belief = belief_of(self._begin(), history, player, hand)
        if belief is None:
            belief = belief_of(self._solved.agent, history, player, hand)
        assert belief is not None
        return belief


@lru_cache(maxsize=8)
def _load(name: str, game: str) -> Agent:
    return load_agent(_SETTINGS.get(name, name), load_game(game))


def open_opponent(name: str, game: str, solved: Solved, seat: int, draw: tuple[int, int]) -> Opponent:
    """Returns an opponent at a game.

    Raises:
        AgentError: there is none of that name.
    """
    return Opponent(solved.agent if name == EQUILIBRIUM else _load(name, game), solved, seat, draw)


def prepare(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns once `opponent` is loaded and has thought about the first move of `game`, the same in every deal."""
    if params["opponent"] != EQUILIBRIUM:
        agent, rng = _load(params["opponent"], params["game"]), np.random.default_rng(0)
        agent.begin(0, rng)
        agent.policy_at(Table(agent.game, rng).history)
    return {}
