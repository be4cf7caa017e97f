"""Looking at a solved spot: a node, the hands of a class there, the ranges that get there, all cards that can come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from aleator.apps.web.worker.channel import Channel
from aleator.caching import Kept
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import ActionKind
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, action_name, find_node
from aleator.games.holdem.cards import (
    HAND_CLASS_NAMES,
    HAND_CLASSES,
    NUM_HAND_CLASSES,
    CardError,
    format_card,
    format_cards,
    format_hand,
)
from aleator.games.holdem.hand_range import format_hand_range
from aleator.games.holdem.hand_types import DRAWS, MADE, hand_types
from aleator.games.holdem.node_path import NodePath, is_action, parse_path
from aleator.solvers.holdem.comparison import class_means
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.view import HoldemView, NodeView

KEPT_FILES, KEPT_NODES = 8, 128
CURVE_POINTS = 51

_files: Kept[HoldemView] = Kept(KEPT_FILES)
_nodes: Kept[NodeView] = Kept(KEPT_NODES)


def open_view(path: str, *, best: bool = False) -> HoldemView:
    """Returns the solution of a file to look at, or best responses to it; the last few are kept open."""
    return _files.find_or_make((path, best), lambda: HoldemView(HoldemSolution.open(Path(path)), best=best))


def look(file: str, path: NodePath, *, values: bool = True, best: bool = False) -> NodeView:
    """Returns a node of a solution, with the EVs of best responses if `best`; the last few are kept."""
    key = (file, str(path), values, best)
    return _nodes.find_or_make(key, lambda: open_view(file, best=best).node(path, values=values))


def actions_of(node: BettingNode, stack: int) -> list[dict[str, Any]]:
    """Returns the actions of a decision as the pages show them."""
    kinds = {ActionKind.FOLD: "fold", ActionKind.CALL: "call", ActionKind.RAISE: "raise"}
    return [
        {
            "token": token,
            "name": action_name(node, index, stack),
            "kind": kinds[node.actions[index].kind],
            "all_in": node.actions[index].kind is ActionKind.RAISE and node.children[index].chips[node.player] == stack,
        }
        for index, token in enumerate(node.tokens)
    ]


def _line(solution: HoldemSolution, path: NodePath) -> list[dict[str, Any]]:
    """Returns the nodes on the way to `path` and itself: who acts, what can be done, what was done."""
    steps = []
    node = solution.root
    for index in range(len(path.tokens) + 1):
        token = path.tokens[index] if index < len(path.tokens) else None
        is_decision = node.kind is NodeKind.DECISION
        steps.append(
            {
                "path": str(NodePath(path.tokens[:index])),
                "kind": node.kind.name.lower(),
                "player": node.player if is_decision else -1,
                "pot": solution.spot.pot + sum(node.chips),
                "actions": actions_of(node, solution.spot.stack) if is_decision else [],
                "taken": token,
            }
        )
        if token is not None:
            node = node.children[node.tokens.index(token)] if is_action(token) else node.children[0]
    return steps


def said_on_the_way(solution: HoldemSolution, path: NodePath) -> list[dict[str, Any]]:
    """Returns what was done on the way to `path`, in words: who acted (-1: a card came) and how."""
    steps = []
    for step in _line(solution, path):
        if step["taken"] is not None:
            names = {action["token"]: action["name"] for action in step["actions"]}
            steps.append({"player": step["player"], "name": names.get(step["taken"], step["taken"])})
    return steps


def _types(view: NodeView, player: int) -> list[dict[str, Any]]:
    """Returns the made hands, then the draws, that a player can have here, with their frequency and what they do."""
    likely = view.weights[player] * view.matchups[player]
    rows = []
    for kind, names, types in zip(("made", "draw"), (MADE, DRAWS), hand_types(view.board), strict=True):
        for index, name in enumerate(names):
            weights = np.where(types == index, likely, 0.0)
            if weights.sum() > 0:
                means = weights / weights.sum()
                rows.append(
                    {
                        "kind": kind,
                        "name": name,
                        "share": weights.sum() / likely.sum(),
                        "equity": float(means @ np.nan_to_num(view.equities[player])),
                        "policy": view.policy @ means if player == view.player else [],
                    }
                )
    return rows


def _equity_curve(view: NodeView, player: int) -> FloatArray:
    """Returns the equity of the hand at each of `CURVE_POINTS` even places of a player's range, the weakest first."""
    equities, likely = view.equities[player], view.weights[player] * view.matchups[player]
    known = np.flatnonzero(np.isfinite(equities) & (likely > 0))
    if not len(known):
        return np.zeros(0)
    order = known[np.argsort(equities[known], kind="stable")]
    upto = np.cumsum(likely[order])
    places = np.linspace(0.0, upto[-1], CURVE_POINTS)
    return np.asarray(equities[order[np.minimum(np.searchsorted(upto, places), len(order) - 1)]])


