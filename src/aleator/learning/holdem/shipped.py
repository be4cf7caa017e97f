"""The value networks of hold'em that come with the package, found by their street."""

from __future__ import annotations

from pathlib import Path

from aleator.errors import SolveError
from aleator.learning.holdem.streets import STREETS
from aleator.shipped import directory


def shipped_holdem_path(street: str) -> Path:
    """Returns the file of the network of a street: turn, flop or preflop (their ends), or river (its start).

    Raises:
        SolveError: there is none; the message lists those that there are.
    """
    folder = directory() / "holdem"
    path = folder / f"{street}.safetensors"
    if not path.is_file():
        known = ", ".join(name for name in STREETS if (folder / f"{name}.safetensors").is_file())
        raise SolveError(
            f"no hold'em network of the street {street!r} comes with Aleator; there are: {known or 'none'}"
        )
    return path
