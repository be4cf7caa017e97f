"""The command `aleator`: one module per verb, imported only when it is used."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from typing import Any, NoReturn

import typer

from aleator import __version__
from aleator.apps.cli.output import documents_alone, fail, walks_shown
from aleator.apps.cli.stopping import exit_code
from aleator.caching import cache
from aleator.errors import AleatorError, extras_named
from aleator.parsing import MAX_SEED

# what the overview of an option's value says, by Click's name of its type, and what messages say instead of that name
_VALUES = {"integer": "N", "integer range": "N", "float": "X", "float range": "X"}
_TYPES = {"integer range": "whole number", "integer": "whole number", "float range": "number", "float": "number"}
_EXAMPLE_WIDTH = 76  # characters of a line of an example
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # Click's, whether Typer brings its own or not

# verb and module: one line for the overview
_VERBS = {
    "games": "List the games, with rules and sizes.",
    "algorithms": "List the algorithms and their settings.",
    "solve": "Solve a game; save and plot the result if you like.",
    "optimise": "Find the bet sizes or other parameters of a game that are best for a player.",
    "show": "Show what an equilibrium does with every hand, as a table, JSON or CSV.",
    "evaluate": "Compute the exploitability of a saved solution or an agent.",
    "holdem": "Estimate, solve and browse hold'em spots.",
    "agents": "List the agents and their settings.",
    "play": "Play a game against an agent, in the terminal.",
    "match": "Let agents play each other; results are without luck, too.",
    "lbr": "Measure how much a local best response wins against an agent of whole hands.",
    "hands": "Convert and show files of whole hands.",
    "acpc": "Play at a dealer of the Annual Computer Poker Competition.",
    "dealer": "Deal for other people's bots, by the ACPC protocol.",
    "serve": "Play, solve and watch learning in the browser.",
    "abstraction": "Make and show buckets: hands that a smaller game does not tell apart.",
    "train": "Train networks by self-play, and blueprints; runs can be resumed.",
    "demo": "Train ReBeL on Liar's Dice from nothing, and compare it with the paper.",
    "paper": "Reproduce a table or figure of the papers.",
    "bench": "Measure speed, relative to peers and to what the hardware allows.",
}


def _version(show: bool) -> None:
    if show:
        print(f"aleator {__version__}")
        raise typer.Exit


def _overview(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Aleator finds and plays equilibria of games with hidden information."""


@cache
def _command(asked: str | None) -> Any:
    """Returns the commands; only the one that is asked for is imported, so that each starts quickly."""
    app = typer.Typer(
        no_args_is_help=True, rich_markup_mode="rich", pretty_exceptions_enable=False, add_completion=False
    )
    app.callback(epilog="Every command has --help with examples.")(_overview)
    for verb, summary in _VERBS.items():
        if verb == asked:
            module = importlib.import_module(f"aleator.apps.cli.{verb}")
            if hasattr(module, "app"):
                for command in module.app.registered_commands:
                    command.help = _help(command.callback)
                app.add_typer(module.app, name=verb, help=summary)
            else:
                app.command(verb, help=_help(module.run))(module.run)
        else:
            app.command(verb, help=summary)(lambda: None)
    command = typer.main.get_command(app)
    _name_values(command)
    return command


def _name_values(command: Any) -> None:
    """Lets the help name values of options briefly, which leaves room for what it says about them."""
    for option in command.params:
        if option.param_type_name == "option":
            option.metavar = option.metavar or _VALUES.get(option.type.name)
        if getattr(option.type, "max", None) == MAX_SEED:
            option.type._describe_range = lambda: "0<=x<2^63"
    for part in getattr(command, "commands", {}).values():
        _name_values(part)


def _help(function: Any) -> str:
    """Returns what a command says about itself, each example (`Examples:  one  |  another`) on a line of its own."""
    text, _, examples = re.sub(r"^Example:", "Examples:", inspect.getdoc(function) or "", flags=re.M).partition(
        "Examples:"
    )
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]
    if examples:
        paragraphs.append("\n".join(["Examples:", *map(_example, re.split(r"\s\|\s", examples))]))
    return "\n\n".join(paragraphs)


def _example(text: str) -> str:
    """Returns an example as it can be pasted into a shell: a long one goes on in the next line."""
    lines = [""]
    for part in re.split(r" (?=--)", " ".join(text.split())):  # an option stays with its value
        if lines[-1] and len(lines[-1]) + len(part) > _EXAMPLE_WIDTH:
            lines[-1] += " \\"
            lines.append(f"    {part}")
        else:
            lines[-1] += f" {part}" if lines[-1] else part
    return "\n".join(lines)


def _explain(error: Any) -> NoReturn:
    """Prints what is wrong with the arguments in one line, or the help if there are none, and ends with exit code 2."""
    command = error.ctx.command_path if error.ctx else "aleator"
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        sys.exit(2)
    message = error.format_message().rstrip(".")
    for name, plain in _TYPES.items():
        message = message.replace(f"is not a valid {name}", f"is not a {plain}")
    fail(f"{message} (see {command} --help)")


def main(arguments: list[str] | None = None) -> NoReturn:
    """Runs the command line. A user's mistake prints one line and exits with 2, a signal with 128 and its number."""
    arguments = sys.argv[1:] if arguments is None else arguments
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's products here are small: threads would only wait
    try:
        json = "--json" in arguments
        with documents_alone(json=json), walks_shown(quiet=json), extras_named():
            verb = next((argument for argument in arguments if argument in _VERBS), None)
            code = _command(verb)(arguments, prog_name="aleator", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except AleatorError as error:
        fail(str(error))
    except _UsageError as error:
        _explain(error)
    except typer.Abort:
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(exit_code())
    except MemoryError:
        fail("out of memory: choose a smaller game or --dtype float32")
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:  # a full disk, a folder that has gone
        fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


if __name__ == "__main__":
    main()
