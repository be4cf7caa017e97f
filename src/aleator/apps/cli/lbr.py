"""`aleator lbr`: how much a local best response wins against an agent of whole hands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aleator.apps.cli.match_hands import run_match
from aleator.apps.cli.workers import Processes, Ray
from aleator.arena.whole_hands.match import HandMatch
from aleator.parsing import MAX_SEED

HANDS_PER_BOARD = 16


def run(
    game: Annotated[str, typer.Argument(help="A game of whole hands: hunl, hunl:100bb, hulh ...")],
    agent: Annotated[str, typer.Argument(help="An agent of whole hands, as in `aleator agents`.")],
    menu: Annotated[str, typer.Option(help="The actions it considers: fc, fcpa or 56bets.")] = "fcpa",
    rounds: Annotated[str, typer.Option(help="Betting rounds in which it may bet; it calls in others.")] = "1-4",
    hands: Annotated[int, typer.Option(min=1, help="How many hands, in both seats.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of cards and draws.")] = 0,
    output: Annotated[Path | None, typer.Option("--out", help="A file for the hands; continues if it exists.")] = None,
    processes: Processes = None,
    ray: Ray = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.0, help="Begin no more hands after this time; --out continues later.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Measure how much local best response wins against an agent: a lower bound on how exploitable the agent is.

    It knows the agent's exact range and looks one bet ahead. Positive numbers are bad news for the agent; negative ones
    say only that this response found nothing.

    Examples:  aleator lbr hunl always-call --menu fcpa --rounds 3-4
      |  aleator lbr hunl:100bb tight-aggressive --hands 200
    """
    match = HandMatch(
        game=game,
        agents=("local best response", agent),
        hands=hands,
        seed=seed,
        response=(menu, rounds),
        hands_per_board=HANDS_PER_BOARD,
    )
    run_match(match, output=output, phh=None, processes=processes, ray=ray, minutes=minutes, json=json)
