"""`aleator holdem`: estimate, solve and browse hold'em spots."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from aleator.apps.cli.device import check_device
from aleator.apps.cli.holdem_compare import comparison_report, print_comparison
from aleator.apps.cli.holdem_flops import report as flop_report
from aleator.apps.cli.holdem_grid import print_hands, print_node
from aleator.apps.cli.holdem_preflop import preflop
from aleator.apps.cli.holdem_report import print_runouts, show_estimate
from aleator.apps.cli.holdem_sizes import grown, optimise
from aleator.apps.cli.output import heading, note, print_json
from aleator.apps.cli.solve import report
from aleator.apps.cli.solving import CheckpointEvery, solve_with_bar
from aleator.apps.cli.stopping import end
from aleator.apps.spot_report import node_report, runout_report
from aleator.errors import SolveError
from aleator.games.holdem.bet_menu import POSITION_NAMES
from aleator.games.holdem.betting_tree import find_node
from aleator.games.holdem.cards import format_cards
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.hand_range import parse_hand_range
from aleator.games.holdem.lock import parse_lock
from aleator.games.holdem.node_path import parse_path
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import load_spot
from aleator.solvers.algorithms import ALGORITHMS, parse_rule
from aleator.solvers.holdem.comparison import KINDS, Comparison
from aleator.solvers.holdem.problem import BITS, SpotProblem, pot_fraction
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.view import HoldemView
from aleator.solvers.limits import SECONDS_BETWEEN_CHECKPOINTS, Limits
from aleator.storage import check_replaceable

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", add_completion=False)

app.command("report")(flop_report)
app.command("preflop")(preflop)
app.command("optimise")(optimise)

SpotFile = Annotated[Path, typer.Argument(help="A spot as a TOML file, such as examples/river.toml.")]
Rule = Annotated[
    str | None,
    typer.Option(
        "--rule",
        "--algorithm",
        help="Default: as the spot says. "
        + ", ".join(name for name, known in ALGORITHMS.items() if known.runs_on_boards),
    ),
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
    """Estimate nodes, memory and seconds of a solve before starting it. This measures the speed for about a second.

    Example:  aleator holdem estimate examples/flop.toml
    """
    spot, dtype = load_spot(file), _dtype(bits)
    problem, limits = SpotProblem(HoldemGame(spot)), _limits(spot, target, iterations)
    goal = f"{100 * limits.exploitability / spot.pot:g} % of the pot" if limits.exploitability else "the last iteration"
    title = heading(file.name, f": {format_cards(spot.board)}, pot {spot.pot:,}")
    show_estimate(problem, rule, limits, dtype=dtype, threads=threads, title=title, goal=goal, json=json)


@app.command()
def solve(
    file: SpotFile,
    rule: Rule = None,
    target: Target = None,
    iterations: Iterations = None,
    threads: Threads = 1,
    bits: Bits = 32,
    output: Annotated[Path | None, typer.Option("--out", help="Save the solution to this file.")] = None,
    no_river: Annotated[bool, typer.Option("--no-river", help="Save no rivers; showing one solves it again.")] = False,
    lock: Locks = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda: solve all boards of a street at once, in torch; by "
                                               "default the engine for CPUs solves them.")] = None,
    resumable: Annotated[bool, typer.Option("--resumable", help="Save regrets, too; the file gets as big as the memory."
                                            )] = False,
    checkpoint_every: CheckpointEvery = SECONDS_BETWEEN_CHECKPOINTS,
    resume: Annotated[Path | None, typer.Option(help="Continue a solution that was saved with --resumable or stopped "
                                                "early.")] = None,
    grow_sizes: Annotated[int | None, typer.Option(min=1, max=10, help="First find the bets that matter on the first "
                                                   "street, at most this many for each player.")] = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Solve a spot. Ctrl-C stops early and keeps the result so far (exit code 130); so do SIGTERM and SIGHUP.

    Examples:  aleator holdem solve examples/river.toml
      |  aleator holdem solve examples/turn-typical.toml --target 0.001 --out turn.solution --json
      |  aleator holdem solve examples/river.toml --grow-sizes 3
    """
    spot = load_spot(file)
    if lock:
        spot = replace(spot, locks=tuple(parse_lock(text) for text in lock))
    if output:
        check_replaceable(output)
    elif resumable:
        raise SolveError("--resumable: name the file with --out")
    if no_river and spot.street == 3:
        raise SolveError("--no-river: the spot begins on the river, so nothing would be left")
    saved = HoldemSolution.open(resume) if resume else None
    if grow_sizes is not None:
        spot = grown(spot, grow_sizes, threads, quiet=json)
    solution, stopped = _solve(
        spot, file, rule, _limits(spot, target, iterations), quiet=json, threads=threads,
        dtype=saved.summary.dtype if saved else _dtype(bits), resume=saved, keep_state=resumable, output=output,
        saved_with={"river": not no_river}, checkpoint_seconds=checkpoint_every, device=device,
    )  # fmt: skip
    report(solution, json=json, files=[output] if output else [])
    end(stopped=stopped)


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="A solution, or a spot (.toml), which is solved first.")],
    node: Annotated[str, typer.Argument(help="A node, such as r:0:c:b100:c:8h.")] = "r",
    hands: Annotated[str | None, typer.Option(help="List single hands: AKs, AsKh, or any range text.")] = None,
    player: Annotated[str | None, typer.Option(help="Whose hands: oop or ip; default: the player to act.")] = None,
    json: Json = False,
) -> None:
    """Browse a node: a grid of all hand classes in colour, single hands with --hands, or everything with --json.

    A node is named as PioSOLVER names it: r:0 is the root, f, c and bN are fold, check or call, and a bet after which
    the player has put in N chips since the root, 8h is a card.

    Examples:  aleator holdem show river.solution r:0:c  |  aleator holdem show examples/river.toml r:0:b500 --hands AKs
    """
    if player not in (None, *POSITION_NAMES):
        raise SolveError(f"--player must be oop or ip, not {player!r}")
    chosen = parse_hand_range(hands) > 0 if hands is not None else np.ones(1326, np.bool_)
    looked = _open(file, node, quiet=json)
    view = HoldemView(looked).node(node)
    side = POSITION_NAMES.index(player) if player else max(view.player, 0)
    if hands is not None and not view.weights[side][chosen].any():
        raise SolveError(f"no hand of {hands!r} gets to {view.path} in the range of {POSITION_NAMES[side]}")
    if view.resolved:
        note("the file has no river: this one was solved again, from the ranges that get here")
    elif not looked.has_last_street:
        note("the file has no river: EVs of earlier streets are unknown")
    if json:
        print_json(node_report(view, side, chosen, looked.spot.stack))
    elif hands is not None:
        print_hands(view, side, chosen, looked.spot.stack)
    else:
        print_node(view, side, looked.spot.stack)


