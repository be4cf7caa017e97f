"""Runs the tutorials again: `python docs/tutorials.py [FILE.ipynb ...]`; a file changes only if what it prints does.

What a kernel says about itself, and in how many parts a cell's text came, is left as it was.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent / "tutorials"


def run(notebook: Any) -> Any:
    """Returns a notebook after all its cells have run."""
    ran = nbformat.from_dict(notebook)
    NotebookClient(
        ran, kernel_name="python3", record_timing=False, resources={"metadata": {"path": str(FOLDER)}}
    ).execute()
    return ran


def shown(cell: Any) -> list[Any]:
    """Returns what a cell shows: its texts, in one part each, and its pictures."""
    parts: list[Any] = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream" and parts and parts[-1][0] == output.name:
            parts[-1] = (output.name, parts[-1][1] + output.text)
        elif output.output_type == "stream":
            parts.append((output.name, output.text))
        else:
            parts.append((output.output_type, output.get("data")))
    return parts


def take_outputs(notebook: Any, ran: Any) -> bool:
    """Puts into a notebook what its cells showed when they ran, where that differs; returns whether it does."""
    changed = False
    for cell, again in zip(notebook.cells, ran.cells, strict=True):
        if shown(cell) != shown(again):
            cell.outputs, cell.execution_count, changed = again.outputs, again.execution_count, True
    return changed


def refresh(path: Path) -> bool:
    """Runs the notebook in a file and keeps what it shows; returns whether the file has changed."""
    notebook = nbformat.read(path, as_version=4)
    changed = take_outputs(notebook, run(notebook))
    if changed:
        nbformat.write(notebook, path)
    return changed


if __name__ == "__main__":
    for chosen in [Path(name) for name in sys.argv[1:]] or sorted(FOLDER.glob("*.ipynb")):
        print(f"{chosen.name}: {'changed' if refresh(chosen) else 'as it was'}", flush=True)
