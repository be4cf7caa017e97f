"""How much memory this process takes, and how much more it can get."""

from __future__ import annotations

import os
from pathlib import Path

from aleator.caching import cache

GIB = 2**30
_UNKNOWN = 1 << 62


def process_memory() -> int:
    """Returns the bytes of memory that this process takes now (its peak, where the system does not say)."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    except (ImportError, OSError):
        return 0


def available_memory() -> int:
    """Returns the bytes that can be allocated without swapping, within what the process may take.

    That is the smallest of what the machine has left, what its control groups (a container, a batch job) leave, and
    what `ulimit -v` leaves; the whole memory where the system does not say.
    """
    return max(min(_machine(), _control_groups(), _address_space()), 0)


def format_gib(number: float) -> str:
    """Returns a number of bytes as GiB, with one digit behind the point."""
    return f"{number / GIB:,.1f} GiB"


def _machine() -> int:
    """Returns what the machine has left."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _UNKNOWN


def _control_groups() -> int:
    """Returns what the tightest of this process's control groups leaves."""
    return _left_of(_limited_groups("/proc/self/cgroup", "/sys/fs/cgroup"))


def _left_of(groups: tuple[Path, ...]) -> int:
    """Returns what the tightest of some control groups leaves; pages of files that can be dropped count as free."""
    left = _UNKNOWN
    for folder in groups:
        try:
            most = (folder / "memory.max").read_text().strip()
            if most == "max":
                continue
            used = int((folder / "memory.current").read_text())
            statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            left = min(left, int(most) - used + int(statistics.get("inactive_file", 0)))
        except (OSError, ValueError):
            continue
    return left


@cache
def _limited_groups(listing: str, mount: str) -> tuple[Path, ...]:
    """Returns the folders of this process's control groups (version 2) that may limit its memory, its own first."""
    try:
        lines = Path(listing).read_text().splitlines()
    except OSError:
        return ()
    own = next((line.partition("::")[2].strip("/") for line in lines if line.startswith("0::")), None)
    if own is None:
        return ()
    top = Path(mount)
    folders = [top / own, *(top / own).parents] if own else [top]
    return tuple(folder for folder in folders if folder.is_relative_to(top) and (folder / "memory.max").is_file())


def _address_space() -> int:
    """Returns what `ulimit -v` leaves."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        return _UNKNOWN if most == resource.RLIM_INFINITY else most - _mapped()
    except (ImportError, OSError, ValueError, IndexError):
        return _UNKNOWN


def _mapped() -> int:
    """Returns the bytes of addresses that this process uses."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def limit_memory(more: int) -> None:
    """Lets this process and its children allocate only so many bytes more, where the system can do that."""
    try:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (_mapped() + more, hard))
    except (ImportError, OSError, ValueError, IndexError):
        pass
