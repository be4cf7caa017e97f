"""Weights in 8 bits: within half a scale, whatever their sizes; what is 0 or the largest stays."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from aleator.learning.holdem.eight_bits import BLOCK, EightBits, scales_shape


@pytest.mark.parametrize("columns", [1, BLOCK - 1, BLOCK, 3 * BLOCK + 5])
def test_no_weight_moves_by_more_than_half_a_scale(columns: int) -> None:
    rng = np.random.default_rng(columns)
    weights = (rng.normal(size=(7, columns)) * 10.0 ** rng.integers(-9, 4, size=(7, 1))).astype(np.float32)
    weights[3] = 0.0
    packed = EightBits.of(weights)
    assert packed.codes.dtype == np.int8 and packed.scales.shape == scales_shape(7, columns)
    units = np.repeat(packed.scales, BLOCK, axis=1)[:, :columns]
    assert (np.abs(packed.weights() - weights) <= 0.501 * units).all()
    np.testing.assert_array_equal(packed.weights()[3], 0.0)
    largest = np.abs(weights).argmax(axis=1)
    np.testing.assert_allclose(packed.weights()[range(7), largest], weights[range(7), largest], rtol=1e-6)


def test_packing_twice_changes_nothing_more() -> None:
    weights = np.random.default_rng(0).normal(size=(4, 100)).astype(np.float32)
    once = EightBits.of(weights)
    np.testing.assert_array_equal(EightBits.of(once.weights()).codes, once.codes)
