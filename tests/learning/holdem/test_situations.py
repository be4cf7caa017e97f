"""Random situations: DeepStack's ranges and pots."""

from __future__ import annotations

import torch

from aleator.learning.holdem.situations import random_ranges, random_stacks


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_ranges_sum_to_one_and_halves_are_uniform() -> None:
    for hands in (1, 2, 7, 64, 1081):
        ranges = random_ranges(4_000, hands, generator())
        assert ranges.shape == (4_000, hands) and bool((ranges >= 0).all())
        assert torch.allclose(ranges.sum(1), torch.ones(4_000), atol=1e-5)
    weak = random_ranges(4_000, 1081, generator())[:, : 1081 // 2].sum(1)  # p1 of the first split, uniform on (0, 1)
    for part in (0.1, 0.25, 0.5, 0.75, 0.9):
        assert abs(float((weak < part).float().mean()) - part) < 0.03  # 4,000 draws: standard error below .008


def test_a_range_recurses_within_its_halves() -> None:
    """Of three hands the first gets p1, and the others share the rest uniformly."""
    ranges = random_ranges(4_000, 3, generator(1))
    share = ranges[:, 1] / (ranges[:, 1] + ranges[:, 2])
    assert abs(float(share.mean()) - 0.5) < 0.02 and abs(float(share.var()) - 1 / 12) < 0.01
    assert abs(float(torch.corrcoef(torch.stack([ranges[:, 0], share]))[0, 1])) < 0.06


def test_stacks_between_two_numbers() -> None:
    stacks = random_stacks(2_000, generator(), (0.5, 2.5))
    assert 0.5 <= float(stacks.min()) < 0.51 and 2.49 < float(stacks.max()) <= 2.5
    assert abs(float(stacks.mean()) - 1.5) < 0.05


def test_pots_are_those_of_the_footnote() -> None:
    stacks = random_stacks(20_000, generator())
    chips = 20_000 / (2 * stacks + 1)
    assert torch.allclose(chips, chips.round(), atol=1e-6)
    intervals = [(100, 100), (200, 399), (400, 1999), (2000, 5999), (6000, 19950)]
    for low, high in intervals:
        inside = (chips > low - 0.5) & (chips < high + 0.5)
        assert abs(float(inside.float().mean()) - 0.2) < 0.015
    assert float(chips.max()) <= 19950.5 and float(stacks.min()) > 0
