"""Every door of the library under thousands of texts: no traceback, no hang, no message that is not one short line."""

from __future__ import annotations

import contextlib
import os
from functools import partial
from pathlib import Path

import pytest

from aleator.errors import AleatorError
from tests.fuzz.doors import DOORS
from tests.fuzz.judge import LONG_PATIENCE, PATIENCE, fault_of
from tests.fuzz.texts import Texts

FEW, MANY = 150, 20_000


def _enter_samples(name: str) -> int:
    """Returns how many of a door's samples get through."""
    through = 0
    for text in DOORS[name].samples:
        with contextlib.suppress(AleatorError):
            DOORS[name].enter(text)
            through += 1
    return through


def _try(name: str, count: int, seed: int) -> None:
    door = DOORS[name]
    texts = Texts(door.samples, door.words, seed=seed)
    for number in range(count):
        text = texts.next()
        fault = fault_of(partial(door.enter, text), PATIENCE if count == MANY else LONG_PATIENCE)
        assert fault is None, f"{name}, text {number} of seed {seed}, {text[:300]!r}: {fault}"


QUICK = [name for name in DOORS if name != "solves"]  # which would have to be compiled first


@pytest.mark.parametrize("name", QUICK)
def test_a_few_texts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _try(name, FEW, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", DOORS)
def test_many_texts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _try(name, MANY, seed=int(os.environ.get("ALEATOR_FUZZ_SEED", "1")))


@pytest.mark.parametrize("name", QUICK)
def test_samples_get_through(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    samples = DOORS[name].samples
    assert _enter_samples(name) >= len(samples) / 2, (
        "most texts are stopped at once, and nothing behind the door is tried"
    )
