"""CUDA kernels compiled when they are first used, by NVRTC, which torch's CUDA wheels bring: needs no compiler.

NVRTC and the driver are called through ctypes; memory and streams are torch's.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from aleator.caching import cache
from aleator.errors import AleatorError
from aleator.storage import StorageError, replace_file

_MAX_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_compiled: dict[str, bytes] = {}


class KernelError(AleatorError):
    """A kernel cannot be compiled or run here; the message says what is missing."""


def find_nvrtc(folders: Sequence[str] | None = None) -> ctypes.CDLL:
    """Returns NVRTC: as a wheel of NVIDIA's in one of the folders (by default where packages are), or of the system.

    Raises:
        KernelError: there is none.
    """
    names = [
        str(path)
        for folder in (sys.path if folders is None else folders)
        for path in sorted(Path(folder or ".").glob("nvidia/*/lib/libnvrtc.so.*"), reverse=True)
        if "alt" not in path.name and "builtins" not in path.name
    ]
    for name in [*names, "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise KernelError(
        "NVRTC is missing; install torch with CUDA (pip install torch), which brings it, or choose the device cpu"
    )


def compile_source(
    source: str, defines: Mapping[str, int], architecture: str, nvrtc: ctypes.CDLL | None = None
) -> bytes:
    """Returns machine code ("cubin") of a source for an architecture such as "sm_90".

    Raises:
        KernelError: the source has an error; the message has the compiler's first lines.
    """
    library = nvrtc or find_nvrtc()
    program = ctypes.c_void_p()
    options = [f"--gpu-architecture={architecture}", *(f"-D{name}={value}" for name, value in defines.items())]
    _check(library, library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None))
    try:
        texts = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if library.nvrtcCompileProgram(program, len(options), texts):
            log = _read(library, "ProgramLog", program).decode(errors="replace")
            errors = [line for line in log.splitlines() if "error" in line] or log.splitlines()
            raise KernelError(f"a kernel does not compile for {architecture}: {'; '.join(errors[:3])}")
        return _read(library, "CUBIN", program)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def kept_code(source: str, defines: Mapping[str, int], architecture: str) -> bytes:
    """Returns machine code of a source, kept in the user's cache directory since it was first compiled."""
    key = hashlib.sha256(repr((source, sorted(defines.items()), architecture)).encode()).hexdigest()
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aleator" / "kernels"
    path = folder / f"{key}.cubin"
    if key in _compiled:
        return _compiled[key]
    try:
        return _compiled.setdefault(key, path.read_bytes())
    except OSError:
        code = _compiled.setdefault(key, compile_source(source, defines, architecture))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(path, [code])
    except (OSError, StorageError):
        pass  # a cache that cannot be written costs the next run some seconds
    return code


def _read(library: ctypes.CDLL, what: str, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    _check(library, getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    _check(library, getattr(library, f"nvrtcGet{what}")(program, text))
    return text.raw


def _check(library: ctypes.CDLL, code: int) -> None:
    if code:
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise KernelError(f"NVRTC failed: {library.nvrtcGetErrorString(code).decode()}")


@cache
def _driver() -> ctypes.CDLL:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise KernelError("there is no NVIDIA driver on this machine; choose the device cpu") from None


def _drive(name: str, *arguments: Any) -> None:
    if code := getattr(_driver(), name)(*arguments):
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(code, ctypes.byref(text))
        raise KernelError(f"{name} failed: {(text.value or str(code).encode()).decode()}")


class Kernel:
    """One function of a compiled source, on torch's current device."""

    def __init__(self, source: str, name: str, defines: Mapping[str, int], *, shared_bytes: int = 0) -> None:
        major, minor = torch.cuda.get_device_capability()
        torch.cuda.current_stream().synchronize()  # so that torch has made its context
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        self._code = kept_code(source, defines, f"sm_{major}{minor}")
        _drive("cuModuleLoadData", ctypes.byref(self._module), self._code)
        _drive("cuModuleGetFunction", ctypes.byref(self._function), self._module, name.encode())
        _drive("cuFuncSetAttribute", self._function, _MAX_SHARED, shared_bytes)
        self._shared_bytes = shared_bytes

    def __call__(self, blocks: int, threads: int, *arguments: torch.Tensor | int | float | None) -> None:
        """Launches on torch's current stream; tensors are passed by address, None as a null address."""
        values = [_as_c(argument) for argument in arguments]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        _drive(
            "cuLaunchKernel", self._function, blocks, 1, 1, threads, 1, 1, self._shared_bytes, stream, pointers, None
        )


def _as_c(argument: torch.Tensor | int | float | None) -> Any:
    if argument is None:
        return ctypes.c_void_p(0)
    if isinstance(argument, torch.Tensor):
        assert argument.is_cuda and argument.is_contiguous()
        return ctypes.c_void_p(argument.data_ptr())
    return ctypes.c_int(argument) if isinstance(argument, int) else ctypes.c_float(argument)
