"""The files of the pages, answered from memory: the first page asks for two dozen of them at once.

A browser keeps what it has and asks whether that is still good, so that no page mixes the modules of two versions.
"""

from __future__ import annotations

import hashlib
import mimetypes
from pathlib import Path
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_KINDS = {".js": "text/javascript", ".woff2": "font/woff2"}  # what a system's own table may lack or name otherwise


class _File(NamedTuple):
    changed: int
    body: bytes
    headers: dict[str, str]


def _read(path: Path) -> _File:
    body = path.read_bytes()
    kind = _KINDS.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    if kind.startswith("text/"):
        kind += "; charset=utf-8"
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    return _File(path.stat().st_mtime_ns, body, {"content-type": kind, "etag": tag, "cache-control": "no-cache"})


class Pages:
    """Answers with the files of a folder; each is read when it is first asked for, and again when it has changed.

    Args:
        folder: where they are. What is not there at the start is not found later.
    """

    def __init__(self, folder: Path) -> None:
        self._paths = {f"/{path.relative_to(folder).as_posix()}": path for path in folder.rglob("*") if path.is_file()}
        self._files: dict[str, _File] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        await self._answer(Request(scope))(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            raise HTTPException(405, headers={"allow": "GET, HEAD"})
        file = self._find("/index.html" if request.url.path == "/" else request.url.path)
        if request.headers.get("if-none-match") == file.headers["etag"]:
            return Response(status_code=304, headers=file.headers)
        return Response(file.body, headers=file.headers)

    def _find(self, name: str) -> _File:
        path, file = self._paths.get(name), self._files.get(name)
        if path is None:
            raise HTTPException(404)
        if file is None or path.stat().st_mtime_ns != file.changed:
            file = self._files[name] = _read(path)
        return file
