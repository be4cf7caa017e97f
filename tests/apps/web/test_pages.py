"""The files of the pages: what is answered, and what the first page asks for before it is known to need it."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path, PurePosixPath

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from aleator.apps.web.pages import Pages
from tests.apps.web.running import RunningServer

STATIC = Path(str(resources.files("aleator.apps.web").joinpath("static")))
Ask = Callable[..., httpx.Response]
_IMPORT = re.compile(r'^import [^;]*?"(\.[^"]+)";', re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "js").mkdir()
    (tmp_path / "index.html").write_text("<p>first</p>")
    (tmp_path / "js" / "main.js").write_text("go();")
    (tmp_path / "inter.woff2").write_bytes(b"\0\1")
    return tmp_path


@pytest.fixture
def ask(folder: Path) -> Ask:
    transport = httpx.ASGITransport(Starlette(routes=[Mount("/", Pages(folder))]))

    async def answer(path: str, method: str, headers: dict[str, str]) -> httpx.Response:
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, path, headers=headers)

    return lambda path, method="GET", **headers: asyncio.run(answer(path, method, headers))


def test_files_have_their_kind(ask: Ask) -> None:
    kinds = {path: ask(path).headers["content-type"] for path in ("/", "/js/main.js", "/inter.woff2")}
    assert kinds == {
        "/": "text/html; charset=utf-8", "/js/main.js": "text/javascript; charset=utf-8", "/inter.woff2": "font/woff2",
    }  # fmt: skip
    assert ask("/").text == "<p>first</p>" and ask("/inter.woff2").content == b"\0\1"


def test_what_a_browser_has_is_not_sent_again_until_it_changes(ask: Ask, folder: Path) -> None:
    answer = ask("/js/main.js")
    assert answer.headers["cache-control"] == "no-cache", "it is asked about, so that no two versions mix"
    has = {"if-none-match": answer.headers["etag"]}
    again = ask("/js/main.js", **has)
    assert (again.status_code, again.content) == (304, b"")
    (folder / "js" / "main.js").write_text("come();")
    os.utime(folder / "js" / "main.js", ns=(1, 1))
    changed = ask("/js/main.js", **has)
    assert (changed.status_code, changed.text) == (200, "come();") and changed.headers["etag"] != has["if-none-match"]


@pytest.mark.parametrize("path", ["/js", "/js/", "/js/none.js", "/..%2findex.html", "/js/%2e%2e/index.html"])
def test_only_files_are_found(ask: Ask, path: str) -> None:
    assert ask(path).status_code == 404


def test_pages_are_only_read(ask: Ask) -> None:
    assert ask("/", "POST").status_code == 405 and ask("/", "HEAD").headers["content-length"] == "12"


def test_every_file_of_the_package_is_served(server: RunningServer) -> None:
    paths = [path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.is_file()]
    assert len(paths) > 50
    for path in paths:
        assert server.client.get(f"/{path}").content == (STATIC / path).read_bytes()


def test_the_first_page_asks_at_once_for_the_modules_it_needs_and_no_others() -> None:
    needed, open_ = set[str](), ["js/main.js", "js/pages/home.js"]
    while open_:
        name = open_.pop()
        needed.add(name)
        for other in _IMPORT.findall((STATIC / name).read_text()):
            path = os.path.normpath(PurePosixPath(name).parent / other)
            if path not in needed:
                open_.append(path)
    preloaded = re.findall(r'rel="modulepreload" href="([^"]+)"', (STATIC / "index.html").read_text())
    assert set(preloaded) | {"js/main.js"} == needed
    for font in re.findall(r'url\("\.\./(fonts/[^"]+)"\)', (STATIC / "css" / "base.css").read_text()):
        assert f'rel="preload" href="{font}"' in (STATIC / "index.html").read_text()
