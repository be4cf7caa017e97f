"""`aleator solve`: solve a game."""

from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from aleator.apps.cli.output import (
    check_plot,
    end,
    interruptible,
    note,
    number,
    out,
    plot_curves,
    print_json,
    progress_bar,
)
from aleator.errors import SolutionError, SolveError
from aleator.games.registry import load_game
from aleator.solvers.solution import Solution, SolutionFile
from aleator.solvers.solve import LINEAR_PROGRAM, Limits, Progress, counts_nodes, prepare, solve
from aleator.storage import check_writable

# what a plot is drawn over -> field of a point of the curve, label
_AXES = {
    "iterations": ("iteration", "iterations (each updates both players)"),
    "seconds": ("seconds", "seconds"),
    "nodes": ("nodes_touched", "nodes touched"),
}


def run(
    game: Annotated[str, typer.Argument(help="A game, as listed by `aleator games`.")],
    algorithm: Annotated[
        str, typer.Option(help="cfr, rm+, cfr+, cfr+quadratic, lcfr, lcfr+, dcfr, dcfr:A,B,G, dcfr+, sharp-dcfr+, pcfr+, pdcfr+, "
                          "hs-dcfr, hs-pcfr+, hedge, fp, linear-fp, flop, egt, lp; add /simultaneous to update both players at "
                          "once. "
                          "Sampling: mccfr, mccfr+, lmccfr, with :SCHEME,OPTION=VALUE as in mccfr:robust3,batch=1000. "
                          "Pruning: pp, rbp, brp, with :RULE,OPTION=VALUE as in rbp:cfr+,skip=25."),
    ] = "dcfr",
    iterations: Annotated[int | None, typer.Option(help="Stop after this many iterations (each updates both players).")] = None,
    target: Annotated[float | None, typer.Option(help="Stop at this exploitability (NashConv / 2).")] = None,
    seconds: Annotated[float | None, typer.Option(help="Stop after this much time.")] = None,
    dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    threads: Annotated[int, typer.Option(help="Threads, used if the game is big enough.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of algorithms that sample.")] = 0,
    output: Annotated[Path | None, typer.Option("--out", help="Save the solution to this file.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on from a saved solution of the same game and algorithm.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the exploitability over iterations (.png, .svg, .pdf).")] = None,
    plot_over: Annotated[str, typer.Option(help="The plot's axis: iterations, seconds or nodes (touched).")] = "iterations",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Solve a game. Ctrl-C stops early and keeps what has been found (exit code 130).

    Examples:  aleator solve leduc --target 1e-4  |  aleator solve liars-dice:1x6 --algorithm pcfr+ --iterations 2000
    --out dice.solution --plot dice.png  |  aleator solve kuhn --algorithm lp --json
    """
    if output:
        check_writable(output)
    check_plot(plot)
    _check_axis(algorithm, plot_over, plotted=plot is not None)
    given = {"--iterations": iterations, "--target": target, "--seconds": seconds, "--resume": resume}
    for name, value in given.items() if algorithm == LINEAR_PROGRAM else ():
        if value is not None:
            raise SolveError(f"a linear program is solved exactly, at once: leave out {name}")
    limits = Limits(iterations=iterations, target=target, seconds=seconds)
    earlier = _load(resume, game, limits) if resume else None
    with ExitStack() as stack:
        interrupted = stack.enter_context(interruptible())
        with progress_bar("compiling (first run only)", quiet=json):
            prepare(algorithm, dtype)
        move = stack.enter_context(progress_bar(f"{game}, {algorithm}", quiet=json))
        start: list[Progress] = []

        def show(progress: Progress) -> bool:
            start.append(progress) if not start else None
            move(
                share_done(limits, start[0], progress),
                f"iteration {progress.iteration:,}, exploitability {progress.nash_conv / 2:.2e}",
            )
            return interrupted()

        found = solve(
            game, algorithm, limits=limits, dtype=dtype, threads=threads, seed=seed, resume=earlier, on_progress=show
        )
        stopped = interrupted()
    if stopped:
        note("stopped early; this is what was found so far")
    if output:
        found.save(output)
    if plot:
        field, label = _AXES[plot_over]
        points = [(float(getattr(point, field)), point.nash_conv / 2) for point in found.summary.curve]
        plot_curves(
            plot,
            f"{game}, {algorithm}",
            label,
            "exploitability (NashConv / 2)",
            {algorithm: points},
        )
    report(found, json=json, files=[path for path in (output, plot) if path])
    end(stopped=stopped)


def _check_axis(algorithm: str, axis: str, *, plotted: bool) -> None:
    """Raises SolveError if the convergence of an algorithm cannot be drawn over that axis."""
    if plotted and algorithm == LINEAR_PROGRAM:
        raise SolveError("a linear program has no convergence to plot")
    if axis not in _AXES:
        raise SolveError(f"a plot is drawn over {', '.join(_AXES)}, not over {axis!r}")
    if axis == "nodes" and not counts_nodes(algorithm):
        raise SolveError(f"{algorithm} does not count the nodes it touches: every iteration touches all")


def _load(file: Path, game: str, limits: Limits) -> Solution:
    """Returns the solution to go on from.

    Raises:
        SolutionError: it is of another game, or has as many iterations already as were asked for.
    """
    saved = SolutionFile(file)
    if saved.summary.game != load_game(game).name:
        raise SolutionError(f"{file} is a solution of {saved.summary.game}, not of {game}")
    if limits.iterations is not None and limits.iterations <= saved.summary.iterations:
        raise SolutionError(f"{file} has {saved.summary.iterations:,} iterations already; ask for more than that")
    return saved.load()


def share_done(limits: Limits, start: Progress, now: Progress) -> float:
    """Returns how much of the way to the nearest limit has been gone; on the way to a target, on a log scale."""
    shares = [0.0]
    if limits.iterations:
        shares.append(now.iteration / limits.iterations)
    if limits.seconds:
        shares.append(now.seconds / limits.seconds)
    if limits.target and start.nash_conv / 2 > limits.target and now.nash_conv > 0:
        gone = math.log(start.nash_conv / now.nash_conv) / math.log(start.nash_conv / 2 / limits.target)
        shares.append(max(gone, 0.0) ** 2)  # each further digit takes longer than the last
    return max(shares)


def report(found: Solution, *, json: bool, files: list[Path]) -> None:
    """Prints the summary of a solution."""
    summary = found.summary
    if json:
        fields = asdict(summary)
        fields["curve"] = [point._asdict() for point in summary.curve]
        print_json(fields | {"files": [str(path) for path in files]})
        return
    out.print(
        f"[bold]{summary.game}[/] by {summary.algorithm}: {summary.nodes:,} public states, {summary.infostates:,} infostates"
    )
    out.print(
        f"exploitability   {number(summary.exploitability)}   (NashConv / 2; NashConv {number(summary.nash_conv)})"
    )
    out.print(f"value            {summary.value + 0.0:+.6f}   (to the first player)".replace("-0.000000", "+0.000000"))
    rate = (
        f", {number(summary.iterations / summary.seconds)} per second" if summary.iterations and summary.seconds else ""
    )
    out.print(f"iterations       {summary.iterations:,} in {summary.seconds:.2f} s{rate}")
    if summary.nodes_touched is not None:
        out.print(f"nodes touched    {summary.nodes_touched:,}")
    for path in files:
        out.print(f"written          {path}", soft_wrap=True, highlight=False)
