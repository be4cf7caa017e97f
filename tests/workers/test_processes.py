"""Processes of this machine: every task once, whoever dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from time import sleep

import pytest

from aleator.workers.base import Here, WorkerError, Workers
from aleator.workers.processes import Processes, local_workers
from tests.workers.work import always_die, die_once, hang, refuse, squares, who


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


_COLLECTOR = """
import sys
from functools import partial
from pathlib import Path
from aleator.workers.processes import Processes
from tests.workers.work import hang

if __name__ == "__main__":
    list(Processes(2).run(partial(hang, Path(sys.argv[1])), [0, 1, 1]))
"""


def _is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _wait_for_two(folder: Path) -> list[int]:
    while len(pids := [int(path.name) for path in folder.iterdir()]) < 2:
        sleep(0.01)
    return pids


def _wait_for_end(pids: list[int]) -> None:
    while any(map(_is_there, pids)):
        sleep(0.01)


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked for in /proc")
def test_who_takes_no_more_results_ends_what_would_never_end(tmp_path: Path) -> None:
    run = Processes(2).run(partial(hang, tmp_path), [0, 1, 1])
    assert next(run) == (0, 0)
    pids = _wait_for_two(tmp_path)
    run.close()  # type: ignore[attr-defined]
    _wait_for_end(pids)


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked for in /proc")
def test_processes_do_not_outlive_who_started_them(tmp_path: Path) -> None:
    script, folder = tmp_path / "collector.py", tmp_path / "pids"
    script.write_text(_COLLECTOR)
    folder.mkdir()
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    with subprocess.Popen([sys.executable, str(script), str(folder)], env=os.environ | {"PYTHONPATH": path}) as process:
        pids = _wait_for_two(folder)
        process.send_signal(signal.SIGKILL)
    _wait_for_end(pids)
