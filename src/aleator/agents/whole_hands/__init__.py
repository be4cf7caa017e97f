"""Agents that play whole hands of hold'em: any legal amount, an answer for every hand they could hold."""

from aleator.agents.whole_hands.base import BatchPolicy, HandAgent, HandPolicy
from aleator.agents.whole_hands.registry import known_hand_agents, load_hand_agent

__all__ = ["BatchPolicy", "HandAgent", "HandPolicy", "known_hand_agents", "load_hand_agent"]
