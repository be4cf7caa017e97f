"""Hold'em solves: what one will take, running one, checking a file of one."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np

from aleator.apps.spot_report import solve_report
from aleator.apps.web.system import is_full
from aleator.apps.web.worker.channel import Channel
from aleator.errors import SolutionError, SolveError
from aleator.games.holdem.betting_tree import NodeKind
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.hand_range import format_hand_range, parse_hand_range
from aleator.games.holdem.node_path import parse_path
from aleator.games.holdem.spot_file import spot_from_table, spot_table
from aleator.memory import available_memory
from aleator.solvers.holdem.estimate import HoldemEstimate
from aleator.solvers.holdem.problem import SpotProblem, prepare_spots
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.view import HoldemView
from aleator.solvers.limits import Progress
from aleator.solvers.solution import Solution
from aleator.solvers.solve import prepare
from aleator.solvers.solve import solve as solve_problem
from aleator.storage import StorageError

MAX_CURVE = 500
SECONDS_BETWEEN_CHECKPOINTS = 2.0
SECONDS_TO_RETRY = 2.0


def warm_up(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns once what looking at spots needs (with `holdem`), or solving small games, is compiled or loaded."""
    if params["holdem"]:
        prepare_spots()
    else:
        prepare()
    return {}


def estimate(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns nodes, memory and, if `measure` is set, seconds of a solve of `spot`."""
    problem = SpotProblem(HoldemGame(spot_from_table(params["spot"])))
    estimated = problem.estimate(dtype=_dtype(params), threads=params["threads"], measure=params["measure"])
    free = min(available_memory(), params["memory_limit"])
    return _estimate_report(estimated) | {"free_memory": free, "fits": estimated.memory <= free}


def _dtype(params: dict[str, Any]) -> str:
    return f"float{params['bits']}"


def _estimate_report(estimated: HoldemEstimate) -> dict[str, Any]:
    return {name: value for name, value in asdict(estimated).items() if name != "numbers"}


def solve(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the summary of a solve of `spot`, whose solution is written to `output`; progress is reported.

    On the way it is kept in `checkpoint`. A call with the same parameters goes on from there, after one that was
    suspended (then all it returns is that) or killed.
    """
    spot = spot_from_table(_with_locks(params["spot"], params["locks"], params["base"]))
    problem, dtype = SpotProblem(HoldemGame(spot)), _dtype(params)
    estimated = problem.estimate(dtype=dtype, measure=False)
    channel.report(stage="compiling", estimate=_estimate_report(estimated))
    if estimated.memory > params["memory_limit"]:
        raise SolveError(
            f"the spot would take about {estimated.memory / 2**30:.1f} GiB; a worker may take "
            f"{params['memory_limit'] / 2**30:.1f} GiB: use 16 bits, fewer bet sizes or smaller ranges"
        )
    checkpoint = Path(params["checkpoint"])

    def on_progress(now: Progress) -> bool:
        channel.report(
            stage="solving",
            iteration=now.iteration,
            seconds=now.seconds,
            exploitability=now.exploitability / spot.pot,
            seconds_left=now.seconds_left,
            target=spot.solve.target,
        )
        return channel.stopped or channel.suspended

    def on_checkpoint(solution: Solution) -> None:
        try:
            solution.save(checkpoint)
        except StorageError as error:  # the earlier checkpoint stays
            channel.report(stage="solving", problem=str(error))

    def solve_from(resume: HoldemSolution | None) -> HoldemSolution:
        return solve_problem(
            problem, dtype=dtype, threads=params["threads"], resume=resume, on_progress=on_progress,
            on_checkpoint=on_checkpoint, checkpoint_seconds=SECONDS_BETWEEN_CHECKPOINTS,
        )  # fmt: skip

    try:
        solution = solve_from(HoldemSolution.open(checkpoint) if checkpoint.exists() else None)
    except (SolutionError, StorageError) as error:  # a checkpoint that is damaged, or of another solve
        print(f"{checkpoint} is not resumed: {error}", file=sys.stderr, flush=True)
        solution = solve_from(None)
    if channel.suspended and not channel.stopped and solution.state:
        on_checkpoint(solution)
        return {"suspended": True}
    if not _save_when_there_is_space(solution, Path(params["output"]), channel):
        return {"suspended": True}
    return summary(solution) | {"stopped": channel.stopped}


def _save_when_there_is_space(solution: HoldemSolution, file: Path, channel: Channel) -> bool:
    """Returns whether a solution was saved, without its state; a full disk is waited for, unless the server ends."""
    channel.report(stage="saving")
    while True:
        try:
            solution.save(file, state=False)
            return True
        except StorageError as error:
            if not is_full(error):
                raise
            channel.report(stage="waiting", problem=str(error))
            if channel.suspended:
                return False
            sleep(SECONDS_TO_RETRY)


def summary(solution: HoldemSolution) -> dict[str, Any]:
    """Returns what is kept of a solve besides its file: the report, the spot, and the curve as fractions of the pot."""
    pot, curve = solution.spot.pot, solution.summary.curve
    step = max(1, math.ceil(len(curve) / MAX_CURVE))
    return solve_report(solution) | {
        "spot": spot_table(solution.spot),
        "curve": [[point.iteration, point.seconds, point.exploitability / pot] for point in curve[::step]],
    }


def check_file(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the summary of the solution in a file; refuses other files, and damaged ones."""
    solution = HoldemSolution.open(Path(params["path"]))
    solution.verify()
    return summary(solution) | {"stopped": False}


def _with_locks(table: dict[str, Any], wanted: list[dict[str, Any]], base: str | None) -> dict[str, Any]:
    """Returns the table of a spot with more locks: each begins with the policy of solution `base`, and is edited."""
    if not wanted:
        return table
    if base is None:
        raise SolveError("locks need a solution to begin from")
    view = HoldemView(HoldemSolution.open(Path(base)))
    return table | {"lock": table.get("lock", {}) | dict(_lock(view, lock) for lock in wanted)}


def _lock(view: HoldemView, lock: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """Returns the node of a lock and the share of each action as a hand range, as a spot file has them."""
    path = parse_path(lock["path"])
    decision = view.node(path, values=False)
    if decision.node.kind is not NodeKind.DECISION:
        raise SolveError(f"{path} cannot be locked: nobody decides there")
    policy = decision.policy.copy()
    for edit in lock["edits"]:
        played = np.array(edit["policy"], np.float64)
        if played.shape != (len(policy),):
            raise SolveError(f"{path} has {len(policy)} actions, but a policy of {len(played)} was given")
        if not played.sum() > 0:
            raise SolveError(f"the policy {edit['policy']} of {path} has no positive entry")
        policy[:, parse_hand_range(edit["hands"]) > 0] = (played / played.sum())[:, None]
    policy[:, policy.sum(axis=0) == 0] = 1 / len(policy)  # hands that are not there
    shares = {}
    for token, row in zip(decision.node.tokens, policy.clip(0, 1), strict=True):
        if row.round(4).any():
            shares[token] = format_hand_range(row, digits=4)
    return str(path), shares
