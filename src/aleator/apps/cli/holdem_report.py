"""What `aleator holdem` prints for people; `aleator.apps.spot_report` has the same as JSON values."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.text import Text

from aleator.apps.cli.output import heading, out, print_json, print_table, progress_bar
from aleator.apps.spot_report import solve_report, whole_report
from aleator.games.holdem.bet_menu import POSITION_NAMES
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.betting_tree import action_name
from aleator.games.holdem.cards import format_card, format_cards
from aleator.memory import available_memory
from aleator.solvers.holdem.estimate import HoldemEstimate
from aleator.solvers.holdem.problem import BoardProblem
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.view import Runout
from aleator.solvers.holdem.whole_solution import WholeSolution
from aleator.solvers.limits import Limits


def print_solve_report(solution: HoldemSolution) -> None:
    """Prints the summary of a solve as people read it."""
    spot, summary, report = solution.spot, solution.summary, solve_report(solution)
    nodes = " + ".join(f"{count:,}" for count in solution.nodes_per_street)
    out.print(heading(summary.game, f": {format_cards(spot.board)}, pot {spot.pot:,}, {nodes} nodes"))
    percent = 100 * report["exploitability_fraction"]
    out.print(
        f"exploitability  {report['exploitability']:z,.3f} chips, {percent:z.3f} % of the pot   (mean of both gains)"
    )
    if spot.min_bet > 1:
        out.print(f"                {report['exploitability_mbb']:z,.2f} mbb, if the smallest bet is the big blind")
    out.print(f"iterations      {summary.iterations:,} of {summary.algorithm} in {format_seconds(summary.seconds)}")
    rows = [
        (
            position,
            f"{report['ev'][position]['with_pot_share']:,.2f}",
            f"{report['ev'][position]['zero_sum']:+,.2f}",
            f"{100 * report['equity'][position]:.2f} %",
            "-"
            if np.isnan(report["realised_equity"][position])
            else f"{100 * report['realised_equity'][position]:.1f} %",
        )
        for position in POSITION_NAMES
    ]
    print_table("", ("player", "EV with the pot share", "EV less pot/2", "equity", "realised"), rows)
    for lock in report["locks"]:
        out.print(f"locked          {lock}", soft_wrap=True)
    for entry in report["actions"]:
        out.print(f"{entry['token']:>8}  {entry['action']:16} {100 * entry['frequency']:6.2f} %")


def _estimate_report(problem: BoardProblem, expected: HoldemEstimate) -> dict[str, Any]:
    """Returns what a solve will take as JSON values."""
    streets, free = STREET_NAMES[problem.board_game.street :], available_memory()
    return {
        "nodes": sum(expected.nodes),
        "nodes_per_street": dict(zip(streets, expected.nodes, strict=False)),
        "boards_per_street": dict(zip(streets, expected.boards, strict=False)),
        "hands": dict(zip(POSITION_NAMES, expected.hands, strict=True)),
        "memory": expected.memory,
        "free_memory": free,
        "fits": expected.memory <= free,
        "seconds_per_iteration": expected.seconds_per_iteration,
        "iterations": expected.iterations,
        "seconds": expected.seconds,
    }


def show_estimate(
    problem: BoardProblem, algorithm: str | None, limits: Limits | None, *, dtype: str, threads: int, title: Text,
    goal: str, json: bool,
) -> None:  # fmt: skip
    """Prints what a solve will take until it reaches a goal, after measuring for about a second.

    Raises:
        TooBigError: it does not fit the memory; as JSON it says so.
    """
    with progress_bar("compiling (first run only)", quiet=json):
        problem.prepare(algorithm or problem.algorithm, dtype)
    with progress_bar("measuring", quiet=json):
        expected = problem.estimate(algorithm, limits, dtype=dtype, threads=threads)
    if json:
        print_json(_estimate_report(problem, expected))
        return
    out.print(title)
    _print_estimate(problem, expected, goal)
    expected.check()


def _print_estimate(problem: BoardProblem, expected: HoldemEstimate, goal: str) -> None:
    streets = STREET_NAMES[problem.board_game.street :]
    rows = [
        (street, f"{boards:,}", f"{nodes:,}")
        for street, boards, nodes in zip(streets, expected.boards, expected.nodes, strict=False)
    ]
    print_table("", ("street", "boards", "nodes"), rows)
    out.print(f"hands         {expected.hands[0]:,} (oop), {expected.hands[1]:,} (ip)")
    out.print(f"memory        {format_bytes(expected.memory)} of {format_bytes(available_memory())} free")
    out.print(f"an iteration  {format_seconds(expected.seconds_per_iteration)}   (measured on a part of the boards)")
    out.print(f"time          about {format_seconds(expected.seconds)} to {goal}")
    out.print(f"              (about {expected.iterations:,} iterations, a rule of thumb)")


def print_whole_report(solution: WholeSolution) -> None:
    """Prints what `print_solve_report` prints of a spot, of a game from the blinds on."""
    report = whole_report(solution)
    out.print(
        f"per hand         exploitability {report['exploitability_mbb']:z,.2f} mbb, NashConv "
        f"{report['nash_conv_mbb']:z,.2f} mbb; the button wins {report['button_mbb']:+,.1f} mbb"
    )
    for entry in report["actions"]:
        out.print(f"{entry['token']:>8}  {entry['action']:16} {100 * entry['frequency']:6.2f} %")


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
