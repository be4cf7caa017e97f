"""Reservoirs keep every sample with the same probability; windows keep the last; sums are exact."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from aleator.learning.sampled.memory import Memory
from aleator.learning.sampled.traversal import Samples


def samples(first: int, number: int) -> Samples:
    """Returns samples whose infostate, target and weight say their number."""
    values = torch.arange(first, first + number)
    return Samples(values, values[:, None].double().expand(-1, 2), values.double() + 1.0)


def test_a_reservoir_is_uniform() -> None:
    """200 reservoirs of 20 of 100 samples in batches of 14, seed 1: every sample is kept as often, z = 4.5."""
    generator, kept = torch.Generator().manual_seed(1), np.zeros(100)
    for _ in range(200):
        memory = Memory(20, 2)
        for first in range(0, 98, 14):
            memory.add(samples(first, 14), 1.0, generator)
        memory.add(samples(98, 2), 1.0, generator)
        assert memory.count == 20 and memory.added == 100
        assert len(set(memory.infostates.tolist())) == 20
        kept[memory.infostates.numpy()] += 1
    error = np.sqrt(200 * 0.2 * 0.8)
    assert np.abs(kept - 40).max() < 4.5 * error
    first, last = kept[:50].sum(), kept[50:].sum()
    assert abs(first - last) < 4.5 * np.sqrt(2 * 50) * error


def test_rows_stay_together_and_weights_are_multiplied() -> None:
    generator, memory = torch.Generator().manual_seed(0), Memory(16, 2)
    memory.add(samples(0, 40), 3.0, generator)
    assert (memory.targets[:, 0] == memory.infostates).all()
    assert (memory.weights == 3.0 * (memory.infostates + 1)).all()
    drawn = memory.draw(64, generator)
    assert (drawn.targets[:, 1] == drawn.infostates).all()
    assert (drawn.weights == 3.0 * (drawn.infostates + 1)).all()
    assert float(memory.mean_weight()) == pytest.approx(float(memory.weights.mean()))


def test_a_window_keeps_the_last() -> None:
    memory = Memory(10, 2, reservoir=False)
    for first in range(0, 36, 4):
        memory.add(samples(first, 4), 1.0, torch.Generator())
    assert sorted(memory.infostates.tolist()) == list(range(26, 36))
    memory.add(samples(100, 25), 1.0, torch.Generator())
    assert sorted(memory.infostates.tolist()) == list(range(115, 125))


def test_sums_are_those_of_all_samples() -> None:
    memory = Memory(100, 2)
    found = Samples(torch.tensor([3, 1, 3]), torch.tensor([[1.0, 2.0], [5.0, 0.0], [4.0, -1.0]]), torch.ones(3))
    memory.add(found, 1.0, torch.Generator())
    memory.add(found, 2.0, torch.Generator())
    memory.add(Samples(torch.tensor([3]), torch.tensor([[9.0, 9.0]]), torch.ones(1)), 4.0, torch.Generator())
    sums = memory.sums(5)
    assert sums.infostates.tolist() == [1, 3]
    expected = [[5.0, 0.0], [(3 * 1 + 3 * 4 + 4 * 9) / 10, (3 * 2 - 3 + 4 * 9) / 10]]
    np.testing.assert_allclose(sums.means, expected, rtol=1e-6)
    np.testing.assert_allclose(sums.weights, [3 / 13, 10 / 13], rtol=1e-6)


@pytest.mark.parametrize("reservoir", [True, False])
def test_sums_that_go_on_are_equal_bit_by_bit(reservoir: bool) -> None:
    """Asked for after every addition, or once at the end; before and after the memory is full."""
    generator = torch.Generator().manual_seed(2)
    asked, once = (Memory(3000, 3, reservoir=reservoir) for _ in range(2))
    for step in range(1, 8):
        infostates = torch.randint(40, (700,), generator=generator)
        targets = torch.randn((700, 3), generator=generator, dtype=torch.float64)
        for memory in (asked, once):
            draws = torch.Generator().manual_seed(step)
            memory.add(Samples(infostates, targets, targets[:, 0].abs()), float(step), draws)
        asked.sums(40)
        fresh = Memory(3000, 3, reservoir=reservoir)
        fresh.load(once.tensors(), 40)
        for first, second in zip(asked.sums(40), fresh.sums(40), strict=True):
            assert torch.equal(first, second)
    assert asked.added > asked.capacity


def test_a_memory_is_restored_and_checked() -> None:
    generator, memory, other = torch.Generator().manual_seed(0), Memory(8, 2), Memory(8, 2)
    memory.add(samples(0, 20), 1.0, generator)
    other.load(memory.tensors(), 20)
    assert other.added == 20 and torch.equal(other.targets, memory.targets)
    with pytest.raises(ValueError, match="infostate that the game does not have"):
        other.load(memory.tensors(), 2)
    with pytest.raises(ValueError, match="does not have these shapes"):
        other.load({**memory.tensors(), "added": torch.tensor([5])}, 20)
