"""What a running job has reported, for those who watch it."""

from __future__ import annotations

from typing import Any

MAX_EVENTS = 2000


class Live:
    """What a running job has reported.

    Attributes:
        last: the last report, without policies.
        events: reports that make up its curves; beyond `MAX_EVENTS` every second one is dropped.
        total: how many there have been.
        policies: the last policy of each algorithm, with the version at which it came.
        version: counts changes.
        cancelled: whether its result is not wanted any more.
        ended: whether its process was ended because it would not stop; what it has reported is its result.
    """

    def __init__(self) -> None:
        self.last: dict[str, Any] = {}
        self.events: list[dict[str, Any]] = []
        self.total = 0
        self.policies: dict[str, tuple[int, dict[str, Any]]] = {}
        self.version = 0
        self.cancelled = False
        self.ended = False

    def add(self, event: dict[str, Any]) -> None:
        """Takes a report."""
        self.version += 1
        if "policy" in event:
            self.policies[event["algorithm"]] = (self.version, dict(event))
            event = {name: value for name, value in event.items() if name != "policy"}
        seen = self.last.get("exploitability")
        self.last = self.last | event
        if event.get("exploitability") is not None and ("algorithm" in event or event["exploitability"] != seen):
            self.total += 1
            self.events.append(event)
            if len(self.events) > MAX_EVENTS:
                self.events = self.events[::2]

    def since(self, version: int, total: int) -> dict[str, Any]:
        """Returns what is new since a version and a number of events."""
        new = min(self.total - total, len(self.events))
        return {
            "last": self.last,
            "events": self.events[len(self.events) - new :],
            "policies": [policy for at, policy in self.policies.values() if at > version],
        }

    def last_points(self) -> list[dict[str, Any]]:
        """Returns the last point of every algorithm."""
        names = ("algorithm", "iteration", "seconds", "exploitability")
        last = {
            event["algorithm"]: {name: event[name] for name in names} for event in self.events if "algorithm" in event
        }
        return list(last.values())
