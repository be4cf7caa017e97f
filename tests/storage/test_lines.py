"""Files of lines that end anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aleator.storage import StorageError
from aleator.storage.lines import LineFile, read_lines


class Numbers(LineFile):
    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        self.found: list[int] = []
        super().__init__(path, "count", header)

    def take(self, number: int, document: dict[str, Any]) -> None:
        self.found.append(document["number"])


def test_a_file_that_was_cut_off_anywhere_goes_on_with_its_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    file = Numbers(path, {"of": "sheep"})
    file.write(['{"number": 1}', '{"number": 2}'])
    file.close()
    whole = path.read_bytes()
    for end in range(len(whole) + 1):
        path.write_bytes(whole[:end])
        again = Numbers(path, {"of": "sheep"})
        lines = max(whole[:end].count(b"\n") - 1, 0)
        assert again.found == [1, 2][:lines]
        again.write([f'{{"number": {number}}}' for number in (1, 2)[lines:]])
        again.close()
        assert path.read_bytes() == whole
    assert [document.get("number") for _, document in read_lines(path, "count")] == [None, 1, 2]


def test_files_of_something_else_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    Numbers(path, {"of": "sheep"}).close()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="is another count: of sheep, not goats"):
        Numbers(path, {"of": "goats"})
    with pytest.raises(StorageError, match="not a report file"):
        next(read_lines(path, "report"))
    path.with_suffix(".txt").write_text("a poem\n")
    with pytest.raises(StorageError, match="line 1: not a JSON object"):
        Numbers(path.with_suffix(".txt"), {})
    with pytest.raises(StorageError, match="cannot read"):
        next(read_lines(tmp_path / "nothing", "count"))
    assert path.read_bytes() == before
