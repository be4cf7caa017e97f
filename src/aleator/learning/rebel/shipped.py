"""The networks that ReBeL trained and that come with the package, found by the name of their game."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aleator.errors import SolveError
from aleator.shipped import directory

if TYPE_CHECKING:
    from aleator.learning.rebel.model import Model


def shipped_games() -> list[str]:
    """Returns the names of the games with a trained network."""
    return sorted(path.stem.replace("-", ":", 2).replace(":", "-", 1) for path in directory().glob("*.safetensors"))


def shipped_path(game: str) -> Path:
    """Returns the file of a game's network.

    Raises:
        SolveError: there is none; the message lists the games that have one.
    """
    path = directory() / f"{game.replace(':', '-')}.safetensors"
    if not path.is_file():
        raise SolveError(f"no trained network comes with {game}; there are networks for: {', '.join(shipped_games())}")
    return path


def shipped_model(game: str) -> Model:
    """Returns the trained network of a game."""
    from aleator.learning.rebel.model import load_model  # loads PyTorch, which the names do not need

    return load_model(shipped_path(game))
