"""Hold'em solves: what one will take, running one, checking a file of one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from aleator.apps.web.worker.channel import Channel
from aleator.errors import SolveError
from aleator.games.holdem.betting_tree import NodeKind
from aleator.games.holdem.hand_range import format_hand_range, parse_hand_range
from aleator.games.holdem.node_path import parse_path
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import spot_from_table, spot_table
from aleator.memory import available_memory
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.solve import (
    HoldemEstimate,
    HoldemLimits,
    HoldemProgress,
    estimate_spot,
    prepare_holdem,
    solve_spot,
)
from aleator.solvers.holdem.view import HoldemView
from aleator.solvers.regret_rule import parse_rule
from aleator.solvers.solve import prepare

MAX_CURVE = 500


def warm_up(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns once what looking at spots needs (with `holdem`), or solving small games, is compiled or loaded."""
    if params["holdem"]:
        prepare_holdem()
    else:
        prepare()
    return {}


def _limits(spot: Spot) -> HoldemLimits:
    return HoldemLimits(target=spot.solve.target, iterations=spot.solve.max_iterations)


def estimate(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns nodes, memory and, if `measure` is set, seconds of a solve of `spot`."""
    spot = spot_from_table(params["spot"])
    found = estimate_spot(
        spot,
        spot.solve.rule,
        _limits(spot),
        threads=params["threads"],
        bits=params["bits"],
        measure=params["measure"],
    )
    free = min(available_memory(), params["memory_limit"])
    return _estimate_report(found) | {"free_memory": free, "fits": found.memory <= free}


def _estimate_report(found: HoldemEstimate) -> dict[str, Any]:
    return {
        "nodes": list(found.nodes),
        "boards": list(found.boards),
        "hands": list(found.hands),
        "memory": found.memory,
        "seconds_per_iteration": found.seconds_per_iteration,
        "iterations": found.iterations,
        "seconds": found.seconds,
    }


def solve(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the summary of a solve of `spot`, whose solution is written to `output`; progress is reported."""
    spot = spot_from_table(_with_locks(params["spot"], params["locks"], params["base"]))
    threads, bits = params["threads"], params["bits"]
    estimated = estimate_spot(spot, spot.solve.rule, _limits(spot), threads=threads, bits=bits, measure=False)
    channel.report(stage="compiling", estimate=_estimate_report(estimated))
    if estimated.memory > params["memory_limit"]:
        raise SolveError(
            f"the spot would take about {estimated.memory / 2**30:.1f} GiB; a worker may take "
            f"{params['memory_limit'] / 2**30:.1f} GiB: use 16 bits, fewer bet sizes or smaller ranges"
        )
    prepare_holdem(parse_rule(spot.solve.rule), raked=spot.rake.rate > 0, bits=bits)
    target = spot.solve.target

    def on_progress(now: HoldemProgress) -> bool:
        channel.report(
            stage="solving",
            iteration=now.iteration,
            seconds=now.seconds,
            exploitability=now.exploitability / spot.pot,
            seconds_left=now.seconds_left,
            target=target,
        )
        return channel.stopped

    found = solve_spot(spot, threads=threads, bits=bits, on_progress=on_progress)
    channel.report(stage="saving")
    found.save(Path(params["output"]))
    return summary(found) | {"stopped": channel.stopped}


def summary(found: HoldemSolution) -> dict[str, Any]:
    """Returns what a list of solutions shows about one. Exploitability is a fraction of the pot."""
    spot, told = found.spot, found.summary
    view = HoldemView(found).node("r", values=False)
    step = max(1, math.ceil(len(told.curve) / MAX_CURVE))
    return {
        "spot": spot_table(spot),
        "rule": told.rule,
        "iterations": told.iterations,
        "seconds": told.seconds,
        "exploitability": told.quality.exploitability / spot.pot,
        "evs": [value + spot.pot / 2 for value in told.quality.values],
        "equities": [view.mean(player, view.equities[player]) for player in (0, 1)],
        "nodes": list(told.nodes),
        "curve": [[point.iteration, point.seconds, point.exploitability / spot.pot] for point in told.curve[::step]],
    }


def check_file(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the summary of the solution in a file; refuses what is none."""
    return summary(HoldemSolution.open(Path(params["path"]))) | {"stopped": False}


def _with_locks(table: dict[str, Any], wanted: list[dict[str, Any]], base: str | None) -> dict[str, Any]:
    """Returns the table of a spot with more locks: each begins with the policy of the solution `base`, and is edited."""
    if not wanted:
        return table
    if base is None:
        raise SolveError("locks need a solution to begin from")
    view = HoldemView(HoldemSolution.open(Path(base)))
    return table | {"lock": table.get("lock", {}) | dict(_lock(view, lock) for lock in wanted)}


def _lock(view: HoldemView, lock: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """Returns the node of a lock and the share of each action as a hand range, as a spot file has them."""
    path = parse_path(lock["path"])
    found = view.node(path, values=False)
    if found.node.kind is not NodeKind.DECISION:
        raise SolveError(f"{path} cannot be locked: nobody decides there")
    policy = found.policy.copy()
    for edit in lock["edits"]:
        played = np.array(edit["policy"], np.float64)
        if played.shape != (len(policy),):
            raise SolveError(f"{path} has {len(policy)} actions, but a policy of {len(played)} was given")
        if not played.sum() > 0:
            raise SolveError(f"the policy {edit['policy']} of {path} has no positive entry")
        policy[:, parse_hand_range(edit["hands"]) > 0] = (played / played.sum())[:, None]
    policy[:, policy.sum(axis=0) == 0] = 1 / len(policy)  # hands that are not there
    shares = {}
    for token, row in zip(found.node.tokens, policy.clip(0, 1), strict=True):
        if row.round(4).any():
            shares[token] = format_hand_range(row, digits=4)
    return str(path), shares
