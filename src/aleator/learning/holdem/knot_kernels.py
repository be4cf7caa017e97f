"""What a value network does hand by hand, compiled: `network` is the reference. Arrays in, arrays out.

Letters: N situations, H hands, G knots by levels, K knots of the curves for blocked mass, D bands of it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aleator.jit import njit

Rows = npt.NDArray[np.float32]


@njit(forceinline=True)
def _between(position: np.float32, knots: int) -> tuple[int, np.float32]:
    """Returns the knot below a position in [0, 1], and the part of the way to the next."""
    at = min(max(position, np.float32(0.0)), np.float32(1.0)) * np.float32(knots - 1)
    low = min(int(at), knots - 2)
    return low, at - np.float32(low)


@njit()
def mass_on_knots(reach: Rows, position: Rows, spread: Rows, knots: int, levels: int, mass: Rows) -> None:
    """Writes mass [N, 2, G] from both ranges [N, 2, H], positions [N, 2, H] and spreads [N, H]."""
    mass[:] = 0.0
    for number in range(len(reach)):
        for player in range(2):
            grid, weights, places = mass[number, player], reach[number, player], position[number, player]
            for hand in range(len(weights)):
                weight = weights[hand]
                low, part = _between(places[hand], knots)
                if levels > 1:
                    level, up = _between(np.float32(2.0) * spread[number, hand], levels)
                    low += level * knots
                    upper = weight * up
                    weight -= upper
                    grid[low + knots] += upper * (np.float32(1.0) - part)
                    grid[low + knots + 1] += upper * part
                grid[low] += weight * (np.float32(1.0) - part)
                grid[low + 1] += weight * part


@njit()
def read_curves(
    reach: Rows, compatible: Rows, position: Rows, spread: Rows, pairs: npt.NDArray[np.uint8],
    knots: int, levels: int, curve: Rows, band_curves: Rows, change: Rows,
) -> None:  # fmt: skip
    """Writes change [N, 2, H]: what the curves say of each hand, in units of its check-down cfv.

    Args:
        reach, compatible, position: [N, 2, H].
        spread: [N, H].
        pairs: [H, 2] the cards of each hand.
        knots, levels: of `curve`.
        curve: [N, 2, G].
        band_curves: [N, 2, K, D].
        change: written.
    """
    band_knots, bands = band_curves.shape[2:]
    blocked = np.empty((2, int(pairs.max()) + 1, bands), np.float32)  # mass of each player by card and band
    for number in range(len(reach)):
        blocked[:] = 0.0
        for player in range(2):
            for hand in range(reach.shape[2]):
                weight = reach[number, player, hand]
                low, part = _between(position[number, player, hand], bands)
                for card in pairs[hand]:
                    blocked[player, card, low] += weight * (np.float32(1.0) - part)
                    blocked[player, card, low + 1] += weight * part
        for player in range(2):
            other = 1 - player
            read, curves = curve[number, player], band_curves[number, player]
            for hand in range(reach.shape[2]):
                place = position[number, player, hand]
                low, part = _between(place, knots)
                if levels > 1:
                    level, up = _between(np.float32(2.0) * spread[number, hand], levels)
                    low += level * knots
                    first = read[low] + (read[low + 1] - read[low]) * part
                    second = read[low + knots] + (read[low + knots + 1] - read[low + knots]) * part
                    total = first + (second - first) * up
                else:
                    total = read[low] + (read[low + 1] - read[low]) * part
                total *= compatible[number, player, hand]
                knot, part = _between(place, band_knots)
                below, above = curves[knot], curves[knot + 1]
                one, two = blocked[other, pairs[hand, 0]], blocked[other, pairs[hand, 1]]
                for band in range(bands):
                    total += (one[band] + two[band]) * (below[band] + (above[band] - below[band]) * part)
                theirs = reach[number, other, hand]  # of the same hand, which both its cards count
                band, up = _between(position[number, other, hand], bands)
                once = below[band] + (above[band] - below[band]) * part
                again = below[band + 1] + (above[band + 1] - below[band + 1]) * part
                change[number, player, hand] = total - theirs * (once + (again - once) * up)
