"""Aleator finds and plays equilibria of games with hidden information."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# what most programs need, imported when it is used
_EXPORTS = {
    "Game": "aleator.games.base",
    "Limits": "aleator.solvers.solve",
    "Policy": "aleator.trees.policy",
    "Solution": "aleator.solvers.solution",
    "SolutionFile": "aleator.solvers.solution",
    "build_tree": "aleator.trees.public_tree",
    "check_game": "aleator.games.contract",
    "expected_value": "aleator.solvers.best_response",
    "exploitability": "aleator.solvers.best_response",
    "load_game": "aleator.games.registry",
    "nash_conv": "aleator.solvers.best_response",
    "solve": "aleator.solvers.solve",
}
__all__ = ["__version__", *_EXPORTS]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
