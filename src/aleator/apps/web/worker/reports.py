"""Reports over flops: what one will take, making one, and looking at one as far as it is."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

from aleator.abstraction.flop_subsets import chosen_flops
from aleator.apps.flop_table import report_csv, report_document
from aleator.apps.web.worker.channel import Channel
from aleator.errors import SolveError
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, action_name
from aleator.games.holdem.cards import format_cards
from aleator.games.holdem.node_path import NodePath, parse_path
from aleator.games.holdem.spot_file import spot_from_table
from aleator.memory import available_memory
from aleator.solvers.holdem.flop_report import (
    FlopReport,
    ReportConfig,
    ReportFile,
    estimate_report,
    make_report,
    read_report,
)
from aleator.workers.processes import Processes

MAX_NODES = 200


def _config(params: dict[str, Any]) -> ReportConfig:
    return ReportConfig(
        spot=spot_from_table(params["spot"]),
        flops=chosen_flops(params["flops"]),
        node=parse_path(params["node"]),
        dtype=f"float{params['bits']}",
    )


def check(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns nothing if a report can be made of `spot`, `flops` and `node`; refuses what cannot be."""
    _config(params).chances()
    return {}


def nodes(params: dict[str, Any], channel: Channel) -> list[dict[str, Any]]:
    """Returns the decisions on the flop of `spot` that a report can look at, the first ones first, in words."""
    spot = spot_from_table(params["spot"])
    root = spot.build_tree()
    decisions = [(NodePath(), root)]
    for path, node in decisions:  # those behind it join the list
        if len(decisions) >= MAX_NODES:
            break
        after = zip(node.tokens, node.children, strict=True)
        decisions += [(path.then(token), child) for token, child in after if child.kind is NodeKind.DECISION]
    return [{"path": str(path), "said": _said(root, path, spot.stack)} for path, _ in decisions[:MAX_NODES]]


def _said(root: BettingNode, path: NodePath, stack: int) -> list[dict[str, Any]]:
    """Returns what is done on the way to a node of the root's street, in words."""
    said, node = [], root
    for token in path.tokens:
        index = node.tokens.index(token)
        said.append({"player": node.player, "name": action_name(node, index, stack)})
        node = node.children[index]
    return said


def estimate(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns memory and seconds of a report."""
    cost = estimate_report(_config(params), at_once=params["processes"])
    free = min(available_memory(), params["memory_limit"] * params["processes"])
    return {
        "flops": cost.flops,
        "memory": cost.memory,
        "free_memory": free,
        "fits": cost.memory <= free and cost.largest.memory <= params["memory_limit"],
        "seconds": cost.seconds,
    }


def make(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the summary of a report, whose flops are lines of the file `output`; goes on from what is there.

    Flops are solved by processes of their own, which end with this one.
    """
    config = _config(params)
    expected = estimate_report(config, at_once=params["processes"], measure=False)
    if expected.largest.memory > params["memory_limit"] or expected.memory > available_memory():
        raise SolveError(
            f"{params['processes']} flops at a time would take about {expected.memory / 2**30:.1f} GiB: solve fewer at "
            "a time, use 16 bits, fewer bet sizes or smaller ranges"
        )
    file = ReportFile(Path(params["output"]), config)
    began, there = perf_counter(), len(file.rows)

    def on_flop(report: FlopReport) -> None:
        passed, done = perf_counter() - began, len(report.rows) - there
        channel.report(
            stage="solving",
            solved=len(report.rows),
            wanted=len(report.wanted),
            flop=format_cards(next(reversed(report.rows))),
            seconds=passed,
            seconds_left=passed / done * (len(report.wanted) - len(report.rows)) if done else None,
        )

    channel.report(stage="solving", solved=there, wanted=len(config.flops))
    try:
        report = make_report(
            config,
            file=file,
            workers=Processes(params["processes"]),
            on_flop=on_flop,
            stopped=lambda: channel.stopped or channel.suspended,
        )
    finally:
        file.close()
    if channel.suspended and not channel.stopped:
        return {"suspended": True}
    return report_document(report, rows=False) | {"stopped": channel.stopped}


def table(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the report in `file` as far as it is."""
    report = read_report(Path(params["file"]))
    spot, node = report.config.spot, report.config.node
    return report_document(report) | {"said": _said(spot.build_tree(), node, spot.stack)}


def csv(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the report in `file` as the text of a table."""
    return {"csv": report_csv(read_report(Path(params["file"])))}
