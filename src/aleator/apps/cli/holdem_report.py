"""What `aleator holdem` reports, as JSON values and as text."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.apps.cli.output import out, print_table
from aleator.games.holdem.bet_menu import POSITION_NAMES
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.betting_tree import action_name
from aleator.games.holdem.cards import format_card, format_cards, format_hand
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.view import HoldemView, NodeView, Runout


def solve_report(found: HoldemSolution) -> dict[str, Any]:
    """Returns what `solve --json` prints."""
    summary, spot = found.summary, found.spot
    view = HoldemView(found).node("r", values=False)
    values, exploitability = summary.values, summary.exploitability
    equity = [view.mean(side, view.equities[side]) for side in (0, 1)]
    return {
        "nodes": summary.nodes,
        "nodes_per_street": dict(zip(STREET_NAMES[spot.street :], found.nodes_per_street, strict=True)),
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


def _actions(view: NodeView, stack: int) -> list[dict[str, Any]]:
    if view.player < 0:
        return []
    return [
        {"token": token, "action": action_name(view.node, index, stack), "frequency": share}
        for index, (token, share) in enumerate(zip(view.node.tokens, view.frequencies, strict=True))
    ]


def print_solve_report(found: HoldemSolution) -> None:
    """Prints the summary of a solve as people read it."""
    spot, summary, report = found.spot, found.summary, solve_report(found)
    nodes = " + ".join(f"{count:,}" for count in found.nodes_per_street)
    out.print(f"[bold]{summary.game}[/]: {format_cards(spot.board)}, pot {spot.pot:,}, {nodes} nodes")
    percent = 100 * report["exploitability_fraction"]
    out.print(
        f"exploitability  {report['exploitability']:,.3f} chips, {percent:.3f} % of the pot   (mean of both gains)"
    )
    if spot.min_bet > 1:
        out.print(f"                {report['exploitability_mbb']:,.2f} mbb, if the smallest bet is the big blind")
    out.print(f"iterations      {summary.iterations:,} of {summary.algorithm} in {format_seconds(summary.seconds)}")
    rows = [
        (
            position,
            f"{report['ev'][position]['with_pot_share']:,.2f}",
            f"{report['ev'][position]['zero_sum']:+,.2f}",
            f"{100 * report['equity'][position]:.2f} %",
            f"{100 * report['realised_equity'][position]:.1f} %",
        )
        for position in POSITION_NAMES
    ]
    print_table("", ("player", "EV with the pot share", "EV less pot/2", "equity", "realised"), rows)
    for lock in report["locks"]:
        out.print(f"locked          {lock}", markup=False, soft_wrap=True)
    for entry in report["actions"]:
        out.print(f"{entry['token']:>8}  {entry['action']:16} {100 * entry['frequency']:6.2f} %")


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


def print_runouts(path: str, runouts: list[Runout], stack: int) -> None:
    """Prints a row per card: how likely it is, both players' EV and equity, and what the first to act does."""
    first = runouts[0].view
    names = [action_name(first.node, index, stack) for index in range(len(first.policy))]
    rows = []
    for runout in runouts:
        view = runout.view
        evs = [view.mean(side, view.evs[side]) for side in (0, 1)]
        equity = view.mean(0, view.equities[0])
        rows.append(
            [
                format_card(runout.card),
                _percent(runout.chance),
                *("-" if np.isnan(ev) else f"{ev:,.1f}" for ev in evs),
                _percent(equity),
                *(_percent(share) for share in view.frequencies),
            ]
        )
    actor = f": what {POSITION_NAMES[first.player]} does first" if first.player >= 0 else ""
    print_table(f"cards at {path}{actor}", ["card", "chance", "EV oop", "EV ip", "equity oop", *names], rows)


def _both(view: NodeView, rows: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]) -> dict[str, float]:
    return {position: view.mean(side, rows[side]) for side, position in enumerate(POSITION_NAMES)}


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{100 * share:.1f} %"


def format_bytes(count: float) -> str:
    """Returns a number of bytes in MiB or GiB."""
    return f"{count / 2**30:.2f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"


def format_seconds(seconds: float) -> str:
    """Returns a time in ms, s or min."""
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"
