"""Only who knows the token uses the server: by its address, then by a cookie; programs by a header."""

from __future__ import annotations

import stat
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import httpx
import pytest

from aleator.apps.web.access import Access, load_token, write_open_page
from aleator.apps.web.config import ServerConfig, ServerError
from tests.apps.web.browser import PATIENCE
from tests.apps.web.running import SECONDS, RunningServer

TOKEN = "t" * 40


def reply_of(query: str = "", **headers: str) -> Any:
    named = {name.replace("_", "-").encode(): value for name, value in headers.items()}
    return Access(TOKEN, 8421).reply("/", query, named)


@pytest.mark.parametrize(
    "headers",
    [
        {b"authorization": f"Bearer {TOKEN}"},
        {b"authorization": f"bearer {TOKEN}"},
        {b"cookie": f"aleator_8421={TOKEN}"},
        {b"cookie": f"theme=dark; aleator_8421={TOKEN}; aleator_9000=other"},
    ],
)
def test_the_token_is_taken_as_header_or_cookie(headers: dict[bytes, str]) -> None:
    assert Access(TOKEN, 8421).is_allowed(headers)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {b"authorization": "Bearer"},
        {b"authorization": f"Basic {TOKEN}"},
        {b"authorization": f"Bearer {TOKEN}x"},
        {b"authorization": "Bearer ü\udcff"},
        {b"cookie": f"aleator_9000={TOKEN}"},
        {b"cookie": "aleator_8421="},
        {b"cookie": "=;;=\x00[]{}" * 1000},
    ],
)
def test_anything_else_is_not(headers: dict[bytes, str]) -> None:
    assert not Access(TOKEN, 8421).is_allowed(headers)


def test_the_address_sets_a_cookie_that_scripts_and_other_sites_cannot_use() -> None:
    reply = reply_of(f"token={TOKEN}")
    assert reply.status == 303 and dict(reply.headers)[b"location"] == b"/"
    cookie = SimpleCookie(dict(reply.headers)[b"set-cookie"].decode())["aleator_8421"]
    assert cookie.value == TOKEN and cookie["httponly"] and cookie["samesite"] == "Strict" and cookie["path"] == "/"


def test_a_wrong_or_missing_token_gets_a_page_of_one_line() -> None:
    for query in ("", "token=", "token=wrong", "token=%ff%fe", "&".join(["x=1"] * 1000)):
        reply = reply_of(query)
        assert reply.status == 401 and not reply.headers
        assert "open the address that <code>aleator serve</code> printed" in reply.body


def test_links_on_other_pages_ask_again_once() -> None:
    """A strict cookie does not come with them, but it does with a request that this server's own page makes."""
    first = reply_of(sec_fetch_site="cross-site")
    assert first.status == 200 and "url=/?again" in first.body
    assert reply_of("again", sec_fetch_site="cross-site").status == 401
    assert reply_of("again", cookie=f"aleator_8421={TOKEN}").status == 303
    assert reply_of("", cookie=f"aleator_8421={TOKEN}") is None


def test_a_token_is_kept_for_its_owner_only(tmp_path: Path) -> None:
    token = load_token(tmp_path)
    file = tmp_path / "token"
    assert len(token) >= 32 and load_token(tmp_path) == token and stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    assert load_token(tmp_path) == token and stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text("short")
    assert load_token(tmp_path) not in ("short", token)
    page = write_open_page(tmp_path, f"http://127.0.0.1:8421/?token={token}")
    assert (
        stat.S_IMODE(page.stat().st_mode) == 0o600 and f"url=http://127.0.0.1:8421/?token={token}" in page.read_text()
    )
    file.unlink()
    file.symlink_to("/etc/hostname")
    with pytest.raises(ServerError, match="cannot keep the server's token"):
        load_token(tmp_path)


def test_data_directories_are_private_but_those_of_others_are_left_as_they_are(tmp_path: Path) -> None:
    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    new, empty, shared = tmp_path / "new", tmp_path / "empty", tmp_path / "shared"
    empty.mkdir(mode=0o755)
    shared.mkdir(mode=0o755)
    (shared / "notes.txt").write_text("mine")
    for folder in (new, empty, shared):
        ServerConfig(data_dir=folder).make_folders()
        assert mode(folder / "solutions") == mode(folder / "games") == 0o700
    assert mode(new) == mode(empty) == 0o700 and mode(shared) == 0o755
    empty.chmod(0o755)
    (empty / "jobs.sqlite3").write_text("")
    ServerConfig(data_dir=empty).make_folders()
    assert mode(empty) == 0o700, "one of an earlier version is closed"


def test_a_real_server_answers_only_to_its_token(server: RunningServer) -> None:
    with httpx.Client(base_url=server.url, timeout=SECONDS) as stranger:
        for path in ("/api/jobs", "/api/about", "/openapi.json", "/js/main.js", "/api/nothing"):
            answer = stranger.get(path)
            assert answer.status_code == 401 and "needs its token" in answer.json()["detail"], path
        assert stranger.delete("/api/jobs/0123456789abcdef").status_code == 401
        page = stranger.get("/")
        assert page.status_code == 401 and "aleator serve" in page.text and "set-cookie" not in page.headers
        opened = stranger.get("/", params={"token": server.token})
        assert opened.status_code == 303
        assert stranger.get("/").is_success and stranger.get("/api/jobs").is_success, "the cookie is enough now"
    for path in server.data_dir.rglob("*"):
        if path.is_file():
            assert not path.stat().st_mode & 0o077 or path.name == ".lock", f"{path} can be read by others"


def test_the_page_opens_from_the_private_page_and_from_links_elsewhere(browser: Any, server: RunningServer) -> None:
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    refused = page.goto(server.url)
    assert refused.status == 401 and "open the address" in page.inner_text("body")
    page.goto(write_open_page(server.data_dir, f"{server.url}/?token={server.token}").as_uri())
    page.wait_for_selector(".hero")
    assert "token" not in page.url
    other = server.data_dir / "elsewhere.html"
    other.write_text(f'<a href="{server.url}">Aleator</a>')
    page.goto(other.as_uri())
    page.click("a")
    page.wait_for_selector(".hero")
    assert page.url == f"{server.url}/"
    context.close()
