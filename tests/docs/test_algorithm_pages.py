"""Every algorithm has a page, with results beside the paper's and what its modules say about themselves."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.test_docs import prose, run_command

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "algorithms").glob("*.md"))


def site_hooks() -> ModuleType:
    """Returns the module that builds the pages."""
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "docs" / "site_hooks.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOOKS = site_hooks()


def sources(page: Path) -> list[str]:
    """Returns the modules that a page names as its source."""
    found: list[str] = HOOKS.source_modules(page.read_text())
    assert found, f"{page.name} needs a line 'Source: `module`, `module`.'"
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_what_it_must(page: Path) -> None:
    text = prose(page)
    assert f"(algorithms/{page.name})" in (ROOT / "docs" / "algorithms.md").read_text(), "the index links to it"
    assert "\n## When to use it\n" in text and "\n## Results\n" in text
    results = text.partition("\n## Results\n")[2].partition("\n## ")[0]
    assert re.search(r"`aleator (paper|bench) [\w-]+`|`tests/[\w/.]+`", results), "results name their command"
    assert "$" in text or "| name |" in text or page.stem == "pluribus-search", "a formula or a table of names"
    for module in sources(page):
        assert set(HOOKS.module_blocks(module)) >= HOOKS.STATED, f"{module} lacks one of {HOOKS.STATED}"


def test_what_no_page_names_is_on_the_index() -> None:
    named = {module for page in PAGES for module in sources(page)}
    others = HOOKS.other_modules()
    assert len(named) >= 35 and not named & set(others)
    assert len(others) <= 10, f"give these a page in docs/algorithms, or a place in its line 'Source:': {others}"
    assert HOOKS.OTHERS in (ROOT / "docs" / "algorithms.md").read_text()


def test_every_experiment_is_on_a_page() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    for known in json.loads(run_command(["paper", "--json"])[1]):
        assert f"`aleator paper {known['name']}`" in text, f"no page of docs/algorithms has {known['name']}"


def test_what_modules_say_is_on_the_site() -> None:
    blocks = HOOKS.module_blocks("aleator.search.trunk")
    assert blocks[""].startswith("How good a policy is") and blocks["Reference"] == "thesis 5.1.2 (trunk)."
    told = HOOKS.module_text("aleator.search.trunk")
    assert "**Deviations.** the game is solved by CFR" in told and "<details" in told
