"""Vectors of 8 or 16 numbers inside Numba kernels, so that hands are always processed several at a time.

A kernel reads `load(array, i)`, combines vectors with + - * / and the functions below, and writes `store(array, i, v)`.
The vector becomes one LLVM value; LLVM splits it for CPUs whose registers are narrower. Rows must be padded to a
multiple of the width: LANES for `load` and `splat`, WIDE for `load_wide` and `splat_wide`. All of this is compile-time
only: in plain Python these functions cannot be called.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic, models, overload, register_model

LANES = 8
WIDE = 16


class Vector(types.Type):  # type: ignore[misc]
    """The Numba type of a few float32, float64 or int32 numbers."""

    def __init__(self, dtype: types.Type, lanes: int) -> None:
        self.dtype, self.lanes = dtype, lanes
        super().__init__(name=f"Vector({dtype} x {lanes})")


def llvm_type(vector: Vector) -> ir.VectorType:
    elements = {types.float32: ir.FloatType(), types.float64: ir.DoubleType(), types.int32: ir.IntType(32)}
    return ir.VectorType(elements[vector.dtype], vector.lanes)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, vector: Vector) -> None:
        super().__init__(manager, vector, llvm_type(vector))


def address(context: Any, builder: ir.IRBuilder, array_type: types.Array, array: Any, index: Any) -> Any:
    """Returns a pointer to an array's entry; indices are not checked and negative ones do not wrap around."""
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


def read_vector(builder: ir.IRBuilder, vector: Vector, pointer: Any) -> Any:
    value = builder.load(builder.bitcast(pointer, llvm_type(vector).as_pointer()))
    value.align = vector.dtype.bitwidth // 8
    return value


def write_vector(builder: ir.IRBuilder, vector: Vector, value: Any, pointer: Any) -> None:
    target = builder.bitcast(pointer, llvm_type(vector).as_pointer())
    builder.store(value, target).align = vector.dtype.bitwidth // 8


def spread(builder: ir.IRBuilder, vector: Vector, number: Any) -> Any:
    kind, index = llvm_type(vector), ir.IntType(32)
    undefined = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(undefined, number, ir.Constant(index, 0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(index, vector.lanes), [0] * vector.lanes))


def _loader(lanes: int) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def load(typing_context: Any, array: types.Array, index: types.Integer) -> Any:
        """Returns array[index : index + lanes] as a vector."""
        vector = Vector(array.dtype, lanes)

        def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            return read_vector(builder, vector, address(context, builder, array, *arguments))

        return vector(array, types.intp), generate

    return load


def _splatter(lanes: int) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def splat(typing_context: Any, number: types.Type) -> Any:
        """Returns a vector whose entries all are `number`."""
        vector = Vector(number, lanes)

        def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            return spread(builder, vector, arguments[0])

        return vector(number), generate

    return splat


load, load_wide = _loader(LANES), _loader(WIDE)
splat, splat_wide = _splatter(LANES), _splatter(WIDE)