@app.command()
def runouts(
    file: Annotated[Path, typer.Argument(help="A solution, or a spot (.toml), which is solved first.")],
    node: Annotated[str, typer.Argument(help="A node where a card is dealt, such as r:0:c:c.")],
    json: Json = False,
) -> None:
    """List every card that can come at a node: its probability, EVs, equity, and what the first player to act does.

    Example:  aleator holdem runouts turn.solution r:0:c:c
    """
    view = _open(file, node, quiet=json)
    cards = HoldemView(view).runouts(node)
    path, stack = str(parse_path(node)), view.spot.stack
    if json:
        print_json(runout_report(path, cards, stack))
    else:
        print_runouts(path, cards, stack)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="A solution, or a spot (.toml), which is solved first.")],
    second: Annotated[Path, typer.Argument(help="Another one on the same board.")],
    node: Annotated[str, typer.Argument(help="A node, such as r:0:c:b100.")] = "r",
    other: Annotated[str | None, typer.Option(help="The node in the second, if its bets have other sizes.")] = None,
    show: Annotated[str, typer.Option(help="What the grid shows: raise, call, fold or ev.")] = "raise",
    json: Json = False,
) -> None:
    """Compare two solutions of one board: other bet sizes, another lock, other ranges.

    Prints EVs and frequencies of both, the differences by hand class, and the decisions of the street where play
    differs most. Differences are the second less the first.

    Example:  aleator holdem compare turn.solution locked.solution r:0:c --show ev
    """
    if show not in (*KINDS, "ev"):
        raise SolveError(f"--show must be {', '.join(KINDS)} or ev, not {show!r}")
    both = Comparison(_open(first, node, quiet=json), _open(second, other or node, quiet=json))
    comparison = both.node(node, other)
    lines = both.lines(node) if other is None and comparison.player >= 0 else []
    if json:
        print_json(comparison_report(comparison, lines))
    else:
        print_comparison(comparison, lines, show)


def _open(file: Path, node: str, *, quiet: bool) -> HoldemSolution:
    """Returns a solution from its file, or by solving a spot after the node has been looked for."""
    if file.suffix != ".toml":
        return HoldemSolution.open(file)
    spot = load_spot(file)
    find_node(spot.build_tree(), node, board=spot.board)
    return _solve(spot, file, None, None, quiet=quiet)[0]


def _limits(spot: Spot, target: float | None, iterations: int | None) -> Limits:
    """Returns the limits of the command line, or else of the spot.

    Who names a number of iterations without a target gets all of them.
    """
    if iterations is None:
        iterations, target = spot.solve.max_iterations, spot.solve.target if target is None else target
    return Limits(iterations=iterations, exploitability=pot_fraction(spot, target or 0.0))


def _dtype(bits: int) -> str:
    if bits not in BITS.values():
        raise SolveError(f"--bits must be 32, or 16 for half the memory, not {bits}")
    return f"float{bits}"


def _solve(
    spot: Spot, file: Path, rule: str | None, limits: Limits | None, *, quiet: bool, device: str | None = None,
    **settings: Any,
) -> tuple[HoldemSolution, bool]:  # fmt: skip
    """Returns the solution of a spot and whether a signal ended the solve."""
    if rule is not None:
        parse_rule(rule)  # the engine of spots has no other algorithms
    game = HoldemGame(spot)
    game.name = f"holdem:{file}"
    problem = SpotProblem(game)
    if device is not None:
        place = check_device(device, None)
        from aleator.solvers.holdem.device import DeviceSpotProblem  # loads PyTorch

        problem = DeviceSpotProblem(game, place)
    solution, stopped = solve_with_bar(problem, rule, limits, quiet=quiet, **settings)
    assert isinstance(solution, HoldemSolution)
    return solution, stopped
