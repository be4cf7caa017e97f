"""CUDA kernels on a CPU: the same source, compiled as C++, one block after the other.

The threads of a block take turns: each runs until it waits for others, at a barrier or where lanes of a warp exchange
numbers, and goes on when those have come as far.
"""

from __future__ import annotations

import ctypes
import hashlib
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
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static
#define __fdividef(a, b) ((a) / (b))
struct float4 { float x, y, z, w; };
struct Index { int x; };
static Index threadIdx, blockIdx;
template <class T, class U> static void atomicAdd(T* at, U more) { *at += more; }
static float from_half(unsigned short bits) { _Float16 x; memcpy(&x, &bits, 2); return (float)x; }
static unsigned short to_half(float x) { _Float16 y = x; unsigned short bits; memcpy(&bits, &y, 2); return bits; }
static float from_bits(unsigned bits) { float x; memcpy(&x, &bits, 4); return x; }
static unsigned to_bits(float x) { unsigned bits; memcpy(&bits, &x, 4); return bits; }
static int max(int a, int b) { return a > b ? a : b; }
static int min(int a, int b) { return a < b ? a : b; }
static float square_root(float x) { return sqrtf(x); }

namespace turns {
const size_t STACK = 1 << 18;
static ucontext_t first[THREADS];  // a thread begins in a context and goes on by jumps, which need no system call
static jmp_buf scheduler, thread[THREADS];
static char* stack[THREADS];
static bool begun[THREADS], ended[THREADS];
static int in_block, in_warp[THREADS / 32 + 1];  // how many have come to the barrier that is open
static long block_round, warp_round[THREADS / 32 + 1];
static float exchanged[THREADS];
static __attribute__((noinline)) void give_way() { if (!_setjmp(thread[threadIdx.x])) _longjmp(scheduler, 1); }
static __attribute__((noinline)) void resume(int t) {
  threadIdx.x = t;
  if (_setjmp(scheduler)) return;
  if (begun[t]) _longjmp(thread[t], 1);
  begun[t] = true;
  setcontext(&first[t]);
}
static void wait(int* come, long* round, int members) {
  const long mine = *round;
  if (++*come == members) { *come = 0; ++*round; } else while (*round == mine) give_way();
}
static int lanes(int warp) { return THREADS - 32 * warp < 32 ? THREADS - 32 * warp : 32; }
static void wait_for_warp() { const int w = threadIdx.x / 32; wait(&in_warp[w], &warp_round[w], lanes(w)); }
static void (*body)();
static void run_thread() { body(); ended[threadIdx.x] = true; give_way(); }
static void run_block(void (*of)()) {
  body = of;
  for (int t = 0; t < THREADS; t++) {
    if (!stack[t]) stack[t] = (char*)malloc(STACK);
    begun[t] = ended[t] = false;
    getcontext(&first[t]);
    first[t].uc_stack.ss_sp = stack[t];
    first[t].uc_stack.ss_size = STACK;
    makecontext(&first[t], run_thread, 0);
  }
  for (int left = THREADS; left;) {
    left = 0;
    for (int t = 0; t < THREADS; t++)
      if (!ended[t]) { resume(t); left += !ended[t]; }
  }
}
}
static void __syncthreads() { turns::wait(&turns::in_block, &turns::block_round, THREADS); }
static float __shfl_up_sync(unsigned, float x, int by, int width) {
  turns::exchanged[threadIdx.x] = x;
  turns::wait_for_warp();
  const float found = threadIdx.x % width < by ? x : turns::exchanged[threadIdx.x - by];
  turns::wait_for_warp();
  return found;
}
"""
_SHARED_BYTES = 1 << 18
_KERNEL = re.compile(r'extern "C" __global__ void __launch_bounds__\(THREADS[^)]*\) (\w+)\(([^)]*)\)')
_DYNAMIC = "extern __shared__ __align__(16) unsigned char memory[];"


class KernelOnCpu:
    """Stands in for a `Kernel`."""

    def __init__(self, library: ctypes.CDLL, name: str) -> None:
        self._function = getattr(library, f"run_{name}")

    def __call__(self, blocks: int, threads: int, *arguments: torch.Tensor | int | float | None) -> None:
        passed = [
            (ctypes.c_int if isinstance(argument, int) else ctypes.c_float)(argument)
            if isinstance(argument, int | float)
            else ctypes.c_void_p(0 if argument is None else argument.data_ptr())
            for argument in arguments
        ]
        self._function(ctypes.c_int(blocks), *passed)


def compile_for_the_cpu(source: str, defines: Mapping[str, int], folder: Path) -> dict[str, KernelOnCpu]:
    """Returns the kernels of a source by name."""
    assert COMPILER is not None
    launchers = []
    for name, parameters in _KERNEL.findall(source):
        declared = [parameter.strip() for parameter in parameters.split(",")]
        names = [parameter.split()[-1].lstrip("*") for parameter in declared]
        launchers.append(
            f"namespace {name}_given {{ {' '.join(f'static {p};' for p in _without_const(declared))}\n"
            f"static void run() {{ {name}({', '.join(names)}); }} }}\n"
            f'extern "C" void run_{name}(int blocks, {parameters}) {{\n'
            + "".join(f"{name}_given::{n} = {cast}{n};\n" for n, cast in zip(names, _casts(declared), strict=True))
            + f"for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) turns::run_block({name}_given::run); }}"
        )
    given = "\n".join(f"#define {name} {value}" for name, value in defines.items())
    text = source.replace(_DYNAMIC, f"static __attribute__((aligned(16))) unsigned char memory[{_SHARED_BYTES}];")
    text = "\n".join([given, _SHIM, text, *launchers])
    file = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.cpp"
    file.write_text(text)
    library = file.with_suffix(".so")
    # the C library has names such as "step" too; where compilers are asked to check jumps, jumps to other stacks abort
    options = ["-w", "-O1", "-shared", "-fPIC", "-Wl,-Bsymbolic", "-U_FORTIFY_SOURCE"]
    subprocess.run([COMPILER, *options, str(file), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    return {name: KernelOnCpu(loaded, name) for name, _ in _KERNEL.findall(source)}


def _without_const(parameters: list[str]) -> list[str]:
    """Returns declarations that can be assigned: pointers to what they point to, without qualifiers."""
    return [re.sub(r"\b(const|__restrict__)\b", "", parameter) for parameter in parameters]


def _casts(parameters: list[str]) -> list[str]:
    """Returns, for each parameter, how it is passed to a variable of `_without_const`."""
    return [
        f"({re.sub(r'[^ *]+$', '', plain).strip()})" if "*" in plain else ""
        for plain in (" ".join(parameter.split()) for parameter in _without_const(parameters))
    ]
