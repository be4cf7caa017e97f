"""Levels of policies: as near as their steps allow, and the same after they were coded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.abstraction.packed.coding import LEAST_BITS, MOST_BITS, Shape, decode, encode, to_levels


def shape_of(actions: list[int], buckets: list[int]) -> Shape:
    return Shape(np.array(actions, np.int32), np.array(buckets, np.int32))


SHAPE = shape_of([3, 2, 6, 4], [169, 200, 50, 7])


def random_weights(shape: Shape, seed: int, unmet: float = 0.2) -> np.ndarray:
    """Returns weights with pure policies, mixed ones, and some that are nowhere met."""
    rng, blocks = np.random.default_rng(seed), []
    for actions, buckets in zip(*shape, strict=True):
        block = rng.exponential(size=(buckets, actions)) ** rng.choice([1.0, 6.0, 30.0], (buckets, 1))
        blocks.append((block * (rng.random((buckets, 1)) >= unmet)).ravel())
    return np.concatenate(blocks).astype(np.float32)


@pytest.mark.parametrize("bits", range(LEAST_BITS, MOST_BITS + 1))
def test_levels_are_probabilities_rounded_to_their_steps(bits: int) -> None:
    weights, steps, at = random_weights(SHAPE, 1), (1 << bits) - 1, 0
    levels = to_levels(SHAPE, weights, bits).astype(int)
    for actions, buckets in zip(*SHAPE, strict=True):
        size = int(actions * buckets)
        rows, block = weights[at : at + size].reshape(-1, actions), levels[at : at + size].reshape(-1, actions)
        is_met = rows.sum(axis=1) > 0.0
        assert (block[~is_met] == steps + 1).all() and (block[is_met].sum(axis=1) == steps).all()
        exact = steps * rows[is_met] / rows[is_met].sum(axis=1, keepdims=True)
        assert np.abs(block[is_met] - exact).max() < 1.0
        at += size
    assert at == len(levels)


@pytest.mark.parametrize("bits", range(LEAST_BITS, MOST_BITS + 1))
@pytest.mark.parametrize("unmet", [0.0, 0.2, 1.0])
def test_decoding_gives_what_was_encoded(bits: int, unmet: float) -> None:
    levels = to_levels(SHAPE, random_weights(SHAPE, bits, unmet), bits)
    np.testing.assert_array_equal(decode(SHAPE, encode(SHAPE, levels, bits), bits), levels)


def test_a_large_table_is_coded_in_fewer_bits_than_its_entropy_without_neighbours() -> None:
    shape = shape_of([3] * 500, [200] * 500)
    equity = np.tile(np.linspace(-3.0, 3.0, 200), 500)[:, None]
    weights = np.exp(equity * np.array([[-2.0, 0.0, 2.0]]))  # neighbours play alike
    levels = to_levels(shape, weights.ravel().astype(np.float32), 5)
    code = encode(shape, levels, 5)
    chances = np.unique(levels.reshape(-1, 3), axis=0, return_counts=True)[1] / (500 * 200)
    assert len(code) < 0.5 * -(chances * np.log2(chances)).sum() * 500 * 200 / 8
    np.testing.assert_array_equal(decode(shape, code, 5), levels)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_policies_or_refused(code: bytes) -> None:
    shape, bits = shape_of([2, 3], [20, 9]), 4
    try:
        levels = decode(shape, np.frombuffer(code, np.uint8), bits).astype(int)
    except ValueError:
        return
    for block in (levels[:40].reshape(20, 2), levels[40:].reshape(9, 3)):
        assert ((block.sum(axis=1) == 15) | (block == 16).all(axis=1)).all()


@pytest.mark.parametrize(
    "change", [lambda code: code[:-1], lambda code: np.append(code, np.uint8(0)), lambda code: code[:3]]
)
def test_a_code_that_is_too_short_or_too_long_is_refused(change: object) -> None:
    code = encode(SHAPE, to_levels(SHAPE, random_weights(SHAPE, 3), 4), 4)
    with pytest.raises(ValueError, match="cannot be decoded"):
        decode(SHAPE, change(code), 4)  # type: ignore[operator]
