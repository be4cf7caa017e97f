"""CUDA kernels on a CPU: the same source, compiled as C++, one block and one thread after the other.

A kernel without barriers runs with any number of threads; one with barriers with one thread per block, for which they
mean nothing.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch

COMPILER = shutil.which("g++") or shutil.which("clang++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler (apt-get install g++)")

_SHIM = """
#include <math.h>
#include <string.h>
#define __global__
#define __device__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(n)
#define __syncthreads()
struct Place { int x; };
static Place threadIdx, blockIdx;
static void atomicAdd(float* at, float more) { *at += more; }
static float from_half(unsigned short bits) { _Float16 x; memcpy(&x, &bits, 2); return (float)x; }
static unsigned short to_half(float x) { _Float16 y = x; unsigned short bits; memcpy(&bits, &y, 2); return bits; }
static float from_bits(unsigned bits) { float x; memcpy(&x, &bits, 4); return x; }
static unsigned to_bits(float x) { unsigned bits; memcpy(&bits, &x, 4); return bits; }
"""
_KERNEL = re.compile(r'extern "C" __global__ void __launch_bounds__\(THREADS\) (\w+)\(([^)]*)\)')


class KernelOnCpu:
    """Stands in for a `Kernel`."""

    def __init__(self, library: ctypes.CDLL, name: str) -> None:
        self._function = getattr(library, f"run_{name}")

    def __call__(self, blocks: int, threads: int, *arguments: torch.Tensor | int | None) -> None:
        passed = [
            ctypes.c_int(argument)
            if isinstance(argument, int)
            else ctypes.c_void_p(0 if argument is None else argument.data_ptr())
            for argument in arguments
        ]
        self._function(ctypes.c_int(blocks), *passed)


def compile_for_the_cpu(source: str, defines: Mapping[str, int], folder: Path) -> dict[str, KernelOnCpu]:
    """Returns the kernels of a source by name."""
    assert COMPILER is not None
    launchers = []
    for name, parameters in _KERNEL.findall(source):
        passed = ", ".join(parameter.split()[-1].lstrip("*") for parameter in parameters.split(","))
        launchers.append(
            f'extern "C" void run_{name}(int blocks, {parameters}) {{\n'
            "for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) for (threadIdx.x = 0; threadIdx.x < THREADS; "
            f"threadIdx.x++) {name}({passed}); }}"
        )
    given = "\n".join(f"#define {name} {value}" for name, value in defines.items())
    file = folder / f"{abs(hash(source))}.cpp"
    file.write_text("\n".join([_SHIM, given, source, *launchers]))
    library = file.with_suffix(".so")
    subprocess.run([COMPILER, "-w", "-shared", "-fPIC", str(file), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    return {name: KernelOnCpu(loaded, name) for name, _ in _KERNEL.findall(source)}
