"""How sure a mean is."""

from __future__ import annotations

import math
from typing import Final

SURE: Final = 1.96
"""Standard errors on each side of a 95 % interval."""


def mean_and_ci95(total: float, squares: float, count: int) -> tuple[float, float]:
    """Returns a mean and half of its 95 % interval.

    Args:
        total: the sum of the numbers.
        squares: of their squares.
        count: how many they are.
    """
    mean = float(total / count)
    variance = max(float(squares / count) - mean * mean, 0.0)
    return mean, SURE * math.sqrt(variance / max(count - 1, 1))
