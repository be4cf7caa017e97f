"""`aleator holdem`: estimate, solve and browse hold'em spots."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from aleator.apps.cli.holdem_grid import print_hands, print_node
from aleator.apps.cli.holdem_report import (
    format_bytes,
    format_seconds,
    node_report,
    print_runouts,
    print_solve_report,
    runout_report,
    solve_report,
)
from aleator.apps.cli.output import end, interruptible, note, out, print_json, print_table, progress_bar
from aleator.errors import SolveError
from aleator.games.holdem.bet_menu import POSITION_NAMES
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.betting_tree import find_node
from aleator.games.holdem.cards import format_cards
from aleator.games.holdem.hand_range import parse_hand_range
from aleator.games.holdem.lock import parse_lock
from aleator.games.holdem.node_path import parse_path
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import load_spot
from aleator.memory import available_memory
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.solve import HoldemLimits, HoldemProgress, estimate_spot, prepare_holdem, solve_spot
from aleator.solvers.holdem.view import HoldemView
from aleator.solvers.regret_rule import parse_rule
from aleator.storage import check_writable

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", add_completion=False)

SpotFile = Annotated[Path, typer.Argument(help="A spot as a TOML file, such as examples/river.toml.")]
Rule = Annotated[
    str | None,
    typer.Option("--rule", "--algorithm", help="Regret rule: dcfr, pcfr+, ...; default: as the spot says."),
]
Target = Annotated[float | None, typer.Option(help="Stop at this exploitability, a fraction of the pot.")]
Iterations = Annotated[int | None, typer.Option(help="Stop after this many iterations (each updates both players).")]
Threads = Annotated[int, typer.Option(help="Threads, used from the turn on.")]
Bits = Annotated[int, typer.Option(help="32, or 16 for half the memory.")]
Locks = Annotated[
    list[str] | None,
    typer.Option("--lock", help="Fix a policy, in place of the spot's locks: 'r:0:c c=0.3 b50=rest'; may be repeated."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def estimate(
    file: SpotFile,
    rule: Rule = None,
    target: Target = None,
    iterations: Iterations = None,
    threads: Threads = 1,
    bits: Bits = 32,
    json: Json = False,
) -> None:
    """Nodes, memory and seconds of a solve, before it takes any memory. Speed is measured for about a second.

    Example:  aleator holdem estimate examples/flop.toml
    """
    spot = load_spot(file)
    rule, limits = _settings(spot, rule, target, iterations)
    with progress_bar("compiling (first run only)", quiet=json):
        prepare_holdem(parse_rule(rule), raked=spot.rake.rate > 0, bits=bits)
    with progress_bar("measuring", quiet=json):
        found = estimate_spot(spot, rule, limits, threads=threads, bits=bits)
    free = available_memory()
    streets = STREET_NAMES[spot.street :]
    if json:
        print_json(
            {
                "nodes": sum(found.nodes),
                "nodes_per_street": dict(zip(streets, found.nodes, strict=True)),
                "boards_per_street": dict(zip(streets, found.boards, strict=True)),
                "hands": dict(zip(POSITION_NAMES, found.hands, strict=True)),
                "memory": found.memory,
                "free_memory": free,
                "fits": found.memory <= free,
                "seconds_per_iteration": found.seconds_per_iteration,
                "iterations": found.iterations,
                "seconds": found.seconds,
            }
        )
        return
    rows = [
        (street, f"{boards:,}", f"{nodes:,}")
        for street, boards, nodes in zip(streets, found.boards, found.nodes, strict=True)
    ]
    out.print(f"[bold]{file.name}[/]: {format_cards(spot.board)}, pot {spot.pot:,}")
    print_table("", ("street", "boards", "nodes"), rows)
    out.print(f"hands         {found.hands[0]:,} (oop), {found.hands[1]:,} (ip)")
    out.print(f"memory        {format_bytes(found.memory)} of {format_bytes(free)} free")
    out.print(f"an iteration  {format_seconds(found.seconds_per_iteration)}   (measured on a part of the boards)")
    goal = f"{100 * limits.target:g} % of the pot" if limits.target else "the last iteration"
    out.print(f"time          about {format_seconds(found.seconds)} to {goal}")
    out.print(f"              (about {found.iterations:,} iterations, a rule of thumb)")
    found.check()


@app.command()
def solve(
    file: SpotFile,
    rule: Rule = None,
    target: Target = None,
    iterations: Iterations = None,
    threads: Threads = 1,
    bits: Bits = 32,
    output: Annotated[Path | None, typer.Option("--out", help="Save the solution to this file.")] = None,
    no_river: Annotated[bool, typer.Option("--no-river", help="Save no river; browsing solves it again.")] = False,
    lock: Locks = None,
    resumable: Annotated[bool, typer.Option("--resumable", help="Save regrets too: as big as the memory.")] = False,
    resume: Annotated[Path | None, typer.Option(help="Go on from a solution saved with --resumable.")] = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Solve a spot. Ctrl-C stops early and keeps what has been found (exit code 130).

    Examples:  aleator holdem solve examples/river.toml  |  aleator holdem solve examples/turn-typical.toml --target 0.001
    --out turn.solution --json
    """
    spot = load_spot(file)
    if lock:
        spot = replace(spot, locks=tuple(parse_lock(text) for text in lock))
    if output:
        check_writable(output)
    elif resumable:
        raise SolveError("--resumable: name the file with --out")
    if no_river and spot.street == 3:
        raise SolveError("--no-river: the spot begins on the river, nothing would be left")
    saved = HoldemSolution.open(resume) if resume else None
    found, stopped = _solve(
        spot, rule, target, iterations, threads, bits, quiet=json, resume=saved, keep_state=resumable
    )
    if stopped:
        note("stopped early; this is what was found so far")
    if output:
        found.save(output, river=not no_river)
    report = solve_report(found)
    if json:
        print_json(report | {"files": [str(output)] if output else []})
    else:
        print_solve_report(file, found, report)
        if output:
            out.print(f"written         {output} ({format_bytes(output.stat().st_size)})", markup=False, soft_wrap=True)
    end(stopped=stopped)


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="A solution, or a spot (.toml), which is solved first.")],
    node: Annotated[str, typer.Argument(help="A node, such as r:0:c:b100:c:8h.")] = "r",
    hands: Annotated[str | None, typer.Option(help="List single hands: AKs, AsKh, or any range text.")] = None,
    player: Annotated[str | None, typer.Option(help="Whose hands: oop or ip; default: who acts.")] = None,
    json: Json = False,
) -> None:
    """Browse a node: a grid of all hand classes in colour, single hands with --hands, or everything with --json.

    A node is named as PioSOLVER names it: r:0 is the root, f, c and bN are fold, check or call, and a bet after which the
    player has put in N chips since the root, 8h is a card.

    Examples:  aleator holdem show river.solution r:0:c  |  aleator holdem show examples/river.toml r:0:b500 --hands AKs
    """
    if player not in (None, *POSITION_NAMES):
        raise SolveError(f"--player must be oop or ip, not {player!r}")
    chosen = parse_hand_range(hands) > 0 if hands is not None else np.ones(1326, np.bool_)
    found = _open(file, node, quiet=json)
    view = HoldemView(found).node(node)
    side = POSITION_NAMES.index(player) if player else max(view.player, 0)
    if hands is not None and not view.weights[side][chosen].any():
        raise SolveError(f"no hand of {hands!r} gets to {view.path} in the range of {POSITION_NAMES[side]}")
    if view.resolved:
        note("the file has no river: this one was solved again, from the ranges that get here")
    elif not found.has_river:
        note("the file has no river: EVs of earlier streets are unknown")
    if json:
        print_json(node_report(view, side, chosen, found.spot.stack))
    elif hands is not None:
        print_hands(view, side, chosen, found.spot.stack)
    else:
        print_node(view, side, found.spot.stack)


