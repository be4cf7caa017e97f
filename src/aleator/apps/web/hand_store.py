"""Whole hands in SQLite: sessions against an agent, and every hand that was played in them."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from typing import Any

TABLES = """
CREATE TABLE IF NOT EXISTS hand_sessions (
    id TEXT PRIMARY KEY, opponent TEXT NOT NULL, stack INTEGER NOT NULL, state TEXT NOT NULL, created REAL NOT NULL,
    updated REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS hands (
    id TEXT PRIMARY KEY, session TEXT NOT NULL, number INTEGER NOT NULL, seat INTEGER NOT NULL, record TEXT NOT NULL,
    won REAL NOT NULL, fair REAL NOT NULL, practice INTEGER NOT NULL, review TEXT, played REAL NOT NULL,
    UNIQUE (session, number)
);
"""
_FIELDS = ("id", "session", "number", "seat", "won", "fair", "practice", "played")


class HandStore:
    """What was played; used by the server's one thread only."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def add_session(self, state: dict[str, Any]) -> str:
        """Returns the id of a new session."""
        session_id = secrets.token_hex(8)
        now = time.time()
        self._database.execute(
            "INSERT INTO hand_sessions (id, opponent, stack, state, created, updated) VALUES (?, ?, ?, ?, ?, ?)",
            (session_id, state["opponent"], state["stack"], json.dumps(state), now, now),
        )
        return session_id

    def session(self, session_id: str) -> dict[str, Any] | None:
        """Returns the state of a session, None if there is none of that id."""
        rows = self._database.execute("SELECT state FROM hand_sessions WHERE id = ?", (session_id,)).fetchall()
        return json.loads(rows[0]["state"]) if rows else None

    def save(self, session_id: str, state: dict[str, Any], ended: dict[str, Any] | None) -> None:
        """Keeps the state of a session, and the hand that has just ended in it."""
        self._database.execute(
            "UPDATE hand_sessions SET state = ?, updated = ? WHERE id = ?", (json.dumps(state), time.time(), session_id)
        )
        if ended is not None:
            self._database.execute(
                "INSERT OR REPLACE INTO hands (id, session, number, seat, record, won, fair, practice, review, played) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)",
                (
                    f"{session_id}-{ended['number']}", session_id, ended["number"], ended["seat"],
                    json.dumps(ended["record"]), ended["won"], ended["fair"], int(ended["practice"]), time.time(),
                ),
            )  # fmt: skip

    def forget(self, session_id: str) -> None:
        """Removes a session and its hands."""
        self._database.execute("DELETE FROM hands WHERE session = ?", (session_id,))
        self._database.execute("DELETE FROM hand_sessions WHERE id = ?", (session_id,))

    def sessions(self) -> list[dict[str, Any]]:
        """Returns all sessions, the last played first: hands `played`, those that count, and what these won."""
        rows = self._database.execute(
            "SELECT s.id, s.opponent, s.stack, COALESCE(json_extract(s.state, '$.players'), 2) AS players, s.created, "
            "json_extract(s.state, '$.fair_known') AS fair_known, "
            "s.updated, COUNT(h.id) AS hands, "
            "(SELECT COUNT(*) FROM hands p WHERE p.session = s.id) AS played, COALESCE(SUM(h.won), 0) AS won, "
            "COALESCE(SUM(h.fair), 0) AS fair, COALESCE(SUM(h.fair * h.fair), 0) AS squares FROM hand_sessions s "
            "LEFT JOIN hands h ON h.session = s.id AND h.practice = 0 GROUP BY s.id ORDER BY s.updated DESC LIMIT 200"
        )
        return [dict(row) for row in rows]

    def hands(self, session_id: str | None = None, limit: int = 500) -> list[dict[str, Any]]:
        """Returns the last hands, of one session or of all, without their records."""
        where, values = ("WHERE session = ?", [session_id]) if session_id else ("", [])
        shown = "json_extract(record, '$.hands[' || seat || ']') AS cards, json_extract(record, '$.board') AS board"
        fields = f"{', '.join(_FIELDS)}, json_array_length(record, '$.hands') AS players, {shown}, review"
        query = f"SELECT {fields} FROM hands {where} ORDER BY played DESC, number DESC LIMIT ?"
        hands = []
        for row in self._database.execute(query, (*values, limit)):
            review = json.loads(row["review"]) if row["review"] else None
            given_up = None if review is None else sum(decision["given_up"] for decision in review["decisions"])
            hands.append({name: row[name] for name in (*_FIELDS, "players", "cards", "board")} | {"given_up": given_up})
        return hands

    def hand(self, hand_id: str) -> dict[str, Any] | None:
        """Returns a hand with its record and review, None if there is none of that id."""
        rows = self._database.execute("SELECT * FROM hands WHERE id = ?", (hand_id,)).fetchall()
        if not rows:
            return None
        hand = dict(rows[0])
        return hand | {name: json.loads(hand[name]) if hand[name] else None for name in ("record", "review")}

    def records(self, session_id: str | None) -> list[dict[str, Any]]:
        """Returns the records of a session's hands, or of all, in the order in which they were played."""
        where, values = ("WHERE session = ?", (session_id,)) if session_id else ("", ())
        rows = self._database.execute(f"SELECT record FROM hands {where} ORDER BY played, number", values)
        return [json.loads(row["record"]) for row in rows]

    def keep_review(self, hand_id: str, review: dict[str, Any]) -> None:
        """Keeps the review of a hand."""
        self._database.execute("UPDATE hands SET review = ? WHERE id = ?", (json.dumps(review), hand_id))

    def decisions(self) -> list[dict[str, Any]]:
        """Returns the decisions of all reviewed hands, each with its hand, the costliest first."""
        judged = []
        for row in self._database.execute("SELECT id, review FROM hands WHERE review IS NOT NULL"):
            decisions = json.loads(row["review"])["decisions"]
            judged += [decision | {"hand_id": row["id"]} for decision in decisions]
        return sorted(judged, key=lambda decision: -decision["given_up"])


def leaks(decisions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns what decisions gave up in big blinds, by street and by what was done there."""
    costs: dict[tuple[str, str], dict[str, Any]] = {}
    for decision in decisions:
        kind = decision["actions"][decision["taken"]]["kind"]
        for street, did in ((decision["street"], ""), (decision["street"], kind)):
            empty = {"street": street, "kind": did, "decisions": 0, "mistakes": 0, "given_up": 0.0}
            row = costs.setdefault((street, did), empty)
            row["decisions"] += 1
            row["mistakes"] += int(decision["mistake"])
            row["given_up"] += decision["given_up"]
    order = {name: number for number, name in enumerate(("preflop", "flop", "turn", "river"))}
    return sorted(costs.values(), key=lambda row: (order.get(row["street"], 9), row["kind"] != "", -row["given_up"]))
