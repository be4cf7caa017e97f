"""What an agent is: it takes a seat, sees what its player may see, and says what it does with every hand it could hold.

One answer, [A, H] at a public history, is all that an agent gives. The action for the hand it holds, what others may
believe about its hand, its whole policy, and scores that average over the hands it could have held
(`aleator.arena.aivat`) follow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from aleator.agents.asking import ask_action, ask_everywhere, ask_policy
from aleator.errors import AgentError
from aleator.games.base import CHANCE, FloatArray, Game
from aleator.games.table import Observation, PublicHistory, Table
from aleator.trees.beliefs import PublicBeliefState
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree


class Agent(ABC):
    """A player of one game, in either seat, for any number of games one after the other.

    Attributes:
        name: what it is called on the command line and in results.
        game: what it plays.
        seat: where it sits in the present game.
        rng: what it draws from in the present game.
    """

    name: str

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self.seat = 0
        self.rng = np.random.default_rng(0)

    def begin(self, seat: int, rng: np.random.Generator) -> None:
        """Begins a new game in a seat; what was drawn for the last one is forgotten."""
        self.seat, self.rng = seat, rng

    @abstractmethod
    def policy_at(self, history: PublicHistory) -> FloatArray:
        """Returns [A, H]: how likely each hand of the actor is to take each action, given what was drawn in this game.

        Hands are numbered as in `game.hands(history.state, history.seat)`, actions as in `game.actions(history.state)`.
        """

    def act(self, observation: Observation) -> int:
        """Returns the number of an action, drawn for the hand that the agent holds."""
        chances = ask_policy(self, observation.history)[:, observation.hand]
        return int(self.rng.choice(len(chances), p=chances))

    def policy(self, tree: PublicTree) -> Policy:
        """Returns what the agent plays in expectation, in both seats and at every node of its game's tree.

        An agent whose answers depend on the history alone has this already: it is asked everywhere. One that draws
        something for a whole game, or remembers, says here what that comes to.
        """

        def ask(history: PublicHistory) -> FloatArray:
            self.seat = history.seat
            return ask_policy(self, history)

        return ask_everywhere(tree, ask)

    def belief(self, history: PublicHistory) -> PublicBeliefState | None:
        """Returns what the agent believes about the hands at its turn; None if it holds no beliefs.

        Unless overridden it believes that the opponent plays as it does itself, by Bayes' rule.
        """
        belief = PublicBeliefState.initial(self.game)
        for number, event in enumerate(history.events):
            actor = self.game.actor(belief.state)
            policy = (
                None
                if actor == CHANCE
                else ask_policy(self, PublicHistory(actor, belief.state, history.events[:number]))
            )
            belief = belief.after(event, policy)
        return belief

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} of {self.game.name}>"


def play_game(agents: Sequence[Agent], rng: np.random.Generator | int = 0) -> Table:
    """Returns the table after one game between two agents, the first in seat 0; `rng` draws, or is a seed."""
    rng = np.random.default_rng(rng)
    table = Table(agents[0].game, rng)
    for seat, agent in enumerate(agents):
        agent.begin(seat, rng)
    while not table.is_over:
        table.act(ask_action(agents[table.actor], table.observe()))
    return table


def check_no_clock(seconds: float | None) -> None:
    """Raises AgentError if searches end after some seconds: what is played then cannot be said beforehand."""
    if seconds is not None:
        raise AgentError("what an agent with a time limit plays depends on the clock: give it iterations instead")
