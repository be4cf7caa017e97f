"""Numbers kept as float16: both ways of converting them agree with numpy, bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pytest

from aleator.kernels.simd import WIDE, load_wide, store
from aleator.solvers.engines.boards import kept
from aleator.solvers.engines.boards.kept import MOST_HALF, load_kept, store_kept

Kernel = Callable[[npt.NDArray[Any], npt.NDArray[Any]], None]


@pytest.fixture(params=["by the CPU", "by hand"])
def convert(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[Kernel, Kernel]:
    """Returns kernels that read all kept numbers as float32, and that keep float32 numbers."""
    if request.param == "by hand":
        monkeypatch.setattr(kept, "_converts", lambda context: False)

    @numba.njit
    def read(numbers: npt.NDArray[Any], target: npt.NDArray[Any]) -> None:
        for i in range(0, len(numbers), WIDE):
            store(target, i, load_kept(numbers, i))

    @numba.njit
    def keep(numbers: npt.NDArray[Any], target: npt.NDArray[Any]) -> None:
        for i in range(0, len(numbers), WIDE):
            store_kept(target, i, load_wide(numbers, i))

    return read, keep


def all_halves() -> npt.NDArray[np.float16]:
    """Returns every finite float16, subnormal ones and both zeros included, `[63488]`."""
    halves = np.arange(1 << 16).astype(np.uint16).view(np.float16)
    return halves[np.isfinite(halves)]


def test_every_half_is_read_and_kept_as_numpy_does(convert: tuple[Kernel, Kernel]) -> None:
    read, keep = convert
    halves = all_halves()
    found, back = np.empty(len(halves), np.float32), np.empty(len(halves), np.uint16)
    read(halves.view(np.uint16), found)
    np.testing.assert_array_equal(found.view(np.uint32), halves.astype(np.float32).view(np.uint32))
    keep(found, back)
    np.testing.assert_array_equal(back, halves.view(np.uint16))


def test_numbers_are_rounded_to_the_nearest_half_ties_to_even(convert: tuple[Kernel, Kernel]) -> None:
    _, keep = convert
    halves = np.sort(all_halves().astype(np.float32))
    ties = (halves[:-1] + halves[1:]) / 2
    quarters = np.concatenate([halves[:-1] + (halves[1:] - halves[:-1]) / 4 * part for part in (1, 3)])
    wide = np.random.default_rng(0).normal(size=1 << 12).astype(np.float32) * np.float32(1000.0)
    beyond = np.array([MOST_HALF, 65519.0, 65520.0, 1e6, 1e38, -65519.0, -65520.0, -1e38], np.float32)
    numbers = np.concatenate([ties, quarters, wide, beyond, np.array([1e-9, -1e-9, 0.0, -0.0], np.float32)])
    numbers = np.pad(numbers, (0, -len(numbers) % WIDE))
    found = np.empty(len(numbers), np.uint16)
    keep(numbers, found)
    with np.errstate(over="ignore"):
        expected = numbers.astype(np.float16)
    np.testing.assert_array_equal(found, expected.view(np.uint16))
    assert np.isinf(expected).sum() == 5 and (np.abs(expected[: len(ties)]) < 6.1e-5).any(), "all kinds are there"


def test_float32_is_kept_as_it_is(convert: tuple[Kernel, Kernel]) -> None:
    read, keep = convert
    numbers = np.random.default_rng(0).normal(size=4 * WIDE).astype(np.float32)
    kept_numbers, found = np.empty_like(numbers), np.empty_like(numbers)
    keep(numbers, kept_numbers)
    read(kept_numbers, found)
    np.testing.assert_array_equal(found, numbers)
