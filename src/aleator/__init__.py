"""Aleator finds and plays equilibria of games with hidden information."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers; a test holds it equal to the table below
    from aleator.agents.base import Agent, play_game
    from aleator.agents.registry import load_agent
    from aleator.arena.match import play_match
    from aleator.errors import AleatorError
    from aleator.games.base import Game
    from aleator.games.contract import check_game
    from aleator.games.registry import load_game
    from aleator.solvers.best_response import best_response, expected_value, exploitability, nash_conv
    from aleator.solvers.solution import Solution, SolutionFile
    from aleator.solvers.solve import Limits, solve
    from aleator.trees.policy import Policy, uniform_policy
    from aleator.trees.public_tree import build_tree

__version__ = "0.1.0"

# what most programs need, imported when it is used
_EXPORTS = {
    "Agent": "aleator.agents.base",
    "AleatorError": "aleator.errors",
    "Game": "aleator.games.base",
    "Limits": "aleator.solvers.solve",
    "Policy": "aleator.trees.policy",
    "Solution": "aleator.solvers.solution",
    "SolutionFile": "aleator.solvers.solution",
    "best_response": "aleator.solvers.best_response",
    "build_tree": "aleator.trees.public_tree",
    "check_game": "aleator.games.contract",
    "expected_value": "aleator.solvers.best_response",
    "exploitability": "aleator.solvers.best_response",
    "load_agent": "aleator.agents.registry",
    "load_game": "aleator.games.registry",
    "nash_conv": "aleator.solvers.best_response",
    "play_game": "aleator.agents.base",
    "play_match": "aleator.arena.match",
    "solve": "aleator.solvers.solve",
    "uniform_policy": "aleator.trees.policy",
}
__all__ = [
    "Agent",
    "AleatorError",
    "Game",
    "Limits",
    "Policy",
    "Solution",
    "SolutionFile",
    "__version__",
    "best_response",
    "build_tree",
    "check_game",
    "expected_value",
    "exploitability",
    "load_agent",
    "load_game",
    "nash_conv",
    "play_game",
    "play_match",
    "solve",
    "uniform_policy",
]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
