"""A machine without Chromium is told in one line how to get it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.apps.web.browser import find_chromium
from tests.apps.web.conftest import pytest_runtest_setup


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which no browser can be found."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "browsers"))
    return tmp_path


@pytest.mark.usefixtures("bare")
def test_without_a_browser_its_tests_are_skipped_with_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALEATOR_SCREENSHOTS", raising=False)
    assert find_chromium() is None
    with pytest.raises(pytest.skip.Exception, match=r"^no Chromium .*playwright install .*apt-get install chromium`$"):
        pytest_runtest_setup(SimpleNamespace(fixturenames=["page"]))  # type: ignore[arg-type]
    pytest_runtest_setup(SimpleNamespace(fixturenames=["server"]))  # type: ignore[arg-type]
    monkeypatch.setenv("ALEATOR_SCREENSHOTS", "1")
    with pytest.raises(pytest.exit.Exception, match="no Chromium"):
        pytest_runtest_setup(SimpleNamespace(fixturenames=["page"]))  # type: ignore[arg-type]


@pytest.mark.parametrize("place", ["bin/google-chrome", "browsers/chromium-1200/chrome-linux64/chrome"])
def test_the_systems_browser_and_playwrights_own_are_found(place: str, bare: Path) -> None:
    program = bare / place
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    assert find_chromium() == str(program)
