"""Rows of hands turned into columns, and back: one vector then holds the same hand of WIDE terminals."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from aleator.kernels.simd import WIDE, Vector, address, llvm_type, read_vector, write_vector

_FLOATS, _INTEGERS = Vector(types.float32, WIDE), Vector(types.int32, WIDE)
_INDEX = ir.IntType(64)


def _transpose(builder: ir.IRBuilder, rows: list[Any]) -> list[Any]:
    """Returns the columns of a square of WIDE vectors, by log2(WIDE) rounds of exchanging halves."""
    step = 1
    while step < WIDE:
        mixed = list(rows)
        for i in range(WIDE):
            if i & step:
                continue
            low = [j if not j & step else WIDE + (j ^ step) for j in range(WIDE)]
            high = [j | step if not j & step else WIDE + j for j in range(WIDE)]
            for target, mask in ((i, low), (i | step, high)):
                constant = ir.Constant(ir.VectorType(ir.IntType(32), WIDE), mask)
                mixed[target] = builder.shuffle_vector(rows[i], rows[i | step], constant)
        rows = mixed
        step *= 2
    return rows


@intrinsic  # type: ignore[untyped-decorator]
def rows_to_columns(
    typing_context: Any,
    rows: types.Array,
    row_at: types.Array,
    first: types.Integer,
    scale: types.Array,
    columns: types.Array,
) -> Any:
    """Turns a square of WIDE rows and hands: columns[WIDE * (first + k) + lane] = rows[row_at[lane] + first + k].

    On the way the numbers are multiplied by scale[lane] and rounded to int32.
    """

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        source, starts, start, factors, target = arguments
        loaded = []
        for lane in range(WIDE):
            begin = builder.load(address(context, builder, row_at, starts, ir.Constant(_INDEX, lane)))
            loaded.append(
                read_vector(builder, _FLOATS, address(context, builder, rows, source, builder.add(begin, start)))
            )
        factor = read_vector(builder, _FLOATS, address(context, builder, scale, factors, ir.Constant(_INDEX, 0)))
        for k, values in enumerate(_transpose(builder, loaded)):
            at = builder.mul(builder.add(start, ir.Constant(_INDEX, k)), ir.Constant(_INDEX, WIDE))
            rounded = builder.fptosi(builder.fmul(values, factor), llvm_type(_INTEGERS))
            write_vector(builder, _INTEGERS, rounded, address(context, builder, columns, target, at))
        return context.get_dummy_value()

    return types.void(rows, row_at, types.intp, scale, columns), generate


def _values_to_rows(*, of_folds: bool, adds: bool = False) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def to_rows(
        typing_context: Any, columns: types.Array, same: types.Array, sums: types.Array, card1: types.Array,
        card2: types.Array, everything: Vector, scale: types.Array, rows: types.Array, row_at: types.Array,
        first: types.Integer,
    ) -> Any:  # fmt: skip
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            column, twins, sum_, cards1, cards2, total, factors, target, starts, start = arguments

            def number(kind: types.Array, array: Any, k: int) -> Any:
                offset = builder.add(start, ir.Constant(_INDEX, k))
                return builder.sext(builder.load(address(context, builder, kind, array, offset)), _INDEX)

            def vector(kind: types.Array, array: Any, offset: Any) -> Any:
                return read_vector(builder, _INTEGERS, address(context, builder, kind, array, offset))

            factor = read_vector(builder, _FLOATS, address(context, builder, scale, factors, ir.Constant(_INDEX, 0)))
            scaled = []
            for k in range(WIDE):
                shared = builder.add(
                    vector(sums, sum_, number(card1, cards1, k)), vector(sums, sum_, number(card2, cards2, k))
                )
                free = builder.sub(total, shared)
                hand = number(same, twins, k) if of_folds else builder.add(start, ir.Constant(_INDEX, k))
                here = vector(columns, column, builder.mul(hand, ir.Constant(_INDEX, WIDE)))
                value = builder.add(free, here) if of_folds else builder.sub(here, free)
                scaled.append(builder.fmul(builder.sitofp(value, llvm_type(_FLOATS)), factor))
            for lane, values in enumerate(_transpose(builder, scaled)):
                begin = builder.load(address(context, builder, row_at, starts, ir.Constant(_INDEX, lane)))
                offset = address(context, builder, rows, target, builder.add(begin, start))
                if adds:
                    values = builder.fadd(read_vector(builder, _FLOATS, offset), values)
                write_vector(builder, _FLOATS, values, offset)
            return context.get_dummy_value()

        return types.void(columns, same, sums, card1, card2, everything, scale, rows, row_at, types.intp), generate

    return to_rows


folds_to_rows = _values_to_rows(of_folds=True)
"""Writes rows[row_at[lane] + first + k] = scale[lane] x the reach of hands compatible with own hand first + k: all
less the sums of its two cards, which are counted twice where the opponent holds the `same` hand, `columns[same]`."""

rakes_to_rows = _values_to_rows(of_folds=True, adds=True)
"""Adds to rows[...] what `folds_to_rows` would write there: what the house takes at a showdown, whoever wins."""

showdowns_to_rows = _values_to_rows(of_folds=False)
"""Writes rows[row_at[lane] + first + k] = scale[lane] x (columns[first + k] less all but the sums of the hand's two
cards), where `columns` holds the reach of weaker and of weaker or equal hands, added."""
