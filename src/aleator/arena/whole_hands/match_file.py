"""Match files: one JSON line that says what is played, then one line per hand, written as hands end.

A hand is in the file or it is not: a last line that was cut off is dropped, and its hand is played again. Since every
hand follows from the seed and its number, a match that goes on from a file ends as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from aleator.games.holdem.hand_record import HandRecord, RecordError, setup_from_dict
from aleator.storage import StorageError, is_a
from aleator.storage.lines import LineFile, read_lines

_KIND = "match"


class PlayedLine(NamedTuple):
    """What a match needs of a finished hand.

    Attributes:
        number: of the hand.
        won: chips by seat.
        fair: chips by AIVAT, if any: of seat 0 with two players, of the first agent with more.
        weight: how often it counts.
    """

    number: int
    won: tuple[float, ...]
    fair: float | None
    weight: float


class MatchFile(LineFile):
    """An open match file, at its end.

    Attributes:
        played: the hands that were there when it was opened.
    """

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        """Opens a match file.

        Args:
            path: made if it is not there.
            header: what is played, as JSON values; must be what the file says.

        Raises:
            StorageError: the file is not a match file, or one of another match.
        """
        self.played: list[PlayedLine] = []
        super().__init__(path, _KIND, header)

    def take(self, number: int, document: dict[str, Any]) -> None:
        """Takes a hand that is there already."""
        self.played.append(_played(self.path, number, document))


def read_match(path: Path) -> Iterator[HandRecord]:
    """Yields the hands of a match file as records.

    Raises:
        StorageError: the file is not a match file; the message names the line.
    """
    setup, agents = None, []
    for number, document in read_lines(path, _KIND):
        try:
            if setup is None:
                setup = setup_from_dict(document.get("setup", {}))
                agents = [str(name) for name in document.get("agents", [])]
                continue
            seats = document.get("seats", [])
            names = [agents[seat] for seat in seats] if agents else []
            yield HandRecord.from_dict(document | {"names": names}, setup)
        except (RecordError, IndexError, TypeError) as error:
            raise StorageError(f"{path}, line {number}: {error}") from None


def _played(path: Path, number: int, document: dict[str, Any]) -> PlayedLine:
    values: list[Any] = [document.get(name) for name in ("hand", "won", "fair", "weight")]
    hand, won, fair, weight = values
    if not (is_a(hand, int) and hand >= 0 and isinstance(won, list) and all(is_a(chips, float) for chips in won)):
        raise StorageError(f"{path}, line {number}: not a hand of a match")
    if not all(value is None or is_a(value, float) for value in (fair, weight)):
        raise StorageError(f"{path}, line {number}: not a hand of a match")
    weight = 1.0 if weight is None else float(weight)
    if weight < 0.0:
        raise StorageError(f"{path}, line {number}: a hand that counts {weight:g} times")
    return PlayedLine(hand, tuple(map(float, won)), None if fair is None else float(fair), weight)
