"""Runs that are kept: the same command goes on with what is missing, and files of something else are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aleator.apps.papers import regret_transfer
from aleator.apps.papers.base import PaperError
from aleator.apps.papers.kept import keep_run, plain_name, read_run, run_file
from tests.apps.calls import call

ABOUT = {"seed": 1, "looks": (1, 2)}


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    file = run_file(tmp_path, "run 1")
    assert file == tmp_path / "run-1.json" and run_file(None, "run 1") is None
    assert read_run(file, ABOUT, list) is None and read_run(None, ABOUT, list) is None
    keep_run(file, ABOUT, [0.1, 2])
    keep_run(None, ABOUT, [0.1, 2])
    assert read_run(file, ABOUT, list) == [0.1, 2] and [path.name for path in tmp_path.iterdir()] == ["run-1.json"]
    with pytest.raises(PaperError, match="by other settings: keep these runs in another folder"):
        read_run(file, ABOUT | {"seed": 2}, list)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"format": "aleator run 2", "about": {}, "result": []}', '{"about": 1}']
)
def test_other_files_are_refused_in_a_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "run-1.json"
    file.write_text(text)
    with pytest.raises(PaperError, match="cannot be read as a kept run") as error:
        read_run(file, ABOUT, list)
    assert "\n" not in str(error.value)


def test_a_command_makes_only_the_runs_that_are_missing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regret_transfer, "_BEFORE_QUICK", 200)
    monkeypatch.setattr(regret_transfer, "_AFTER_QUICK", 1024)

    def paper(*rest: str) -> dict[str, Any]:
        code, text, error = call(capsys, "paper", "regret-transfer", "--quick", "--json", *rest)
        assert code == 0, error
        document: dict[str, Any] = json.loads(text)
        return {name: document[name] for name in ("rows", "claims", "panels", "bands")}

    folder = tmp_path / "runs"
    once = paper("--keep", str(folder))
    assert sorted(path.name for path in folder.iterdir()) == ["run-1.json", "run-2.json", "without-sampling.json"]
    assert once == paper()
    (folder / "run-2.json").unlink()
    other = json.loads((folder / "run-1.json").read_text())
    other["result"]["weight"] = 0.25
    (folder / "run-1.json").write_text(json.dumps(other))
    again = paper("--keep", str(folder))
    assert (folder / "run-2.json").exists()
    weights = [found["rows"][2]["weight"] for found in (once, again)]
    assert weights[0] != weights[1]  # the first run was read and not made again
    assert again["bands"] == once["bands"]
    kept = json.loads((folder / "run-2.json").read_text())
    first = dict(list(kept["result"]["curves"].items())[:1])  # stopped after its first curve
    (folder / "run-2.json").write_text(json.dumps(kept | {"result": {"curves": first, "weight": 1.0}}))
    assert paper("--keep", str(folder)) == again
    assert json.loads((folder / "run-2.json").read_text()) == kept
    code, _, error = call(capsys, "paper", "regret-transfer", "--quick", "--seed", "3", "--keep", str(folder))
    assert code == 2 and "made by other settings" in error
    code, _, error = call(capsys, "paper", "rebel-rps", "--keep", str(folder))
    assert code == 2 and "rebel-rps keeps no runs" in error


def test_names_of_files_are_plain() -> None:
    assert plain_name("leduc:nolimit5: tables (RS-MCCFR+), seed 0") == "leduc-nolimit5-tables-RS-MCCFR-seed-0"
