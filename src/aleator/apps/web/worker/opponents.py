"""Who can be played against: the equilibrium of a table, or any agent of the library by its name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from aleator.agents.asking import ask_policy
from aleator.agents.base import Agent
from aleator.agents.registry import load_agent
from aleator.apps.web.catalogue import EQUILIBRIUM, REBEL
from aleator.apps.web.worker.channel import Channel
from aleator.apps.web.worker.tables import Position, Table, TreeTable
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.registry import load_game
from aleator.games.table import PublicHistory
from aleator.games.table import Table as GameTable

_SETTINGS = {REBEL: "rebel:iterations=256"}  # a move within a second, also where cores are busy


class Opponent(Protocol):
    """Somebody who sits at a table; `draw` seeds whatever it draws in a deal, which makes a deal repeatable."""

    def policy(self, table: Table, position: Position, seat: int, hand: int, draw: Sequence[int]) -> FloatArray:
        """Returns [A]: how likely it takes each action at its turn."""

    def belief(self, table: Table, position: Position, seat: int, hand: int, draw: Sequence[int]) -> FloatArray:
        """Returns [H]: how likely it holds each hand of the other to be."""


class _Equilibrium:
    """Plays what the table knows."""

    def policy(self, table: Table, position: Position, seat: int, hand: int, draw: Sequence[int]) -> FloatArray:
        return table.policy(position, hand)

    def belief(self, table: Table, position: Position, seat: int, hand: int, draw: Sequence[int]) -> FloatArray:
        return table.belief(position, seat, hand)


class _AgentOpponent:
    """Asks an agent of the library; what it draws in a deal is drawn anew, and equally, at every turn."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def think_ahead(self) -> None:
        """Searches the first move, which is the same in every deal."""
        rng = np.random.default_rng(0)
        self.agent.begin(0, rng)
        self.agent.policy_at(GameTable(self.agent.game, rng).observe().history)

    def _observe(
        self, table: Table, position: Position, seat: int, draw: Sequence[int]
    ) -> tuple[TreeTable, PublicHistory]:
        if not isinstance(table, TreeTable):
            raise AgentError(f"{self.agent.name} plays small games only")
        events, node, tree = [], 0, table.tree
        for label in position:
            labels = [tree.labels[child] for child in tree.children(node)]
            events.append(labels.index(label))
            node = int(tree.first_child[node]) + events[-1]
        self.agent.begin(seat, np.random.default_rng(draw))
        return table, PublicHistory(seat, tree.states[node], tuple(events))

    def policy(self, table: Table, position: Position, seat: int, hand: int, draw: Sequence[int]) -> FloatArray:
        return ask_policy(self.agent, self._observe(table, position, seat, draw)[1])[:, hand]

    def belief(self, table: Table, position: Position, seat: int, hand: int, draw: Sequence[int]) -> FloatArray:
        known, history = self._observe(table, position, seat, draw)
        belief = self.agent.belief(history)
        return known.belief(position, seat, hand) if belief is None else belief.as_seen_by(seat, hand)


@lru_cache(maxsize=8)
def open_opponent(name: str, game: str) -> Opponent:
    """Returns an opponent at a game.

    Raises:
        AgentError: there is none of that name.
    """
    if name == EQUILIBRIUM:
        return _Equilibrium()
    return _AgentOpponent(load_agent(_SETTINGS.get(name, name), load_game(game)))


def prepare(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns once `opponent` is loaded and has thought about the first move of `game`."""
    opponent = open_opponent(params["opponent"], params["game"])
    if isinstance(opponent, _AgentOpponent):
        opponent.think_ahead()
    return {}
