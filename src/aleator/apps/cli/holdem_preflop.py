"""`aleator holdem preflop`: charts before the flop, and the spots that lines lead to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from aleator.apps.cli.holdem_grid import action_colours, marks_of, print_classes, print_legend
from aleator.apps.cli.output import heading, note, out, print_json, progress_bar
from aleator.errors import SolveError
from aleator.games.holdem.cards import HAND_CLASSES, NUM_HAND_CLASSES, parse_cards
from aleator.games.holdem.node_path import parse_path
from aleator.games.holdem.spot_file import format_spot
from aleator.storage import check_writable, replace_file

if TYPE_CHECKING:
    from aleator.agents.whole_hands.preflop import PreflopCharts, PreflopNode


def preflop(
    node: Annotated[str, typer.Argument(help="A line, such as r:0:b300:c; bN is a raise to N chips.")] = "r",
    game: Annotated[str, typer.Option(help="Stacks: hunl:100bb, hunl:25bb; ring:6 with an --agent.")] = "hunl:100bb",
    agent: Annotated[str | None, typer.Option(help="Whose charts: blueprint:FILE or any agent of whole hands; default: "
                                              "solved, heads-up.")] = None,
    iterations: Annotated[int, typer.Option(min=1, max=100_000, help="Iterations of the solve.")] = 300,
    output: Annotated[Path | None, typer.Option("--out", help="Write the flop spot of the line (.toml).")] = None,
    board: Annotated[str, typer.Option(help="The flop of that spot.")] = "Ks 7h 2d",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Show charts before the flop, line by line; --out makes a flop spot of a line, with its ranges, pot and stacks.

    Heads-up, the betting before the flop is solved in seconds, with a value network at its end: an equilibrium of that
    round as exact as the network's values (docs/algorithms/hunl.md). With --agent the chart is what an agent does, such
    as a blueprint of heads-up or of six players.

    Examples:  aleator holdem preflop  |  aleator holdem preflop r:0:b300:c --out spot.toml
      |  aleator holdem preflop --game ring:6 --agent blueprint:ring-6.blueprint r:0:f:f
    """
    if output is not None:
        check_writable(output)
        if output.suffix != ".toml":
            raise SolveError(f"--out {output}: a spot is written to a name that ends in .toml")
    line, flop = parse_path(node), parse_cards(board)
    from aleator.agents.whole_hands.preflop import preflop_charts  # loads PyTorch
    from aleator.apps.preflop_table import preflop_report

    with progress_bar(f"solving {game} before the flop", quiet=json) as move:
        charts = preflop_charts(
            game, agent, iterations=iterations, on_done=lambda done: move(done / iterations, f"iteration {done:,}")
        )
        chart = charts.node(line)
    spot = None
    if output is not None or chart.is_flop:
        spot = charts.spot(line, flop)
    if output is not None and spot is not None:
        replace_file(output, [format_spot(spot).encode()])
    if json:
        print_json(preflop_report(charts, chart) | {"spot": None if spot is None else format_spot(spot)})
        return
    _print(charts, chart)
    if spot is not None:
        out.print(f"oop  {spot.oop}\nip   {spot.ip}", soft_wrap=True)
        note(f"{output}: solve it, or `aleator holdem report {output}`" if output else "--out FILE writes the spot")


def _print(charts: PreflopCharts, node: PreflopNode) -> None:
    betting = node.state.betting
    who = f"{charts.positions[node.player]} to act" if node.player >= 0 else "the flop" if node.is_flop else "over"
    out.print(heading(str(node.path), f"   pot {betting.pot:,}   {who}"), soft_wrap=True)
    if node.player < 0:
        return
    owes = betting.legal_actions().call_amount > 0
    colours, marks = action_colours(node.actions), marks_of(node.actions, owes=owes)
    print_legend(node.names, node.frequencies, colours, marks)
    weights, policy = node.classes()
    print_classes(weights * np.bincount(HAND_CLASSES, minlength=NUM_HAND_CLASSES), policy, colours, marks)