def node(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the node `path` of the solution in `file`, per hand class; EVs only if `values` is set."""
    view, path = open_view(params["file"]), parse_path(params["path"])
    spot, solution = view.solution.spot, view.solution
    looked = look(params["file"], path, values=params["values"])
    acting = looked.player
    actions = actions_of(looked.node, spot.stack) if acting >= 0 else []
    for index, (action, share) in enumerate(zip(actions, looked.frequencies if acting >= 0 else [], strict=True)):
        action["frequency"] = share
        action["ev"] = looked.mean_when_taken(index)
    players = []
    for player in (0, 1):
        weight, _ = looked.classes(player)
        full = np.bincount(HAND_CLASSES, weights=_range(solution, player), minlength=NUM_HAND_CLASSES)
        players.append(
            {
                "num_hands": looked.weights[player].sum(),
                "ev": looked.mean(player, looked.evs[player]),
                "equity": looked.mean(player, looked.equities[player]),
                "weights": weight,
                "of_range": np.divide(weight, full, out=np.zeros(NUM_HAND_CLASSES), where=full > 0),
                "evs": class_means(looked, player, looked.evs[player]),
                "equities": class_means(looked, player, looked.equities[player]),
                "equity_curve": _equity_curve(looked, player),
                "types": _types(looked, player),
            }
        )
    return {
        "path": str(path),
        "board": format_cards(looked.board),
        "kind": looked.node.kind.name.lower(),
        "street": looked.node.street,
        "player": acting,
        "folded": looked.node.player if looked.node.kind is NodeKind.FOLD else -1,
        "pot": looked.pot,
        "chips": list(looked.node.chips),
        "stack": spot.stack,
        "actions": actions,
        "policy": looked.classes(acting)[1] if acting >= 0 else [],
        "players": players,
        "line": _line(solution, path),
        "resolved": looked.resolved,
        "values": params["values"],
    }


def _range(solution: HoldemSolution, player: int) -> FloatArray:
    weights = np.zeros(len(HAND_CLASSES))
    weights[solution.hands[player]] = solution.weights[player]
    return weights


def hands(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the single hands of the class `hand_class` of `player` at a node."""
    view = look(params["file"], parse_path(params["path"]))
    player = params["player"]
    if params["hand_class"] not in HAND_CLASS_NAMES:
        raise CardError(f"there is no class of hands {params['hand_class']!r}; there are AA, AKs, AKo and so on")
    chosen = HAND_CLASS_NAMES.index(params["hand_class"]) == HAND_CLASSES
    acting = player == view.player
    rows = []
    for hand in np.flatnonzero(chosen & (view.weights[player] > 0))[::-1]:
        rows.append(
            {
                "hand": format_hand(int(hand)),
                "weight": view.weights[player][hand],
                "ev": view.evs[player][hand],
                "equity": view.equities[player][hand],
                "policy": view.policy[:, hand] if acting else [],
                "action_evs": view.action_evs[:, hand] if acting and len(view.action_evs) else [],
            }
        )
    return {"hand_class": params["hand_class"], "player": player, "hands": rows}


def ranges(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the ranges that get to a node as text, those that take each action, and the spot that begins there."""
    view = look(params["file"], parse_path(params["path"]), values=False)
    spot = open_view(params["file"]).solution.spot

    def text(weights: FloatArray) -> str:
        clipped = weights.clip(0.0, 1.0)
        return format_hand_range(clipped, digits=3, board=view.board) if clipped.max() >= 5e-4 else ""

    acting = view.weights[view.player] if view.player >= 0 else np.zeros(0)
    return {
        "path": params["path"],
        "players": [text(weights) for weights in view.weights],
        "actions": [text(acting * policy) for policy in view.policy] if view.player >= 0 else [],
        "board": format_cards(view.board),
        "pot": view.pot,
        "stack": spot.stack - max(view.node.chips),
    }


def runouts(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns for each card that can come at `path` what happens next: frequencies, equities and EVs."""
    view, path = open_view(params["file"]), parse_path(params["path"])
    solution = view.solution
    here = find_node(solution.root, path, board=solution.spot.board)
    rows = [
        {
            "card": format_card(runout.card),
            "chance": runout.chance,
            "frequencies": runout.view.frequencies if runout.view.player >= 0 else [],
            "evs": [runout.view.mean(player, runout.view.evs[player]) for player in (0, 1)],
            "equities": [runout.view.mean(player, runout.view.equities[player]) for player in (0, 1)],
        }
        for runout in view.runouts(path)
    ]
    following = here.children[0]
    is_decision = following.kind is NodeKind.DECISION
    return {
        "path": str(path),
        "player": following.player if is_decision else -1,
        "actions": actions_of(following, solution.spot.stack) if is_decision else [],
        "cards": rows,
    }
