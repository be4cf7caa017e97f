"""The tutorials run, and print what is committed."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.docs.test_docs import run_command, same

DOCS = Path(__file__).parents[2] / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.ipynb"))
TOOL = runpy.run_path(str(DOCS / "tutorials.py"))
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


def notebook(*sources: str) -> Any:
    """Returns a notebook of cells that have not run."""
    cells = [nbformat.v4.new_code_cell(source, id=f"cell{number}") for number, source in enumerate(sources)]
    return nbformat.v4.new_notebook(cells=cells)


def test_a_notebook_that_shows_the_same_again_keeps_every_byte(tmp_path: Path) -> None:
    """Also if another kernel ran it then, and what it printed came in other parts."""
    path = tmp_path / "x.ipynb"
    nbformat.write(notebook("print(1)\nprint(2)", "3 + 4"), path)
    assert TOOL["refresh"](path), "it had not run"
    before = nbformat.read(path, as_version=4)
    assert printed(before) == ["1\n2\n", ""] and before.cells[1].outputs[0].data["text/plain"] == "7"
    before.metadata["language_info"] = {"name": "python", "version": "3.9.9"}
    before.cells[0].outputs = [nbformat.v4.new_output("stream", name="stdout", text=text) for text in ("1\n", "2\n")]
    nbformat.write(before, path)
    kept = path.read_bytes()
    assert not TOOL["refresh"](path) and path.read_bytes() == kept
    before.cells[0].source, before.cells[1].metadata["tags"] = "print(5)", ["mine"]
    nbformat.write(before, path)
    assert TOOL["refresh"](path)
    after = nbformat.read(path, as_version=4)
    assert printed(after) == ["5\n", ""] and after.metadata == before.metadata and after.cells[1] == before.cells[1]


def test_other_pictures_are_changes() -> None:
    before, ran = notebook("1"), notebook("1")
    for each, picture in ((before, "aaaa"), (ran, "bbbb")):
        each.cells[0].outputs = [nbformat.v4.new_output("display_data", {"image/png": picture})]
    assert TOOL["take_outputs"](before, ran) and plots(before) == 1
    assert before.cells[0].outputs[0].data["image/png"] == "bbbb"
    assert not TOOL["take_outputs"](before, ran)
