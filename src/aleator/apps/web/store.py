"""Jobs and play sessions in SQLite, under the data directory; used by the server's one thread only."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aleator.apps.web.config import ServerError
from aleator.apps.web.hand_store import TABLES, HandStore
from aleator.apps.web.models import Job

_VERSION = 4
_TABLES = """
CREATE TABLE jobs (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL, request TEXT NOT NULL,
    summary TEXT, error TEXT, parent TEXT, created REAL NOT NULL, started REAL, finished REAL, attempts INTEGER NOT NULL
);
CREATE INDEX jobs_by_status ON jobs (status, created);
CREATE TABLE sessions (id TEXT PRIMARY KEY, state TEXT NOT NULL, updated REAL NOT NULL);
"""  # and those of whole hands
MAX_ATTEMPTS = 3
MAX_SESSIONS = 1000
_LISTED = 200  # jobs, the last ones


class Store:
    """What must survive a restart.

    Attributes:
        hands: whole hands.
    """

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._database.row_factory = sqlite3.Row
        try:
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.DatabaseError as error:
            reason = "cannot be used" if isinstance(error, sqlite3.OperationalError) else "is not a database of jobs"
            raise ServerError(f"{path} {reason}: {error}") from error
        if version in (1, 2, 3):  # play sessions had other keys, and there were no whole hands
            self._database.executescript(
                f"BEGIN; DELETE FROM sessions; {TABLES} PRAGMA user_version = {_VERSION}; COMMIT;"
            )
        elif version not in (0, _VERSION):
            raise ServerError(f"{path} was written by another version ({version}); this one reads {_VERSION}")
        if version == 0:
            self._database.executescript(f"BEGIN; {_TABLES} {TABLES} PRAGMA user_version = {_VERSION}; COMMIT;")

        self.hands = HandStore(self._database)

    def close(self) -> None:
        """Closes the database."""
        self._database.close()

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        return self._database.execute(query, tuple(values)).fetchall()

    def add_job(
        self, kind: str, name: str, request: dict[str, Any], *, parent: str | None = None, status: str = "queued"
    ) -> Job:
        """Returns a new job, which waits to be run."""
        job_id = secrets.token_hex(8)
        self._database.execute(
            "INSERT INTO jobs (id, kind, name, status, request, parent, created, attempts) VALUES (?, ?, ?, ?, ?, ?, "
            "?, 0)",
            (job_id, kind, name, status, json.dumps(request), parent, time.time()),
        )
        job = self.job(job_id)
        assert job is not None
        return job

    def job(self, job_id: str) -> Job | None:
        """Returns a job, None if there is none of that id."""
        rows = self._rows("SELECT * FROM jobs WHERE id = ?", [job_id])
        return _job(rows[0]) if rows else None

    def request(self, job_id: str) -> dict[str, Any]:
        """Returns what a job was asked to do."""
        (row,) = self._rows("SELECT request FROM jobs WHERE id = ?", [job_id])
        request: dict[str, Any] = json.loads(row["request"])
        return request

    def jobs(self, kind: str | None = None) -> list[Job]:
        """Returns the last jobs, the newest first."""
        chosen = "WHERE kind = ?" if kind else ""
        query = f"SELECT * FROM jobs {chosen} ORDER BY created DESC LIMIT {_LISTED}"
        return [_job(row) for row in self._rows(query, [kind] if kind else [])]

    def count(self, *statuses: str) -> int:
        """Returns how many jobs are in one of the states."""
        marks = ", ".join("?" * len(statuses))
        return int(self._rows(f"SELECT COUNT(*) FROM jobs WHERE status IN ({marks})", statuses)[0][0])

    def next_job(self, kind: str) -> Job | None:
        """Returns the job that has waited longest; those that were running when the server ended thrice come last."""
        rows = self._rows(
            "SELECT * FROM jobs WHERE status = 'queued' AND kind = ? ORDER BY attempts >= ?, created, rowid LIMIT 1",
            [kind, MAX_ATTEMPTS],
        )
        return _job(rows[0]) if rows else None

    def begin(self, job_id: str) -> None:
        """Notes that a job has begun."""
        self._database.execute(
            "UPDATE jobs SET status = 'running', started = ?, attempts = attempts + 1 WHERE id = ?",
            (time.time(), job_id),
        )

    def end(self, job_id: str, status: str, *, summary: dict[str, Any] | None = None, error: str | None = None) -> None:
        """Notes how a job has ended."""
        text = json.dumps(summary) if summary is not None else None
        self._database.execute(
            "UPDATE jobs SET status = ?, summary = ?, error = ?, finished = ? WHERE id = ?",
            (status, text, error, time.time(), job_id),
        )

    def rename(self, job_id: str, name: str) -> None:
        """Gives a job another name."""
        self._database.execute("UPDATE jobs SET name = ? WHERE id = ?", (name, job_id))

    def delete(self, job_id: str) -> None:
        """Forgets a job."""
        self._database.execute("DELETE FROM jobs WHERE id = ?", (job_id,))

    def oldest_ended(self, beyond: int) -> list[str]:
        """Returns the jobs that have ended, but for the newest `beyond`."""
        rows = self._rows(
            "SELECT id FROM jobs WHERE status NOT IN ('queued', 'running') ORDER BY created DESC LIMIT -1 OFFSET ?",
            [beyond],
        )
        return [row["id"] for row in rows]

    def put_back(self, job_id: str) -> None:
        """Lets a job wait again that was interrupted in good order."""
        self._database.execute("UPDATE jobs SET status = 'queued', attempts = attempts - 1 WHERE id = ?", (job_id,))

    def recover(self) -> list[str]:
        """Returns uploads that were not over when the server ended; what ran then waits again."""
        self._database.execute("UPDATE jobs SET status = 'queued' WHERE status = 'running'")
        return [row["id"] for row in self._rows("SELECT id FROM jobs WHERE status = 'loading'")]

    def add_session(self, state: dict[str, Any]) -> str:
        """Returns the id of a new play session; the oldest ones are forgotten."""
        session_id = secrets.token_hex(8)
        self._database.execute(
            "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions ORDER BY updated DESC LIMIT -1 OFFSET ?)",
            (MAX_SESSIONS,),
        )
        self.save_session(session_id, state)
        return session_id

    def session(self, session_id: str) -> dict[str, Any] | None:
        """Returns the state of a play session, None if there is none of that id."""
        rows = self._rows("SELECT state FROM sessions WHERE id = ?", [session_id])
        return json.loads(rows[0]["state"]) if rows else None

    def save_session(self, session_id: str, state: dict[str, Any]) -> None:
        """Keeps the state of a play session."""
        self._database.execute(
            "INSERT OR REPLACE INTO sessions (id, state, updated) VALUES (?, ?, ?)",
            (session_id, json.dumps(state), time.time()),
        )


def _job(row: sqlite3.Row) -> Job:
    fields = {name: row[name] for name in row.keys() if name != "request"}  # noqa: SIM118
    fields["spot"] = json.loads(row["request"]).get("spot")
    fields["summary"] = json.loads(fields["summary"]) if fields["summary"] else None
    if fields["summary"] and "exploitability" in fields["summary"]:  # before 0.1 that was the fraction of the pot
        fields["summary"].setdefault("exploitability_fraction", fields["summary"]["exploitability"])
    return Job.model_validate(fields)
