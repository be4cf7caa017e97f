"""The game of a run as its workers open it: by name, and only if the rules are those of the process that trains."""

from __future__ import annotations

from typing import Any, NamedTuple

from aleator.errors import SolveError
from aleator.games.base import Game
from aleator.games.registry import load_game, load_recorded_game
from aleator.trees.fingerprint import Fingerprint


class WorkerGame(NamedTuple):
    """What a worker is told of the game.

    Attributes:
        recorded: its name in the settings of the run.
        own: the name under which workers load one of one's own; None for the one that the settings name.
        fingerprint: of the game where the networks are trained.
    """

    recorded: str
    own: str | None
    fingerprint: Fingerprint

    def load(self) -> Game[Any]:
        """Returns the rules as they are here."""
        return load_recorded_game(self.recorded) if self.own is None else load_game(self.own)

    def check(self, here: Fingerprint) -> None:
        """Raises SolveError if the game here, by its fingerprint, is another one."""
        if not here.fits(self.fingerprint):
            raise SolveError(f"a worker has other rules of {self.recorded} than the process that trains")
