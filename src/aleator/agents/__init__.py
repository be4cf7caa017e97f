"""Agents: players that can sit at a table, one interface for all of them."""

from aleator.agents.base import Agent, play_game
from aleator.agents.registry import known_agents, load_agent

__all__ = ["Agent", "known_agents", "load_agent", "play_game"]
