"""Vectors of LANES numbers inside Numba kernels, so that hands are always processed LANES at a time.

A kernel reads `load(array, i)`, combines vectors with + - * / and the functions below, and writes `store(array, i, v)`.
The vector becomes one LLVM value; LLVM splits it for CPUs whose registers are narrower. Rows must be padded to a
multiple of LANES. All of this is compile-time only: in plain Python these functions cannot be called.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

LANES = 8


class Vector(types.Type):  # type: ignore[misc]
    """The Numba type of LANES floats."""

    def __init__(self, dtype: types.Float) -> None:
        self.dtype = dtype
        super().__init__(name=f"Vector({dtype} x {LANES})")


def _llvm(vector: Vector) -> ir.VectorType:
    return ir.VectorType(ir.FloatType() if vector.dtype == types.float32 else ir.DoubleType(), LANES)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, vector: Vector) -> None:
        super().__init__(manager, vector, _llvm(vector))


def _pointer(context: Any, builder: ir.IRBuilder, array_type: types.Array, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _llvm(Vector(array_type.dtype)).as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def load(typing_context: Any, array: types.Array, index: types.Integer) -> Any:
    """Returns array[index : index + LANES] as a vector."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        value = builder.load(_pointer(context, builder, array, *arguments))
        value.align = array.dtype.bitwidth // 8
        return value

    return Vector(array.dtype)(array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(typing_context: Any, array: types.Array, index: types.Integer, value: Vector) -> Any:
    """Writes a vector to array[index : index + LANES]."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        target, place, vector = arguments
        builder.store(vector, _pointer(context, builder, array, target, place)).align = array.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate


@intrinsic  # type: ignore[untyped-decorator]
def gather(
    typing_context: Any, array: types.Array, base: types.Integer, places: types.Array, index: types.Integer
) -> Any:
    """Returns array[base + places[index + lane]] for each lane."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        vector, index_type, whole = _llvm(Vector(array.dtype)), ir.IntType(32), ir.IntType(64)
        data = context.make_array(array)(context, builder, arguments[0]).data
        start = builder.gep(data, [arguments[1]])
        offsets = builder.gep(context.make_array(places)(context, builder, arguments[2]).data, [arguments[3]])
        result = ir.Constant(vector, ir.Undefined)
        for lane in range(LANES):
            offset = builder.sext(builder.load(builder.gep(offsets, [ir.Constant(index_type, lane)])), whole)
            result = builder.insert_element(
                result, builder.load(builder.gep(start, [offset])), ir.Constant(index_type, lane)
            )
        return result

    return Vector(array.dtype)(array, types.intp, places, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def splat(typing_context: Any, number: types.Float) -> Any:
    """Returns a vector whose entries all are `number`."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        kind, index = _llvm(Vector(number)), ir.IntType(32)
        undefined = ir.Constant(kind, ir.Undefined)
        one = builder.insert_element(undefined, arguments[0], ir.Constant(index, 0))
        return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(index, LANES), [0] * LANES))

    return Vector(number)(number), generate


@intrinsic  # type: ignore[untyped-decorator]
def largest(typing_context: Any, first: Vector, second: Vector) -> Any:
    """Returns the larger of two vectors, entry by entry."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return first(first, second), generate


@intrinsic  # type: ignore[untyped-decorator]
def if_positive(typing_context: Any, condition: Vector, then: Vector, otherwise: Vector) -> Any:
    """Returns `then` where `condition` > 0 and `otherwise` elsewhere, entry by entry."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        zero = ir.Constant(_llvm(condition), None)
        return builder.select(builder.fcmp_ordered(">", arguments[0], zero), *arguments[1:])

    return then(condition, then, otherwise), generate


def _define(symbol: Callable[[Any, Any], Any], instruction: str) -> None:
    """Gives vectors an arithmetic operator."""

    @intrinsic  # type: ignore[untyped-decorator]
    def apply(typing_context: Any, first: Vector, second: Vector) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            return getattr(builder, instruction)(*arguments, flags=("contract",))

        return first(first, second), generate

    @overload(symbol, strict=False)  # type: ignore[untyped-decorator]
    def operate(first: Any, second: Any) -> Any:
        if isinstance(first, Vector) and isinstance(second, Vector):
            return lambda first, second: apply(first, second)
        return None


_define(operator.add, "fadd")
_define(operator.sub, "fsub")
_define(operator.mul, "fmul")
_define(operator.truediv, "fdiv")
