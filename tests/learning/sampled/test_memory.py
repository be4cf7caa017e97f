"""Reservoirs keep every sample with the same probability; windows keep the last; sums are exact."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from aleator.learning.sampled.memory import Ledger, Memory
from aleator.learning.sampled.traversal import Samples
from aleator.solvers.algorithms import parse_rule


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


def ledger_samples(step: int) -> Samples:
    """Returns samples of the same 6 infostates, with other targets of both signs at every step."""
    generator = torch.Generator().manual_seed(step)
    targets = torch.randn((6, 3), generator=generator, dtype=torch.float64)
    weights = torch.rand(6, generator=generator, dtype=torch.float64)
    weights[0] = 0.0
    return Samples(torch.tensor([5, 9, 2, 40, 3, 7]), targets, weights)


@pytest.mark.parametrize("name", ["", "lcfr", "dcfr", "sharp-dcfr+"])
def test_a_ledger_sums_as_its_rule_says(name: str) -> None:
    """Beside the definition, one number at a time."""
    rule = parse_rule(name) if name else None
    ledger, totals, weights = Ledger(rule), np.zeros((6, 3)), np.zeros(6)
    for t in range(1, 9):
        _, targets, shares = (np.asarray(column) for column in ledger_samples(t))
        discounts = (1.0, 1.0, 1.0, -np.inf) if rule is None else rule.schedule(t, 1)[0][:4]
        for row, action in np.ndindex(totals.shape):
            old = totals[row, action]
            kept = old * discounts[0] if old > 0 else old * discounts[1]
            totals[row, action] = max(
                kept + (t if rule is None else 1) * shares[row] * targets[row, action], discounts[3]
            )
        weights = weights * discounts[0] + (t if rule is None else 1) * shares
        ledger.add(ledger_samples(t), float(t) if rule is None else 1.0, torch.Generator())
    np.testing.assert_allclose(ledger.totals, totals, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ledger.weights, weights, rtol=1e-5)
    means = totals[1:] / weights[1:, None]
    size = np.sqrt((weights[1:] * np.square(means).sum(axis=1)).sum() / weights.sum())
    assert ledger.size() == pytest.approx(size, rel=1e-4)
    assert ledger.added == 48


def test_a_ledger_draws_means_in_proportion_to_weights() -> None:
    """60,000 draws, seed 4: every share within z = 4.5; what nobody comes to is never drawn."""
    ledger, generator = Ledger(), torch.Generator().manual_seed(4)
    ledger.add(ledger_samples(1), 1.0, generator)
    infostates, targets, weights = ledger_samples(1)
    drawn = ledger.draw(60_000, generator)
    shares = (weights / weights.sum()).numpy()
    for row, infostate in enumerate(infostates.tolist()):
        here = drawn.infostates == infostate
        error = np.sqrt(60_000 * shares[row] * (1 - shares[row]))
        assert abs(int(here.sum()) - 60_000 * shares[row]) <= 4.5 * error
        assert not here.any() or torch.allclose(drawn.targets[here].double(), targets[row], atol=1e-5)
    assert (drawn.weights == 1.0).all()


def test_a_ledger_goes_on_from_what_was_kept_and_refuses_what_does_not_fit() -> None:
    kept, straight = Ledger(parse_rule("dcfr")), Ledger(parse_rule("dcfr"))
    for t in (1, 2, 3):
        straight.add(ledger_samples(t), 1.0, torch.Generator())
    for t in (1, 2):
        kept.add(ledger_samples(t), 1.0, torch.Generator())
    restored = Ledger(parse_rule("dcfr"))
    restored.load(kept.tensors(), 41)
    restored.add(ledger_samples(3), 1.0, torch.Generator())
    assert torch.equal(restored.totals, straight.totals) and torch.equal(restored.weights, straight.weights)
    with pytest.raises(ValueError, match="infostate that the game does not have"):
        Ledger().load(kept.tensors(), 40)
    with pytest.raises(ValueError, match="shapes"):
        Ledger().load(kept.tensors() | {"weights": torch.ones(5)}, 41)
