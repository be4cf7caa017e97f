"""Runs beside each other give what runs one after the other give, in the order of their names."""

from __future__ import annotations

import os

import pytest

from aleator.apps.papers.parallel import run_beside
from aleator.workers.processes import local_workers


def square(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def refuse(number: int) -> int:
    raise ValueError(f"no {number}")


@pytest.mark.parametrize("processes", [1, 2])
def test_results_are_those_of_the_tasks(processes: int) -> None:
    told: list[float] = []
    results = run_beside(
        square, {"two": 2, "three": 3, "four": 4}, lambda share, _: told.append(share), local_workers(processes)
    )
    assert {name: result[0] for name, result in results.items()} == {"two": 4, "three": 9, "four": 16}
    assert list(results) == ["two", "three", "four"] and told == sorted(told)
    assert (os.getpid() in {result[1] for result in results.values()}) == (processes == 1)


def test_an_error_of_a_run_ends_the_experiment() -> None:
    with pytest.raises(ValueError, match="no 3"):
        run_beside(refuse, {"three": 3, "four": 3}, lambda *_: None, local_workers(2))
