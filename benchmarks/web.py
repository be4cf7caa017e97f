"""The web app: latencies of its API while solves run on both cores, of an agent's moves, and of the first page."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from aleator.apps.benchmarking import Progress, Result

SUMMARY = "the web app: p95 of browsing while solves run, of an agent's moves, of the first page"

CLIENTS, SOLVES, SECONDS = 50, 5, 20.0
THINK = 0.5  # seconds between two requests of a client, on average
_RANGES = {"oop": "66+,A8s+,AJo+,K9s+,KQo,QTs+,JTs", "ip": "QQ-22,AQs-A2s,ATo+,K9s+,KJo+,QTs+,JTs"}
_SIZES = {"oop": {"bet": ["50%", "100%"], "raise": ["75%"]}, "ip": {"bet": ["50%", "100%"], "raise": ["75%"]}}
BROWSED: dict[str, Any] = {
    "board": "3s 7h Td Ks", "pot": 100, "stack": 300, **_RANGES, "turn": _SIZES, "river": _SIZES,
    "solve": {"max_iterations": 60},
}  # fmt: skip
_FLOP: dict[str, Any] = {
    "board": "Ks 7h 2d", "pot": 100, "stack": 100, "oop": "AA,KK,AKs,76s", "ip": "QQ,JJ,KQs,A5s",
    "flop": {"oop": {"bet": ["all-in"]}, "ip": {"bet": ["all-in"]}}, "solve": {"max_iterations": 20},
}  # fmt: skip
_PATHS = (
    "r",
    "r:0:c",
    "r:0:b50",
    "r:0:c:b50",
    "r:0:c:c",
    "r:0:c:c:8h",
    "r:0:c:c:8h:c",
    "r:0:b50:c:2d",
    "r:0:c:b100:c:Ac",
)


class Site(NamedTuple):
    """Where a server is, and what its requests need."""

    port: int
    token: str


class Load:
    """What clients saw: seconds per request, the address of each where several were asked, and what went wrong."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.paths: list[str] = []
        self.problems: list[str] = []

    def percentile(self, share: float) -> float:
        """Returns a percentile of the seconds per request."""
        return float(np.percentile(self.seconds, share)) if self.seconds else float("nan")

    def row(self, what: str, goal: str) -> dict[str, Any]:
        """Returns the row of a table."""
        return {
            "what": what,
            "requests": len(self.seconds),
            "p50, ms": 1000 * self.percentile(50),
            "p95, ms": 1000 * self.percentile(95),
            "goal": goal,
            "errors": len(self.problems),
        }


class Client:
    """A keep-alive connection that speaks just enough HTTP, so that measuring costs little."""

    def __init__(self, site: Site) -> None:
        self.port, self.token = site
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """Returns the status and the body of an answer."""
        if self._streams is None or self._streams[0].at_eof():  # the server closes what is idle
            await self.close()
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._streams
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Type: application/json\r\n"
        head += f"Authorization: Bearer {self.token}\r\n"
        writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        await writer.drain()
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length:"))
        return int(lines[0].split()[1]), await reader.readexactly(length)

    async def value(self, method: str, path: str, body: Any = None) -> Any:
        """Returns the JSON of an answer."""
        return json.loads((await self.ask(method, path, body))[1])

    async def close(self) -> None:
        """Ends the connection."""
        if self._streams:
            self._streams[1].close()
            await self._streams[1].wait_closed()


async def browse(site: Site, paths: Sequence[str], *, clients: int, seconds: float, seed: int = 0) -> Load:
    """Returns what so many clients saw that look at random pages for so long, with pauses."""
    load, end = Load(), perf_counter() + seconds

    async def one(number: int) -> None:
        client, rng = Client(site), np.random.default_rng([seed, number])
        try:
            await asyncio.sleep(THINK * rng.random())
            while perf_counter() < end:
                path = paths[int(rng.integers(len(paths)))]
                started = perf_counter()
                status, _ = await client.ask("GET", path)
                load.seconds.append(perf_counter() - started)
                load.paths.append(path)
                if status != 200:
                    load.problems.append(f"{status} {path}")
                await asyncio.sleep(2 * THINK * rng.random())
        except (OSError, asyncio.IncompleteReadError) as error:
            load.problems.append(repr(error))
        finally:
            await client.close()

    await asyncio.gather(*(one(number) for number in range(clients)))
    return load


