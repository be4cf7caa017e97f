"""Asking an agent what it does: answers are checked, and what is wrong with one is said with the agent's name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from aleator.errors import AgentError, agent_named
from aleator.games.base import FloatArray
from aleator.games.table import Observation, PublicHistory, legal_actions_at
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree

if TYPE_CHECKING:
    from aleator.agents.base import Agent


def ask_policy(agent: Agent, history: PublicHistory) -> FloatArray:
    """Returns [A, H]: how likely the agent is to take each action with each hand, summing to 1 for every hand.

    Raises:
        AgentError: somebody else's code failed, or the answer is not one weight, at least 0, per action and hand with
            all that is illegal at 0.
    """
    with agent_named(agent.name):
        answer = agent.policy_at(history)
    try:
        policy = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise AgentError(f"{agent.name} gave the policy {answer!r}: it must be an array of numbers") from None
    legal = legal_actions_at(agent.game, history.state)
    names, hands = agent.game.actions(history.state), agent.game.hands(history.state, history.seat)
    if policy.shape != legal.shape:
        raise AgentError(
            f"{agent.name} gave a policy of shape {policy.shape}, not {legal.shape}: "
            f"a row for each of {', '.join(names)}, a column for each of {len(hands)} hands"
        )
    total = policy.sum(axis=0)
    wrong = ~(np.isfinite(policy) & (policy >= 0.0)).all(axis=0) | ~(total > 0.0)
    if wrong.any():
        hand = int(wrong.argmax())
        raise AgentError(
            f"{agent.name} gave hand {hands[hand]} the probabilities {policy[:, hand].tolist()}: "
            "they must be 0 or more, not all 0"
        )
    if (policy[~legal] > 0.0).any():
        action, hand = (int(where[0]) for where in np.nonzero((policy > 0.0) & ~legal))
        raise AgentError(
            f"{agent.name} gave {names[action]} a probability with hand {hands[hand]}; "
            f"{_allowed(names, np.flatnonzero(legal[:, hand]).tolist())}"
        )
    return np.asarray(policy / total)


def ask_action(agent: Agent, observation: Observation) -> int:
    """Returns the number of the action that the agent takes.

    Raises:
        AgentError: somebody else's code failed, or the answer is not a legal action.
    """
    with agent_named(agent.name):
        action: object = agent.act(observation)
    if not isinstance(action, int | np.integer) or int(action) not in observation.legal:
        names = agent.game.actions(observation.state)
        raise AgentError(f"{agent.name} chose {action!r}; {_allowed(names, observation.legal)}")
    return int(action)


def ask_everywhere(tree: PublicTree, ask: Callable[[PublicHistory], FloatArray]) -> Policy:
    """Returns the policy of who answers `ask` with [A, H], asked at every decision of a game's tree."""
    policy = Policy(tree, (np.zeros(tree.policy_size[0]), np.zeros(tree.policy_size[1])))
    for node in map(int, np.flatnonzero(tree.actor >= 0)):
        policy[node][:] = ask(PublicHistory(int(tree.actor[node]), tree.states[node], tree.events(node)))
    return policy


def _allowed(names: Sequence[str], legal: Sequence[int]) -> str:
    return "allowed: " + ", ".join(f"{action} ({names[action]})" for action in legal)
