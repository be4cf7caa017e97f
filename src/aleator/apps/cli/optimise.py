"""`aleator optimise`: parameters of a game that are best for a player."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aleator.abstraction.parameter_optimisation import GRADIENTS, Optimum, Step, StepRule, optimise
from aleator.abstraction.parameters import parametric_game, parse_parameters
from aleator.abstraction.regret_transfer import parse_weight
from aleator.apps.cli.output import check_plot, heading, number, out, plot_panels, print_json, progress_bar
from aleator.apps.cli.stopping import end, interruptible
from aleator.errors import GameError, check_known, shown
from aleator.parsing import parse_real
from aleator.solvers.algorithms import parse_rule

_PLAYERS = ("first", "second")
_DEFAULT = StepRule()


def run(
    game: Annotated[str, typer.Argument(help="A game with its parameters in braces, as in leduc:bets=2/{second}.")],
    parameter: Annotated[list[str], typer.Option(metavar="NAME=START", help="Where a parameter begins; once for each "
                                                 "in braces.")],
    player: Annotated[str, typer.Option(help="Whose value to maximise: first or second.")] = "first",
    between: Annotated[list[str] | None, typer.Option(metavar="NAME=LEAST:MOST", help="Bounds of a parameter; default: "
                                                      "a twentieth of its start to twenty times as much.")] = None,
    tolerance: Annotated[float, typer.Option(help="Stop when all moves are shorter than this.")] = _DEFAULT.tolerance,
    steps: Annotated[int, typer.Option(min=1, help="How often the parameters may move.")] = _DEFAULT.steps,
    iterations: Annotated[int, typer.Option(min=1, help="K: after step s the equivalent of K s iterations has been "
                                            "run.")] = _DEFAULT.iterations,
    moves: Annotated[str, typer.Option(help="adaptive, or rate: the gradient times alpha / s^e (Algorithm 3).")]
    = _DEFAULT.moves,
    size: Annotated[float, typer.Option(help="alpha of --moves rate.")] = _DEFAULT.size,
    exponent: Annotated[float, typer.Option(help="e of --moves rate.")] = _DEFAULT.exponent,
    gradient: Annotated[str, typer.Option(help=f"{' or '.join(GRADIENTS)} (those of the thesis).")]
    = _DEFAULT.gradient,
    weight: Annotated[str, typer.Option(help="Weight of earlier iterations after a move: payoff (Eq. 4.52), potential, "
                                        "unscaled, or a number up to 1.")] = str(_DEFAULT.weight),
    algorithm: Annotated[str, typer.Option(help="A rule of CFR, as `aleator algorithms` lists them.")]
    = "pdcfr+",
    plot: Annotated[Path | None, typer.Option(help="Draw parameters, value and gradient over iterations (.png, .svg, "
                                              ".pdf).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Find the parameters of a game, such as bet sizes, that are best for a player, while the game is being solved.

    Every step moves them along the gradient of the player's value; regrets are transferred. Ctrl-C keeps what has been
    found.

    Examples:  aleator optimise "leduc:bets=2/{second}" --parameter second=4 --player second
      |  aleator optimise "leduc:bets={first}/{second}" --parameter first=2 --parameter second=4 --plot sizes.png
    """
    check_plot(plot)
    check_known(player, _PLAYERS, "player", GameError)
    start = parse_parameters(parameter)
    rule = StepRule(
        steps=steps, iterations=iterations, moves=moves, tolerance=tolerance, size=size, exponent=exponent,
        gradient=gradient, weight=parse_weight(weight),
    )  # fmt: skip
    family = parametric_game(game, start)
    with interruptible() as interrupted, progress_bar(f"{game}, {algorithm}", quiet=json) as move:

        def on_step(step: Step) -> bool:
            now = ", ".join(f"{name} {value:.4f}" for name, value in step.parameters.items())
            move(step.number / steps, f"step {step.number:,}: {now}, value {step.value:+.5f}")
            return interrupted()

        optimum = optimise(
            family, start, player=_PLAYERS.index(player), bounds=dict(map(_bounds, between or [])),
            rule=parse_rule(algorithm), step_rule=rule, on_step=on_step,
        )  # fmt: skip
        stopped = interrupted()
    if plot:
        _plot(plot, optimum)
    if json:
        print_json(_report(game, player, optimum, plot))
    else:
        _print(game, player, optimum, plot)
    end(stopped=stopped)


def _bounds(text: str) -> tuple[str, tuple[float, float]]:
    """Returns what `second=1:20` says."""
    name, equals, ends = text.partition("=")
    least, colon, most = ends.partition(":")
    if not equals or not colon:
        raise GameError(f"{shown(text)}: bounds are written NAME=LEAST:MOST, as in second=1:20")
    first, second = (parse_real(end, f"a bound of {name}", error=GameError) for end in (least, most))
    return name, (first, second)


def _report(game: str, player: str, optimum: Optimum, plot: Path | None) -> dict[str, object]:
    steps = [
        {"iterations": step.iterations, "parameters": step.parameters, "value": step.value, "gradient": step.gradient,
         "weight": step.weight}
        for step in optimum.steps
    ]  # fmt: skip
    return {
        "game": game,
        "player": player,
        "parameters": optimum.parameters,
        "value": optimum.value,
        "exploitability": optimum.exploitability,
        "steps": steps,
        "files": [str(plot)] if plot else [],
    }


def _print(game: str, player: str, optimum: Optimum, plot: Path | None) -> None:
    last = optimum.steps[-1]
    out.print(heading(game, f": best for the {player} player"))
    for name, value in optimum.parameters.items():
        out.print(f"{name:<16} {value:.4f}   (gradient {last.gradient[name]:+.2e})")
    out.print(f"value            {optimum.value:+.6f}   (to the {player} player)")
    out.print(f"exploitability   {number(optimum.exploitability)}   (NashConv / 2)")
    out.print(f"steps            {last.number:,} with {last.iterations:,} iterations")
    if plot:
        out.print(f"written          {plot}", soft_wrap=True)


def _plot(path: Path, optimum: Optimum) -> None:
    """Draws the way of the parameters, the value and the gradient."""
    at = [float(step.iterations) for step in optimum.steps]
    names = list(optimum.parameters)
    panels = {
        "parameters": {
            name: list(zip(at, [step.parameters[name] for step in optimum.steps], strict=True)) for name in names
        },
        "value": {"value": list(zip(at, [step.value for step in optimum.steps], strict=True))},
        "gradient": {
            name: list(zip(at, [step.gradient[name] for step in optimum.steps], strict=True)) for name in names
        },
    }
    plot_panels(path, "iterations", "", panels, y_scale="linear")
