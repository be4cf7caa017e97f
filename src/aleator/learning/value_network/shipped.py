"""The trained networks that come with the package, found by the name of their game."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aleator.errors import SolveError
from aleator.shipped import directory

if TYPE_CHECKING:
    from aleator.learning.value_network.model import Model


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
    from aleator.learning.value_network.model import load_model  # loads PyTorch, which the names do not need

    return load_model(shipped_path(game))


def shipped_holdem_path(street: str) -> Path:
    """Returns the file of hold'em's network of a street: turn, flop or preflop (their ends), or river (its start).

    Raises:
        SolveError: there is none; the message lists those that there are.
    """
    from aleator.learning.holdem.streets import STREETS

    folder = directory() / "holdem"
    path = folder / f"{street}.safetensors"
    if not path.is_file():
        known = ", ".join(name for name in STREETS if (folder / f"{name}.safetensors").is_file())
        raise SolveError(
            f"no hold'em network of the street {street!r} comes with Aleator; there are: {known or 'none'}"
        )
    return path
