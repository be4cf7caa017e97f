"""Two solved spots side by side."""

from __future__ import annotations

from typing import Any

from aleator.apps.web.worker.channel import Channel
from aleator.apps.web.worker.explore import actions_of, open_view, said_on_the_way
from aleator.games.holdem.cards import format_cards
from aleator.games.holdem.node_path import parse_path
from aleator.solvers.holdem.comparison import KINDS, Comparison


def compare(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the node `path` of the solutions in `first` and `second`, and where play differs from there on."""
    solutions = [open_view(params[name]).solution for name in ("first", "second")]
    both, path = Comparison(solutions[0], solutions[1]), parse_path(params["path"])
    node = both.node(path)
    acts = node.player >= 0
    return {
        "path": str(path),
        "said": said_on_the_way(solutions[0], path),
        "board": format_cards(node.views[0].board),
        "player": node.player,
        "pots": [view.pot for view in node.views],
        "actions": [actions_of(view.node, solution.spot.stack) if acts else []
                    for view, solution in zip(node.views, solutions, strict=True)],
        "shares": [share._asdict() for share in node.shares],
        "kinds": list(KINDS),
        "class_kinds": node.class_kinds,
        "class_evs": node.class_evs,
        "evs": node.evs,
        "distance": node.distance,
        "lines": [
            line._asdict() | {"path": str(line.path), "reached": list(line.reached),
                              "said": said_on_the_way(solutions[0], line.path)}
            for line in both.lines(path)
        ]
        if acts
        else [],
    }  # fmt: skip
