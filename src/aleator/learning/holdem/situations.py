"""Random hold'em situations to learn from: boards, pots and both players' ranges.

Algorithm:
    R(S, p) gives the hands of a set S, which are in the order of strength, probabilities that sum to p: it splits p at
    a point chosen uniformly from (0, p) and S in halves, and recurses. A range is R(all hands, 1). Pots: one of five
    intervals, then an integer in it; that is what each of the two players has put in.

Reference: DeepStack's supplement, "Deep Counterfactual Value Networks" (pots in footnote 2).

Deviations: the interval [100, 100) holds the number 100. Hands of equal strength stand in a random order.

Status: tests/learning/holdem/test_situations.py.
"""

from __future__ import annotations

import torch

from aleator.caching import cache

Tensor = torch.Tensor

_INTERVALS = ((100, 101), (200, 400), (400, 2000), (2000, 6000), (6000, 19951))  # chips of each player, ends excluded
_STACK = 20_000


@cache
def _halvings(hands: int, device: torch.device) -> list[tuple[Tensor, Tensor, int]]:
    """Returns per level of R(S, p): which set each hand is in [H], whether in the weaker half [H], how many sets."""
    levels = []
    sets = [(0, hands)]
    while any(end - begin > 1 for begin, end in sets):
        number, weak = torch.zeros(hands, dtype=torch.int64), torch.zeros(hands, dtype=torch.bool)
        halves: list[tuple[int, int]] = []
        for index, (begin, end) in enumerate(sets):
            number[begin:end] = index
            middle = begin + (end - begin) // 2
            weak[begin:middle] = True
            halves += [(begin, middle), (middle, end)] if end - begin > 1 else [(begin, end)]
        levels.append((number.to(device), weak.to(device), len(sets)))
        sets = halves
    return levels


def random_ranges(batch: int, hands: int, generator: torch.Generator) -> Tensor:
    """Returns [batch, hands]: R(all hands, 1), over hands in ascending order of strength; rows sum to 1."""
    device = generator.device
    ranges = torch.ones(batch, hands, device=device)
    for number, weak, sets in _halvings(hands, device):
        part = torch.rand(batch, sets, device=device, generator=generator)[:, number]
        alone = torch.bincount(number, minlength=sets)[number] == 1
        ranges *= torch.where(alone, 1.0, torch.where(weak, part, 1.0 - part))
    return ranges / ranges.sum(1, keepdim=True)  # rounding only


def random_stacks(batch: int, generator: torch.Generator, between: tuple[float, float] | None = None) -> Tensor:
    """Returns [batch]: stacks behind in pots, of DeepStack's pots and 20,000 chips, or uniform between two numbers."""
    device = generator.device
    part = torch.rand(batch, device=device, generator=generator, dtype=torch.float64)
    if between is not None:
        return between[0] + (between[1] - between[0]) * part
    low, high = torch.tensor(_INTERVALS, device=device, dtype=torch.float64).T
    which = torch.randint(len(_INTERVALS), (batch,), device=device, generator=generator)
    chips = torch.floor(low[which] + (high - low)[which] * part)
    return (_STACK - chips) / (2.0 * chips)
