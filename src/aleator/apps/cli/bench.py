"""`aleator bench`: measure speed, as ratios against peers and rooflines in the same run."""

from __future__ import annotations

from typing import Annotated

import typer

from aleator.apps.benchmarking import benchmark_summaries, load_benchmark
from aleator.apps.cli.output import number, out, print_json, print_table, progress_bar
from aleator.errors import AleatorError, shown


def run(
    name: Annotated[str | None, typer.Argument(help="A benchmark; leave it out to list them.")] = None,
    only: Annotated[str | None, typer.Option(help="One of its cases, such as liars-dice:1x4 of rebel.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure speed, relative to peers and to what the hardware allows in the same run.

    Examples:  aleator bench  |  aleator bench tabular --json  |  aleator bench rebel --only liars-dice:1x4
    """
    if name is None:
        listed = benchmark_summaries()
        if json:
            print_json(listed)
        else:
            print_table("", ("benchmark", "what it measures"), list(listed.items()))
        return
    module = load_benchmark(name)
    cases = getattr(module, "CASES", ())
    if only is not None and only not in cases:
        allowed = f"allowed: {', '.join(cases)}" if cases else "it is measured as a whole"
        raise AleatorError(f"the benchmark {name} has no case {shown(only)}; {allowed}")
    with progress_bar(name, quiet=json) as move:
        result = module.run(move, [only]) if only else module.run(move)
    if json:
        print_json({"title": result.title, "rows": result.rows, "notes": result.notes})
        return
    columns = list(result.rows[0])
    rows = [[value if isinstance(value, str) else number(value) for value in row.values()] for row in result.rows]
    print_table(result.title, columns, rows)
    for note in result.notes:
        out.print(note)
