"""`aleator serve`: the web app on localhost."""

from __future__ import annotations

import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from aleator.apps.cli.output import out
from aleator.errors import MissingExtraError
from aleator.storage import exclusive


def run(
    port: Annotated[int, typer.Option(help="Port of the server.")] = 8421,
    host: Annotated[str | None, typer.Option(help="Also serve the network at this address; 0.0.0.0 finds it.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Where results are kept; default: your own folder.")] = None,
    runs: Annotated[Path | None, typer.Option(help="Training runs; default: `runs` in the data directory.")] = None,
    blueprint: Annotated[list[Path] | None, typer.Option(help="A blueprint to play hunl against; repeatable.")] = None,
    solvers: Annotated[int, typer.Option(help="How many solves run at once; others wait.")] = 1,
    warm_up: Annotated[bool, typer.Option(help="Load kernels and networks before they are needed.")] = True,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:  # fmt: skip
    """Play, solve and watch learning in the browser. Everything stays on this machine.

    With --host, a phone or another computer on the same network can open it, too, by an address that works once.

    Examples:  aleator serve --open  |  aleator serve --port 9000 --data-dir ./spots  |  aleator serve --host 0.0.0.0
    """
    try:
        from aleator.apps.web.server import create_app
        from aleator.apps.web.serving import listening, serve
    except ImportError:
        raise MissingExtraError("fastapi", "web") from None
    from aleator.apps.web.access import load_token, write_open_page
    from aleator.apps.web.config import ServerConfig, default_data_dir, in_url, network_address

    config = ServerConfig(
        data_dir=data_dir or default_data_dir(),
        port=port,
        host=network_address(host) if host else None,
        runs_dir=runs,
        solvers=solvers,
        warm_up=warm_up,
        blueprints=tuple(blueprint or ()),
    )
    config.make_folders()
    refusal = f"another server keeps its results in {config.data_dir}; end it, or choose another --data-dir"
    with exclusive(config.data_dir / ".lock", refusal), listening(config) as sockets:
        address = f"http://127.0.0.1:{port}/?token={load_token(config.data_dir)}"
        _say("Aleator is at", address, style="bold")
        app = create_app(config, lambda token: _invite(f"http://{in_url(config.host or '')}:{port}/?token={token}"))
        _say(f"Nobody gets in without this address. Ctrl-C ends the server; results are kept in {config.data_dir}")
        if open_page:
            page = write_open_page(config.data_dir, address)
            threading.Timer(0.8, webbrowser.open, [page.resolve().as_uri()]).start()
        serve(config, app, sockets)


def _invite(address: str) -> None:
    _say("Another device on this network, once:", address)


def _say(*words: str, style: str | None = None) -> None:
    out.print(*words, style=style, soft_wrap=True)
