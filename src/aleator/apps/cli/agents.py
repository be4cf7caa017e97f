"""`aleator agents`: the agents and their settings."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from aleator.agents.known import KnownFamily
from aleator.agents.registry import known_agents
from aleator.agents.whole_hands import known_hand_agents
from aleator.apps.cli.algorithms import print_settings
from aleator.apps.cli.output import out, print_json
from aleator.errors import AgentError, did_you_mean, shown

_FILE = ": a solution of the game, saved by aleator solve --out or aleator holdem solve --out"


def run(
    name: Annotated[str | None, typer.Argument(help="One agent, to see its settings.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the agents and the settings that follow the colon; those in brackets may be left out.

    Examples:  aleator agents  |  aleator agents search  |  aleator play leduc --agent search:cfr-d,rounds=1
    """
    families: list[tuple[KnownFamily, bool]] = [(known, False) for known in known_agents()]
    families += [(known, True) for known in known_hand_agents()]
    if name is not None:
        names = [known.family for known, _ in families]
        if name not in names:
            allowed = ", ".join(dict.fromkeys(names))
            raise AgentError(f"unknown agent {shown(name)}; {did_you_mean(name, names)}allowed: {allowed}")
        families = [(known, whole) for known, whole in families if known.family == name]
    if json:
        print_json([known.describe() | {"whole_hands": whole} for known, whole in families])
        return
    for number, (known, whole) in enumerate(families):
        if whole and (not number or not families[number - 1][1]):
            if name is None:
                out.print(Text.assemble(("FILE", "bold"), _FILE))
            out.print(Text("\nof whole hands (hunl, hulh, flop-holdem):", "dim"))
        out.print(Text.assemble((known.family, "bold"), f": {known.summary}"))
        if known.usage != known.family:
            out.print(Text(f"    {known.usage}"), soft_wrap=True)
        if name is not None:
            print_settings(known.settings)
