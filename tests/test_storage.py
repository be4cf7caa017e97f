"""Files of arrays: lazily read, atomically replaced, damage noticed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from aleator.storage import ArrayFile, StorageError, check_writable, exclusive, write_arrays

ARRAYS = {
    "a": np.arange(7, dtype=np.int32),
    "b": np.linspace(0, 1, 12).reshape(3, 4),
    "none": np.zeros(0),
    "flag": np.array([True]),
}


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "x.arrays"
    write_arrays(str(path), ARRAYS, {"who": "me"})
    file = ArrayFile(str(path))
    assert file.path == path
    assert file.metadata == {"who": "me"}
    assert file.names == list(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(file[name], array)
        assert file[name].dtype == array.dtype
    with pytest.raises(StorageError, match="no array 'c'; it has a, b, none, flag"):
        file["c"]


def test_other_readers_understand_the_layout(tmp_path: Path) -> None:
    """The layout is that of safetensors: length, JSON header, data."""
    import json

    path = tmp_path / "x.arrays"
    write_arrays(path, ARRAYS, {})
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    begin, end = header["b"]["data_offsets"]
    assert header["b"]["dtype"] == "F64"
    np.testing.assert_array_equal(np.frombuffer(raw[8 + length + begin : 8 + length + end]).reshape(3, 4), ARRAYS["b"])


@pytest.mark.parametrize("damage", [b"", b"\x00" * 4, b"hello, I am a text file, not arrays", b"\xff" * 200])
def test_foreign_files_are_refused(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(damage)
    with pytest.raises(StorageError, match="x"):
        ArrayFile(path)


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_arrays(path, ARRAYS, {"who": "me"})
    whole = path.read_bytes()
    for keep in range(0, len(whole) - 8, 13):
        path.write_bytes(whole[:keep])
        with pytest.raises(StorageError):
            ArrayFile(path)


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


def test_unwritable_places_are_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="does not exist"):
        check_writable(tmp_path / "no" / "x")
    with pytest.raises(StorageError, match="is a directory"):
        check_writable(tmp_path)
    with pytest.raises(StorageError, match="is not among"):
        write_arrays(tmp_path / "x", {"c": np.zeros(3, complex)}, {})


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    lock = tmp_path / ".lock"
    with exclusive(lock, "taken"), pytest.raises(StorageError, match="taken"), exclusive(lock, "taken"):
        pass
    with exclusive(lock, "taken"):
        pass
    with pytest.raises(StorageError, match=r"cannot write .*no"), exclusive(tmp_path / "no" / "x", "taken"):
        pass


@pytest.mark.parametrize("refused", ["TemporaryFile", "mkstemp"])
def test_whatever_a_file_system_refuses_is_one_line(
    refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(f"tempfile.{refused}", fail)
    with pytest.raises(StorageError, match=r"cannot write .*x: Read-only file system"):
        write_arrays(tmp_path / "x", ARRAYS, {})
    assert os.listdir(tmp_path) == []
