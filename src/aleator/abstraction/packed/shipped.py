"""The blueprints that come with the package, by how many play."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from aleator.abstraction.buckets import AbstractionError
from aleator.shipped import blueprints

SHIPPED: Final[Mapping[int, str]] = {2: "hunl", 6: "6max"}
"""The game of the blueprint for so many players."""


def shipped_blueprint(players: int) -> Path:
    """Returns the file of the blueprint for so many players.

    Raises:
        AbstractionError: none comes with the package.
    """
    path = next((file for file in blueprints() if file.stem == SHIPPED.get(players)), None)
    if path is None:
        games = " and ".join(f"{game} ({count} players)" for count, game in SHIPPED.items())
        raise AbstractionError(
            f"no blueprint for {players} players comes with the package, which has those of {games}: "
            "`aleator train blueprint` makes one"
        )
    return path
