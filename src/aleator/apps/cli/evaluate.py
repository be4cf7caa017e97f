"""`aleator evaluate`: the exploitability of a saved solution, computed anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aleator.apps.cli.output import number, out, print_json, progress_bar
from aleator.solvers.best_response import best_response_value, expected_value
from aleator.solvers.solution import SolutionFile


def run(
    file: Annotated[Path, typer.Argument(help="A file written by `aleator solve --out`.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Exploitability of a saved solution: best responses are computed anew, nothing in the file is taken on trust.

    Example:  aleator evaluate dice.solution
    """
    with progress_bar("evaluating", quiet=json):
        saved = SolutionFile(file)
        policy = saved.load().policy
        value = expected_value(policy)
        best = [best_response_value(policy, player) for player in (0, 1)]
    gains = [best[0] - value, best[1] + value]
    result = {
        "game": saved.summary.game,
        "algorithm": saved.summary.algorithm,
        "iterations": saved.summary.iterations,
        "value": value,
        "gains": gains,
        "nash_conv": sum(gains),
        "exploitability": sum(gains) / 2,
    }
    if json:
        print_json(result)
        return
    out.print(f"[bold]{saved.summary.game}[/], {saved.summary.iterations:,} iterations of {saved.summary.algorithm}")
    out.print(f"exploitability   {number(sum(gains) / 2)}   (NashConv / 2; NashConv {number(sum(gains))})")
    out.print(f"best responses   first player gains {number(gains[0])}, second player gains {number(gains[1])}")
    out.print(f"value            {value:+.6f}   (to the first player)")
