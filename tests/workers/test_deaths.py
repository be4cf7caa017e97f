"""When workers that die are no accident any more."""

from __future__ import annotations

import pytest

from aleator.workers.base import MOST_AT_A_TASK, MOST_IN_A_ROW, Deaths, WorkerError

DIED, DONE = "died", "done"
Events = list[tuple[str, int]]


def stops_after(events: Events) -> int | None:
    """Returns the number of events after which a run stops, whose workers died at tasks or had them done."""
    deaths = Deaths()
    for number, (what, task) in enumerate(events, 1):
        if what == DONE:
            deaths.end(task)
            continue
        try:
            deaths.note(task, "killed")
        except WorkerError:
            return number
    return None


@pytest.mark.parametrize(
    ("events", "after"),
    [
        pytest.param([(DIED, 7)] * 5, MOST_IN_A_ROW, id="one task, and nothing is done"),
        pytest.param([(DIED, 7), (DIED, 8)] * 5, 2 * MOST_IN_A_ROW - 1, id="two tasks, and nothing is done"),
        pytest.param([(DIED, task) for task in range(100)], None, id="a machine with all its workers"),
        pytest.param([(DIED, 7), (DONE, 8)] * 20, 2 * MOST_AT_A_TASK - 1, id="one task, while others are done"),
        pytest.param([(DIED, 7), (DIED, 7), (DONE, 7)] * 20, None, id="a task that is done after all"),
    ],
)
def test_accidents_do_not_stop_a_run(events: Events, after: int | None) -> None:
    assert stops_after(events) == after
