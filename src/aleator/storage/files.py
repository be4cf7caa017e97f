"""Writing a file so that nothing is lost, and nothing is left behind.

A regular file is replaced in one step: the new content goes to a temporary file beside it, which takes over its name
when it is whole. The temporary file is locked while it is written, so that one whose writer was killed can be told from
one that is being written; the next save removes it. A symbolic link stays, and its target is replaced. A character
device such as /dev/null is written to; pipes, sockets and disks are refused.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from aleator.errors import AleatorError

_LONGEST_NAME = 60  # of the part of a temporary file's name that says whose it is
_ATTEMPTS = 100
_LINKS = 40  # as many as Linux follows


class StorageError(AleatorError):
    """A file that cannot be read or written as what it should be."""


def check_writable(path: Path) -> None:
    """Raises StorageError unless a file can be created, replaced or written to at `path`; leaves nothing there."""
    target, status = _target(path)
    folder = target.parent
    if not folder.is_dir():
        raise StorageError(f"cannot write {path}: the directory {folder} does not exist")
    if status is not None and not os.access(target, os.W_OK):
        raise StorageError(f"cannot write {path}: permission denied")
    if status is not None and stat.S_ISCHR(status.st_mode):
        return
    try:
        tempfile.TemporaryFile(dir=folder).close()  # file systems have more reasons to refuse than permissions say
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error


def make_folder(path: Path) -> None:
    """Makes a directory, and those above it, unless it is there already.

    Raises:
        StorageError: it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot make the directory {path}: {error.strerror}") from error


def check_regular(path: Path) -> None:
    """Raises StorageError unless there is a regular file at `path`, which can be read without waiting for anybody."""
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        raise StorageError(f"cannot read {path}: {_reason(error)}") from error
    if not stat.S_ISREG(status.st_mode):
        raise StorageError(f"cannot read {path}: it is {_kind(status)}, not a file")


def replace_file(path: Path, content: list[Any]) -> None:
    """Writes buffers to a file such that at every moment either the old or the whole new content is there."""
    with replacing(path) as file:
        for part in content:
            file.write(part)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yields a file to write to; what was at `path` is replaced when the block ends, and stays if it raises.

    The mode and the owner of a file that was there are kept; a new one gets what the umask allows.

    Raises:
        StorageError: it cannot be written.
    """
    check_writable(path)
    target, status = _target(path)
    try:
        if status is not None and stat.S_ISCHR(status.st_mode):
            with target.open("wb") as file:
                yield file
            return
        remove_stale(target)
        descriptor, temporary = _new_temporary(target, status)
        try:
            with open(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(descriptor)
                if status is not None:
                    _take_over(descriptor, status)
                os.replace(temporary, target)  # still locked: nobody takes it for a rest
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error


def remove_stale(path: Path) -> None:
    """Removes the temporary files of saves to `path` that were killed; those that are being written stay."""
    target = _followed(path)
    pattern = re.compile(rf"\.{re.escape(target.name[:_LONGEST_NAME])}\.[0-9a-z_]{{8}}\.tmp")
    with suppress(OSError):
        for entry in [entry for entry in os.scandir(target.parent) if pattern.fullmatch(entry.name)]:
            with suppress(OSError):
                descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(entry.path)
                finally:
                    os.close(descriptor)


@contextmanager
def exclusive(path: Path, refusal: str) -> Iterator[None]:
    """Holds the lock of a file until the end of the block or of this process.

    Raises:
        StorageError: another process holds it (the message is `refusal`), or the file cannot be written.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o666)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StorageError(refusal) from None
        except OSError as error:
            raise StorageError(f"cannot lock {path}: {error.strerror}") from error
        yield
    finally:
        os.close(descriptor)


def _target(path: Path) -> tuple[Path, os.stat_result | None]:
    """Returns what `path` leads to when links are followed, and its status, None if there is nothing yet.

    Raises:
        StorageError: it is nothing that can be written.
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        status = None
    except (OSError, ValueError) as error:
        raise StorageError(f"cannot write {path}: {_reason(error)}") from error
    if status is not None and not (stat.S_ISREG(status.st_mode) or stat.S_ISCHR(status.st_mode)):
        raise StorageError(f"cannot write {path}: it is {_kind(status)}")
    # a device is opened by the name it was given: /dev/stdout leads to names that cannot be opened
    is_device = status is not None and stat.S_ISCHR(status.st_mode)
    return path if is_device else _followed(path), status


def _followed(path: Path) -> Path:
    """Returns what a path leads to if its last part is a link, or a chain of them; the way there stays as given."""
    for _ in range(_LINKS):
        if not path.is_symlink():
            break
        path = path.parent / os.readlink(path)
    return path


def _kind(status: os.stat_result) -> str:
    kinds = {
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFBLK: "a disk",
        stat.S_IFCHR: "a device",
    }
    return kinds.get(stat.S_IFMT(status.st_mode), "something else")


def _reason(error: OSError | ValueError) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _new_temporary(target: Path, status: os.stat_result | None) -> tuple[int, Path]:
    """Returns a new, empty, locked file beside the target; nobody else may read it until it has the target's mode."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    for _ in range(_ATTEMPTS):
        path = target.with_name(f".{target.name[:_LONGEST_NAME]}.{secrets.token_hex(4)}.tmp")
        try:
            descriptor = os.open(path, flags, 0o666 if status is None else 0o600)
        except FileExistsError:
            continue
        if _lock(descriptor):
            return descriptor, path
        os.close(descriptor)
        path.unlink(missing_ok=True)
    raise FileExistsError(17, "no free name for a temporary file")


def _lock(descriptor: int) -> bool:
    """Returns False if somebody took a new file for a rest, before it was locked."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks, where nobody takes it for a rest either
    return os.fstat(descriptor).st_nlink > 0


def _take_over(descriptor: int, status: os.stat_result) -> None:
    """Gives a file the owner and the mode of the one it replaces."""
    mine = os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
        with suppress(OSError):  # only root gives files away
            os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def _sync_folder(folder: Path) -> None:
    """Makes the new name of a file survive a loss of power, where the file system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
