"""Charts before the flop: solved heads-up, or those of a blueprint that the server was given."""

from __future__ import annotations

from typing import Any

from aleator.agents.whole_hands.preflop import PreflopCharts, preflop_charts
from aleator.apps.preflop_table import preflop_report
from aleator.apps.web.worker.channel import Channel
from aleator.caching import lru_cache
from aleator.games.holdem.cards import parse_cards
from aleator.games.holdem.spot_file import spot_table

_BOARD = "Ks 7h 2d"  # of the spot that a line leads to, until somebody chooses another


@lru_cache(maxsize=8)
def _charts(game: str, agent: str | None) -> PreflopCharts:
    return preflop_charts(game, agent)


def chart(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the place `path` in the betting before the flop of `game`, and the spot that follows if a flop does."""
    charts = _charts(params["game"], params["agent"])
    node = charts.node(params["path"])
    line = [_step(charts, params["path"].split(":")[2:], at) for at in range(len(node.path.tokens))]
    spot = spot_table(charts.spot(node.path, parse_cards(_BOARD))) if node.is_flop else None
    return preflop_report(charts, node) | {"line": line, "spot": spot}


def _step(charts: PreflopCharts, tokens: list[str], at: int) -> dict[str, Any]:
    """Returns a step of the line: who acted, what the action is called, and the place before it."""
    path = ":".join(("r", "0", *tokens[:at]))
    node = charts.node(path)
    name = node.names[node.tokens.index(tokens[at])]
    return {"path": path, "position": charts.positions[node.player], "name": name}
