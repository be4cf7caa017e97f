"""`aleator serve`: the web app on localhost."""

from __future__ import annotations

import socket
import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from aleator.apps.cli.output import out
from aleator.errors import MissingExtraError
from aleator.storage import exclusive


def run(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1.")] = 8421,
    data_dir: Annotated[Path | None, typer.Option(help="Where results are; by default the user's own folder.")] = None,
    runs: Annotated[Path | None, typer.Option(help="Training runs; default: `runs` in the data directory.")] = None,
    blueprint: Annotated[list[Path] | None, typer.Option(help="A blueprint to play hunl against; repeatable.")] = None,
    solvers: Annotated[int, typer.Option(help="Solves at a time; the others wait.")] = 1,
    warm_up: Annotated[bool, typer.Option(help="Load kernels and networks before they are asked for.")] = True,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:  # fmt: skip
    """Play, solve and watch learning in the browser. Everything stays on this machine.

    Examples:  aleator serve --open  |  aleator serve --port 9000 --data-dir ./spots
    """
    try:
        from aleator.apps.web.server import create_app, serve
    except ImportError:
        raise MissingExtraError("fastapi", "web") from None
    from aleator.apps.web.access import load_token, write_open_page
    from aleator.apps.web.config import ServerConfig, ServerError, default_data_dir

    config = ServerConfig(
        data_dir=data_dir or default_data_dir(),
        port=port,
        runs_dir=runs,
        solvers=solvers,
        warm_up=warm_up,
        blueprints=tuple(blueprint or ()),
    )
    config.make_folders()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise ServerError(f"port {port} cannot be used: {error.strerror}; choose another with --port") from error
    refusal = f"another server keeps its results in {config.data_dir}; end it, or choose another --data-dir"
    with exclusive(config.data_dir / ".lock", refusal):
        app = create_app(config)
        address = f"http://127.0.0.1:{port}/?token={load_token(config.data_dir)}"
        out.print("Aleator is at", address, style="bold", soft_wrap=True, highlight=False)
        out.print(
            f"Only who has this address can use it. Ctrl-C ends it; results are kept in {config.data_dir}",
            soft_wrap=True,
        )
        if open_page:
            page = write_open_page(config.data_dir, address)
            threading.Timer(0.8, webbrowser.open, [page.resolve().as_uri()]).start()
        serve(config, app)
