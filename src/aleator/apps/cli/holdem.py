"""`aleator holdem`: estimate, solve and browse hold'em spots."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from aleator.apps.cli.holdem_grid import action_name, print_hands, print_node
from aleator.apps.cli.output import interruptible, note, out, print_json, print_table, progress_bar
from aleator.errors import SolveError
from aleator.games.holdem.bet_menu import POSITION_NAMES
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.betting_tree import find_node
from aleator.games.holdem.cards import format_cards, format_hand
from aleator.games.holdem.hand_range import parse_hand_range
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import load_spot
from aleator.solvers.holdem_solution import HoldemSolution
from aleator.solvers.holdem_solve import HoldemLimits, HoldemProgress, estimate_spot, prepare_holdem, solve_spot
from aleator.solvers.holdem_view import HoldemView, NodeView
from aleator.solvers.regret_rule import parse_rule
from aleator.solvers.solve import available_memory
from aleator.storage import check_writable

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", add_completion=False)

SpotFile = Annotated[Path, typer.Argument(help="A spot as a TOML file, such as examples/river.toml.")]
Rule = Annotated[str | None, typer.Option(help="Regret rule: dcfr, pcfr+, cfr+, ...; default: as the spot says.")]
Target = Annotated[float | None, typer.Option(help="Stop at this exploitability, a fraction of the pot.")]
Iterations = Annotated[int | None, typer.Option(help="Stop after this many iterations (each updates both players).")]
Threads = Annotated[int, typer.Option(help="Threads, used from the turn on.")]
Bits = Annotated[int, typer.Option(help="32, or 16 for half the memory.")]
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
    out.print(f"memory        {_bytes(found.memory)} of {_bytes(free)} free")
    out.print(f"an iteration  {_seconds(found.seconds_per_iteration)}   (measured on a part of the boards)")
    goal = f"{100 * limits.target:g} % of the pot" if limits.target else "the last iteration"
    out.print(f"time          about {_seconds(found.seconds)} to {goal}")
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
    json: Json = False,
) -> None:  # fmt: skip
    """Solve a spot. Ctrl-C stops early and keeps what has been found.

    Examples:  aleator holdem solve examples/river.toml  |  aleator holdem solve examples/turn-typical.toml --target 0.001
    --out turn.solution --json
    """
    spot = load_spot(file)
    if output:
        check_writable(output)
    if no_river and spot.street == 3:
        raise SolveError("--no-river: the spot begins on the river, nothing would be left")
    found, stopped = _solve(spot, rule, target, iterations, threads, bits, quiet=json)
    if stopped:
        note("stopped early; this is what was found so far")
    if output:
        found.save(output, river=not no_river)
    report = _report(found)
    if json:
        print_json(report | {"files": [str(output)] if output else []})
        return
    _print_report(file, found, report)
    if output:
        out.print(f"written         {output} ({_bytes(output.stat().st_size)})", markup=False, soft_wrap=True)


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="A solution, or a spot (.toml), which is solved first.")],
    node: Annotated[str, typer.Argument(help="A node, such as r:0:c:b100:c:8h.")] = "r",
    combos: Annotated[str | None, typer.Option(help="List single hands: AKs, AsKh, or any range text.")] = None,
    player: Annotated[str | None, typer.Option(help="Whose hands: oop or ip; default: who acts.")] = None,
    json: Json = False,
) -> None:
    """Browse a node: a grid of all hand classes in colour, single hands with --combos, or everything with --json.

    A node is named as PioSOLVER names it: r:0 is the root, f, c and bN are fold, check or call, and a bet after which the
    player has put in N chips since the root, 8h is a card.

    Examples:  aleator holdem show river.solution r:0:c  |  aleator holdem show examples/river.toml r:0:b500 --combos AKs
    """
    if player not in (None, *POSITION_NAMES):
        raise SolveError(f"--player must be oop or ip, not {player!r}")
    chosen = parse_hand_range(combos) > 0 if combos is not None else np.ones(1326, np.bool_)
    if file.suffix == ".toml":
        spot = load_spot(file)
        find_node(spot.build_tree(), node, board=spot.board)
        found, stopped = _solve(spot, None, None, None, 1, 32, quiet=json)
        if stopped:
            note("stopped early; this is what was found so far")
    else:
        found = HoldemSolution.open(file)
    view = HoldemView(found).node(node)
    side = POSITION_NAMES.index(player) if player else max(view.player, 0)
    if combos is not None and not view.weights[side][chosen].any():
        raise SolveError(f"no hand of {combos!r} gets to {view.path} in the range of {POSITION_NAMES[side]}")
    if view.resolved:
        note("the file has no river: this one was solved again, from the ranges that get here")
    elif not found.has_river:
        note("the file has no river: EVs of earlier streets are unknown")
    if json:
        print_json(_node_report(view, side, chosen, found.spot.stack))
    elif combos is not None:
        print_hands(view, side, chosen, found.spot.stack)
    else:
        print_node(view, side, found.spot.stack)


def _settings(spot: Spot, rule: str | None, target: float | None, iterations: int | None) -> tuple[str, HoldemLimits]:
    """Returns the rule and the limits of the command line, or else of the spot.

    Who names a number of iterations without a target gets all of them.
    """
    if iterations is None:
        iterations, target = spot.solve.max_iterations, spot.solve.target if target is None else target
    return rule or spot.solve.rule, HoldemLimits(target=target or 0.0, iterations=iterations)


def _solve(
    spot: Spot, rule: str | None, target: float | None, iterations: int | None, threads: int, bits: int, *, quiet: bool
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

        found = solve_spot(spot, rule, limits, threads=threads, bits=bits, on_progress=on_progress)
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


def _report(found: HoldemSolution) -> dict[str, Any]:
    """Returns what `solve` prints."""
    summary, spot = found.summary, found.spot
    view = HoldemView(found).node("r", values=False)
    values, exploitability = summary.quality.values, summary.quality.exploitability
    return {
        "nodes": sum(summary.nodes),
        "nodes_per_street": dict(zip(STREET_NAMES[spot.street :], summary.nodes, strict=True)),
        "rule": summary.rule,
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
        "equity": {position: view.mean(side, view.equities[side]) for side, position in enumerate(POSITION_NAMES)},
        "actions": _actions(view, spot.stack),
    }


def _actions(view: NodeView, stack: int) -> list[dict[str, Any]]:
    if view.player < 0:
        return []
    return [
        {"token": token, "action": action_name(view.node, index, stack), "frequency": share}
        for index, (token, share) in enumerate(zip(view.node.tokens, view.frequencies, strict=True))
    ]


def _print_report(file: Path, found: HoldemSolution, report: dict[str, Any]) -> None:
    spot, summary = found.spot, found.summary
    nodes = " + ".join(f"{count:,}" for count in summary.nodes)
    out.print(f"[bold]{file.name}[/]: {format_cards(spot.board)}, pot {spot.pot:,}, {nodes} nodes")
    percent = 100 * report["exploitability_fraction"]
    out.print(
        f"exploitability  {report['exploitability']:,.3f} chips, {percent:.3f} % of the pot   (mean of both gains)"
    )
    if spot.min_bet > 1:
        out.print(f"                {report['exploitability_mbb']:,.2f} mbb, if the smallest bet is the big blind")
    out.print(f"iterations      {summary.iterations:,} of {summary.rule} in {_seconds(summary.seconds)}")
    rows = [
        (
            position,
            f"{report['ev'][position]['with_pot_share']:,.2f}",
            f"{report['ev'][position]['zero_sum']:+,.2f}",
            f"{100 * report['equity'][position]:.2f} %",
        )
        for position in POSITION_NAMES
    ]
    print_table("", ("player", "EV with the pot share", "EV less pot/2", "equity"), rows)
    for entry in report["actions"]:
        out.print(f"{entry['token']:>8}  {entry['action']:16} {100 * entry['frequency']:6.2f} %")


def _node_report(view: NodeView, player: int, chosen: Any, stack: int) -> dict[str, Any]:
    """Returns a node as JSON: the node, its actions, and every hand that gets there."""
    acting = player == view.player
    tokens = view.node.tokens if acting else ()
    hands = []
    for hand in np.flatnonzero(chosen & (view.weights[player] > 0))[::-1]:
        entry: dict[str, Any] = {"hand": format_hand(int(hand)), "weight": float(view.weights[player][hand])}
        entry["policy"] = {token: float(view.policy[index, hand]) for index, token in enumerate(tokens)}
        if len(view.action_evs):
            entry["action_ev"] = {token: float(view.action_evs[index, hand]) for index, token in enumerate(tokens)}
        entry["ev"] = float(view.evs[player][hand])
        entry["equity"] = float(view.equities[player][hand])
        hands.append(entry)
    return {
        "node": str(view.path),
        "board": format_cards(view.board),
        "pot": view.pot,
        "to_act": POSITION_NAMES[view.player] if view.player >= 0 else None,
        "player": POSITION_NAMES[player],
        "ev": {position: view.mean(side, view.evs[side]) for side, position in enumerate(POSITION_NAMES)},
        "equity": {position: view.mean(side, view.equities[side]) for side, position in enumerate(POSITION_NAMES)},
        "actions": _actions(view, stack),
        "resolved": view.resolved,
        "hands": hands,
    }


def _bytes(count: float) -> str:
    return f"{count / 2**30:.2f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"


def _seconds(seconds: float) -> str:
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"
