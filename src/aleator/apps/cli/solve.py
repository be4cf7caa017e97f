"""`aleator solve`: solve a game."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from aleator.abstraction.parameters import parametric_game, parse_parameters
from aleator.abstraction.regret_transfer import PAYOFF, ParametricProblem, parse_weight
from aleator.apps.cli.holdem_report import format_bytes, print_solve_report, print_whole_report, show_estimate
from aleator.apps.cli.output import check_plot, heading, number, out, plot_curves, print_json
from aleator.apps.cli.solving import CheckpointEvery, solve_with_bar
from aleator.apps.cli.stopping import end
from aleator.apps.spot_report import solve_report, whole_report
from aleator.errors import SolutionError, SolveError
from aleator.parsing import MAX_SEED
from aleator.solvers.algorithms import ALGORITHMS, DEFAULT_ALGORITHM, Algorithm, find_algorithm
from aleator.solvers.holdem.problem import BoardProblem
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.whole_solution import WholeSolution
from aleator.solvers.limits import SECONDS_BETWEEN_CHECKPOINTS, Limits
from aleator.solvers.solution import Solution, open_solution
from aleator.solvers.solve import Problem, TreeProblem, find_problem
from aleator.solvers.summary import Summary
from aleator.storage import check_replaceable

# what a plot is drawn over -> field of a point of the curve, label
_AXES = {
    "iterations": ("iteration", "iterations (each updates both players)"),
    "seconds": ("seconds", "seconds"),
    "nodes": ("nodes_touched", "nodes touched"),
}


def run(
    game: Annotated[str, typer.Argument(help="A game, as listed by `aleator games`.")],
    algorithm: Annotated[
        str | None, typer.Option(help=f"Default: {DEFAULT_ALGORITHM}, in hold'em as the spot says. "
                          f"{', '.join(ALGORITHMS)}; with settings as in dcfr:1.5,0,4/simultaneous, "
                          "mccfr:robust3,batch=1000, rbp:cfr+,skip=25: see `aleator algorithms`."),
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Stop after this many iterations (of both players).")] = None,
    exploitability: Annotated[float | None, typer.Option("--exploitability", "--target", help="Stop at exploitability "
                              "(NashConv / 2, in the game's units).")] = None,
    seconds: Annotated[float | None, typer.Option(help="Stop after this much time.")] = None,
    dtype: Annotated[str | None, typer.Option(help="float64 (default), float32; in hold'em float32, float16.")] = None,
    threads: Annotated[int, typer.Option(help="Threads, used if the game is big enough.")] = 1,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of algorithms that sample.")] = 0,
    output: Annotated[Path | None, typer.Option("--out", help="Save the solution to this file.")] = None,
    checkpoint_every: CheckpointEvery = SECONDS_BETWEEN_CHECKPOINTS,
    resume: Annotated[Path | None, typer.Option(help="Continue a solution of the same game and algorithm.")] = None,
    resumable: Annotated[bool, typer.Option("--resumable", help="In hold'em: save regrets, too, so that --resume "
                                            "works; the file gets as big as the memory.")] = False,
    parameter: Annotated[list[str] | None, typer.Option(metavar="NAME=NUMBER", help="Put this number for {NAME} in the "
                                                        "game's name; --out keeps what --transfer needs.")] = None,
    transfer: Annotated[Path | None, typer.Option(help="Go on from a solution with other values of --parameter: regret "
                                                  "transfer.")] = None,
    weight: Annotated[str | None, typer.Option(help="Weight of the transferred iterations: payoff (Eq. 4.52; the "
                                               "default), potential, unscaled, or a number up to 1.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="In hold'em: print nodes, memory and seconds, "
                                           "and do not solve.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw exploitability over iterations (.png, .svg, .pdf).")] = None,
    plot_over: Annotated[str | None, typer.Option(help="The plot's x axis: iterations (the default), seconds or "
                                                  "nodes.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Solve a game. Ctrl-C stops early and keeps the result so far (exit code 130); so do SIGTERM and SIGHUP.

    Examples:  aleator solve leduc --exploitability 1e-4
      |  aleator solve liars-dice:1x6 --algorithm pcfr+ --iterations 2000 --out dice.solution --plot dice.png
      |  aleator solve kuhn --algorithm lp --json
      |  aleator solve "leduc:bets={a}/{b}" --parameter a=2.1 --parameter b=4.1 --transfer near.solution
    """
    if output:
        check_replaceable(output)
    check_plot(plot)
    given = {"--iterations": iterations, "--exploitability": exploitability, "--seconds": seconds, "--resume": resume}
    chosen = find_algorithm(algorithm or DEFAULT_ALGORITHM)
    for name, value in given.items() if chosen.exact else ():
        if value is not None:
            raise SolveError(f"a linear program is solved exactly in one step: leave out {name}")
    _check_axis(chosen, plot_over or "iterations", plotted=plot is not None)
    alone: dict[str, tuple[str | None, Path | None, str]] = {
        "--plot-over": (plot_over, plot, "--plot"),
        "--weight": (weight, transfer, "--transfer"),
    }
    for option, (said, needed, name) in alone.items():
        if said is not None and needed is None:
            raise SolveError(f"{option} {said} is for {name}, which is not given")
    limits = None
    if (iterations, exploitability, seconds) != (None, None, None):
        limits = Limits(iterations=iterations, exploitability=exploitability, seconds=seconds)
    problem = _parametric(game, parameter, transfer, weight or PAYOFF) if parameter else find_problem(game, algorithm)
    if transfer and not parameter:
        raise SolveError("--transfer needs the game's parameters: --parameter NAME=NUMBER for each {NAME} in its name")
    if estimate:
        _print_estimate(problem, algorithm, limits, dtype, threads, json=json)
        return
    if resumable and not isinstance(problem, BoardProblem):
        raise SolveError(f"--resumable is for hold'em; every solution of {game} can be resumed")
    earlier = _load(resume, problem, limits) if resume else None
    solution, stopped = solve_with_bar(
        problem, algorithm, limits, quiet=json, output=output, checkpoint_seconds=checkpoint_every, dtype=dtype,
        threads=threads, seed=seed, resume=earlier, keep_state=True if resumable else None,
    )  # fmt: skip
    if plot:
        field, label = _AXES[plot_over or "iterations"]
        points = [(float(getattr(point, field)), point.exploitability) for point in solution.summary.curve]
        name = solution.summary.algorithm
        plot_curves(plot, f"{game}, {name}", label, "exploitability (NashConv / 2)", {name: points})
    if isinstance(problem, ParametricProblem) and problem.weight is not None and not json:
        out.print(f"transferred      iterations of {transfer} with weight {problem.weight:.4g}", soft_wrap=True)
    report(solution, json=json, files=[path for path in (output, plot) if path])
    end(stopped=stopped)


