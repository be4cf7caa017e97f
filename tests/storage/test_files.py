"""Writing files: whole or not at all, where they are asked for, with the rights they had, and without rests."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from aleator.storage import ArrayFile, StorageError, check_writable, exclusive, replace_file, write_arrays
from aleator.storage.files import replacing

ARRAYS = {"a": np.arange(7, dtype=np.int32)}


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    write_arrays(path, ARRAYS, {"version": "old"})

    def fail(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(StorageError, match="No space left"):
        write_arrays(path, ARRAYS, {"version": "new"})
    assert ArrayFile(path).metadata == {"version": "old"}
    assert os.listdir(tmp_path) == ["x"], "no temporary file is left behind"


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    lock = tmp_path / ".lock"
    with exclusive(lock, "taken"), pytest.raises(StorageError, match="taken"), exclusive(lock, "taken"):
        pass
    with exclusive(lock, "taken"):
        pass
    with pytest.raises(StorageError, match=r"cannot write .*no"), exclusive(tmp_path / "no" / "x", "taken"):
        pass


@pytest.mark.parametrize("refused", ["tempfile.TemporaryFile", "os.fsync", "os.replace"])
def test_whatever_a_file_system_refuses_is_one_line(
    refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(refused, fail)
    with pytest.raises(StorageError, match=r"cannot write .*x: Read-only file system"):
        write_arrays(tmp_path / "x", ARRAYS, {})
    assert os.listdir(tmp_path) == []


def test_unwritable_places_are_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="does not exist"):
        check_writable(tmp_path / "no" / "x")
    with pytest.raises(StorageError, match="is a directory"):
        check_writable(tmp_path)


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "file", tmp_path / "link"
    link.symlink_to(target)
    for content in (b"new", b"newer"):  # at first the link leads nowhere
        check_writable(link)
        replace_file(link, [content])
        assert link.is_symlink() and target.read_bytes() == content
    assert os.listdir(tmp_path / "there") == ["file"] and sorted(os.listdir(tmp_path)) == ["link", "there"]
    chain = tmp_path / "there" / "chain"
    chain.symlink_to(Path("..") / "link")
    replace_file(chain, [b"newest"])
    assert chain.is_symlink() and link.is_symlink() and target.read_bytes() == b"newest"
    round = tmp_path / "round"
    round.symlink_to(round)
    with pytest.raises(StorageError, match=r"cannot write .*round: Too many levels of symbolic links"):
        replace_file(round, [b"x"])


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_the_mode_of_a_file_is_kept(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    path.chmod(mode)
    replace_file(path, [b"new"])
    assert path.read_bytes() == b"new" and stat.S_IMODE(path.stat().st_mode) == mode


def test_a_secret_file_is_secret_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.touch(0o600)
    with replacing(path) as file:
        file.write(b"secret")
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_gets_what_the_umask_allows(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        replace_file(tmp_path / "x", [b"new"])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == mode


def test_pipes_and_sockets_are_refused_and_stay(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for write in (check_writable, lambda path: replace_file(path, [b"x"])):
        with pytest.raises(StorageError, match=r"cannot write .*pipe: it is a pipe"):
            write(pipe)
    assert pipe.is_fifo()


def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    """Tried on links: the device itself could be lost."""
    for name, error in (("null", None), ("full", "No space left on device")):
        link = tmp_path / name
        link.symlink_to(f"/dev/{name}")
        before = os.stat(f"/dev/{name}")
        if error is None:
            write_arrays(link, ARRAYS, {})
        else:
            with pytest.raises(StorageError, match=rf"cannot write .*{name}: {error}"):
                write_arrays(link, ARRAYS, {})
        after = os.stat(f"/dev/{name}")
        assert stat.S_ISCHR(after.st_mode) and (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
        assert link.is_symlink()


_WRITER = """
import sys, time
from pathlib import Path
from aleator.storage.files import replacing
with replacing(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(600)
"""


def test_rests_of_killed_saves_are_removed_and_saves_that_go_on_are_not(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    processes = []
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE)
        assert process.stdout is not None and process.stdout.readline() == b"writing\n"
        process.stdout.close()
        processes.append(process)
    dead, alive = processes
    dead.kill()
    dead.wait()
    assert len(os.listdir(tmp_path)) == 3 and path.read_bytes() == b"old"
    replace_file(path, [b"new"])
    assert len(os.listdir(tmp_path)) == 2, "that of the dead one is gone"
    alive.send_signal(signal.SIGKILL)
    alive.wait()
    replace_file(path, [b"newer"])
    assert os.listdir(tmp_path) == ["x"] and path.read_bytes() == b"newer"


def test_other_files_are_not_taken_for_rests(tmp_path: Path) -> None:
    for name in (".x.tmp", ".x.short.tmp", "x.01234567.tmp", ".y.01234567.tmp", ".x.01234567.tmp.txt"):
        (tmp_path / name).touch()
    (tmp_path / ".x.0123456a.tmp").symlink_to(tmp_path / "x")
    replace_file(tmp_path / "x", [b"new"])
    assert len(os.listdir(tmp_path)) == 7


def test_names_may_be_as_long_as_file_systems_allow(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    replace_file(path, [b"new"])
    assert path.read_bytes() == b"new" and os.listdir(tmp_path) == [path.name]
