"""Numbers that are kept between iterations: float32, or float16 to move half the memory.

Numba knows no float16, so that kernels are given its bits as uint16. LLVM converts them with one instruction where the
CPU has it (all with AVX2, ARM); elsewhere the bits are moved by hand. Arithmetic is always that of float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from aleator.kernels.simd import WIDE, Vector, address, llvm_type, read_vector, write_vector

Kept = npt.NDArray[Any]  # float32, or the bits of float16 as uint16
MOST_HALF = np.float32(np.finfo(np.float16).max)
LARGEST = {16: float(MOST_HALF), 32: float(np.finfo(np.float32).max)}

_FLOATS = Vector(types.float32, WIDE)
_BITS, _HALVES = ir.VectorType(ir.IntType(16), WIDE), ir.VectorType(ir.HalfType(), WIDE)
_WORDS = ir.VectorType(ir.IntType(32), WIDE)
_SHIFT = 13  # bits of the fraction that float32 has more
_REBASE = 2.0**112  # exponents count from 127 in float32, from 15 in float16


@intrinsic  # type: ignore[untyped-decorator]
def load_kept(typing_context: Any, array: types.Array, index: types.Integer) -> Any:
    """Returns array[index : index + WIDE] as float32."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        pointer = address(context, builder, array, *arguments)
        if array.dtype == types.float32:
            return read_vector(builder, _FLOATS, pointer)
        bits = builder.load(builder.bitcast(pointer, _BITS.as_pointer()))
        bits.align = 2
        if _converts(context):
            return builder.fpext(builder.bitcast(bits, _HALVES), llvm_type(_FLOATS))
        word = builder.zext(bits, _WORDS)
        size = builder.shl(builder.and_(word, _words(0x7FFF)), _words(_SHIFT))
        size = builder.fmul(builder.bitcast(size, llvm_type(_FLOATS)), _floats(_REBASE))
        sign = builder.shl(builder.and_(word, _words(0x8000)), _words(16))
        return builder.bitcast(builder.or_(builder.bitcast(size, _WORDS), sign), llvm_type(_FLOATS))

    return _FLOATS(array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def store_kept(typing_context: Any, array: types.Array, index: types.Integer, value: Vector) -> Any:
    """Writes WIDE float32 numbers to array[index : index + WIDE], rounded to the nearest; from 65,520 on infinite."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        target, offset, numbers = arguments
        pointer = address(context, builder, array, target, offset)
        if array.dtype == types.float32:
            write_vector(builder, _FLOATS, numbers, pointer)
            return context.get_dummy_value()
        if _converts(context):
            bits = builder.bitcast(builder.fptrunc(numbers, _HALVES), _BITS)
        else:
            word = builder.bitcast(numbers, _WORDS)
            sign = builder.lshr(builder.and_(word, _words(0x80000000)), _words(16))
            size = builder.bitcast(builder.and_(word, _words(0x7FFFFFFF)), llvm_type(_FLOATS))
            size = builder.select(builder.fcmp_ordered("<", size, _floats(2.0**16)), size, _floats(2.0**16))  # infinite
            size = builder.bitcast(builder.fmul(size, _floats(1 / _REBASE)), _WORDS)
            odd = builder.and_(builder.lshr(size, _words(_SHIFT)), _words(1))
            size = builder.add(size, builder.add(odd, _words((1 << (_SHIFT - 1)) - 1)))  # half of a unit, ties to even
            bits = builder.trunc(builder.or_(builder.lshr(size, _words(_SHIFT)), sign), _BITS)
        builder.store(bits, builder.bitcast(pointer, _BITS.as_pointer())).align = 2
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate


def _converts(context: Any) -> bool:
    """Returns whether the CPU for which code is made converts float16 by itself."""
    machine, _, features = context.codegen().magic_tuple()
    return not machine.startswith("x86") or "+f16c" in features


def _words(number: int) -> ir.Constant:
    return ir.Constant(_WORDS, [number] * WIDE)


def _floats(number: float) -> ir.Constant:
    return ir.Constant(llvm_type(_FLOATS), [number] * WIDE)
