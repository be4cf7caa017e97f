"""How two solutions are printed side by side; `comparison_report` has the same as JSON values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from rich.style import Style
from rich.text import Text

from aleator.apps.cli.output import heading, out, print_table
from aleator.games.base import FloatArray
from aleator.games.holdem.bet_menu import POSITION_NAMES
from aleator.games.holdem.cards import HAND_CLASS_NAMES
from aleator.solvers.holdem.comparison import KINDS, LineComparison, NodeComparison

_MORE, _LESS = (200, 70, 40), (40, 100, 190)
_FULL_EV = 0.1  # of the pot: a difference that is drawn in full colour
_NO_DIFFERENCE = 0.005  # that is not written
_LINES = 12


def print_comparison(comparison: NodeComparison, lines: list[LineComparison], show: str) -> None:
    """Prints both solutions at a node: EVs, how often each action is taken, a grid of differences, lines."""
    first, second = comparison.views
    where = str(first.path) if first.path == second.path else f"{first.path} and {second.path}"
    out.print(heading(where, "   second less first"), soft_wrap=True)
    rows = [
        (
            f"EV {name}",
            *(_number(comparison.evs[at, side]) for at in (0, 1)),
            _signed(comparison.evs[1, side] - comparison.evs[0, side]),
        )
        for side, name in enumerate(POSITION_NAMES)
    ]
    rows += [
        (share.token, _percent(share.first), _percent(share.second), _points(share.second - share.first))
        for share in comparison.shares
    ]
    print_table("", ("", "first", "second", "difference"), rows)
    if comparison.player >= 0:
        out.print(
            f"hands of {POSITION_NAMES[comparison.player]} act otherwise {_percent(comparison.distance)} of the time"
        )
        _print_grid(comparison, show)
    if lines:
        names = ("node", "acts", "reached", "reached second", "acts otherwise", *(f"{kind} ±" for kind in KINDS))
        print_table("where play differs most", names, [_line(line) for line in lines[:_LINES]])


def _line(line: LineComparison) -> list[str]:
    reached = [_percent(share) for share in line.reached]
    moved = [_points(change) for change in line.kinds[1] - line.kinds[0]]
    return [str(line.path), POSITION_NAMES[line.player], *reached, _percent(line.distance), *moved]


def _print_grid(comparison: NodeComparison, show: str) -> None:
    """Prints the 13 x 13 classes: how much more or less is bet (or folded, or won)."""
    if show == "ev":
        changes = comparison.class_evs[1, comparison.player] - comparison.class_evs[0, comparison.player]
        scale, title = _FULL_EV * comparison.views[0].pot, "EV in chips"
    else:
        place = KINDS.index(show)
        changes, scale = comparison.class_kinds[1, place] - comparison.class_kinds[0, place], 1.0
        title = f"how often they {show}, in points of 100"
    out.print(f"by class: {title}; red is more in the second, blue less")
    for row in range(13):
        names, below = Text(), Text()
        for column in range(13):
            change = changes[13 * row + column]
            names.append(f"{HAND_CLASS_NAMES[13 * row + column]:5}", _style(change / scale))
            names.append(" ")
            is_small = math.isnan(change) or abs(change) < _NO_DIFFERENCE * scale
            below.append("".ljust(6) if is_small else _cell(change, show))
        out.print(names)
        out.print(below, style="dim")


def _cell(change: float, show: str) -> str:
    return (f"{change:+.1f}" if show == "ev" else f"{100 * change:+.0f}").ljust(6)[:6]


def _style(share: float) -> Style:
    if math.isnan(share):
        return Style(dim=True)
    strength, colour = min(abs(share), 1.0), _MORE if share > 0 else _LESS
    red, green, blue = (round(70 + strength * (part - 70)) for part in colour)
    return Style(color="white", bgcolor=f"rgb({red},{green},{blue})")


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:,.2f}"


def _signed(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:+,.2f}"


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"


def _points(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:+.1f}"


def comparison_report(comparison: NodeComparison, lines: list[LineComparison]) -> dict[str, Any]:
    """Returns a comparison as JSON values; differences are the second less the first."""
    return {
        "nodes": [str(view.path) for view in comparison.views],
        "to_act": POSITION_NAMES[comparison.player] if comparison.player >= 0 else None,
        "ev": {name: _pair(comparison.evs[:, side]) for side, name in enumerate(POSITION_NAMES)},
        "actions": [
            {
                "token": share.token,
                "first": share.first,
                "second": share.second,
                "difference": share.second - share.first,
            }
            for share in comparison.shares
        ],
        "acts_otherwise": comparison.distance,
        "classes": _classes(comparison),
        "lines": [
            {
                "node": str(line.path),
                "to_act": POSITION_NAMES[line.player],
                "reached": list(line.reached),
                "acts_otherwise": line.distance,
                "kinds": {kind: _pair(line.kinds[:, place]) for place, kind in enumerate(KINDS)},
            }
            for line in lines
        ],
    }


def _classes(comparison: NodeComparison) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for index, name in enumerate(HAND_CLASS_NAMES):
        evs = {side: _pair(comparison.class_evs[:, place, index]) for place, side in enumerate(POSITION_NAMES)}
        kinds = {kind: _pair(comparison.class_kinds[:, place, index]) for place, kind in enumerate(KINDS)
                 } if len(comparison.class_kinds) else {}  # fmt: skip
        if np.isfinite(comparison.class_evs[:, :, index]).any():
            named[name] = {"ev": evs, **kinds}
    return named


def _pair(values: FloatArray) -> dict[str, float]:
    return {"first": float(values[0]), "second": float(values[1]), "difference": float(values[1] - values[0])}
