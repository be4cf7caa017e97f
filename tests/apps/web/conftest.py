from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apps.web.browser import DESKTOP, GET_IT, PATIENCE, Checked, chromium, find_chromium
from tests.apps.web.running import RIVER, RunningServer


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Where there is no browser, its tests are skipped in one line of the report, and pictures cannot be taken."""
    if {"browser", "page"} & set(getattr(item, "fixturenames", ())) and find_chromium() is None:
        if os.environ.get("ALEATOR_SCREENSHOTS"):
            pytest.exit(GET_IT, returncode=2)
        pytest.skip(GET_IT)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that all tests share."""
    running = RunningServer(tmp_path_factory.mktemp("data")).start()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def river(server: RunningServer) -> str:
    """The id of a solved river."""
    job = server.ended(server.solve(RIVER, name="A river"))
    assert job["status"] == "done", job["error"]
    return str(job["id"])


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A data directory of one's own."""
    return tmp_path / "data"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser that the tests of a file share: while it is open, nothing else can run an event loop."""
    with chromium() as found:
        yield found


@pytest.fixture
def page(browser: Any, server: RunningServer) -> Iterator[Checked]:
    """A page on the shared server, on which nothing may go wrong."""
    context = browser.new_context(viewport=DESKTOP, color_scheme="light")
    context.set_default_timeout(PATIENCE)
    page = Checked(context, server.url, server.token)
    yield page
    page.check()
    context.close()