@intrinsic  # type: ignore[untyped-decorator]
def store(typing_context: Any, array: types.Array, index: types.Integer, value: Vector) -> Any:
    """Writes a vector to array[index : index + lanes]."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        target, offset, vector = arguments
        write_vector(builder, value, vector, address(context, builder, array, target, offset))
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate


@intrinsic  # type: ignore[untyped-decorator]
def raw(typing_context: Any, array: types.Array, index: types.Integer) -> Any:
    """Returns array[index] as an intp, without the code that lets negative indices wrap around."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        value = builder.load(address(context, builder, array, *arguments))
        widen = builder.sext if array.dtype.signed else builder.zext
        return widen(value, ir.IntType(64)) if value.type.width < 64 else value

    return types.intp(array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def gather(
    typing_context: Any, array: types.Array, base: types.Integer, places: types.Array, index: types.Integer
) -> Any:
    """Returns array[base + places[index + lane]] for each of LANES lanes."""
    vector = Vector(array.dtype, LANES)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lane_type, whole = ir.IntType(32), ir.IntType(64)
        start = address(context, builder, array, arguments[0], arguments[1])
        offsets = address(context, builder, places, arguments[2], arguments[3])
        result = ir.Constant(llvm_type(vector), ir.Undefined)
        for lane in range(LANES):
            offset = builder.sext(builder.load(builder.gep(offsets, [ir.Constant(lane_type, lane)])), whole)
            result = builder.insert_element(
                result, builder.load(builder.gep(start, [offset])), ir.Constant(lane_type, lane)
            )
        return result

    return vector(array, types.intp, places, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing_context: Any, array: types.Array, index: types.Integer) -> Any:
    """Asks for the cache line of array[index], which need not exist."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        number, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        call = get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        offset = builder.bitcast(address(context, builder, array, *arguments), byte)
        builder.call(call, [offset, *(ir.Constant(number, option) for option in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def total(typing_context: Any, vector: Vector) -> Any:
    """Returns the sum of a vector's entries, added in halves."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        value, width, index = arguments[0], vector.lanes, ir.IntType(32)
        while width > 1:
            width //= 2
            undefined = ir.Constant(value.type, ir.Undefined)
            parts = [
                builder.shuffle_vector(
                    value, undefined, ir.Constant(ir.VectorType(index, width), list(range(start, start + width)))
                )
                for start in (0, width)
            ]
            value = builder.fadd(*parts)
        return builder.extract_element(value, ir.Constant(index, 0))

    return vector.dtype(vector), generate


@intrinsic  # type: ignore[untyped-decorator]
def is_zero(typing_context: Any, vector: Vector) -> Any:
    """Returns whether all of a vector's float entries are zero."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        some = builder.fcmp_unordered("!=", arguments[0], ir.Constant(llvm_type(vector), None))
        mask = ir.IntType(vector.lanes)
        return builder.icmp_unsigned("==", builder.bitcast(some, mask), ir.Constant(mask, 0))

    return types.boolean(vector), generate


@intrinsic  # type: ignore[untyped-decorator]
def nonzero(typing_context: Any, vector: Vector) -> Any:
    """Returns which of a vector's entries are not zero: a bit of a uint64 for each, the lowest for the first."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        zero = ir.Constant(llvm_type(vector), None)
        whole_numbers = vector.dtype == types.int32
        compare = builder.icmp_unsigned if whole_numbers else builder.fcmp_unordered
        mask = builder.bitcast(compare("!=", arguments[0], zero), ir.IntType(vector.lanes))
        return builder.zext(mask, ir.IntType(64))

    return types.uint64(vector), generate


@intrinsic  # type: ignore[untyped-decorator]
def lowest_bit(typing_context: Any, word: types.Integer) -> Any:
    """Returns the number of the lowest bit that is set in a uint64 other than 0, as an intp."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.intp(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def sharpened(typing_context: Any, vector: Vector, sharp: Vector) -> Any:
    """Returns float32 entries to power 1.5 where `sharp` is -1, as they are where it is 0; zero if they are negative.

    The bits of a float, taken as an integer, are its binary logarithm, linear in between (Mitchell 1962). So half of
    them is added: the power is right to 9 %, monotonous, without a root, and the same on all machines. Less than 2^-42
    becomes 0.
    """

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        kind, lanes = llvm_type(sharp), vector.lanes
        zero = ir.Constant(kind, None)

        def positive(numbers: Any) -> Any:
            return builder.select(builder.icmp_signed(">", numbers, zero), numbers, zero)

        bits, mask = positive(builder.bitcast(arguments[0], kind)), arguments[1]
        half = builder.ashr(bits, ir.Constant(kind, [1] * lanes))
        less = builder.sub(half, ir.Constant(kind, [127 << 22] * lanes))  # half the bits of 1.0
        return builder.bitcast(positive(builder.add(bits, builder.and_(less, mask))), llvm_type(vector))

    return vector(vector, sharp), generate


def _chooser(comparison: str) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def choose(typing_context: Any, first: Vector, second: Vector) -> Any:
        """Returns the larger, or the smaller, of two vectors, entry by entry."""

        def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            return builder.select(builder.fcmp_ordered(comparison, *arguments), *arguments)

        return first(first, second), generate

    return choose


largest, smallest = _chooser(">"), _chooser("<")


def polynomial(coefficients: Sequence[float]) -> Any:
    """Returns a function for kernels: the polynomial with these coefficients (2 or more, lowest first) per entry."""

    @intrinsic  # type: ignore[untyped-decorator]
    def evaluate(typing_context: Any, vector: Vector) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            kind, flags = llvm_type(vector), ("contract",)
            numbers = [ir.Constant(kind, [float(number)] * vector.lanes) for number in coefficients]

            def horner(terms: Sequence[Any], at: Any) -> Any:
                *lower, result = terms
                for term in reversed(lower):
                    result = builder.fadd(builder.fmul(result, at, flags=flags), term, flags=flags)
                return result

            # even and odd powers side by side: a single chain of products would wait for itself
            square = builder.fmul(arguments[0], arguments[0], flags=flags)
            even, odd = horner(numbers[::2], square), horner(numbers[1::2], square)
            return builder.fadd(builder.fmul(odd, arguments[0], flags=flags), even, flags=flags)

        return vector(vector), generate

    return evaluate


@intrinsic  # type: ignore[untyped-decorator]
def if_positive(typing_context: Any, condition: Vector, then: Vector, otherwise: Vector) -> Any:
    """Returns `then` where `condition` > 0 and `otherwise` elsewhere, entry by entry."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        zero = ir.Constant(llvm_type(condition), None)
        return builder.select(builder.fcmp_ordered(">", arguments[0], zero), *arguments[1:])

    return then(condition, then, otherwise), generate


def _define(symbol: Callable[[Any, Any], Any], instruction: str) -> None:
    """Gives vectors an arithmetic operator."""

    @intrinsic  # type: ignore[untyped-decorator]
    def apply(typing_context: Any, first: Vector, second: Vector) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            if first.dtype == types.int32:
                return getattr(builder, instruction.removeprefix("f"))(*arguments)
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
