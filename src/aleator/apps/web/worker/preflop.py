"""Charts before the flop: solved heads-up, or those of a blueprint that the server was given."""

from __future__ import annotations

from typing import Any

from aleator.agents.whole_hands.preflop import PreflopCharts, preflop_charts
from aleator.apps.preflop_table import preflop_report
from aleator.apps.web.worker.channel import Channel
from aleator.caching import lru_cache
from aleator.games.holdem.cards import parse_cards
from aleator.games.holdem.node_path import NodePath, parse_path
from aleator.games.holdem.spot_file import spot_table

_BOARD = "Ks 7h 2d"  # of the spot that a line leads to, until somebody chooses another


@lru_cache(maxsize=8)
def _charts(game: str, agent: str | None) -> PreflopCharts:
    return preflop_charts(game, agent)


def chart(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the place `path` in the betting before the flop of `game`, and the spot that follows if a flop does."""
    path = parse_path(params["path"])  # what is no path is refused before anything is solved
    charts = _charts(params["game"], params["agent"])
    node = charts.node(path)
    line = [_step(charts, path.tokens, at) for at in range(len(path.tokens))]
    spot = spot_table(charts.spot(node.path, parse_cards(_BOARD))) if node.is_flop else None
    return preflop_report(charts, node) | {"line": line, "spot": spot}


def _step(charts: PreflopCharts, tokens: tuple[str, ...], at: int) -> dict[str, Any]:
    """Returns a step of the line: who acted, what the action is called, and the place before it."""
    node = charts.node(NodePath(tokens[:at]))
    name = node.names[node.tokens.index(tokens[at])]
    return {"path": str(node.path), "position": charts.positions[node.player], "name": name}
