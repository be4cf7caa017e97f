"""The learning curves of the algorithms' pages: every page shows its own, with the algorithms that it is about."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from aleator.solvers.algorithms import ALGORITHMS, find_algorithm

DOCS = Path(__file__).parents[2] / "docs"
CURVES = runpy.run_path(str(DOCS / "curves.py"))
PAGES: dict[str, tuple[str, ...]] = CURVES["PAGES"]


def _words(page: str) -> set[str]:
    """Returns the texts of a picture."""
    return {text.strip() for text in re.findall(r">([^<>]+)</text>", (CURVES["FOLDER"] / f"{page}.svg").read_text())}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_its_curves(page: str) -> None:
    assert f"](../images/curves/{page}.svg)" in (DOCS / "algorithms" / f"{page}.md").read_text()
    assert _words(page) >= {*PAGES[page], "iterations", "exploitability, chips"}
    for name in PAGES[page]:
        find_algorithm(name)


def test_every_iterative_algorithm_is_on_a_chart() -> None:
    shown = {name.partition(":")[0] for names in PAGES.values() for name in names}
    missing = {one.name for one in ALGORITHMS.values() if not one.exact} - shown
    assert not missing, f"docs/curves.py lacks {missing}"


def test_the_networks_that_come_with_it_have_theirs() -> None:
    assert "](../images/curves/rebel.svg)" in (DOCS / "algorithms" / "rebel.md").read_text()
    assert _words("rebel") >= {*CURVES["TRAINED"], "epochs", "loss"}
