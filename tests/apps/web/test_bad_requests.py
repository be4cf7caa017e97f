"""Requests that once caused a server error or kept everybody waiting: each is refused or answered elsewhere."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from aleator.apps.web.live import Live
from aleator.apps.web.process import TooSlowError, WorkerProcess
from tests.apps.web.running import RIVER, RunningServer

SHORT = 'board = "3s 7h Td Ks"\npot = 2000\nstack = 19000\noop = "random"\nip = "random"\n'


def post(server: RunningServer, path: str, body: bytes | Any) -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return server.client.post(path, content=content, headers={"content-type": "application/json"})


@pytest.mark.parametrize(
    ("toml", "detail"),
    [
        (SHORT + f"[turn.oop]\nbet = {json.dumps([f'{size}%' for size in range(10, 21)])}\n", "turn.oop.bet is beyond"),
        (SHORT.replace("2000", "2000000000"), "pot must be a whole number from 1 to 1,000,000,000"),
        (SHORT + "max_raises = 101\n", "max_raises is beyond the limits of the web app: Input should be less than"),
        (SHORT + "[solve]\nmax_iterations = 2000000\n", "solve.max_iterations is beyond"),
        ("x = " + "[" * 5_000, "nested at most 16 deep"),
        ("x = " + "{a=" * 5_000, "nested at most 16 deep"),
        ("a." * 40_000 + "a = 1", "nested at most 16 deep"),
        ("pot = " + "9" * 5_000, "at most 100 characters"),
        (SHORT.replace("random", " " * 39_000, 1), "is empty"),
    ],
    ids=lambda text: text[-20:],
)
def test_spot_files_beyond_the_limits(server: RunningServer, toml: str, detail: str) -> None:
    answer = post(server, "/api/holdem/spot/parse", {"toml": toml})
    assert answer.status_code == 400 and detail in answer.json()["detail"]
    assert len(answer.json()["detail"]) < 400


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/jobs/solve", b'{"spot": {"pot": NaN}}', 422),
        ("/api/jobs/solve", json.dumps({"spot": RIVER | {"pot": float("nan")}}).encode(), 422),
        ("/api/jobs/solve", b'{"spot": {"pot": 1e999, "board": -Infinity}}', 422),
        ("/api/jobs/solve", b'{"spot": {"pot": %s}}' % (b"9" * 5_000), 400),
        ("/api/jobs/solve", b"[" * 100_000, 400),
        ("/api/jobs/solve", b'{"spot": ' * 10_000, 400),
        ("/api/jobs/solve", b'"\xff"', 400),
        ("/api/holdem/range", b'{"text": "\\ud800"}', 400),
        ("/api/holdem/range", b'{"text": "AA\\ud800\\n"}', 400),
        ("/api/holdem/range", b'{"\\ud800": "AA"}', 422),
        ("/api/holdem/range", json.dumps({"text": " " * 39_000 + "x"}).encode(), 400),
        ("/api/holdem/spot/parse", b'{"toml": "\\ud800"}', 400),
        ("/api/play/sessions", b'{"game": "\\udfff"}', 400),
        ("/api/jobs/race", b'{"game": "kuhn", "algorithms": ["\\ud800"]}', 400),
        ("/api/jobs/race", b'{"game": "kuhn", "algorithms": ["cfr"], "seed": 1e400}', 422),
    ],
)
def test_json_that_is_none(server: RunningServer, path: str, body: bytes, status: int) -> None:
    answer = post(server, path, body)
    assert answer.status_code in (400, 422) and answer.status_code >= status, answer.text
    assert answer.json()["detail"] and len(answer.content) < 2_000


def test_names_with_half_a_character_are_refused(server: RunningServer, river: str) -> None:
    for body in (b'{"name": "\\ud800"}', b'{"name": "a\\udc00b"}'):
        answer = server.client.request(
            "PATCH", f"/api/jobs/{river}", content=body, headers={"content-type": "application/json"}
        )
        assert answer.status_code == 422, answer.text
    solve = json.dumps({"spot": RIVER, "name": "NAME"}).replace("NAME", "\\ud800").encode()
    assert post(server, "/api/jobs/solve", solve).status_code == 422
    locked = json.dumps({"spot": RIVER | {"lock": {"r:0": {"c": "NAME"}}}}).replace("NAME", "\\ud800").encode()
    assert post(server, "/api/jobs/solve", locked).status_code in (400, 422)


@pytest.mark.parametrize("hand_class", ["AAs", "AAo", "KA", "AK", "2As"])
def test_classes_of_hands_that_do_not_exist(server: RunningServer, river: str, hand_class: str) -> None:
    answer = server.client.get(f"/api/solutions/{river}/hands", params={"hand_class": hand_class})
    assert answer.status_code == 400 and f"there is no class of hands '{hand_class}'" in answer.json()["detail"]


def slow_spot() -> dict[str, Any]:
    """Returns a spot whose tree takes long to build: it is needed to check a line that is added."""
    sizes = {"bet": [f"{size}%" for size in range(10, 100, 10)], "raise": [f"{size}%" for size in range(30, 120, 10)]}
    return RIVER | {"stack": 2_000, "river": {"oop": sizes, "ip": sizes}, "added": ["r:0:c:b333"]}


def test_others_are_answered_while_a_spot_is_checked(server: RunningServer) -> None:
    """The tree of such a spot has over 160,000 nodes, and takes many seconds until it is refused either way."""
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(post(server, "/api/holdem/spot/format", slow_spot())))
    thread.start()
    asked = 0
    while thread.is_alive():
        assert server.client.get("/api/jobs").is_success
        asked += not answers
        thread.join(0.01)
    assert answers[0].status_code == 400
    assert "160,000 nodes" in answers[0].json()["detail"] or "longer than 8 s" in answers[0].json()["detail"]
    assert asked >= 3, "they were answered meanwhile"


def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    async def ask() -> None:
        worker = WorkerProcess(memory_limit=1 << 32, niceness=0, log=tmp_path / "worker.log")
        await worker.call("range", {"text": "AA"})
        with pytest.raises(TooSlowError, match=r"longer than 0\.01 s"):  # on no machine is that enough
            await worker.call("check", {"spot": slow_spot()}, seconds=0.01)
        assert json.loads(await worker.call("range", {"text": "AA"}))["num_hands"] == 6, "it is started anew"
        await worker.kill()

    asyncio.run(ask())


def test_a_race_that_cannot_be_stopped_is_ended(server: RunningServer) -> None:
    """One iteration of this algorithm takes most of an hour, and nothing can interrupt it."""
    body = {"game": "goofspiel:5", "algorithms": ["mccfr:chance,batch=1e6"], "seconds": 1}
    job_id = post(server, "/api/jobs/race", body).json()["id"]
    server.wait(lambda: server.job(job_id)["status"] == "running", "the race did not begin")
    assert server.client.post(f"/api/jobs/{job_id}/stop").is_success
    job = server.ended(job_id)
    assert job["status"] == "done" and all(row["iteration"] == 0 for row in job["summary"]["results"])
    years = post(server, "/api/jobs/race", {"game": "kuhn", "algorithms": ["mccfr:batch=1e15"], "seconds": 1})
    assert years.status_code == 400
    assert "batch must be a whole number from 1 to 1,000,000" in years.json()["detail"]
    again = post(server, "/api/jobs/race", {"game": "kuhn", "algorithms": ["cfr"], "seconds": 0.2}).json()["id"]
    assert server.ended(again)["status"] == "done", "races go on"


def test_what_a_race_has_reported_is_its_result_if_it_must_be_ended() -> None:
    live = Live()
    for number in (1, 2):
        live.add(
            {"stage": "racing", "algorithm": "cfr", "iteration": number, "seconds": 0.1, "exploitability": 1 / number}
        )
    live.add(
        {"stage": "racing", "algorithm": "fp", "iteration": 9, "seconds": 0.2, "exploitability": 0.3, "value": 0.0}
    )
    assert [(one["algorithm"], one["iteration"]) for one in live.last_points()] == [("cfr", 2), ("fp", 9)]
