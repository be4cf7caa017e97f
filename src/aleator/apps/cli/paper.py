"""`aleator paper`: reproduce a table or figure."""

from __future__ import annotations

import json as json_format
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from aleator import __version__
from aleator.apps.cli.output import (
    check_plot,
    number,
    out,
    plot_panels,
    print_json,
    print_table,
    progress_bar,
)
from aleator.apps.cli.workers import Processes, Ray, chosen_workers
from aleator.apps.papers.base import Cell, Report, Settings
from aleator.apps.papers.registry import find_experiment, known_experiments
from aleator.parsing import MAX_SEED
from aleator.storage import check_writable, make_folder, replace_file


def run(
    name: Annotated[str | None, typer.Argument(help="An experiment; leave it out to list them.")] = None,
    output: Annotated[Path | None, typer.Option("--out", help="Write NAME.json and NAME.png to a directory.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer iterations: a few seconds.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Go as far as the paper; may take hours.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of all draws.")] = 0,
    processes: Processes = None,
    ray: Ray = None,
    keep: Annotated[
        Path | None, typer.Option(help="Keep each run in a directory; the same command adds the missing ones.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Reproduce a table or figure of the papers: the paper's numbers beside ours.

    Examples:  aleator paper  |  aleator paper rebel-table2  |  aleator paper rebel-fig3 --quick --out results
    """
    if name is None:
        listed = [
            {"name": known.name, "source": known.source, "summary": known.summary} for known in known_experiments()
        ]
        if json:
            print_json(listed)
        else:
            print_table("", ("experiment", "source", "what it shows"), [tuple(known.values()) for known in listed])
        return
    experiment, settings = find_experiment(name), Settings(quick=quick, seed=seed, full=full, keep=keep)
    settings = replace(settings, workers=chosen_workers(processes, ray, usual=1 if quick else None))
    files: list[Path] = []
    if output:
        make_folder(output)
        files = [output / f"{name}.json", output / f"{name}.png"]
        check_writable(files[0])
        check_plot(files[1])
    if keep and experiment.keeps:
        make_folder(keep)
    with progress_bar(name, quiet=json) as move:
        report = experiment.reproduce(settings, move)
    document = {
        "name": name,
        "source": experiment.source,
        "version": __version__,
        "quick": quick,
        "full": full,
        "seed": seed,
    }
    document |= report.to_dict()
    if files:
        _write(document, report, *files)
    if json:
        print_json(document | {"files": [str(path) for path in files]})
    else:
        _show(report, files)


def _write(document: dict[str, Any], report: Report, text: Path, picture: Path) -> None:
    """Writes the report as JSON and its curves as a picture."""
    replace_file(text, [json_format.dumps(document, indent=2, allow_nan=False).encode() + b"\n"])
    plot_panels(picture, report.x_label, report.y_label, report.panels, report.bands, y_scale=report.y_scale)


def _show(report: Report, files: list[Path]) -> None:
    """Prints the report for people."""
    print_table(report.title, report.columns, [[_text(cell) for cell in row] for row in report.rows])
    if report.claims:
        claims = [(claim.text, claim.measured, "agrees" if claim.agrees else "differs") for claim in report.claims]
        print_table("", ("the paper says", "ours", ""), claims)
    for heading, text in (
        ("run", f"{report.setting}; {report.seconds:.1f} s"),
        ("convention", report.convention),
        ("deviations", report.deviations),
        *(("written", str(path)) for path in files),
    ):
        out.print(f"{heading}: {text}")


def _text(cell: Cell) -> str:
    """Returns a cell of the table as people read it."""
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else number(cell)