async def wait_for(site: Site, job_id: str, *, seconds: float = 300.0) -> dict[str, Any]:
    """Returns a job once it has ended."""
    client, end = Client(site), perf_counter() + seconds
    try:
        while perf_counter() < end:
            job: dict[str, Any] = await client.value("GET", f"/api/jobs/{job_id}")
            if job["status"] not in ("queued", "running"):
                return job
            await asyncio.sleep(0.1)
    finally:
        await client.close()
    raise TimeoutError(f"job {job_id} did not end")


async def browse_while_solving(
    site: Site, *, clients: int, solves: int, seconds: float, iterations: int
) -> tuple[Load, list[dict[str, Any]]]:
    """Returns what clients saw while solves ran on two threads, and how those ended."""
    client = Client(site)
    first = await client.value("POST", "/api/jobs/solve", {"spot": BROWSED})
    await wait_for(site, first["id"])
    paths = [f"/api/solutions/{first['id']}/node?path={path}" for path in _PATHS]
    paths += [f"/api/solutions/{first['id']}/hands?path=r:0:c&hand_class={name}" for name in ("AKs", "QQ", "JTs")]
    paths += ["/api/jobs", "/api/about", f"/api/jobs/{first['id']}"]
    for path in paths:
        await client.ask("GET", path)
    spot = BROWSED | {"solve": {"target": 0, "max_iterations": iterations}}
    queued = [await client.value("POST", "/api/jobs/solve", {"spot": spot, "threads": 2}) for _ in range(solves)]
    await client.close()
    load = await browse(site, paths, clients=clients, seconds=seconds)
    return load, [await wait_for(site, job["id"]) for job in queued]


async def _played(client: Client) -> tuple[str, str]:
    """Returns a session against a rule bot and one of its hands."""
    session = await client.value("POST", "/api/hands/sessions", {"opponent": "tight-aggressive", "stack": 10_000})
    while session["hand"]["number"] < 5 or not session["hand"]["over"]:
        move = "deal" if session["hand"]["over"] else "c"
        session = await client.value("POST", f"/api/hands/sessions/{session['id']}/move", {"move": move})
    return session["id"], f"{session['id']}-1"


async def _job(site: Site, client: Client, kind: str, body: dict[str, Any]) -> str:
    job = await client.value("POST", f"/api/jobs/{kind}", body)
    ended = await wait_for(site, job["id"])
    assert ended["status"] == "done", ended["error"]
    return str(ended["id"])


async def all_pages(site: Site) -> list[str]:
    """Returns what every page of the app asks for, once everything that has to be computed first has been."""
    client = Client(site)
    session, hand = await _played(client)
    solved = [await _job(site, client, "solve", {"spot": BROWSED}) for _ in range(2)]
    report = await _job(site, client, "report", {"spot": _FLOP, "flops": "Ks7h2d,Qh8h3c", "name": "Two flops"})
    runs = await client.value("GET", "/api/runs")
    paths = ["/", "/js/main.js", "/css/base.css", "/api/about", "/api/play", "/api/learn", "/api/learn/tree?game=kuhn"]
    paths += ["/api/algorithms", "/api/holdem/presets", "/api/jobs", "/api/runs", "/api/hands/rivals"]
    paths += ["/api/hands/history", f"/api/hands/sessions/{session}", f"/api/hands/sessions/{session}/hands"]
    paths += [f"/api/hands/played/{hand}", f"/api/reports/{report}", "/api/preflop/blueprints"]
    if importlib.util.find_spec("torch"):
        chart = await client.value("GET", "/api/preflop?path=r:0&stack=100")
        lines = ["", *(f":{action['token']}" for action in chart["actions"] if action["kind"] != "fold")]
        paths += [f"/api/preflop?path=r:0{line}&stack=100" for line in lines]
    paths += [f"/api/runs/curves?name={run['name']}" for run in runs[:2]]
    for node in ("r:0", "r:0:c", "r:0:c:c", "r:0:b50"):
        paths.append(f"/api/compare?first={solved[0]}&second={solved[1]}&path={node}")
        paths += [f"/api/solutions/{solved[0]}/{part}?path={node}" for part in ("node", "ranges")]
    paths += [f"/api/solutions/{solved[0]}/hands?path=r:0:c&hand_class=QQ"]
    paths += [f"/api/solutions/{solved[0]}/runouts?path=r:0:c:c"]
    for path in paths:
        status, body = await client.ask("GET", path)
        assert status == 200, f"{status} {path}: {body[:200]!r}"
    await client.close()
    return paths