@app.command()
def runouts(
    file: Annotated[Path, typer.Argument(help="A solution, or a spot (.toml), which is solved first.")],
    node: Annotated[str, typer.Argument(help="A node where a card is dealt, such as r:0:c:c.")],
    json: Json = False,
) -> None:
    """Every card that can come at a node: how likely it is, EVs, equity, and what the first to act does.

    Example:  aleator holdem runouts turn.solution r:0:c:c
    """
    found = _open(file, node, quiet=json)
    cards = HoldemView(found).runouts(node)
    path, stack = str(parse_path(node)), found.spot.stack
    if json:
        print_json(runout_report(path, cards, stack))
    else:
        print_runouts(path, cards, stack)


def _open(file: Path, node: str, *, quiet: bool) -> HoldemSolution:
    """Returns a solution from its file, or by solving a spot after the node has been looked for."""
    if file.suffix != ".toml":
        return HoldemSolution.open(file)
    spot = load_spot(file)
    find_node(spot.build_tree(), node, board=spot.board)
    found, stopped = _solve(spot, None, None, None, 1, 32, quiet=quiet)
    if stopped:
        note("stopped early; this is what was found so far")
    return found


def _settings(spot: Spot, rule: str | None, target: float | None, iterations: int | None) -> tuple[str, HoldemLimits]:
    """Returns the rule and the limits of the command line, or else of the spot.

    Who names a number of iterations without a target gets all of them.
    """
    if iterations is None:
        iterations, target = spot.solve.max_iterations, spot.solve.target if target is None else target
    return rule or spot.solve.rule, HoldemLimits(target=target or 0.0, iterations=iterations)


def _solve(
    spot: Spot,
    rule: str | None,
    target: float | None,
    iterations: int | None,
    threads: int,
    bits: int,
    *,
    quiet: bool,
    resume: HoldemSolution | None = None,
    keep_state: bool = False,
) -> tuple[HoldemSolution, bool]:
    """Returns the solution and whether Ctrl-C ended the solve."""
    rule, limits = _settings(spot, rule, target, iterations)
    with ExitStack() as stack:
        interrupted = stack.enter_context(interruptible())
        with progress_bar("compiling (first run only)", quiet=quiet):
            prepare_holdem(parse_rule(rule), raked=spot.rake.rate > 0, bits=bits)
        show_progress = stack.enter_context(_progress(spot, limits, quiet))

        def on_progress(now: HoldemProgress) -> bool:
            show_progress(now)
            return interrupted()

        found = solve_spot(
            spot,
            rule,
            limits,
            threads=threads,
            bits=bits,
            on_progress=on_progress,
            resume=resume,
            keep_state=keep_state,
        )
        return found, interrupted()


@contextmanager
def _progress(spot: Spot, limits: HoldemLimits, quiet: bool) -> Iterator[Any]:
    with progress_bar("solving", quiet=quiet) as move:

        def show_progress(now: HoldemProgress) -> None:
            share = now.iteration / limits.iterations
            if not math.isnan(now.seconds_left):
                share = now.seconds / max(now.seconds + now.seconds_left, 1e-9)
            quality = ""
            if not math.isnan(now.exploitability):
                percent = 100 * now.exploitability / spot.pot
                quality = f", exploitability {now.exploitability:,.2f} chips, {percent:.2f} % of the pot"
            move(share, f"iteration {now.iteration:,}{quality}")

        yield show_progress
