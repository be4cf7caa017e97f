"""Numba's `njit` with the project's options, typed so that `mypy --strict` sees through it.

Compiled code is kept on disk beside the sources (or in the user's cache directory if those cannot be written), so that
only the first run compiles. Where several processes begin at once, each function is compiled by one of them.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, TypeVar

import numba
import numpy.typing as npt
from numba.core.compiler_lock import global_compiler_lock

from aleator.caching import cache

F = TypeVar("F", bound=Callable[..., Any])
Array = TypeVar("Array", bound=npt.NDArray[Any])


KERNELS: Final = (
    "jit.py",
    "abstraction/board_features.py",
    "abstraction/boards.py",
    "abstraction/features.py",
    "abstraction/flop_exploitability.py",
    "abstraction/hand_index.py",
    "abstraction/k_means.py",
    "abstraction/blueprint/*.py",
    "abstraction/packed/coding.py",
    "abstraction/packed/packing.py",
    "abstraction/ring/*.py",
    "arena/whole_hands/deals.py",
    "arena/whole_hands/aivat/table.py",
    "games/holdem/equity.py",
    "games/holdem/evaluator.py",
    "games/holdem/hand_kernels.py",
    "games/holdem/preflop_table.py",
    "kernels/*.py",
    "learning/holdem/knot_kernels.py",
    "learning/value_network/numba_kernels.py",
    "search/pluribus/ring/*.py",
    "search/whole_hands/card_leaves.py",
    "solvers/engines/**/*.py",
    "solvers/holdem/values.py",
)
"""The source files with kernels, as patterns below the package."""


@cache
def _stamp_of_kernels() -> tuple[tuple[str, int, int], ...]:
    """Returns what changes when any source file with kernels does: Numba itself looks only at a function's own file."""
    package = Path(__file__).parent
    files = sorted(path for pattern in KERNELS for path in package.glob(pattern))
    return tuple((path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in files)


def _harden(index: Any) -> None:
    """Makes Numba's disk cache notice edits in any kernel, survive damaged files, and be shared by processes.

    Numba numbers its files of machine code. Two processes that compile at the same time, for other types, another
    processor or another version of the sources, choose the same number, and the index of the one then names the code of
    the other. Here a file is named after what is in it, and is written before the index names it. On a disk that is
    full code is not kept, and runs all the same.
    """
    if not all(hasattr(index, name) for name in ("_source_stamp", "_load_index", "_load_data", "_data_name_pattern")):
        return
    index._source_stamp = (index._source_stamp, _stamp_of_kernels())
    load_index, load_data = index._load_index, index._load_data

    def load_index_or_forget() -> Any:
        try:
            return load_index()
        except Exception:  # whatever it is, compiling again mends it
            return {}

    def load_data_or_forget(name: str) -> Any:
        try:
            return load_data(name)
        except Exception as error:
            raise OSError(f"{name} cannot be read") from error  # as if it were not there: it is compiled again

    def save(key: Any, data: Any) -> None:
        overloads = index._load_index()
        content = repr((key, index._source_stamp, index._version)).encode()
        name = f"{index._data_name_pattern.partition('{')[0]}{sha256(content).hexdigest()[:16]}.nbc"
        with suppress(OSError):
            index._save_data(name, data)
            if not overloads:
                _remove_others(index, name)
            if overloads.get(key) != name:
                index._save_index({**overloads, key: name})

    index._load_index, index._load_data, index.save = load_index_or_forget, load_data_or_forget, save


def _remove_others(index: Any, name: str) -> None:
    """Removes the files of a function that an index without entries cannot name: code of earlier sources."""
    folder, prefix = Path(index._cache_path), index._data_name_pattern.partition("{")[0]
    with suppress(OSError):
        for path in folder.glob(f"{escape(prefix)}*.nbc"):
            if path.name != name:
                path.unlink(missing_ok=True)


def read_only(array: Array) -> Array:
    """Returns a view of an array that cannot be written.

    To Numba arrays that can be written are of another type than those that cannot, as those of files are. Tables that
    come from files and from memory are handed to kernels so, lest these be compiled twice.
    """
    view = array.view()
    view.flags.writeable = False
    return view


_PATIENCE: Final = 300.0  # seconds that a process waits for another one to compile, before it does so, too
_BETWEEN_LOOKS: Final = 0.02  # seconds
_compiling: set[str] = set()  # functions that this process compiles


@cache
def _lock_file(folder: str) -> int | None:
    """Returns the open file in which processes lock a byte for each function that they compile; None if it cannot be
    written. It stays open: by closing it a process would give all its locks back."""
    with suppress(OSError):
        Path(folder).mkdir(parents=True, exist_ok=True)
        return os.open(Path(folder) / "compiling.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    return None


@contextmanager
def _compiling_alone(index: Any) -> Iterator[None]:
    """Waits until no other process compiles a function: then its code is on disk.

    Numba's lock comes first, so that one thread of a process at a time gets here. A function is compiled before those
    that call it, and no two call each other, so that processes do not wait in a circle.
    """
    with global_compiler_lock:
        name = str(index._index_path)
        descriptor = None if name in _compiling else _lock_file(str(index._cache_path))
        if descriptor is None:
            yield
            return
        byte = int(sha256(name.encode()).hexdigest()[:15], 16)
        _compiling.add(name)
        locked = _lock(descriptor, byte)
        try:
            yield
        finally:
            _compiling.discard(name)
            if locked:
                fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, byte)


def _lock(descriptor: int, byte: int) -> bool:
    """Returns whether a byte of a file could be locked, for which it waits some time."""
    end = monotonic() + _PATIENCE
    while monotonic() < end:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except BlockingIOError:
            sleep(_BETWEEN_LOOKS)
        except OSError:  # a file system without locks
            return False
        else:
            return True
    return False


def _compile_once(dispatcher: Any, index: Any) -> None:
    """Makes processes that need the same function at the same time compile it once."""
    if not all(hasattr(index, name) for name in ("_index_path", "_cache_path")):
        return
    compile_function = dispatcher.compile

    def compile_alone(signature: Any) -> Any:
        with _compiling_alone(index):
            return compile_function(signature)

    dispatcher.compile = compile_alone


def njit(**options: Any) -> Callable[[F], F]:
    """Returns a decorator that compiles a function to machine code at its first call, and keeps the result on disk.

    Defaults: the GIL is released, divisions do not raise, `a * b + c` may be fused; every other IEEE rule is kept,
    so results do not depend on the order in which a loop happens to be vectorised. Pass options to override.
    """
    settings: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
    settings.update(options)

    def decorate(function: F) -> F:
        compiled: F = numba.njit(**settings)(function)
        index = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
        _harden(index)
        _compile_once(compiled, index)
        return compiled

    return decorate


def kernel(**options: Any) -> Callable[[F], F]:
    """Returns `njit` for functions that allocate nothing: arrays they are given are not reference-counted.

    In loops over small rows the counting costs several times more than the arithmetic, and compiling it takes longer.
    So does an entry from C, which nobody uses.
    """
    return njit(_nrt=False, no_cfunc_wrapper=True, **options)


def inner_kernel(**options: Any) -> Callable[[F], F]:
    """Returns `kernel` for functions that only other kernels call: without an entry from Python they compile faster."""
    return kernel(no_cpython_wrapper=True, **options)
