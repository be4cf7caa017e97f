"""How the server runs."""

from __future__ import annotations

import ipaddress
import os
import socket
from dataclasses import dataclass, field
from pathlib import Path

from aleator import shipped
from aleator.errors import AleatorError
from aleator.storage import StorageError, check_writable

MIN_MEMORY = 1 << 30


class ServerError(AleatorError):
    """A server that cannot be started as asked; the message names the bad value and what is allowed."""


def default_data_dir() -> Path:
    """Returns where jobs and results are kept unless told otherwise: the user's own data directory."""
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "aleator"


def network_address(host: str) -> str:
    """Returns the address at which other devices reach this machine.

    Args:
        host: an address of this machine, or 0.0.0.0 for the one by which it reaches its own network.

    Raises:
        ServerError: it is no address.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise ServerError(
            f"{host!r} is not an address of this machine: write one like 192.168.1.20, or 0.0.0.0 to have it found"
        ) from None
    if not address.is_unspecified:
        return str(address)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: only asks which way packets would go
            return str(probe.getsockname()[0])
        except OSError:
            raise ServerError("this machine has no network: leave out --host, or name one of its addresses") from None


def in_url(address: str) -> str:
    """Returns an address as it is written in a URL: IPv6 in brackets."""
    return f"[{address}]" if ":" in address else address


def physical_memory() -> int:
    """Returns the bytes of memory of this machine, 8 GiB where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """What a server is started with.

    Attributes:
        data_dir: where jobs, solutions and play sessions are kept.
        port: of the server.
        host: an address of this machine at which other devices reach the server, too; by default there is none.
        runs_dir: where training runs are looked for; `runs` in the data directory unless given.
        blueprints: files of blueprints to play against, beside those of the package.
        solvers: how many solves run at a time; the others wait.
        memory_limit: bytes that one worker process may take.
        warm_up: whether kernels and networks are loaded at the start, before they are asked for.
        max_queued: how many solves may wait.
        max_kept: how many finished solves are kept; the oldest go first.
        max_connections: open connections; who comes beyond is told to try again.
        max_body: bytes of a request, but for an uploaded solution.
        max_upload: bytes of an uploaded solution.
    """

    data_dir: Path = field(default_factory=default_data_dir)
    port: int = 8421
    host: str | None = None
    runs_dir: Path | None = None
    blueprints: tuple[Path, ...] = ()
    solvers: int = 1
    memory_limit: int = field(default_factory=lambda: max(physical_memory() * 3 // 4, MIN_MEMORY))
    warm_up: bool = True
    max_queued: int = 100
    max_kept: int = 1000
    max_connections: int = 500
    max_body: int = 256 << 10
    max_upload: int = 2 << 30

    def __post_init__(self) -> None:
        if not 1 <= self.port <= 65535:
            raise ServerError(f"the port must be 1 to 65535, not {self.port}")
        for file in self.blueprints:
            if not file.is_file():
                raise ServerError(f"there is no blueprint {file}: aleator train blueprint makes one")
        if not 1 <= self.solvers <= 64:
            raise ServerError(f"1 to 64 solves can run at a time, not {self.solvers}")
        if self.memory_limit < MIN_MEMORY:
            raise ServerError(f"a worker needs at least {MIN_MEMORY:,} bytes, not {self.memory_limit:,}")

    @property
    def known_blueprints(self) -> tuple[Path, ...]:
        """Files of blueprints: those that were given, then those of the package."""
        return (*self.blueprints, *shipped.blueprints())

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where the server listens."""
        return ("127.0.0.1",) if self.host in (None, "127.0.0.1") else ("127.0.0.1", self.host or "")

    @property
    def runs(self) -> Path:
        """Where training runs are looked for."""
        return self.runs_dir or self.data_dir / "runs"

    @property
    def database(self) -> Path:
        """The file with jobs and play sessions."""
        return self.data_dir / "jobs.sqlite3"

    def make_folders(self) -> None:
        """Makes the directories that are not there yet; what is in them is for their owner only.

        A data directory that others can look into is closed to them if it is empty or was this server's already. In any
        other one only what the server keeps there is.

        Raises:
            ServerError: one of them cannot be made or written to.
        """
        for folder in (self.data_dir, self.data_dir / "solutions", self.data_dir / "games", self.runs):
            try:
                own = folder.is_relative_to(self.data_dir)
                folder.mkdir(parents=True, exist_ok=True, mode=0o700 if own else 0o777)
                if own and (folder != self.data_dir or self._is_ours()):
                    folder.chmod(0o700)
            except OSError as error:
                raise ServerError(f"cannot make the directory {folder}: {error.strerror}") from error
        try:
            check_writable(self.database)
        except StorageError as error:
            raise ServerError(f"{error}; choose another directory with --data-dir") from error

    def remove_leftovers(self) -> None:
        """Removes what killed saves and uploads have left; only for who holds the lock of the data directory."""
        for left in (*self.data_dir.glob("solutions/*.tmp"), *self.data_dir.glob("games/*.tmp")):
            left.unlink(missing_ok=True)

    def _is_ours(self) -> bool:
        return self.database.exists() or not any(self.data_dir.iterdir())
