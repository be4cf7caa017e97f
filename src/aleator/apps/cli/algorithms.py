"""`aleator algorithms`: the algorithms and their settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.text import Text

from aleator.apps.cli.output import out, print_json, print_table
from aleator.settings import Setting
from aleator.solvers.algorithms import ALGORITHMS, Algorithm, find_algorithm


def run(
    name: Annotated[str | None, typer.Argument(help="One algorithm, to see its settings.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the algorithms; for one of them also its settings, with defaults and limits.

    Examples:  aleator algorithms  |  aleator algorithms mccfr  |  aleator algorithms dcfr --json
    """
    chosen = find_algorithm(name) if name else None
    if json:
        print_json(chosen.describe() if chosen else [known.describe() for known in ALGORITHMS.values()])
        return
    if chosen is not None:
        _print_one(chosen)
        return
    for family in dict.fromkeys(known.family.title for known in ALGORITHMS.values()):
        members = [known for known in ALGORITHMS.values() if known.family.title == family]
        print_table(family, ("name", "what it is"), [(known.name, known.summary) for known in members])
    out.print("Settings follow a colon, as in mccfr:robust3,batch=1000; aleator algorithms NAME lists them.")


def _print_one(chosen: Algorithm) -> None:
    out.print(Text.assemble((chosen.name, "bold"), f": {chosen.summary} ({chosen.reference})"))
    out.print(Text(f"    {chosen.usage}"), soft_wrap=True)
    print_settings(chosen.settings)
    for text, summary, reference in chosen.variants:
        out.print(Text(f"{chosen.name}:{text}    {summary} ({reference})"), soft_wrap=True)


def print_settings(settings: Sequence[Setting]) -> None:
    """Prints what can be set, with defaults and what is allowed."""
    if settings:
        rows = [(one.usage, one.default_text, _about(one)) for one in settings]
        print_table("", ("setting", "default", "what it does"), rows)


def _about(one: Setting) -> str:
    unit = f" ({one.unit})" if one.unit else ""
    seen = all(word in one.usage for word in one.choices) if one.choices else not one.allowed
    return one.help + unit + ("" if seen else f"; {one.allowed}")
