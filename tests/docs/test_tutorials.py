"""The tutorials run, and print what is committed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.docs.test_docs import run_command, same

TUTORIALS = sorted((Path(__file__).parents[2] / "docs" / "tutorials").glob("*.ipynb"))
# what a network has learnt depends on the machine's arithmetic
LEARNT = ("rebel-liars-dice",)


def printed(notebook: Any) -> list[str]:
    """Returns what each code cell printed."""
    return [
        "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def plots(notebook: Any) -> int:
    """Returns how many pictures there are."""
    return sum("image/png" in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial_runs_and_prints_what_is_committed(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    command = [sys.executable, "-m", "jupyter", "nbconvert", "--to", "notebook", "--execute", "--output", str(copy)]
    ran = subprocess.run([*command, str(path)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    committed, found = nbformat.read(path, as_version=4), nbformat.read(copy, as_version=4)
    assert plots(found) == plots(committed) >= 2
    if path.stem in LEARNT:
        before, after = re.findall(r"exploitability ([\d.]+) before, ([\d.]+) after", "".join(printed(found)))[0]
        assert float(after) < float(before) / 5, "it learns to play"
        return
    for expected, text in zip(printed(committed), printed(found), strict=True):
        assert same(expected, text), f"committed is\n{expected}\nbut it prints\n{text}"


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial_names_commands_that_exist(path: Path) -> None:
    text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    experiments = set(re.findall(r"`aleator paper ([\w-]+)", text))
    listed = run_command(["paper", "--json"])[1]
    assert all(f'"{name}"' in listed for name in experiments), experiments


def test_there_are_five() -> None:
    assert [path.stem for path in TUTORIALS] == [
        "how-good-is-my-bot",
        "rebel-liars-dice",
        "regret-matching-to-dcfr",
        "safe-search",
        "your-own-game",
    ]


def test_committed_outputs_are_small() -> None:
    assert all(path.stat().st_size < 200_000 for path in TUTORIALS)
