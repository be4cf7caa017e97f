"""What survives a restart, and what is forgotten."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from aleator.apps.web.config import ServerConfig, ServerError
from aleator.apps.web.live import MAX_EVENTS, Live
from aleator.apps.web.queue import JobQueue, QueueFullError
from aleator.apps.web.store import MAX_ATTEMPTS, Store


def test_jobs_come_in_the_order_they_were_asked_for(tmp_path: Path) -> None:
    store = Store(tmp_path / "jobs.sqlite3")
    first, second = store.add_job("solve", "one", {"a": 1}), store.add_job("solve", "two", {})
    store.add_job("race", "other", {})
    assert store.next_job("solve") == first and store.request(first.id) == {"a": 1}
    store.begin(first.id)
    assert store.next_job("solve") == second
    store.end(first.id, "done", summary={"x": 2})
    found = store.job(first.id)
    assert found is not None and found.summary == {"x": 2} and found.attempts == 1
    assert [job.name for job in store.jobs("solve")] == ["two", "one"] and store.count("queued") == 2
    store.close()


def test_a_job_knows_its_spot_from_the_start(tmp_path: Path) -> None:
    store = Store(tmp_path / "jobs.sqlite3")
    spot = {"board": "Qs Jh 2h", "pot": 100}
    solve, race = (
        store.add_job("solve", "spot", {"spot": spot, "bits": 32}),
        store.add_job("race", "other", {"game": "kuhn"}),
    )
    assert solve.spot == spot and race.spot is None
    assert {job.name: job.spot for job in store.jobs()} == {"spot": spot, "other": None}
    store.close()


def test_what_ran_when_the_server_was_ended_runs_again_but_not_before_others_for_ever(tmp_path: Path) -> None:
    store = Store(tmp_path / "jobs.sqlite3")
    crash, other = store.add_job("solve", "crash", {}).id, store.add_job("solve", "other", {}).id
    for _ in range(MAX_ATTEMPTS):
        store.close()
        store = Store(tmp_path / "jobs.sqlite3")
        job = store.next_job("solve")
        assert job is not None and job.id == crash
        store.begin(crash)
        assert store.recover() == []
    job = store.next_job("solve")
    assert job is not None and job.id == other
    store.end(other, "done")
    job = store.next_job("solve")
    assert job is not None and job.id == crash and job.status == "queued"
    store.close()


def test_what_was_interrupted_in_good_order_is_no_attempt_and_a_broken_upload_is_forgotten(tmp_path: Path) -> None:
    store = Store(tmp_path / "jobs.sqlite3")
    job_id = store.add_job("solve", "long", {}).id
    for _ in range(10):
        store.begin(job_id)
        store.put_back(job_id)
    job = store.next_job("solve")
    assert job is not None and job.attempts == 0
    upload = store.add_job("solve", "file", {}, status="loading").id
    assert store.recover() == [upload]
    store.close()


def test_other_databases_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, but long enough to look like one" * 100)
    with pytest.raises(ServerError, match="not a database"):
        Store(tmp_path / "text")
    newer = sqlite3.connect(tmp_path / "newer")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(ServerError, match="another version"):
        Store(tmp_path / "newer")


def test_jobs_of_the_first_version_are_kept_and_its_play_sessions_forgotten(tmp_path: Path) -> None:
    store = Store(tmp_path / "jobs.sqlite3")
    job, session = store.add_job("solve", "old", {}), store.add_session({"round": None})
    store.close()
    older = sqlite3.connect(tmp_path / "jobs.sqlite3")
    older.execute("PRAGMA user_version = 1")
    older.close()
    store = Store(tmp_path / "jobs.sqlite3")
    assert store.job(job.id) == job and store.session(session) is None
    newer = store.add_session({"deal": None})
    store.close()
    assert Store(tmp_path / "jobs.sqlite3").session(newer) == {"deal": None}


def test_the_queue_and_what_is_kept_are_bounded(tmp_path: Path) -> None:
    async def fill() -> None:
        config = ServerConfig(data_dir=tmp_path, max_queued=3, max_kept=2)
        queue = JobQueue(config, Store(tmp_path / "jobs.sqlite3"))
        (tmp_path / "solutions").mkdir()
        ended = [queue.store.add_job("solve", str(number), {}, status="done").id for number in range(4)]
        queue.solution_file(ended[0]).write_text("x")
        for _ in range(3):
            queue.submit("solve", "spot", {})
        assert [queue.store.job(job_id) is None for job_id in ended] == [True, True, False, False]
        assert not queue.solution_file(ended[0]).exists()
        with pytest.raises(QueueFullError, match="3 jobs are waiting"):
            queue.submit("solve", "spot", {})

    asyncio.run(fill())


def test_curves_of_a_long_job_are_thinned() -> None:
    live = Live()
    for number in range(10 * MAX_EVENTS):
        live.add({"stage": "solving", "iteration": number, "exploitability": 1 / (number + 1)})
    assert live.total == 10 * MAX_EVENTS and MAX_EVENTS / 2 <= len(live.events) <= MAX_EVENTS
    assert live.since(0, live.total - 1)["events"] == [live.last]


@pytest.mark.parametrize("field", [{"port": 0}, {"port": 70_000}, {"solvers": 0}, {"memory_limit": 5}])
def test_impossible_settings_are_refused(field: dict[str, int]) -> None:
    with pytest.raises(ServerError, match=str(next(iter(field.values())))):
        ServerConfig(**field)  # type: ignore[arg-type]


def test_the_server_process_imports_no_solver() -> None:
    """It must start at once: what computes is in the workers."""
    code = "import sys, aleator.apps.web.server; print([m for m in ('numba', 'scipy', 'torch') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
