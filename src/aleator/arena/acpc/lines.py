"""Lines over a socket: read with a time limit and a limit of their length, written whole."""

from __future__ import annotations

import contextlib
import socket
from time import monotonic

from aleator.arena.acpc.match_state import MAX_LINE, AcpcError


class LateError(AcpcError):
    """Nothing came in time."""


class Lines:
    """One end of a connection that speaks in lines."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._buffer = b""
        with contextlib.suppress(OSError):  # not TCP
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # lines leave at once

    def read(self, seconds: float | None = None) -> str | None:
        """Returns the next line without its end, None if the other side has closed.

        Raises:
            LateError: it did not come in time.
            AcpcError: the line is too long.
        """
        deadline = None if seconds is None else monotonic() + seconds
        while b"\n" not in self._buffer:
            if len(self._buffer) > MAX_LINE:
                raise AcpcError(f"a line of more than {MAX_LINE} bytes: nobody speaks ACPC here")
            left = None if deadline is None else deadline - monotonic()
            if left is not None and left <= 0:
                raise LateError(f"nothing was said for {seconds:g} s")
            self.connection.settimeout(left)
            try:
                more = self.connection.recv(65536)
            except TimeoutError:
                raise LateError(f"nothing was said for {seconds:g} s") from None
            except OSError:
                return None
            if not more:
                return None
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\n")
        if len(line) > MAX_LINE:
            raise AcpcError(f"a line of {len(line)} bytes: a match state has at most {MAX_LINE}")
        return line.decode("ascii", "replace").rstrip("\r")

    def write(self, line: str) -> bool:
        """Sends a line; returns whether the other side was still there."""
        try:
            self.connection.settimeout(10.0)
            self.connection.sendall(f"{line}\r\n".encode("ascii", "replace"))
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Closes the connection."""
        self.connection.close()
