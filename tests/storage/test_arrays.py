"""Files of arrays: lazily read, atomically replaced, damage noticed."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import basic_indices
from safetensors import safe_open

from aleator.storage import ArrayFile, StorageError, check_replaceable, write_arrays
from aleator.storage.header import NAMES

ARRAYS = {
    "a": np.arange(7, dtype=np.int32),
    "b": np.linspace(0, 1, 12).reshape(3, 4),
    "none": np.zeros(0),
    "flag": np.array([True]),
}
ODD: dict[str, Any] = {
    "bytes": np.arange(5, dtype=np.uint8),
    "wide": np.linspace(-1, 1, 7),
    "half": np.arange(3, dtype=np.float16),
    "none": np.zeros((3, 0), np.float32),
    "one": np.array(3, np.int16),
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


def test_types_that_cannot_be_stored_are_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="is not among"):
        write_arrays(tmp_path / "x", {"c": np.zeros(3, complex)}, {})


def test_the_safetensors_library_reads_the_file(tmp_path: Path) -> None:
    """Also arrays of odd sizes: there are no gaps, and every array is aligned."""
    path = tmp_path / "x"
    write_arrays(path, ODD, {"who": "me"})
    with safe_open(path, "np") as file:
        assert file.metadata() == {"who": "me"} and set(file.keys()) == {*ODD, "checksums"}
        for name, array in ODD.items():
            np.testing.assert_array_equal(file.get_tensor(name), array)
    torch = pytest.importorskip("torch")
    with safe_open(path, "pt") as file:
        assert torch.equal(file.get_tensor("wide"), torch.from_numpy(ODD["wide"]))


def test_any_byte_that_changes_is_noticed_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_arrays(path, ODD, {"who": "me"})
    whole = path.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1
        path.write_bytes(changed)
        try:
            file = ArrayFile(path)
            file.verify()
        except StorageError:
            continue
        assert 8 <= place < 8 + length, "only spaces between words may change"
        if not file.checked:  # the name of the checksums was hit; who opens the file knows that it must have them
            continue
        assert file.metadata == {"who": "me"}
        for name, array in ODD.items():
            np.testing.assert_array_equal(file[name], array)


def test_only_what_is_read_is_checked(tmp_path: Path) -> None:
    path, big = tmp_path / "x", np.arange(3 * 100 * 1000, dtype=np.float64).reshape(3, 100, 1000)
    write_arrays(path, {"big": big}, {})
    whole = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(whole[:8], "little")
    whole[start + 1_200_003] ^= 1  # in big[1, 50]
    path.write_bytes(whole)
    array = ArrayFile(path)["big"]
    np.testing.assert_array_equal(array[0, 3:5], big[0, 3:5])
    np.testing.assert_array_equal(array[2], big[2])
    np.testing.assert_array_equal(array[:, 7, ::3], big[:, 7, ::3])
    assert array[0, 1, 2] == big[0, 1, 2] and len(array) == 3
    for index in (1, (slice(None), 50), (1, 50, 0), (slice(None, None, -1), 50, 3), [1], np.array([[True]])):
        with pytest.raises(StorageError, match="damaged: the content of big has changed"):
            array[index]
    with pytest.raises(StorageError, match="damaged"):
        np.asarray(array)


@given(data=st.data())
def test_parts_of_an_array_are_the_parts_that_were_written(data: st.DataObject, stored: tuple[ArrayFile, Any]) -> None:
    file, big = stored
    index = data.draw(basic_indices(big.shape, allow_newaxis=False))
    part = file["big"][index]
    np.testing.assert_array_equal(part, big[index])


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[ArrayFile, Any]:
    """A file with an array of several blocks."""
    path, big = tmp_path_factory.mktemp("arrays") / "x", np.arange(40 * 60 * 20, dtype=np.int32).reshape(40, 60, 20)
    write_arrays(path, {"big": big}, {})
    return ArrayFile(path), big


def test_files_of_earlier_versions_are_read_and_checked(tmp_path: Path) -> None:
    """They had gaps between arrays, and one checksum for each in the metadata."""
    header: dict[str, Any] = {"__metadata__": {"who": "me"}}
    data = b""
    for name, array in ODD.items():
        raw = array.tobytes()
        header["__metadata__"][f"crc32:{name}"] = str(zlib.crc32(raw))
        place = {"data_offsets": [len(data), len(data) + len(raw)], "shape": list(array.shape)}
        header[name] = {"dtype": NAMES[array.dtype], **place}
        data += raw + bytes(-len(raw) % 8)
    text = json.dumps(header).encode()
    whole = len(text).to_bytes(8, "little") + text + data
    path = tmp_path / "x"
    path.write_bytes(whole)
    file = ArrayFile(path)
    assert file.metadata == {"who": "me"} and not file.checked
    for name, array in ODD.items():
        np.testing.assert_array_equal(file.read(name), array)
    changed = bytearray(whole)
    changed[8 + len(text)] ^= 1
    path.write_bytes(changed)
    with pytest.raises(StorageError, match="damaged: the content of bytes has changed"):
        ArrayFile(path)["bytes"][0]


_ARRAY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    "header",
    [
        b"null",
        b"NaN",
        b"3",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": null}',
        b'{"a": NaN}',
        b'{"__metadata__": null}',
        b'{"__metadata__": {"a": 1}}',
        b'{"__metadata__": {"a": "\\ud800"}}',
        b'{"a": {"dtype": "F32", "shape": [NaN], "data_offsets": [0, 8]}}',
        *(
            json.dumps({"a": {**_ARRAY, **change}}).encode()
            for change in (
                {"dtype": None},
                {"dtype": ["F32"]},
                {"dtype": "C64"},
                {"shape": None},
                {"shape": 2},
                {"shape": [2.0]},
                {"shape": [True, 2]},
                {"shape": [-1, -2]},
                {"shape": [2**62, 2**62]},
                {"shape": [1] * 100},
                {"shape": [3]},
                {"data_offsets": None},
                {"data_offsets": [8]},
                {"data_offsets": [0, 1e300]},
                {"data_offsets": [-8, 0]},
                {"data_offsets": [8, 16]},
                {"more": 1},
            )
        ),
        json.dumps({"a": _ARRAY, "b": _ARRAY}).encode(),
    ],
)
def test_headers_that_say_anything_are_one_line(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "x").write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    with pytest.raises(StorageError, match="x is not a file of arrays, or it is damaged") as caught:
        ArrayFile(tmp_path / "x")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match=r"cannot read .*pipe: it is a pipe, not a file"):
        ArrayFile(tmp_path / "pipe")


def test_only_files_of_arrays_are_replaced(tmp_path: Path) -> None:
    whole, cut, empty, text, short = (tmp_path / name for name in ("whole", "cut", "empty", "text", "short"))
    write_arrays(whole, {"a": np.zeros(5)}, {})
    cut.write_bytes(whole.read_bytes()[:40])
    empty.touch()
    for path in (whole, cut, empty, tmp_path / "new"):
        check_replaceable(path)
    assert not (tmp_path / "new").exists()
    text.write_text('board = "3s 7h Td Ks"\n')
    short.write_text("mine")
    for path in (text, short):
        with pytest.raises(StorageError, match=f"cannot write {path}: the file there is of another kind"):
            check_replaceable(path)