def _parametric(game: str, texts: list[str], transfer: Path | None, weight: str) -> ParametricProblem:
    """Returns the member of a family of games that is solved, and what it goes on from."""
    values, number = parse_parameters(texts), parse_weight(weight)
    source = open_solution(transfer) if transfer else None
    return ParametricProblem(parametric_game(game, values), values, source=source, weight=number)


def _print_estimate(
    problem: Problem, algorithm: str | None, limits: Limits | None, dtype: str | None, threads: int, *, json: bool
) -> None:
    """Prints what a solve of hold'em will take.

    Raises:
        SolveError: another game is to be solved.
    """
    if not isinstance(problem, BoardProblem):
        raise SolveError(f"--estimate is for hold'em; `aleator games {problem.name}` has the size of a game")
    wanted = (limits or problem.limits).exploitability
    goal = f"an exploitability of {wanted:g} chips" if wanted else "the last iteration"
    show_estimate(problem, algorithm, limits, dtype=dtype or problem.dtype, threads=threads,
                  title=heading(problem.name), goal=goal, json=json)  # fmt: skip


def _check_axis(algorithm: Algorithm, axis: str, *, plotted: bool) -> None:
    """Raises SolveError if the convergence of an algorithm cannot be drawn over that axis."""
    if plotted and algorithm.exact:
        raise SolveError("a linear program has no convergence to plot")
    if axis not in _AXES:
        raise SolveError(f"a plot is drawn over {', '.join(_AXES)}, not over {axis!r}")
    if axis == "nodes" and not algorithm.family.counts_nodes:
        raise SolveError(f"{algorithm.name} does not count the nodes it touches: every iteration touches all")


def _load(file: Path, problem: Problem, limits: Limits | None) -> Solution:
    """Returns the solution to go on from.

    Raises:
        SolutionError: it is of another game, or has as many iterations already as were asked for.
    """
    saved = open_solution(file, problem.tree if isinstance(problem, TreeProblem) else None)
    if limits is not None and limits.iterations is not None and limits.iterations <= saved.summary.iterations:
        raise SolutionError(f"{file} has {saved.summary.iterations:,} iterations already; ask for more")
    return saved


def report(solution: Solution, *, json: bool, files: list[Path]) -> None:
    """Prints what a solve has found."""
    summary, spot = solution.summary, solution if isinstance(solution, HoldemSolution) else None
    if json:
        fields = summary.report() | (solve_report(spot) if spot else {})
        fields |= whole_report(solution) if isinstance(solution, WholeSolution) else {}
        print_json(fields | {"files": [str(path) for path in files]})
        return
    if spot:
        print_solve_report(spot)
    else:
        _print_report(summary)
    if isinstance(solution, WholeSolution):
        print_whole_report(solution)
    for path in files:
        out.print(f"written          {path} ({format_bytes(path.stat().st_size)})", soft_wrap=True)


def _print_report(summary: Summary) -> None:
    out.print(
        heading(
            summary.game, f" by {summary.algorithm}: {summary.nodes:,} public states, {summary.infostates:,} infostates"
        )
    )
    print_exploitability(summary.nash_conv, len(summary.values))
    print_values(summary.values[:1] if len(summary.values) == 2 else summary.values)
    rate = (
        f", {number(summary.iterations / summary.seconds)} per second" if summary.iterations and summary.seconds else ""
    )
    out.print(f"iterations       {summary.iterations:,} in {summary.seconds:.2f} s{rate}")
    if summary.nodes_touched is not None:
        out.print(f"nodes touched    {summary.nodes_touched:,}")


def print_exploitability(nash_conv: float, players: int) -> None:
    """Prints the exploitability of a policy, of so many players."""
    shown = number(nash_conv / players)
    out.print(f"exploitability   {shown}   (NashConv / {players}; NashConv {number(nash_conv)})")


def print_values(values: Sequence[float]) -> None:
    """Prints what the first player wins on average, or what each does."""
    text = "  ".join(f"{value + 0.0:+.6f}".replace("-0.000000", "+0.000000") for value in values)
    if len(values) == 1:
        out.print(f"value            {text}   (to the first player)")
    else:
        out.print(f"values           {text}   (to each player, in the order of the seats)")
