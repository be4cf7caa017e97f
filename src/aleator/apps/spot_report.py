"""Solved hold'em spots as JSON values, for the command line and the web app; amounts are in chips if not named."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.games.holdem.bet_menu import POSITION_NAMES
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.betting_tree import action_name
from aleator.games.holdem.cards import format_card, format_cards, format_hand
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.view import HoldemView, NodeView, Runout
from aleator.solvers.holdem.whole_solution import WholeSolution


def solve_report(solution: HoldemSolution) -> dict[str, Any]:
    """Returns how a spot was solved, and how well: what `solve --json` prints, and what the web app keeps."""
    summary, spot = solution.summary, solution.spot
    view = HoldemView(solution).node("r", values=False)
    values, exploitability = summary.values, summary.exploitability
    equity = [view.mean(side, view.equities[side]) for side in (0, 1)]
    return {
        "nodes": summary.nodes,
        "nodes_per_street": dict(zip(STREET_NAMES[spot.street :], solution.nodes_per_street, strict=True)),
        "rule": summary.algorithm,
        "iterations": summary.iterations,
        "seconds": summary.seconds,
        "exploitability": exploitability,
        "exploitability_fraction": exploitability / spot.pot,
        "exploitability_mbb": 1000 * exploitability / spot.min_bet,
        "value": values[0],
        "ev": {
            position: {"zero_sum": value, "with_pot_share": value + spot.pot / 2}
            for position, value in zip(POSITION_NAMES, values, strict=True)
        },
        "equity": dict(zip(POSITION_NAMES, equity, strict=True)),
        "realised_equity": {
            position: (value + spot.pot / 2) / (share * spot.pot) if share > 0 else nan
            for position, value, share in zip(POSITION_NAMES, values, equity, strict=True)
        },
        "locks": [str(lock) for lock in spot.locks],
        "actions": _actions(view, spot.stack),
    }


def whole_report(solution: WholeSolution) -> dict[str, Any]:
    """Returns what people want to know about a solved game from the blinds on, in thousandths of a big blind a hand."""
    root, summary = solution.root, solution.summary
    mean = solution.policy_at(solution.start())[:, solution.hands[root.player]].mean(axis=1)
    return {
        "exploitability_mbb": solution.mbb(summary.exploitability),
        "nash_conv_mbb": solution.mbb(summary.nash_conv),
        "button_mbb": solution.mbb(summary.values[root.player]),
        "actions": [
            {"token": token, "action": action_name(root, index, solution.whole.stack), "frequency": float(share)}
            for index, (token, share) in enumerate(zip(root.tokens, mean, strict=True))
        ],
    }


def _actions(view: NodeView, stack: int) -> list[dict[str, Any]]:
    if view.player < 0:
        return []
    return [
        {"token": token, "action": action_name(view.node, index, stack), "frequency": share}
        for index, (token, share) in enumerate(zip(view.node.tokens, view.frequencies, strict=True))
    ]


def node_report(view: NodeView, player: int, chosen: Any, stack: int) -> dict[str, Any]:
    """Returns a node as JSON: the node, its actions, and every hand that gets there."""
    acting = player == view.player
    tokens = view.node.tokens if acting else ()
    realised = view.realised[player]
    hands = []
    for hand in np.flatnonzero(chosen & (view.weights[player] > 0))[::-1]:
        entry: dict[str, Any] = {"hand": format_hand(int(hand)), "weight": float(view.weights[player][hand])}
        entry["policy"] = {token: float(view.policy[index, hand]) for index, token in enumerate(tokens)}
        if len(view.action_evs):
            entry["action_ev"] = {token: float(view.action_evs[index, hand]) for index, token in enumerate(tokens)}
        entry["ev"] = float(view.evs[player][hand])
        entry["equity"] = float(view.equities[player][hand])
        entry["realised_equity"] = float(realised[hand])
        hands.append(entry)
    return {
        "node": str(view.path),
        "board": format_cards(view.board),
        "pot": view.pot,
        "to_act": POSITION_NAMES[view.player] if view.player >= 0 else None,
        "player": POSITION_NAMES[player],
        "ev": _both(view, view.evs),
        "equity": _both(view, view.equities),
        "realised_equity": {position: view.mean_realised(side) for side, position in enumerate(POSITION_NAMES)},
        "actions": _actions(view, stack),
        "resolved": view.resolved,
        "hands": hands,
    }


def runout_report(path: str, runouts: list[Runout], stack: int) -> dict[str, Any]:
    """Returns what `runouts --json` prints."""
    return {
        "node": path,
        "cards": [
            {
                "card": format_card(runout.card),
                "chance": runout.chance,
                "to_act": POSITION_NAMES[runout.view.player] if runout.view.player >= 0 else None,
                "ev": _both(runout.view, runout.view.evs),
                "equity": _both(runout.view, runout.view.equities),
                "actions": _actions(runout.view, stack),
            }
            for runout in runouts
        ],
    }


def _both(view: NodeView, rows: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]) -> dict[str, float]:
    return {position: view.mean(side, rows[side]) for side, position in enumerate(POSITION_NAMES)}
