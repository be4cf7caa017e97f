"""Charts before the flop: solved heads-up, or those of a blueprint that the server was given."""

from __future__ import annotations

from typing import Any

from aleator.agents.whole_hands.preflop import ITERATIONS, PreflopCharts, PreflopNode, preflop_charts
from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.apps.preflop_table import preflop_report
from aleator.apps.web.worker.blueprints import blueprint_game
from aleator.apps.web.worker.channel import Channel
from aleator.caching import Kept, lru_cache
from aleator.games.holdem.betting import ActionKind
from aleator.games.holdem.cards import parse_cards
from aleator.games.holdem.node_path import NodePath, parse_path
from aleator.games.holdem.spot_file import spot_table

_BOARD = "Ks 7h 2d"  # of the spot that a line leads to, until somebody chooses another
_FOLD = "f"


_known: Kept[PreflopCharts] = Kept(8)


def _charts(game: str, blueprint: str | None, channel: Channel | None = None) -> PreflopCharts:
    charts = _known.find((game, blueprint))
    if charts is None:
        charts = _known.keep((game, blueprint), _new_charts(game, blueprint, channel))
    return charts


def _new_charts(game: str, blueprint: str | None, channel: Channel | None) -> PreflopCharts:
    if blueprint is not None:
        return PreflopCharts(blueprint_game(blueprint).setup, load_hand_agent(f"blueprint:{blueprint}"))

    def report(done: int) -> None:
        if channel is not None:
            channel.report(done=done / ITERATIONS)

    return preflop_charts(game, on_done=report)


def chart(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the place `path` in the betting before the flop, and the spot that follows if a flop does.

    The charts are those of the file `blueprint`; None: `game`, solved, with reports of how far that is.
    """
    path = parse_path(params["path"])  # a path that does not exist is refused before anything is solved
    charts = _charts(params["game"], params["blueprint"], channel)
    node = charts.node(path)
    spot = spot_table(charts.spot(node.path, parse_cards(_BOARD))) if node.is_flop else None
    return preflop_report(charts, node) | {
        "big_blind": charts.setup.rules.big_blind,
        "stack": charts.setup.stacks[0],
        "line": [_step(charts, path.tokens, at) for at in range(len(path.tokens))],
        "folds": [_place(charts, later) for later in _after_folds(charts, node)],
        "pairs": _pairs(params["game"], params["blueprint"]),
        "spot": spot,
    }


def _step(charts: PreflopCharts, tokens: tuple[str, ...], at: int) -> dict[str, Any]:
    """Returns a step of the line: who acted, what the action is called, and the place before it."""
    node = charts.node(NodePath(tokens[:at]))
    return _place(charts, node) | {"name": node.names[node.tokens.index(tokens[at])]}


def _place(charts: PreflopCharts, node: PreflopNode) -> dict[str, Any]:
    return {"path": str(node.path), "position": charts.positions[node.player]}


def _after_folds(charts: PreflopCharts, node: PreflopNode) -> list[PreflopNode]:
    """Returns where those behind decide if everybody before them folds."""
    found: list[PreflopNode] = []
    while node.player >= 0 and _FOLD in node.tokens:
        node = charts.node(NodePath((*node.path.tokens, _FOLD)))
        if node.player >= 0:
            found.append(node)
    return found


@lru_cache(maxsize=8)
def _pairs(game: str, blueprint: str | None) -> list[dict[str, Any]]:
    """Returns the charts of each pair of positions: one opens by the usual raise, all others fold, one faces it."""
    charts = _charts(game, blueprint)
    root = charts.node()
    found = []
    for opens in [root, *_after_folds(charts, root)]:
        raises = [number for number, action in enumerate(opens.actions) if action.kind is ActionKind.RAISE]
        if not raises:
            continue
        usual = max(raises, key=lambda number: opens.frequencies[number])
        faced = charts.node(NodePath((*opens.path.tokens, opens.tokens[usual])))
        for faces in [faced, *_after_folds(charts, faced)]:
            if faces.player not in (-1, opens.player):
                found.append(_place(charts, faces) | {"opener": charts.positions[opens.player]})
    return found
