"""What every request must pass: it comes from our own page, carries the token, and is neither too big nor too slow.

A page on another site can make a browser send requests to localhost. The Host header names the site the browser thinks
it talks to (DNS rebinding shows here), the Origin header the page that sent the request; both must be this server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from aleator.apps.web.access import NO_TOKEN, Access, Headers
from aleator.apps.web.config import in_url

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

HAND_FILES = ("/api/hands/files", "/api/hands/files/grade")
MAX_HANDS = 16 << 20  # bytes
UPLOAD = "/api/solutions/upload"
BODY_SECONDS = 20.0
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


class _RefusedError(Exception):
    """A request that is refused while its body comes in; whatever the application makes of it is not sent."""


class Guard:
    """Refuses foreign, oversized and slow requests, and adds the headers that keep a page from being embedded."""

    def __init__(
        self, app: App, access: Access, *, port: int, max_body: int, max_upload: int, addresses: Sequence[str] = ()
    ) -> None:
        self.app, self.access, self.max_body, self.max_upload = app, access, max_body, max_upload
        names = ("127.0.0.1", "localhost", "[::1]", *(in_url(address) for address in addresses))
        self.hosts = {f"{name}:{port}" for name in names} | (set(names) if port == 80 else set())
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Passes a request on, or answers it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if not await self._answered(scope, headers, send):
            await self._pass_on(scope, receive, send)

    async def _answered(self, scope: MutableMapping[str, Any], headers: Headers, send: Send) -> bool:
        """Returns whether the guard has answered a request itself."""
        path = scope["path"]
        refused = self._refusal(headers, path)
        if refused is None and _is_page(path):
            reply = self.access.reply(path, scope.get("query_string", b"").decode("latin-1"), headers)
            if reply is None:
                return False
            await _answer(send, reply.status, reply.body.encode(), b"text/html; charset=utf-8", reply.headers)
            return True
        if refused is None and not self.access.is_allowed(headers):
            refused = 401, NO_TOKEN
        if refused is None:
            return False
        await _refuse(send, *refused)
        return True

    async def _pass_on(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        path, taken, begun, whole = scope["path"], 0, False, False
        limit, clock = self._limit(path), asyncio.get_running_loop().time
        end = clock() + BODY_SECONDS
        refused: tuple[int, str] | None = None

        async def counted() -> Message:
            nonlocal taken, whole, refused
            try:  # behind the body there is nothing to wait for but the end of the connection
                async with asyncio.timeout_at(None if whole else clock() + BODY_SECONDS if path == UPLOAD else end):
                    message = await receive()
            except TimeoutError:
                refused = 408, f"the request did not come within {BODY_SECONDS:g} s"
                raise _RefusedError from None
            taken += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if taken > limit:
                refused = 413, f"the request is larger than {limit:,} bytes"
                raise _RefusedError
            return message

        async def with_headers(message: Message) -> None:
            nonlocal begun
            if refused is not None and not begun:
                return
            if message["type"] == "http.response.start":
                begun = True
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        try:
            await self.app(scope, counted, with_headers)
        except _RefusedError:
            pass
        except asyncio.CancelledError:  # by the server that ends: whatever still waits for an agent or a solve
            refused = 503, "the server is ending"
            if begun:
                with contextlib.suppress(Exception):  # the client is gone, or was promised more bytes
                    await send({"type": "http.response.body", "body": b""})
        if refused is not None and not begun:
            await _refuse(send, *refused, (b"connection", b"close"))

    def _limit(self, path: str) -> int:
        if path in HAND_FILES:
            return min(MAX_HANDS, self.max_upload)
        return self.max_upload if path == UPLOAD else self.max_body

    def _refusal(self, headers: Headers, path: str) -> tuple[int, str] | None:
        if headers.get(b"host", "").lower() not in self.hosts:
            return 403, "this server answers only to the addresses that `aleator serve` printed"
        origin = headers.get(b"origin")
        if origin is not None and origin.lower() not in self.origins:
            return 403, "requests of other sites are refused"
        if not _is_page(path) and headers.get(b"sec-fetch-site") in ("cross-site", "same-site"):
            return 403, "requests of other sites are refused"
        length = headers.get(b"content-length", "0")
        if not (length.isascii() and length.isdecimal()) or len(length) > 15 or int(length) > self._limit(path):
            return 413, f"the request is larger than {self._limit(path):,} bytes"
        return None


def _is_page(path: str) -> bool:
    return path in ("/", "/index.html")


async def _refuse(send: Send, status: int, detail: str, *headers: tuple[bytes, bytes]) -> None:
    await _answer(send, status, json.dumps({"detail": detail}).encode(), b"application/json", headers)


async def _answer(
    send: Send, status: int, body: bytes, kind: bytes, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    said = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), *headers, *_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": said})
    await send({"type": "http.response.body", "body": body})
