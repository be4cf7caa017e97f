"""What every request must pass: it comes from this machine's own page, and it is not too big.

A page on another site can make a browser send requests to localhost. The Host header names the site the browser thinks it
talks to (DNS rebinding shows here), the Origin header the page that sent the request; both must be this server.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

UPLOAD = "/api/solutions/upload"
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data:; style-src 'self'; base-uri 'none'; form-action 'none'; "
        b"frame-ancestors 'none'",
    ),
]


class _TooBigError(Exception):
    """A body that goes on beyond its limit."""


class Guard:
    """Refuses foreign and oversized requests, and adds the headers that keep a page from being embedded."""

    def __init__(self, app: App, *, port: int, max_body: int, max_upload: int) -> None:
        self.app, self.max_body, self.max_upload = app, max_body, max_upload
        names = ("127.0.0.1", "localhost", "[::1]")
        self.hosts = {f"{name}:{port}" for name in names} | (set(names) if port == 80 else set())
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Passes a request on, or answers it with a refusal."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refusal(headers, scope["path"])
        if refused:
            await _answer(send, *refused)
            return
        limit, taken, begun = self._limit(scope["path"]), 0, False

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > limit:
                raise _TooBigError
            return message

        async def with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        try:
            await self.app(scope, counted, with_headers)
        except _TooBigError:
            if not begun:
                await _answer(send, 413, f"the request is larger than {limit:,} bytes")

    def _limit(self, path: str) -> int:
        return self.max_upload if path == UPLOAD else self.max_body

    def _refusal(self, headers: dict[bytes, str], path: str) -> tuple[int, str] | None:
        if headers.get(b"host", "").lower() not in self.hosts:
            return 403, "this server answers only to localhost"
        origin = headers.get(b"origin")
        if origin is not None and origin.lower() not in self.origins:
            return 403, "requests of other sites are refused"
        if path.startswith("/api/") and headers.get(b"sec-fetch-site") in ("cross-site", "same-site"):
            return 403, "requests of other sites are refused"
        length = headers.get(b"content-length", "0")
        if not length.isdecimal() or int(length) > self._limit(path):
            return 413, f"the request is larger than {self._limit(path):,} bytes"
        return None


async def _answer(send: Send, status: int, detail: str) -> None:
    body = json.dumps({"detail": detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
