"""Whatever comes through a door of the server: no answer says that the server is at fault, and none takes 10 seconds.

`make test` takes a few inputs per door, `make test-slow` 20,000. After each door the server must still be well, and
neither its log nor that of its workers may have a traceback.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.apps.web.fuzzing import Fuzz
from tests.apps.web.running import RIVER, RunningServer

FEW, MANY = 75, 20_000
SECONDS = {FEW: 60.0, MANY: 10.0}  # for an answer; the machine may be busy with other tests, but hardly for long
TINY: dict[str, Any] = RIVER | {"oop": "AA,76s", "ip": "KK,JTs", "lock": {"r:0": {"c": 0.5, "b75": "rest"}}}
RANGES = ["AA,KK:0.5,A5s-A2s,JTs-76s", "random", "22+,AsKh:.25,QJo+ , 98s - 65s", "AK:1e-3"]
SPOTS = [
    TINY, TINY | {"added": ["r:0:c:b50"], "rake": {"rate": 0.05, "cap": 3}, "max_raises": 3},
    TINY | {"board": "Qs Jh 2h", "lock": {}, "solve": {"rule": "dcfr", "target": 0.01, "max_iterations": 5}},
]  # fmt: skip

Door = Callable[[Fuzz], tuple[str, str, Any]]


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, str, bytes]]:
    """A server of its own with a tiny solution in it, its id and its file; what it says is checked at the end."""
    folder = tmp_path_factory.mktemp("fuzz")
    with (folder / "log").open("wb") as log:
        server = RunningServer(folder / "data", stderr=log).start()
    solved = server.ended(server.solve({name: value for name, value in TINY.items() if name != "lock"}))["id"]
    yield server, solved, server.client.get(f"/api/solutions/{solved}/file").content
    server.stop()
    check_logs(folder)


def check_logs(folder: Path) -> None:
    for path in (folder / "log", *(folder / "data").glob("worker*.log")):
        assert "Traceback" not in path.read_text(errors="replace"), path.read_text(errors="replace")[-4_000:]


def json_doors(solved: str, tomls: list[str], played: str) -> dict[str, Door]:
    """Returns the doors that take JSON or parts of an address: a method, a path and a body each time.

    Args:
        solved: the id of a solution.
        tomls: texts of spots.
        played: the id of a session of Kuhn poker.
    """
    paths = ["r", "r:0", "r:0:c", "r:0:b75", "r:0:c:b75:c"]
    classes = ["AA", "AKs", "76s", "KQo", "AAs", "KA", "2As"]  # and some that do not exist
    race = {"game": "kuhn", "algorithms": ["cfr", "dcfr:1.5,0,2", "mccfr:outcome,batch=2"], "seconds": 0.01, "seed": 1}
    session = {"game": "kuhn", "opponent": "equilibrium", "seat": "first"}
    of_spot = {"game": "holdem", "solution": solved}
    runs = ["dice", "shipped/liars-dice-1x4"]
    trees = ["kuhn", "leduc", "liars-dice:1x3", "goofspiel:4"]
    estimates = [{"spot": spot, "threads": 1, "bits": 32, "measure": False} for spot in SPOTS]
    moves = [{"move": move} for move in ("deal", "check", "bet", "call", "fold")]
    lock = {"name": "L", "locks": [{"path": "r:0:c", "edits": [{"hands": "AA", "policy": [1, 0]}]}]}

    def query(fuzz: Fuzz) -> tuple[str, str, Any]:
        """Returns a question about a solution; about half of its parts make sense, so that the others are looked at."""

        def part(texts: list[str]) -> str:
            text = fuzz.text(texts) if fuzz.rng.random() < 0.5 else fuzz.rng.choice(texts)
            return quote(text[:700], errors="replace")

        path, name = part(paths), part(classes)
        kind = fuzz.rng.choice(("node", "hands", "hands", "ranges", "runouts", "file", fuzz.text(["node"])[:50]))
        player = fuzz.rng.choice(("0", "1", "0", "1", "2", "-1", "x", "9" * 5_000))
        where = solved if fuzz.rng.random() < 0.9 else quote(fuzz.text([solved])[:80], errors="replace", safe="")
        return (
            "GET",
            f"/api/solutions/{where}/{quote(kind, errors='replace')}?path={path}&hand_class={name}&player={player}",
            None,
        )

    return {
        "range": lambda fuzz: ("POST", "/api/holdem/range", {"text": fuzz.text(RANGES)}),
        "toml": lambda fuzz: ("POST", "/api/holdem/spot/parse", {"toml": fuzz.text(tomls)}),
        "spot": lambda fuzz: ("POST", "/api/holdem/spot/format", fuzz.value(SPOTS)),
        "estimate": lambda fuzz: ("POST", "/api/holdem/estimate", fuzz.value(estimates)),
        "solve": lambda fuzz: ("POST", "/api/jobs/solve", fuzz.value([{"spot": spot, "name": "x"} for spot in SPOTS])),
        "query": query,
        "race": lambda fuzz: ("POST", "/api/jobs/race", fuzz.value([race])),
        "session": lambda fuzz: ("POST", "/api/play/sessions", fuzz.value([session, session | of_spot])),
        "move": lambda fuzz: ("POST", f"/api/play/sessions/{played}/move", fuzz.value(moves)),
        "tree": lambda fuzz: ("GET", "/api/learn/tree?game=" + quote(fuzz.text(trees)[:60], errors="replace"), None),
        "lock": lambda fuzz: ("POST", f"/api/solutions/{solved}/resolve", fuzz.value([lock])),
        "name": lambda fuzz: ("PATCH", f"/api/jobs/{solved}", fuzz.value([{"name": "x"}])),
        "json": lambda fuzz: ("POST", "/api/jobs/solve", fuzz.bytes([json.dumps({"spot": SPOTS[1]}).encode()])),
        "runs": lambda fuzz: ("GET", "/api/runs/curves?name=" + quote(fuzz.text(runs)[:900], errors="replace"), None),
    }  # fmt: skip


DOORS = list(json_doors("", [""], ""))


def check_json_door(fuzzed: tuple[RunningServer, str, bytes], name: str, inputs: int) -> None:
    server, solved, _ = fuzzed
    tomls = [server.client.post("/api/holdem/spot/format", json=spot).json()["toml"] for spot in SPOTS]
    played = server.client.post("/api/play/sessions", json={"game": "kuhn"}).json()["id"]
    door, fuzz = json_doors(solved, tomls, played)[name], Fuzz(sum(name.encode()))
    statuses = set()
    headers = {"authorization": f"Bearer {server.token}", "content-type": "application/json"}
    with httpx.Client(base_url=server.url, timeout=SECONDS[inputs], headers=headers) as client:
        for _ in range(inputs):
            method, path, body = door(fuzz)
            content = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
            answer = client.request(method, path, content=content)
            assert answer.status_code < 500, f"{method} {path} {body!r}: {answer.status_code} {answer.text}"
            assert answer.is_success or len(answer.content) < 10_000
            statuses.add(answer.status_code)
    assert statuses - {200, 201}, "some are refused"
    assert server.client.get("/api/about").is_success


@pytest.mark.parametrize("name", DOORS)
def test_a_few_inputs(fuzzed: tuple[RunningServer, str, bytes], name: str) -> None:
    check_json_door(fuzzed, name, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("name", DOORS)
def test_many_inputs(fuzzed: tuple[RunningServer, str, bytes], name: str) -> None:
    check_json_door(fuzzed, name, MANY)


def check_sockets(fuzzed: tuple[RunningServer, str, bytes], inputs: int) -> None:
    """Sends what is no HTTP, or almost."""
    server, solved, _ = fuzzed
    head = f"HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
    body = json.dumps({"text": "AA"})
    seeds = [
        f"GET /api/jobs {head}\r\n".encode(),
        f"GET /?token={server.token} {head}Cookie: aleator_{server.port}={server.token}\r\n\r\n".encode(),
        f"POST /api/holdem/range {head}Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}".encode(),
        f"POST /api/holdem/range {head}Transfer-Encoding: chunked\r\n\r\n5\r\n{body[:5]}\r\n0\r\n\r\n".encode(),
        f"GET /api/solutions/{solved}/file {head}Range: bytes=0-10,5-7\r\nAccept-Encoding: gzip\r\n\r\n".encode(),
        f"GET /js/main.js {head}If-None-Match: x\r\nIf-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n".encode(),
        f"GET /api/jobs/{solved}/events {head}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n".encode(),
    ]
    fuzz = Fuzz(99)
    for _ in range(inputs):
        sent = fuzz.bytes(seeds)
        with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS[inputs]) as connection:
            try:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                answer = connection.recv(100)
            except ConnectionError:
                continue
        assert not answer.startswith(b"HTTP/1.1 5"), (sent, answer)
    assert server.client.get("/api/about").is_success


def test_a_few_broken_requests(fuzzed: tuple[RunningServer, str, bytes]) -> None:
    check_sockets(fuzzed, FEW)


@pytest.mark.slow
def test_many_broken_requests(fuzzed: tuple[RunningServer, str, bytes]) -> None:
    check_sockets(fuzzed, MANY)


def check_uploads(fuzzed: tuple[RunningServer, str, bytes], inputs: int) -> None:
    """Uploads damaged solutions; those that are taken can be looked at."""
    server, _, file = fuzzed
    fuzz, taken = Fuzz(7), 0
    with httpx.Client(base_url=server.url, timeout=SECONDS[inputs], headers=server.client.headers) as client:
        for _ in range(inputs):
            answer = client.post("/api/solutions/upload", content=fuzz.bytes([file]))
            assert answer.status_code < 500, answer.text
            if answer.status_code == 201:
                taken += 1
                node = client.get(f"/api/solutions/{answer.json()['id']}/node")
                assert node.status_code < 500, node.text
                assert client.delete(f"/api/jobs/{answer.json()['id']}").status_code == 204
    assert taken < inputs / 20, "what is damaged is refused"


def test_a_few_damaged_files(fuzzed: tuple[RunningServer, str, bytes]) -> None:
    check_uploads(fuzzed, FEW)


@pytest.mark.slow
def test_many_damaged_files(fuzzed: tuple[RunningServer, str, bytes]) -> None:
    check_uploads(fuzzed, MANY)
