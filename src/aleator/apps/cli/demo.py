"""`aleator demo`: solve Liar's Dice and Leduc, and compare with what is published."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from aleator.apps.cli.output import (
    check_plot,
    err,
    make_folder,
    note,
    number,
    out,
    plot_panels,
    print_json,
    print_table,
    progress_bar,
)
from aleator.apps.papers.rebel import TABLE_2, TABLE_2_ITERATIONS
from aleator.solvers.solution import Summary
from aleator.solvers.solve import Limits, Progress, prepare, solve

_DICE, _LEDUC = "liars-dice:1x6", "leduc"
_COMPARED = ("cfr", "cfr+", "dcfr", "pcfr+")
_DICE_ITERATIONS, _LEDUC_ITERATIONS = 3000, 20_000
_PUBLISHED = {_DICE: "ReBeL Table 2", _LEDUC: "known value"}
_LEDUC_VALUE = -0.085606
_PICTURE = "demo.png"


class _Task(NamedTuple):
    """One solve of the demonstration, and the number that is published about it."""

    game: str
    algorithm: str
    iterations: int
    published: float | None


def _tasks() -> list[_Task]:
    """Returns what is solved: the setting of ReBeL's table, then four algorithms on both games."""
    tasks = [_Task(_DICE, "lcfr", TABLE_2_ITERATIONS // 2, TABLE_2["CFR"]["1x6f"])]
    tasks += [_Task(_DICE, algorithm, _DICE_ITERATIONS, None) for algorithm in _COMPARED]
    tasks += [_Task(_LEDUC, algorithm, _LEDUC_ITERATIONS, _LEDUC_VALUE) for algorithm in _COMPARED]
    return tasks


def run(
    output: Annotated[Path | None, typer.Option("--out", help=f"Write {_PICTURE} to this directory.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Solve Liar's Dice and Leduc in front of your eyes and compare with what is published. Takes under a minute.

    Examples:  aleator demo  |  aleator demo --out results
    """
    picture = output / _PICTURE if output else None
    if output:
        make_folder(output)
        check_plot(picture)
    tasks = _tasks()
    with progress_bar("compiling (first run only)", quiet=json):
        for task in tasks:
            prepare(task.algorithm)
    found = [_watch(task, quiet=json) for task in tasks]
    if picture:
        panels: dict[str, dict[str, list[tuple[float, float]]]] = {_DICE: {}, _LEDUC: {}}
        for summary in found:
            if summary.algorithm in _COMPARED:
                curve = [(float(point.iteration), point.nash_conv / 2) for point in summary.curve]
                panels[summary.game][summary.algorithm] = curve
        plot_panels(picture, "iterations, each updates both players", "exploitability (NashConv / 2)", panels)
    rows = [_row(task, summary) for task, summary in zip(tasks, found, strict=True)]
    if json:
        print_json({"rows": rows, "picture": picture and str(picture)})
    else:
        _show(rows, picture)


def _watch(task: _Task, *, quiet: bool) -> Summary:
    """Returns the summary of a solve, which is shown while it runs: a moving line, or a plain one every second."""
    name = f"{task.game}, {task.algorithm}"
    plain, shown = not quiet and not err.is_terminal, 0.0
    with progress_bar(name, quiet=quiet) as move:

        def show(progress: Progress) -> None:
            nonlocal shown
            text = f"iteration {progress.iteration:,}, exploitability {progress.nash_conv / 2:.2e}"
            move(progress.iteration / task.iterations, text)
            if plain and progress.seconds - shown >= 1:
                shown = progress.seconds
                note(f"{name}: {text}, {progress.seconds:.1f} s")

        limits = Limits(iterations=task.iterations)
        summary = solve(task.game, task.algorithm, limits=limits, on_progress=show).summary
    if not quiet:
        quality = f"exploitability {summary.exploitability:.2e}"
        note(f"{name}: iteration {summary.iterations:,}, {quality}, {summary.seconds:.1f} s, done")
    return summary


def _row(task: _Task, summary: Summary) -> dict[str, Any]:
    """Returns a row of the table."""
    return {
        "game": summary.game,
        "algorithm": summary.algorithm,
        "iterations": summary.iterations,
        "exploitability": summary.exploitability,
        "value": summary.value,
        "seconds": summary.seconds,
        "published": task.published,
    }


def _show(rows: list[dict[str, Any]], picture: Path | None) -> None:
    """Prints a table for each game."""
    for game, published in _PUBLISHED.items():
        cells = [
            (
                row["algorithm"],
                f"{row['iterations']:,}",
                number(row["exploitability"], 3),
                f"{row['value']:+.6f}",
                f"{row['seconds']:.2f}",
                "-" if row["published"] is None else f"{row['published']}",
            )
            for row in rows
            if row["game"] == game
        ]
        print_table(game, ("algorithm", "iterations", "exploitability", "value", "seconds", published), cells)
    out.print(
        "Exploitability is NashConv / 2; values are the first player's. An iteration updates both players: ReBeL's "
        f"{TABLE_2_ITERATIONS:,} iterations of (linear) CFR, which update one each, are {TABLE_2_ITERATIONS // 2} of ours, "
        f"and it reports an exploitability of {TABLE_2['CFR']['1x6f']}. Leduc's known value is that of its exact solution "
        "(aleator solve leduc --algorithm lp).",
        markup=False,
    )
    if picture:
        out.print(f"written: {picture}", markup=False, soft_wrap=True)
