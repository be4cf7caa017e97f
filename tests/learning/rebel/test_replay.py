"""The replay buffer: the oldest examples go first, all others are drawn equally often."""

from __future__ import annotations

import pytest
import torch

from aleator.learning.rebel.replay import Replay


def numbered(first: int, count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns examples whose inputs and targets are their numbers."""
    numbers = torch.arange(first, first + count, dtype=torch.float32)
    return numbers[:, None].expand(-1, 3), numbers[:, None].expand(-1, 2), torch.ones((count, 2), dtype=torch.bool)


def held(replay: Replay) -> set[int]:
    """Returns the numbers of the examples that can be drawn."""
    places = replay.places(2000, torch.Generator().manual_seed(0))
    assert torch.equal(replay.inputs[places, 0], replay.targets[places, 1])
    return {int(number) for number in replay.inputs[places, 0]}


def test_the_oldest_examples_are_overwritten() -> None:
    replay = Replay(5, 3, 2)
    replay.add(*numbered(0, 3))
    assert replay.count == 3 and held(replay) == {0, 1, 2}
    replay.add(*numbered(3, 4))
    assert replay.count == 5 and replay.added == 7 and held(replay) == {2, 3, 4, 5, 6}
    replay.add(*numbered(7, 12))
    assert replay.count == 5 and replay.added == 19 and held(replay) == {14, 15, 16, 17, 18}


def test_the_early_drop_forgets_the_oldest_half() -> None:
    replay = Replay(10, 3, 2)
    replay.add(*numbered(0, 6))
    replay.drop(0.5)
    assert replay.count == 3 and held(replay) == {3, 4, 5}
    replay.add(*numbered(6, 2))
    assert held(replay) == {3, 4, 5, 6, 7}
    replay.add(*numbered(8, 8))
    assert held(replay) == set(range(6, 16))


def test_draws_are_uniform() -> None:
    replay = Replay(4, 3, 2)
    replay.add(*numbered(0, 6))
    places = replay.places(40_000, torch.Generator().manual_seed(1))
    counts = torch.bincount(replay.inputs[places, 0].long(), minlength=6).double()
    assert counts[:2].sum() == 0
    # each count has standard deviation sqrt(40000 * 1/4 * 3/4) = 87; z = 4
    assert (counts[2:] - 10_000).abs().max() < 4 * 87


def test_a_buffer_for_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 example, not 0"):
        Replay(0, 3, 2)
