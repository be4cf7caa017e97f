"""What a solve reports, and how a file has it: as JSON, of this version or of earlier ones."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from aleator import __version__
from aleator.errors import shown
from aleator.solvers.limits import CurvePoint
from aleator.storage import check_object, is_a, parse_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a solve reports, in the units of the game's payoffs. One iteration updates both players.

    Attributes:
        game, algorithm, dtype: what was solved, how, and in which precision.
        iterations, seconds: how long; compilation is not counted.
        values: what each player wins on average under the average policy; in hold'em less half the pot.
        exploitability: the mean of what the players gain by a best response, NashConv / 2 for two.
        nodes, infostates: the size of the public tree; what a renaming of suits makes equal counts once.
        curve: quality over time.
        nodes_touched: histories visited, where an algorithm samples or prunes; None where each iteration visits all.
        version: of this package.
    """

    game: str
    algorithm: str
    dtype: str
    iterations: int
    seconds: float
    values: tuple[float, ...]
    exploitability: float
    nodes: int
    infostates: int
    curve: tuple[CurvePoint, ...] = field(default=(), repr=False)
    nodes_touched: int | None = None
    version: str = field(default=__version__)

    @property
    def nash_conv(self) -> float:
        """The sum of what all players gain by a best response."""
        return len(self.values) * self.exploitability

    @property
    def value(self) -> float:
        """What the first player wins on average."""
        return self.values[0]

    def report(self) -> dict[str, Any]:
        """Returns everything as a JSON value, derived numbers included."""
        fields: dict[str, Any] = asdict(self)
        players = len(self.values)
        fields["curve"] = [point._asdict() | {"nash_conv": players * point.exploitability} for point in self.curve]
        return fields | {"nash_conv": self.nash_conv, "value": self.value}

    @staticmethod
    def parse(text: str) -> Summary:
        """Returns the summary in a file's JSON, those of earlier versions included.

        Raises:
            ValueError: the text is not a summary.
        """
        fields = parse_json(text)
        if not isinstance(fields, dict):
            raise ValueError(f"the summary is {shown(fields)}")
        kinds = _KINDS
        if "quality" in fields:  # hold'em, before all solvers shared one summary
            kinds = _KINDS_OF_SPOTS
        elif "nash_conv" in fields:  # the others, before that
            kinds = _KINDS_OF_TREES
        fields = check_object(fields, kinds, optional={"nodes_touched"})
        points = [_row(point, (int, float, float, int)[: len(point)]) for point in _lists(fields.pop("curve"))]
        curve = [CurvePoint(*point) for point in points]
        if kinds is _KINDS_OF_SPOTS:
            quality = check_object(fields.pop("quality"), {"values": list, "best": list})
            values, best = _row(quality["values"], (float, float)), _row(quality["best"], (float, float))
            nodes = _row(fields["nodes"], (int,) * len(fields["nodes"]))
            fields |= {"values": values, "exploitability": (sum(best) - sum(values)) / 2, "infostates": 0}
            fields |= {"game": "holdem", "algorithm": fields.pop("rule"), "dtype": "", "nodes": sum(nodes)}
        elif kinds is _KINDS_OF_TREES:
            value = fields.pop("value")
            fields["values"], fields["exploitability"] = [value, -value], fields.pop("nash_conv") / 2
            curve = [point._replace(exploitability=point.exploitability / 2) for point in curve]
        values = fields.pop("values")
        return Summary(**fields, values=tuple(_row(values, (float,) * max(len(values), 2))), curve=tuple(curve))


# the fields of a summary in a file: now, of hold'em before all solvers shared one, and of the others before that
_SHARED: dict[str, type] = {"iterations": int, "seconds": float, "curve": list, "version": str}
_KINDS = _SHARED | {"game": str, "algorithm": str, "dtype": str, "values": list, "exploitability": float}
_KINDS |= {"nodes": int, "infostates": int, "nodes_touched": int}
_KINDS_OF_SPOTS = _SHARED | {"rule": str, "quality": dict, "nodes": list}
_KINDS_OF_TREES = {name: kind for name, kind in _KINDS.items() if name != "values"} | {
    "value": float,
    "nash_conv": float,
}


def _lists(rows: list[Any]) -> list[list[Any]]:
    """Returns rows of which each is a list of three or four entries."""
    for row in rows:
        if not isinstance(row, list) or not 3 <= len(row) <= 4:
            raise ValueError(f"{shown(row)} is not a point of a curve")
    return rows


def _row(values: list[Any], kinds: tuple[type, ...]) -> list[Any]:
    """Returns a list of numbers of the given types; a fourth may be null."""
    pairs = list(zip(values, kinds, strict=False))
    if len(values) != len(kinds) or not all(
        is_a(*pair) or (at == 3 and pair[0] is None) for at, pair in enumerate(pairs)
    ):
        raise ValueError(f"{shown(values)} are not {len(kinds)} numbers")
    return values
