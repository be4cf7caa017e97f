"""Chunks of examples: the same whoever makes them, and no more after the time is over."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import pytest
import torch

from aleator.errors import SolveError
from aleator.learning.holdem.chunks import Chunk, ChunkMaker, Teacher, make_examples
from aleator.learning.holdem.examples import Examples, Labelling
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.network import NetworkShape
from aleator.learning.holdem.slices import SliceConfig, preset
from aleator.workers.base import Here, Workers
from aleator.workers.processes import Processes

CPU = torch.device("cpu")
FEW = Labelling(iterations=2, deep_iterations=2)


def small(street: str) -> SliceConfig:
    """Returns a slice with chunks of 4 examples on a small deck."""
    return replace(preset("small", street), chunk=4)


def made(workers: Workers, config: SliceConfig, whole: Chunk, teacher: Teacher | None = None) -> Examples:
    """Returns the examples of a chunk that is split among workers."""
    prepare = partial(ChunkMaker, config, teacher, "cpu", away=not isinstance(workers, Here))
    with workers.hire(prepare) as crew:
        return make_examples(crew, config, whole, CPU, lambda part, text: None)


def test_examples_are_the_same_whoever_makes_them() -> None:
    config, whole = small("river"), Chunk(10, FEW, False, 1)
    here, there = made(Here(), config, whole), made(Processes(2), config, whole)
    assert len(here) == 10
    for one, other in zip(here, there, strict=True):
        assert torch.equal(one, other)
    again = made(Here(), config, whole._replace(seed=2))
    assert not torch.equal(here.rows, again.rows)
    assert not torch.equal(here.rows[:4], here.rows[4:8]), "every chunk has random numbers of its own"


def test_a_teacher_is_sent_as_arrays() -> None:
    config = small("turn")
    shape = NetworkShape(street="river", width=8, layers=1, knots=8, levels=1, bands=2, band_knots=4)
    network = KnotNetwork(shape, config.cards - 5, torch.Generator().manual_seed(0))
    copy = Teacher.of(network).network(CPU)
    assert all(torch.equal(value, copy.state_dict()[name]) for name, value in network.state_dict().items())
    whole = Chunk(4, FEW, True, 0)
    taught = made(Here(), config, whole, Teacher.of(network))
    solved = made(Here(), config, whole._replace(taught=False), Teacher.of(network))
    assert torch.equal(taught.rows[:, :2], solved.rows[:, :2]) and not torch.equal(
        taught.rows[:, 6:], solved.rows[:, 6:]
    )
    with torch.no_grad():
        network.first.weight.fill_(torch.nan)
    with pytest.raises(SolveError, match="some of the examples 0 to 4 are not numbers"):
        made(Here(), config, whole, Teacher.of(network))


def test_nothing_is_begun_after_the_time_but_one_chunk_is_there() -> None:
    config, told = small("river"), []
    prepare = partial(ChunkMaker, config, None, "cpu", away=False)
    with Here().hire(prepare) as crew:
        examples = make_examples(
            crew, config, Chunk(400, FEW, False, 0), CPU, lambda part, text: told.append(text), time.monotonic() - 1
        )
    assert len(examples) == 4 and told == ["4 of 400 examples"]
