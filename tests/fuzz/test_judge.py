"""The judge of fuzzers: what takes too long is found, and compiling kernels is not counted."""

from __future__ import annotations

from time import process_time

from numba.core import event

from tests.fuzz.judge import fault_of


def compute(seconds: float) -> None:
    end = process_time() + seconds
    while process_time() < end:
        pass


def compile_for(seconds: float) -> None:
    with event.trigger_event("numba:compile"), event.trigger_event("numba:compile"):  # one kernel calls another
        compute(seconds)


def test_what_takes_too_long_is_a_fault_and_compiling_is_not() -> None:
    assert (fault_of(lambda: compute(60.0), patience=0.2) or "").startswith("takes more than 0.2 seconds")
    assert fault_of(lambda: compile_for(0.6), patience=0.2) is None

    def compile_and_hang() -> None:
        compile_for(0.6)
        compute(60.0)

    assert (fault_of(compile_and_hang, patience=0.2) or "").startswith("takes more than 0.2 seconds")
