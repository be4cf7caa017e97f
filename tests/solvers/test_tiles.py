"""Matrix products by tiles: equal to NumPy's, for matrices that fill no panel and several."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from aleator.jit import kernel
from aleator.kernels.tiles import COLUMNS, TILE, multiply, packed

Array32 = npt.NDArray[np.float32]


@kernel(cache=False)
def run(left: Array32, panels: Array32, begin: Array32, apart: int, found: Array32) -> None:
    multiply(left, panels, begin, apart, found)


@pytest.mark.parametrize(("depth", "width"), [(1, 3), (7, COLUMNS), (40, 2 * COLUMNS + 1)])
def test_products_are_numpys(depth: int, width: int) -> None:
    rng = np.random.default_rng(depth)
    left, right = (rng.standard_normal(shape).astype(np.float32) for shape in ((TILE, depth), (depth, width)))
    panels = packed(right)
    padded = panels.shape[0] * COLUMNS
    assert panels.shape == (-(-width // COLUMNS), depth, COLUMNS)
    begin = rng.standard_normal((TILE, padded)).astype(np.float32)
    for apart, added in ((padded, begin), (0, begin[:1])):
        found = np.full((TILE, padded), np.nan, dtype=np.float32)
        run(left, panels, begin, apart, found)
        np.testing.assert_allclose(found[:, :width], added[:, :width] + left @ right, rtol=0, atol=1e-4)
        np.testing.assert_array_equal(found[:, width:], np.broadcast_to(added, found.shape)[:, width:])
