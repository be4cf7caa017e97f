"""Connections that end: what is half open, or does not read its answer, is closed; there are only so many at a time."""

from __future__ import annotations

import asyncio
import errno
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from aleator.apps.web.system import log

HEAD_SECONDS = 10.0
READ_SECONDS = 60.0
CLOSE_SECONDS = 10.0
_BUSY = b'{"detail": "too many connections are open: try again"}'
_BUSY_ANSWER = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%s" % (len(_BUSY), _BUSY)
)


def limited_protocol(max_connections: int) -> type[asyncio.Protocol]:
    """Returns the HTTP protocol of a server that keeps at most so many connections open."""

    class Limited(LimitedProtocol):
        most = max_connections

    return Limited


class LimitedProtocol(H11Protocol):
    """HTTP/1.1 with a time limit for everything a client does."""

    most = 500
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Takes a connection, unless there are too many."""
        if len(self.connections) >= self.most:
            self.transport = transport
            transport.write(_BUSY_ANSWER)
            self._close_soon()
            return
        super().connection_made(transport)
        self._set_deadline(HEAD_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Takes what has come; a request that has begun must be whole before its time is up."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._clear_deadline()
        elif self._deadline is None:
            self._set_deadline(HEAD_SECONDS)

    def send_400_response(self, msg: str) -> None:
        """Refuses what is not HTTP; an answer on its way to an earlier request is no longer sent."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        self._close_soon()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets the connection."""
        self._clear_deadline()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Waits for the client to read, but not for ever."""
        super().pause_writing()
        self._set_deadline(READ_SECONDS)

    def resume_writing(self) -> None:
        """Goes on."""
        self._clear_deadline()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Closes a connection on which nothing has been asked for."""
        super().timeout_keep_alive_handler()
        self._close_soon()

    def _set_deadline(self, seconds: float) -> None:
        self._clear_deadline()
        self._deadline = self.loop.call_later(seconds, self.transport.abort)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close_soon(self) -> None:
        self.transport.close()  # waits until everything is sent
        self._set_deadline(CLOSE_SECONDS)


def report_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Reports an error of the event loop; a lack of descriptors seldom and in a line, since the loop goes on trying.

    It tries again a second later, some hundred times at once. If the server was stopped within that second, nothing is
    left to listen to, which is no error.
    """
    error = context.get("exception")
    if isinstance(error, ValueError) and "_start_serving" in context.get("message", ""):
        return
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
        log.say_seldom(f"Connections wait: {error.strerror}")
    else:
        loop.default_exception_handler(context)
