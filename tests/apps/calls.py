"""Calls of the command line inside the test process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aleator.apps.cli.main import main
from aleator.apps.papers.registry import find_experiment


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Returns exit code, standard output and standard error of a command."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    output = capsys.readouterr()
    return int(ended.value.code or 0), output.out, output.err


def quick_paper(capsys: pytest.CaptureFixture[str], name: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """Returns what a quick run prints and the JSON that it writes, and checks that both files are there."""
    code, text, error = call(capsys, "paper", name, "--quick", "--out", str(folder))
    assert code == 0, error
    assert sorted(path.name for path in folder.iterdir()) == [f"{name}.json", f"{name}.png"]
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    document = json.loads((folder / f"{name}.json").read_text())
    assert document["name"] == name and document["quick"] and document["seconds"] > 0
    assert document["source"] == find_experiment(name).source
    assert document["setting"] in " ".join(text.split())
    return text, document
