"""Asking an agent what it does: answers are checked, and what is wrong with one is said with the agent's name."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aleator.errors import AgentError, AleatorError
from aleator.games.base import FloatArray
from aleator.games.table import Observation
from aleator.trees.policy import Policy, block, legal_actions, policy_from
from aleator.trees.public_tree import PublicTree

if TYPE_CHECKING:
    from aleator.agents.base import Agent


def ask_probabilities(agent: Agent, observation: Observation) -> FloatArray:
    """Returns [A]: how likely the agent is to take each action, summing to 1.

    Raises:
        AgentError: the agent failed, or its answer is not one weight, at least 0, per action with all that is illegal at 0.
    """
    with _named(agent):
        answer = agent.probabilities(observation)
    try:
        chances = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise AgentError(f"{agent.name} gave the probabilities {answer!r}: they must be numbers") from None
    names = agent.game.actions(observation.state)
    if chances.shape != (len(names),):
        raise AgentError(
            f"{agent.name} gave probabilities of shape {chances.shape}, not ({len(names)},): one for each of {', '.join(names)}"
        )
    total = chances.sum()
    if not (np.isfinite(chances).all() and (chances >= 0.0).all() and total > 0.0):
        raise AgentError(f"{agent.name} gave the probabilities {chances.tolist()}: they must be 0 or more, not all 0")
    illegal = [names[action] for action in np.flatnonzero(chances).tolist() if action not in observation.legal]
    if illegal:
        raise AgentError(f"{agent.name} gave {', '.join(illegal)} a probability; {_allowed(agent, observation)}")
    return np.asarray(chances / total)


def ask_action(agent: Agent, observation: Observation) -> int:
    """Returns the number of the action that the agent takes.

    Raises:
        AgentError: the agent failed, or its answer is not a legal action.
    """
    with _named(agent):
        action: object = agent.act(observation)
    if not isinstance(action, int | np.integer) or int(action) not in observation.legal:
        raise AgentError(f"{agent.name} chose {action!r}; {_allowed(agent, observation)}")
    return int(action)


def ask_everywhere(tree: PublicTree, ask: Callable[[Observation], FloatArray]) -> Policy:
    """Returns the policy of who answers `ask` with [A] probabilities, asked at every node and hand of a game's tree."""
    legal = legal_actions(tree)
    events: list[tuple[int, ...]] = [()] * tree.num_nodes
    for node in range(1, tree.num_nodes):  # parents come before their children
        parent = int(tree.parent[node])
        events[node] = (*events[parent], node - int(tree.first_child[parent]))

    def choose(node: int, hand: int) -> FloatArray:
        allowed = tuple(np.flatnonzero(block(tree, legal, node)[:, hand]).tolist())
        return ask(Observation(int(tree.actor[node]), tree.states[node], hand, events[node], allowed))

    return policy_from(tree, choose)


def _allowed(agent: Agent, observation: Observation) -> str:
    names = agent.game.actions(observation.state)
    return "allowed: " + ", ".join(f"{action} ({names[action]})" for action in observation.legal)


@contextmanager
def _named(agent: Agent) -> Iterator[None]:
    """Makes of an exception in an agent's code an error that says whose it is, and where."""
    try:
        yield
    except AleatorError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [frame for frame in frames if frame.filename != __file__] or frames
        last = [frame for frame in theirs if frame.filename == theirs[0].filename][-1]  # not in a library they call
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise AgentError(f"{agent.name} failed in {Path(last.filename).name}, line {last.lineno}: {what}") from error
