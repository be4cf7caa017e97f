"""Aleator finds and plays equilibria of games with hidden information.

    >>> from aleator import exploitability, solve
    >>> solution = solve("leduc", exploitability=1e-4)
    >>> exploitability(solution.policy) < 1e-4
    True

`load_game` opens a game by its name (`aleator games` lists them), `solve` solves it; `load_spot` opens a hold'em spot,
which `solve` takes, too, and `HoldemView` looks at. `load_agent` and `play_match` let agents play each other,
`load_hand_agent` and `play_hand_match` whole hands of hold'em. These names are stable, and loaded when they are used;
`docs/api` has an example of each. The packages have the rest: games, trees, solvers, search, learning, agents, arena.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers; a test holds it equal to the table below
    from aleator.agents.base import Agent
    from aleator.agents.registry import load_agent
    from aleator.agents.whole_hands.base import HandAgent
    from aleator.agents.whole_hands.registry import load_hand_agent
    from aleator.arena.match import play_match
    from aleator.arena.whole_hands.match import HandMatch, play_hand_match
    from aleator.errors import AleatorError
    from aleator.games.base import Game
    from aleator.games.contract import check_game
    from aleator.games.holdem.spot import Spot
    from aleator.games.holdem.spot_file import load_spot
    from aleator.games.registry import load_game
    from aleator.solvers.best_response import best_response, expected_value, exploitability
    from aleator.solvers.holdem.solution import HoldemSolution
    from aleator.solvers.holdem.view import HoldemView
    from aleator.solvers.limits import Limits
    from aleator.solvers.solution import Solution, open_solution
    from aleator.solvers.solve import solve
    from aleator.trees.policy import Policy, uniform_policy
    from aleator.trees.public_tree import PublicTree, build_tree

__version__ = "0.1.0"

# where each name is, to be imported when it is used
_EXPORTS = {
    "Agent": "aleator.agents.base",
    "AleatorError": "aleator.errors",
    "Game": "aleator.games.base",
    "HandAgent": "aleator.agents.whole_hands.base",
    "HandMatch": "aleator.arena.whole_hands.match",
    "HoldemSolution": "aleator.solvers.holdem.solution",
    "HoldemView": "aleator.solvers.holdem.view",
    "Limits": "aleator.solvers.limits",
    "Policy": "aleator.trees.policy",
    "PublicTree": "aleator.trees.public_tree",
    "Solution": "aleator.solvers.solution",
    "Spot": "aleator.games.holdem.spot",
    "best_response": "aleator.solvers.best_response",
    "build_tree": "aleator.trees.public_tree",
    "check_game": "aleator.games.contract",
    "expected_value": "aleator.solvers.best_response",
    "exploitability": "aleator.solvers.best_response",
    "load_agent": "aleator.agents.registry",
    "load_game": "aleator.games.registry",
    "load_hand_agent": "aleator.agents.whole_hands.registry",
    "load_spot": "aleator.games.holdem.spot_file",
    "open_solution": "aleator.solvers.solution",
    "play_hand_match": "aleator.arena.whole_hands.match",
    "play_match": "aleator.arena.match",
    "solve": "aleator.solvers.solve",
    "uniform_policy": "aleator.trees.policy",
}
__all__ = [
    "Agent",
    "AleatorError",
    "Game",
    "HandAgent",
    "HandMatch",
    "HoldemSolution",
    "HoldemView",
    "Limits",
    "Policy",
    "PublicTree",
    "Solution",
    "Spot",
    "__version__",
    "best_response",
    "build_tree",
    "check_game",
    "expected_value",
    "exploitability",
    "load_agent",
    "load_game",
    "load_hand_agent",
    "load_spot",
    "open_solution",
    "play_hand_match",
    "play_match",
    "solve",
    "uniform_policy",
]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_EXPORTS[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
