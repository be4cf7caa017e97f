"""Processes of this machine: every task once, whoever dies."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from aleator.workers.base import Here, WorkerError, Workers
from aleator.workers.processes import Processes, local_workers
from tests.workers.work import always_die, die_once, refuse, squares, who


@pytest.mark.parametrize("workers", [Here(), Processes(2)])
def test_every_task_has_its_result(workers: Workers) -> None:
    assert dict(workers.run(squares, range(7))) == {number: number**2 for number in range(7)}
    assert list(workers.run(squares, [])) == []
    with pytest.raises(ValueError, match="no 3"):
        list(workers.run(refuse, [3, 3]))


def test_one_worker_is_this_process_and_more_are_others() -> None:
    assert {pid for _, pid in local_workers(1).run(who, range(3))} == {os.getpid()}
    assert os.getpid() not in {pid for _, pid in local_workers(2).run(who, range(3))}


def test_what_a_process_that_died_was_doing_is_done_again(tmp_path: Path) -> None:
    workers = Processes(2)
    results = list(workers.run(partial(die_once, tmp_path, frozenset({2, 5})), range(9)))
    assert sorted(results) == [(number, number**2) for number in range(9)]
    assert workers.replaced in (1, 2)  # both may die at once


def test_processes_that_go_on_dying_are_not_replaced_for_ever() -> None:
    with pytest.raises(WorkerError, match=r"3 workers died one after the other .* memory"):
        list(Processes(2).run(always_die, range(4)))


def test_who_takes_no_more_results_ends_the_processes() -> None:
    run = Processes(2).run(squares, range(1000))
    assert next(run)[1] >= 0
    run.close()  # type: ignore[attr-defined]
