"""Networks in files: as the safetensors library writes and reads them, and damage noticed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from aleator.storage import ArrayFile, StorageError
from aleator.storage.tensors import TensorFile, write_tensors

ARRAYS = {
    "a": np.arange(5, dtype=np.float32),
    "b.c": np.eye(3),
    "scalar": np.array(2.0, np.float32),
    "none": np.zeros((0, 3)),
}


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_tensors(path, ARRAYS, {"who": "me"})
    file, other = TensorFile(path), ArrayFile(path)
    assert file.metadata == other.metadata == {"who": "me"} and file.checked and other.checked
    assert file.shapes == other.shapes == {name: array.shape for name, array in ARRAYS.items()}
    with safe_open(path, "np") as library:
        for name, array in ARRAYS.items():
            for read in (file.read, other.read, library.get_tensor):
                found = read(name)
                assert found.dtype == array.dtype and found.shape == array.shape and found.tobytes() == array.tobytes()


@pytest.mark.parametrize("opened", [TensorFile, ArrayFile])
def test_any_byte_that_changes_is_noticed(opened: type[TensorFile | ArrayFile], tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_tensors(path, ARRAYS, {"who": "me"})
    whole = path.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1
        path.write_bytes(changed)
        try:
            file = opened(path)
            if not file.checked:  # who opens it knows that it must be
                continue
            found = {name: file.read(name) for name in file.shapes}
        except StorageError:
            continue
        assert 8 <= place < 8 + length and file.metadata == {"who": "me"}
        assert {name: array.tobytes() for name, array in found.items()} == {
            name: array.tobytes() for name, array in ARRAYS.items()
        }


def test_files_of_others_are_read_without_checksums(tmp_path: Path) -> None:
    save_file(ARRAYS, tmp_path / "x")
    file = TensorFile(tmp_path / "x")
    assert not file.checked and file.metadata == {}
    np.testing.assert_array_equal(file.read("b.c"), ARRAYS["b.c"])


@pytest.mark.parametrize(
    "header", [b"null", b"[" * 100_000, b'{"a": NaN}', b'{"a": ' + b"9" * 5000 + b"}", json.dumps({"a": {}}).encode()]
)
def test_damaged_files_are_one_line(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "x").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(StorageError, match="not a file of tensors, or it is damaged") as caught:
        TensorFile(tmp_path / "x")
    assert "\n" not in str(caught.value)
    with pytest.raises(StorageError, match="cannot read"):
        TensorFile(tmp_path / "nothing")
    (tmp_path / "x").write_bytes((1 << 40).to_bytes(8, "little") + header)
    with pytest.raises(StorageError, match="its header is longer than"):
        TensorFile(tmp_path / "x")
