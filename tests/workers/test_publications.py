"""Editions of what is published: who has one reads what changed since, who has none reads all, and little is kept."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from aleator.workers.base import Here, Workers
from aleator.workers.processes import Processes
from aleator.workers.publications import Arrays, Part, Publications, parts_between
from tests.workers.work import Sum


def amended(amendments: int, *, size: int = 1000) -> Publications:
    """Returns what began with an edition of `size` bytes and was amended by 100 at a time; contents are their names."""
    names = iter(["whole 1", *(f"changes {number}" for number in range(2, amendments + 2))])

    def keep(shared: Arrays) -> str:
        return next(names) if len(shared["bytes"]) == 100 or size == len(shared["bytes"]) else "whole again"

    published = Publications(keep)
    published.publish({"bytes": np.zeros(size, np.uint8)})
    for _ in range(amendments):
        published.amend({"bytes": np.zeros(100, np.uint8)}, lambda: {"bytes": np.zeros(900, np.uint8)})
    return published


def test_who_has_a_version_reads_what_changed_since() -> None:
    editions = amended(3).editions
    assert parts_between(editions, 2, 4) == [Part("changes 3", False), Part("changes 4", False)]
    assert parts_between(editions, 4, 4) == []
    assert parts_between((), 0, 0) == []


@pytest.mark.parametrize("had", [0, 4])
def test_who_has_none_or_a_later_one_reads_all_and_what_changed_since(had: int) -> None:
    editions = amended(3).editions
    assert parts_between(editions, had, 3) == [
        Part("whole 1", True),
        Part("changes 2", False),
        Part("changes 3", False),
    ]


def test_all_is_kept_again_when_changes_are_four_times_as_large() -> None:
    published = amended(45, size=1000)
    assert [edition.version for edition in published.editions if edition.whole is not None] == [1, 42]
    assert parts_between(published.editions, 0, 43) == [Part("whole again", True), Part("changes 43", False)]
    published.forget(41)
    assert published.editions[0].version == 1, "version 41 is wanted"
    published.forget(43)
    assert published.editions[0].version == 42


def test_what_is_published_anew_is_read_alone() -> None:
    published = Publications(lambda shared: shared["name"][0])
    for number in range(3):
        published.publish({"name": np.array([number])})
    assert parts_between(published.editions, 1, 3) == [Part(2, True)]
    published.forget(3)
    assert len(published.editions) == 1


@pytest.mark.parametrize("workers", [Here(), Processes(2)])
def test_tasks_are_done_with_what_was_published_when_they_were_given(workers: Workers, tmp_path: Any) -> None:
    """One of the processes dies with the third task, which another does with what was published for it."""
    prepare = partial(Sum, tmp_path, frozenset({3} if isinstance(workers, Processes) else ()))
    totals = {}
    with workers.hire(prepare) as crew:
        total = np.array([100])
        crew.publish({"total": total})
        for number in range(8):
            if number:
                total += number
                crew.amend({"more": np.array([number])}, partial(dict, total=total))
            crew.give(number, number)
            totals[number] = int(total[0])
        results: dict[int, int] = {}
        while len(results) < 8:
            results.update({done.number: done.result for done in crew.take()})
        assert crew.replaced == isinstance(workers, Processes)
    assert results == totals
