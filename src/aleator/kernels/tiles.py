"""Matrix products of a few rows inside Numba kernels: a tile of results stays in registers while the factors stream by.

Algorithm:
    The right factor is packed once into panels of `COLUMNS` columns, row after row, so that it is read from one end to
    the other. For `TILE` rows of the left factor and a panel, all results are accumulators; each row of the panel is
    read once, each number of the left factor once. Every result is summed in the order of the inner dimension, whatever
    its place.

Reference: Goto & van de Geijn 2008, "Anatomy of high-performance matrix multiplication".
Deviations: only the innermost block: the left factor is small enough for the first cache, the right one for the second.
Status: tests/solvers/test_tiles.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import binding, ir
from numba import types
from numba.extending import intrinsic

from aleator.jit import inner_kernel
from aleator.kernels.aligned import aligned_copy
from aleator.kernels.simd import Vector, address, llvm_type, read_vector, spread, write_vector

Array32 = npt.NDArray[np.float32]

TILE = 6  # rows
# 32 registers of 16 numbers, or else 16 of 8: all but a few hold results
_LANES, COLUMNS = (16, 64) if binding.get_host_cpu_features().get("avx512f") else (8, 16)


def packed(matrix: Array32) -> Array32:
    """Returns a matrix [n, m] as panels [ceil(m / COLUMNS), n, COLUMNS], with zeros in columns past the end."""
    depth, width = matrix.shape
    panels = -(-width // COLUMNS)
    padded = np.zeros((depth, panels * COLUMNS), dtype=np.float32)
    padded[:, :width] = matrix
    return aligned_copy(padded.reshape(depth, panels, COLUMNS).transpose(1, 0, 2))


@intrinsic  # type: ignore[untyped-decorator]
def _multiply_tile(
    typing_context: Any, left: types.Array, stride: types.Integer, panels: types.Array, start: types.Integer,
    depth: types.Integer, begin: types.Array, apart: types.Integer, product: types.Array, width: types.Integer,
    column: types.Integer,
) -> Any:  # fmt: skip
    """Writes begin + left [TILE, depth] x the panel from `start` on to `product`, from its `column` on.

    Rows of `left`, `begin` and `product` are `stride`, `apart` and `width` numbers apart.
    """
    vector, whole, flags = Vector(types.float32, _LANES), ir.IntType(64), ("contract",)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        left_, stride_, panels_, start_, depth_, begin_, apart_, found_, width_, column_ = arguments

        def at(number: int) -> ir.Constant:
            return ir.Constant(whole, number)

        def rows_of(kind: types.Array, array: Any, distance: Any) -> list[Any]:
            return [address(context, builder, kind, array, builder.mul(at(row), distance)) for row in range(TILE)]

        def vectors_of(rows: list[Any], begin: Any) -> list[Any]:
            places = [builder.add(begin, at(offset)) for offset in range(0, COLUMNS, _LANES)]
            return [builder.gep(row, [offset]) for row in rows for offset in places]

        rows = rows_of(left, left_, stride_)
        source = address(context, builder, panels, panels_, start_)
        sums = [
            read_vector(builder, vector, pointer) for pointer in vectors_of(rows_of(begin, begin_, apart_), column_)
        ]
        before, loop = builder.block, builder.append_basic_block("tile")
        after = builder.append_basic_block("tile.end")
        builder.branch(loop)
        builder.position_at_end(loop)
        inner, running = builder.phi(whole), [builder.phi(llvm_type(vector)) for _ in sums]
        pointers = vectors_of([source], builder.mul(inner, at(COLUMNS)))
        factors = [read_vector(builder, vector, pointer) for pointer in pointers]
        numbers = [spread(builder, vector, builder.load(builder.gep(row, [inner]))) for row in rows]
        products = [builder.fmul(number, factor, flags=flags) for number in numbers for factor in factors]
        added = [builder.fadd(a, b, flags=flags) for a, b in zip(products, running, strict=True)]
        following = builder.add(inner, at(1))
        for phi, first, later in zip([inner, *running], [at(0), *sums], [following, *added], strict=True):
            phi.add_incoming(first, before)
            phi.add_incoming(later, loop)
        builder.cbranch(builder.icmp_signed("<", following, depth_), loop, after)
        builder.position_at_end(after)
        for pointer, value in zip(vectors_of(rows_of(product, found_, width_), column_), added, strict=True):
            write_vector(builder, vector, value, pointer)
        return context.get_dummy_value()

    index = types.intp
    return types.void(left, index, panels, index, index, begin, index, product, index, index), generate


@inner_kernel()
def multiply(left: Array32, panels: Array32, begin: Array32, apart: int, product: Array32) -> None:
    """Writes begin + left [TILE, n] x a packed matrix [k, n, COLUMNS] to `product` [TILE, k COLUMNS]; n is at least 1.

    Rows of `begin` are `apart` numbers apart: k COLUMNS for a matrix like `product`, 0 for a single row.
    """
    number, depth = panels.shape[0], panels.shape[1]
    for panel in range(number):
        _multiply_tile(
            left, left.shape[1], panels, panel * depth * COLUMNS, depth, begin, apart, product, product.shape[1],
            panel * COLUMNS
        )  # fmt: skip