def _slowest(load: Load) -> str:
    by_path: dict[str, list[float]] = {}
    for path, seconds in zip(load.paths, load.seconds, strict=True):
        by_path.setdefault(path.split("?")[0], []).append(seconds)
    worst = max(by_path, key=lambda path: float(np.percentile(by_path[path], 95)))
    parts = [part if len(part) < 16 else "ID" for part in worst.split("/")]
    return f"{'/'.join(parts)}, p95 {1000 * float(np.percentile(by_path[worst], 95)):.0f} ms"


async def play(site: Site, game: str, deals: int, opponent: str = "equilibrium") -> Load:
    """Returns how long moves take, the agent's answer included."""
    client, load, rng = Client(site), Load(), np.random.default_rng(0)
    session = await client.value("POST", "/api/play/sessions", {"game": game, "opponent": opponent})
    path = f"/api/play/sessions/{session['id']}/move"
    for _ in range(deals):
        while not session["deal"]["over"]:
            options = session["deal"]["options"]
            started = perf_counter()
            session = await client.value("POST", path, {"move": options[int(rng.integers(len(options)))]["label"]})
            load.seconds.append(perf_counter() - started)
        session = await client.value("POST", path, {"move": "deal"})
    await client.close()
    return load


async def _answers(site: Site) -> None:
    client = Client(site)
    await client.ask("GET", "/api/about")
    await client.close()


@contextmanager
def serving() -> Iterator[tuple[Site, float]]:
    """Yields a new server and the seconds that it took to start."""
    folder = Path(tempfile.mkdtemp(prefix="aleator-bench-"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "aleator.apps.cli.main", "serve", "--port", str(port), "--data-dir", str(folder)]
    started = perf_counter()
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        while True:
            try:
                site = Site(port, (folder / "token").read_text().strip())
                asyncio.run(_answers(site))
                break
            except OSError:
                if server.poll() is not None or perf_counter() - started > 60:
                    raise
                time.sleep(0.02)
        yield site, perf_counter() - started
    finally:
        server.terminate()
        server.wait(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)


def first_page(site: Site) -> Load:
    """Returns how long a browser takes to show the first page, ready to be used; nothing where there is no browser."""
    load, path = Load(), shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return load
    if path is None:
        return load
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(5):
            page = browser.new_context().new_page()
            started = perf_counter()
            page.goto(f"http://127.0.0.1:{site.port}/?token={site.token}")
            page.wait_for_selector(".hero .button.primary")
            load.seconds.append(perf_counter() - started)
        browser.close()
    return load


def run(progress: Progress) -> Result:
    """Returns the latencies."""
    rows: list[dict[str, Any]] = []

    def row(what: str, load: Load, goal: str) -> None:
        rows.append(load.row(what, goal))

    with serving() as (site, started):
        start = Load()
        start.seconds.append(started)
        row("server starts", start, "")
        progress(0.1, "first page")
        row("first page usable, in Chromium", first_page(site), "2,000 ms")
        for share, game in ((0.2, "kuhn"), (0.3, "leduc"), (0.4, "liars-dice:1x6")):
            progress(share, game)
            row(f"a move and the agent's answer, {game}", asyncio.run(play(site, game, 20)), "p95 1,000 ms")
        if importlib.util.find_spec("torch"):
            progress(0.45, "ReBeL")
            rebel = asyncio.run(play(site, "liars-dice:1x6", 20, "rebel"))
            row("a move and ReBeL's answer, liars-dice:1x6", rebel, "p95 1,000 ms")
        progress(0.5, "browsing under load")
        load, jobs = asyncio.run(
            browse_while_solving(site, clients=CLIENTS, solves=SOLVES, seconds=SECONDS, iterations=1_000)
        )
        row(f"browsing by {CLIENTS} clients, solves on two threads", load, "p95 50 ms")
        progress(0.8, "every page")
        paths = asyncio.run(all_pages(site))
        pages = asyncio.run(browse(site, paths, clients=CLIENTS, seconds=SECONDS))
        row(f"every page that waits for no solve and no agent, by {CLIENTS} clients", pages, "p95 50 ms")
    notes = [
        f"{sum(job['status'] == 'done' for job in jobs)} of {SOLVES} solves ended well; clients pause {THINK} s on "
        "average",
        f"the slowest of {len(paths)} addresses: {_slowest(pages)}",
        "latencies are seen by clients on the same machine, which share its cores",
    ]
    return Result(title="Web app", rows=rows, notes=notes)
