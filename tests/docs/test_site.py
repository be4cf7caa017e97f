"""The documentation site builds without a warning and works without the network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apps.web.browser import GET_IT, PATIENCE, chromium, find_chromium

ROOT = Path(__file__).parents[2]
FETCHED = re.compile(
    r"""<(?:script|img|source|iframe)[^>]*\ssrc=["']?(?:https?:)?//|<link[^>]*href=["']?(?:https?:)?//"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of the site, built strictly: a broken link or an unknown name is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_every_page_is_in_the_navigation(site: Path) -> None:
    pages = [
        path for path in (ROOT / "docs").rglob("*") if path.suffix in (".md", ".ipynb") and ".ipynb_" not in str(path)
    ]
    assert len(pages) > 20
    home = (site / "index.html").read_text()
    for page in pages:
        name = page.relative_to(ROOT / "docs")
        assert (site / name.with_suffix(".html")).is_file()
        assert f'href="{name.with_suffix(".html").as_posix()}"' in home, (
            f"{name} is not in the navigation of mkdocs.yml"
        )


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    assert FETCHED.search('<script src="https://cdn.example/x.js">')
    for page in site.rglob("*.html"):
        found = FETCHED.search(page.read_text())
        assert found is None, f"{page.relative_to(site)}: {found}"


def test_formulas_and_docstrings_are_rendered(site: Path) -> None:
    notebook = (site / "tutorials" / "regret-matching-to-dcfr.html").read_text()
    assert notebook.count("<math") >= 10
    assert "$$" not in notebook
    assert "Returns an approximate equilibrium." in (site / "api" / "solvers.html").read_text()


def test_pages_of_algorithms_have_what_the_modules_say(site: Path) -> None:
    pages = sorted((site / "algorithms").glob("*.html"))
    assert len(pages) >= 21
    for page in pages:
        text = page.read_text()
        assert "<strong>Deviations.</strong>" in text and "<strong>Status.</strong>" in text, page.name
        assert "$$" not in text and "Source: " not in text, page.name


def test_the_search_works_from_the_disk(site: Path) -> None:
    if find_chromium() is None:
        pytest.skip(GET_IT)
    with chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto((site / "algorithms" / "cfr.html").as_uri())
        page.locator(".md-search__input").press_sequentially("maxmargin")  # the theme listens to keys, not to values
        results = page.locator(".md-search-result__link")
        results.first.wait_for(state="attached")
        found = results.evaluate_all("links => links.map(link => link.href)")
    assert any("gadgets.html" in link or "safe-search.html" in link for link in found), found
