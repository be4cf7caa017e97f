"""Connections that are half open, or do not read, are closed; a lack of descriptors is a line, not a flood."""

from __future__ import annotations

import asyncio
import errno
import resource
import socket
from pathlib import Path
from typing import Any

import pytest

from aleator.apps.web import connections, guard
from aleator.apps.web.access import Access
from aleator.apps.web.config import ServerConfig
from aleator.apps.web.connections import limited_protocol, report_error
from aleator.apps.web.guard import Guard
from aleator.apps.web.serving import listening
from tests.apps.web.running import RunningServer, free_port

TOKEN = "t" * 40


async def endless(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads its request and answers with more than anybody reads."""
    more = True
    while more:
        more = (await receive()).get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(1000 if scope["path"] == "/api/big" else 1):
        await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def talk(sent: bytes, *, most: int = 10) -> bytes:
    """Returns what a server has answered when it has closed a connection on which `sent` came, read no further."""
    uvicorn = pytest.importorskip("uvicorn")
    opened = socket.create_server(("127.0.0.1", 0))
    port = opened.getsockname()[1]
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(sent.replace(b"PORT", str(port).encode()))  # it is there before any time is counted
    app: Any = Guard(endless, Access(TOKEN, port), port=port, max_body=1000, max_upload=1000)
    # its logging would close the streams of libraries that are loaded, pytest's among them
    config = uvicorn.Config(app, port=port, log_config=None, http=limited_protocol(most), lifespan="off")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[opened]))
    reader, writer = await asyncio.open_connection(sock=client, limit=1000)
    answer = b""
    async with asyncio.timeout(120):
        if b"/api/big" in sent:  # which nobody reads
            while not server.server_state.connections:
                await asyncio.sleep(0.01)
        else:
            answer = await reader.read()
        while server.server_state.connections:
            await asyncio.sleep(0.02)
    writer.close()
    server.should_exit = True
    await serving
    return answer


HEAD = f"POST /api/x HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nAuthorization: Bearer {TOKEN}\r\n".encode()


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b""),
        (b"GET / HT", b""),
        (HEAD, b""),
        (HEAD + b"Content-Length: 9\r\n\r\nhalf", b"HTTP/1.1 408"),
        (HEAD + b"Content-Length: 0\r\n\r\nGET / HT", b"HTTP/1.1 200"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nnonsense\r\n", b"HTTP/1.1 400"),
        (HEAD.replace(b"/api/x", b"/api/big") + b"Content-Length: 0\r\n\r\n", b""),
    ],
    ids=["silent", "half a line", "half a head", "half a body", "half a second request", "nonsense", "not read"],
)
def test_what_is_half_open_is_closed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], sent: bytes, answer: bytes
) -> None:
    for name in ("HEAD_SECONDS", "READ_SECONDS", "CLOSE_SECONDS"):
        monkeypatch.setattr(connections, name, 0.3)
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.3)
    assert asyncio.run(talk(sent))[:12] == answer
    assert "Traceback" not in capfd.readouterr().err


def test_who_comes_when_all_connections_are_taken_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = asyncio.run(talk(b"", most=0))
    assert answer.startswith(b"HTTP/1.1 503") and b"too many connections" in answer


def test_a_lack_of_descriptors_is_said_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    loop = asyncio.new_event_loop()
    for _ in range(1000):
        report_error(loop, {"message": "accept", "exception": OSError(errno.EMFILE, "Too many open files")})
    loop.close()
    assert [record.getMessage() for record in caplog.records] == ["Connections wait: Too many open files"]


def test_a_server_without_descriptors_neither_floods_its_log_nor_stays_away(tmp_path: Path) -> None:
    """With 64 of them, 200 connections at once: some are refused, a few lines are written, and then all is well."""
    log = tmp_path / "log"
    with log.open("wb") as file:
        settings = {"stderr": file, "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))}
        server = RunningServer(tmp_path / "data", **settings).start()
    try:
        held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
        server.wait(lambda: len(answered(held)) > 100, "those beyond the limit are told so")
        for connection in held:
            connection.close()
        server.wait(server._answers, "the server came back")
        assert server.client.post("/api/holdem/range", json={"text": "AA"}).json()["num_hands"] == 6
    finally:
        server.stop()
    assert len(log.read_bytes()) < 2_000, log.read_text()


def test_a_server_that_stops_while_connections_wait_has_nothing_to_report() -> None:
    told: list[dict[str, Any]] = []
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda loop, context: report_error(loop, context))
    loop.default_exception_handler = told.append  # type: ignore[method-assign]
    closed, other = socket.socket(), ValueError("something else")
    closed.close()
    loop.call_soon(loop._start_serving, asyncio.Protocol, closed)  # type: ignore[attr-defined]
    loop.call_soon(raised, other)
    loop.run_until_complete(asyncio.sleep(0.01))
    loop.close()
    assert [context["exception"] for context in told] == [other]


def raised(error: Exception) -> None:
    raise error


def answered(held: list[socket.socket]) -> list[socket.socket]:
    """Returns the connections on which something has come, or which are over."""
    found = []
    for connection in held:
        connection.setblocking(False)
        try:
            connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            continue
        except ConnectionError:
            pass
        found.append(connection)
    return found


def test_an_answer_does_not_wait_for_the_receipt_of_its_first_part(tmp_path: Path) -> None:
    """Else every answer takes 40 ms: its head and its body are sent one after the other."""
    seen: list[int] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        seen.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async def visit(config: ServerConfig, opened: socket.socket) -> None:
        async with await asyncio.start_server(answer, sock=opened):
            reader, writer = await asyncio.open_connection("127.0.0.1", config.port)
            await reader.read()
            writer.close()

    config = ServerConfig(data_dir=tmp_path, port=free_port())
    with listening(config) as (opened,):
        asyncio.run(visit(config, opened))
    assert len(seen) == 1 and seen[0] != 0
