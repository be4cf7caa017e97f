"""Foreign and oversized requests are refused before anything else looks at them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from aleator.apps.cli.main import main
from aleator.apps.web.access import Access
from aleator.apps.web.guard import Guard
from tests.apps.web.running import RunningServer, free_port

TOKEN = "t" * 40


def ask(path: str = "/api/about", body: bytes = b"", **headers: str) -> tuple[int, dict[bytes, bytes]]:
    """Returns status and headers of a request to an application that reads its body and answers 200."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body}

    async def send(message: Any) -> None:
        sent.append(message)

    named = {"host": "127.0.0.1:8421", "authorization": f"Bearer {TOKEN}"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    scope = {
        "type": "http", "path": path,
        "headers": [(key.encode(), value.encode()) for key, value in named.items() if value],
    }  # fmt: skip
    guard = Guard(app, Access(TOKEN, 8421), port=8421, max_body=100, max_upload=1000)
    asyncio.run(guard(scope, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"])


@pytest.mark.parametrize("host", ["127.0.0.1:8421", "localhost:8421", "[::1]:8421", "LOCALHOST:8421"])
def test_names_of_this_machine_are_served(host: str) -> None:
    assert ask(host=host, origin=f"http://{host.lower()}")[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:80", "127.0.0.1", "localhost.evil.example:8421", ""])
def test_other_hosts_are_refused(host: str) -> None:
    assert ask(host=host)[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8421", "http://127.0.0.1:9999"])
def test_other_origins_are_refused(origin: str) -> None:
    assert ask(origin=origin)[0] == 403


def test_requests_that_other_sites_start_are_refused_but_links_work() -> None:
    assert ask(sec_fetch_site="cross-site")[0] == 403
    assert ask(path="/", sec_fetch_site="cross-site")[0] == 200


def test_sizes_are_limited_by_what_is_said_and_by_what_comes() -> None:
    assert ask(content_length="100", body=b"x" * 100)[0] == 200
    assert ask(content_length="101")[0] == 413
    assert ask(body=b"x" * 101)[0] == 413
    assert ask(content_length="-1")[0] == 413
    assert ask(path="/api/solutions/upload", body=b"x" * 1000)[0] == 200
    assert ask(path="/api/solutions/upload", body=b"x" * 1001)[0] == 413


def test_answers_cannot_be_embedded() -> None:
    headers = ask()[1]
    assert headers[b"x-frame-options"] == b"DENY"
    assert b"default-src 'self'" in headers[b"content-security-policy"]


def test_a_real_server_refuses_too(server: RunningServer) -> None:
    assert server.client.get("/api/about", headers={"Host": "evil.example"}).status_code == 403
    assert server.client.get("/api/jobs", headers={"Origin": "http://evil.example"}).status_code == 403
    answer = server.client.post(
        "/api/holdem/range", content=b"x" * 300_000, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 413
    for path in ("/../jobs.sqlite3", "/..%2f..%2fjobs.sqlite3", "/js/../../server.py", "/static/../config.py"):
        assert server.client.get(path).status_code == 404


def test_a_second_server_does_not_take_the_jobs_of_the_first(
    server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--data-dir", str(server.data_dir), "--port", str(free_port())])
    assert ended.value.code == 2
    assert f"another server keeps its results in {server.data_dir}" in capsys.readouterr().err
