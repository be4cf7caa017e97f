"""`aleator agents`: whom one can play against, and what can be set."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from aleator.agents.registry import known_agents
from aleator.agents.whole_hands import known_hand_agents
from aleator.apps.cli.output import out, print_json


def run(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Whom one can play against, and what can be set after the colon; what is in brackets may be left out.

    Examples:  aleator agents  |  aleator play leduc --agent search:cfr-d,rounds=1,iterations=100
    """
    if json:
        families = [(known, False) for known in known_agents()] + [(known, True) for known in known_hand_agents()]
        print_json([known.describe() | {"whole_hands": whole} for known, whole in families])
        return
    for known in known_agents():
        out.print(Text.assemble((known.family, "bold"), f": {known.summary}"))
        if known.usage != known.family:
            out.print(Text(f"    {known.usage}"), soft_wrap=True)
    out.print(
        Text.assemble(
            ("FILE", "bold"), ": a solution of the game, saved by aleator solve --out or aleator holdem solve --out"
        )
    )
    out.print(Text("\nof whole hands (hunl, hulh, flop-holdem):", "dim"))
    for hand_agent in known_hand_agents():
        out.print(Text.assemble((hand_agent.family, "bold"), f": {hand_agent.summary}"))
        if hand_agent.usage != hand_agent.family:
            out.print(Text(f"    {hand_agent.usage}"), soft_wrap=True)
