"""`aleator holdem optimise`, and `--grow-sizes`: which bets a spot needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aleator.abstraction.holdem_sizes import CANDIDATES, grow_menu, optimise_size, parse_place
from aleator.apps.cli.output import check_plot, out, plot_panels, print_json, print_table, progress_bar
from aleator.apps.cli.stopping import end, interruptible
from aleator.games.holdem.bet_menu import POSITION_NAMES
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import load_spot


def grown(spot: Spot, most: int, threads: int, *, quiet: bool) -> Spot:
    """Returns the spot with the bets of its first street that matter."""
    with interruptible() as interrupted, progress_bar("growing bet sizes", quiet=quiet) as move:

        def on_solve(menus: str, value: float) -> bool:
            move(None, f"{menus}: {100 * value:+.2f} % of the pot to oop")
            return interrupted()

        growth = grow_menu(spot, most=most, threads=threads, on_solve=on_solve)
    if not quiet:
        for name, sizes in zip(POSITION_NAMES, growth.sizes, strict=True):
            out.print(f"{name} bets".ljust(17) + ", ".join(sizes))
        out.print(f"of               {', '.join(CANDIDATES)}; {growth.solves} solves")
    return growth.spot


def optimise(
    file: Annotated[Path, typer.Argument(help="A spot as a TOML file, such as examples/river.toml.")],
    size: Annotated[str, typer.Option(help="Whose one bet, on which street: turn.oop, river.ip.")],
    target: Annotated[float, typer.Option(help="Exploitability of every solve, a fraction of the pot.")] = 0.001,
    precision: Annotated[float, typer.Option(help="Precision of the size, in pots.")] = 0.02,
    threads: Annotated[int, typer.Option(help="Threads, used from the turn on.")] = 1,
    plot: Annotated[Path | None, typer.Option(help="Draw the value over the size (.png, .svg, .pdf).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find the bet size that is best in this spot; the other sizes stay. Ctrl-C keeps what has been found.

    Example:  aleator holdem optimise examples/river.toml --size river.oop --plot sizes.png
    """
    check_plot(plot)
    spot = load_spot(file)
    street, player = parse_place(spot, size)
    with interruptible() as interrupted, progress_bar(f"{file.name}, {size}", quiet=json) as move:

        def on_solve(tried: str, value: float) -> bool:
            move(None, f"{tried}: {100 * value:+.3f} % of the pot")
            return interrupted()

        optimum = optimise_size(
            spot, street, player, target=target, precision=precision, threads=threads, on_solve=on_solve
        )
        stopped = interrupted()
    points = [(float(tried.size.removesuffix("%")), 100 * tried.value) for tried in optimum.tried]
    if plot:
        label = f"value to {POSITION_NAMES[player]}, % of the pot"
        plot_panels(plot, "size, % of the pot", label, {f"{file.name}, {size}": {size: points}}, y_scale="linear")
    if json:
        tried = [{"size": one.size, "value": one.value} for one in optimum.tried]
        best = {"size": optimum.best.size, "value": optimum.best.value}
        print_json(
            {"spot": str(file), "place": size, "best": best, "tried": tried, "files": [str(plot)] if plot else []}
        )
    else:
        rows = [(one.size, f"{100 * one.value:+.3f}", "best" if one == optimum.best else "") for one in optimum.tried]
        print_table(f"{file.name}: one bet of {size}", ("size", "value, % of the pot", ""), rows)
    end(stopped=stopped)
