"""Reports over flops as tables: filters by texture, orders, and JSON values for the command line and the web app."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from aleator.errors import SolveError, did_you_mean
from aleator.games.holdem.cards import RANKS
from aleator.games.holdem.flops import CONNECTION, PAIRING, SUITS_OF_FLOP
from aleator.games.holdem.spot_file import spot_table
from aleator.solvers.holdem.flop_report import FlopReport, ReportConfig, report_columns
from aleator.solvers.holdem.flop_rows import FlopRow, NodeRow

TEXTURES = {"suits": SUITS_OF_FLOP, "pairing": PAIRING, "high": tuple(reversed(RANKS)), "connection": CONNECTION}
"""What flops are chosen by, and the values that there are."""


class Filter(NamedTuple):
    """A texture that flops must have."""

    name: str
    value: str


def parse_filter(text: str) -> Filter:
    """Returns a filter such as ``suits=monotone``.

    Raises:
        SolveError: there is no such texture.
    """
    name, _, value = text.partition("=")
    if name not in TEXTURES:
        raise SolveError(f"flops are chosen by {', '.join(TEXTURES)} (as in suits=monotone), not by {text!r}")
    value = value.upper() if name == "high" else value
    if value not in TEXTURES[name]:
        hint = did_you_mean(value, TEXTURES[name])
        raise SolveError(f"{name} must be {', '.join(TEXTURES[name])}, not {value!r}{f'; {hint}' if hint else ''}")
    return Filter(name, value)


def check_sort(config: ReportConfig, sort: str) -> None:
    """Raises SolveError unless flops of a report can be sorted so: ``select`` says how."""
    allowed = ["ev", "equity", "chance", "high", *config.node_of(config.node).tokens]
    if sort and sort.removeprefix("-") not in allowed:
        raise SolveError(f"--sort must be {', '.join(allowed)}, with a - before it for the other order, not {sort!r}")


def select(report: FlopReport, sort: str = "", filters: Sequence[Filter] = ()) -> list[tuple[FlopRow, float]]:
    """Returns the flops with all of some textures, and how likely each is, in an order.

    Args:
        report: of which.
        sort: ``ev`` and ``equity`` of oop, ``chance``, ``high``, or an action's token; ``-`` before it turns it round.
        filters: what flops must have.

    Raises:
        SolveError: there is nothing to sort by of that name.
    """
    listed = [entry for entry in report.listed() if all(getattr(entry[0].texture, name) == value
                                                        for name, value in filters)]  # fmt: skip
    key, place = sort.removeprefix("-"), "node" if report.config.node.tokens else "root"
    if not key:
        return listed
    first = next(iter(report.rows.values()), None)
    tokens = [action.token for action in getattr(first, place).actions] if first else []
    check_sort(report.config, sort)

    def rank(entry: tuple[FlopRow, float]) -> float:
        row, chance = entry
        node: NodeRow = getattr(row, place)
        if key in ("ev", "equity"):
            value = getattr(node, key)[0]
            return float("inf") if value != value else float(value)
        if key in tokens:
            return node.actions[tokens.index(key)].frequency
        return chance if key == "chance" else RANKS.index(row.texture.high)

    return sorted(listed, key=rank, reverse=sort.startswith("-"))


def report_csv(report: FlopReport) -> str:
    """Returns a report as the text of a table, a row per flop."""
    names, rows = report_columns(report)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names)
    for row in rows:
        writer.writerow(["" if isinstance(cell, float) and math.isnan(cell) else cell for cell in row])
    return text.getvalue()


def report_document(
    report: FlopReport, *, sort: str = "", filters: Sequence[Filter] = (), rows: bool = True
) -> dict[str, Any]:
    """Returns a report as JSON values; without its flops unless `rows`."""
    config = report.config
    listed = select(report, sort, filters) if rows else []
    return {
        "spot": spot_table(replace(config.spot, board=config.flops[0].cards)),
        "node": str(config.node),
        "players": {"root": _actor(report, "root"), "node": _actor(report, "node")},
        "wanted": len(report.wanted),
        "solved": len(report.rows),
        "mean": {place: _node(report.mean(place)) for place in ("root", "node")} if report.rows else None,
        "flops": [
            row.to_dict()
            | {"chance": chance, "texture": row.texture._asdict()}
            | {place: _node(getattr(row, place)) for place in ("root", "node")}
            for row, chance in listed
        ],
    }


def _actor(report: FlopReport, place: str) -> int:
    path = report.config.node if place == "node" else replace(report.config.node, tokens=())
    return int(report.config.node_of(path).player)


def _node(row: NodeRow) -> dict[str, Any]:
    return row._asdict() | {"actions": [action._asdict() for action in row.actions]}
