"""Serving an application: the sockets it listens on, and an end in good order."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import uvicorn

from aleator.apps.web.config import ServerConfig, ServerError
from aleator.apps.web.connections import limited_protocol
from aleator.apps.web.guard import App
from aleator.apps.web.system import descriptors

END_SECONDS = 2.0


class _Server(uvicorn.Server):
    """A server that soon gives up, without an error, what still waits for an agent or a solve when it ends."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().call_later(END_SECONDS, self._give_up)
        await super().shutdown(sockets)

    def _give_up(self) -> None:
        for task in self.server_state.tasks:
            task.cancel()


@contextmanager
def listening(config: ServerConfig) -> Iterator[list[socket.socket]]:
    """Yields the sockets that the server listens on, and closes them.

    Raises:
        ServerError: an address is not this machine's, or the port is taken.
    """
    with ExitStack() as opened:
        sockets = []
        for address in config.addresses:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            # a socket that says that it is TCP gets answers out at once; others wait 40 ms for the browser's receipt
            own = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            sockets.append(opened.enter_context(closing(own)))
            sockets[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                sockets[-1].bind((address, config.port))
            except OSError as error:
                if error.errno == errno.EADDRNOTAVAIL:
                    raise ServerError(f"{address} is not an address of this machine; 0.0.0.0 finds one") from error
                reason = f"port {config.port} cannot be used: {error.strerror}; choose another with --port"
                raise ServerError(reason) from error
        yield sockets


def serve(config: ServerConfig, app: App, sockets: list[socket.socket]) -> None:
    """Serves an application until the process is told to end; then what runs is kept, to go on at the next start."""
    os.umask(0o077)
    http = limited_protocol(min(config.max_connections, descriptors() // 2))
    server = _Server(
        uvicorn.Config(
            app, log_level="error", timeout_graceful_shutdown=10, loop="asyncio", http=http, ws="none", backlog=128,
            server_header=False, proxy_headers=False,
        )
    )  # fmt: skip
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, server.handle_exit)
    server.run(sockets=sockets)
