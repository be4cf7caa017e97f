"""`aleator train`: train networks by self-play, and blueprints."""

from __future__ import annotations

import typer

from aleator.apps.cli.train_blueprint import blueprint
from aleator.apps.cli.train_holdem import holdem
from aleator.apps.cli.train_rebel import rebel
from aleator.apps.cli.train_sampled import HELP, train_command

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _overview() -> None:
    """Train networks by self-play; a run can be stopped and resumed at any time."""


for _command in (blueprint, holdem, rebel):
    app.command()(_command)
for _kind in HELP:
    app.command(_kind)(train_command(_kind))
