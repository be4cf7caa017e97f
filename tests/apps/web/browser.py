"""Chromium, driven by playwright."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from PIL import Image

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
PATIENCE = 240_000  # milliseconds; machines that run tests may be busy
IMAGES = Path(__file__).parents[3] / "docs" / "images"


GET_IT = (
    "no Chromium for the tests of the web pages: "
    "`.venv/bin/playwright install --with-deps chromium` or `apt-get install chromium`"
)


def find_chromium() -> str | None:
    """Returns the path of the system's Chromium or Chrome, or else of playwright's own; None if there is neither."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    caches = [Path.home() / ".cache" / "ms-playwright", Path.home() / "Library" / "Caches" / "ms-playwright"]
    if named := os.environ.get("PLAYWRIGHT_BROWSERS_PATH"):
        caches = [Path(named)]
    programs = ("chromium-*/chrome-linux*/chrome", "chromium-*/chrome-mac*/Chromium.app/Contents/MacOS/Chromium")
    return next((str(path) for cache in caches for program in programs for path in sorted(cache.glob(program))), None)


@contextmanager
def chromium() -> Iterator[Any]:
    """Yields a browser; what cannot be started is said in one line."""
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (it is in the extra `dev`)"
    )
    path = find_chromium()
    with sync_api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS, timeout=PATIENCE)
        except sync_api.Error as error:
            pytest.fail(f"{path} does not start: {error.message.splitlines()[0]}", pytrace=False)
        yield browser
        browser.close()


class Checked:
    """A page that fails its test if it logs an error, and that never scrolls sideways."""

    def __init__(self, context: Any, url: str, token: str) -> None:
        self.page = context.new_page()
        self.url, self.token = url, token
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._listen)

    def _listen(self, message: Any) -> None:
        refused = "status of 400" in message.text  # what was typed made no sense: the page says so itself
        if message.type == "error" and not refused:
            self.errors.append(message.text)

    def open(self, path: str) -> Any:
        """Opens a page of the app."""
        token, self.token = self.token, ""
        self.page.goto(f"{self.url}/{f'?token={token}' if token else ''}#/{path}")
        self.page.wait_for_selector("main .page > *")
        return self.page

    def until(self, expression: str) -> None:
        """Waits until a JavaScript expression is true (the page's own policy forbids playwright's way to do that)."""
        end = monotonic() + PATIENCE / 1000
        while not self.page.evaluate(expression):
            assert monotonic() < end, f"never true: {expression}"
            self.page.wait_for_timeout(40)

    def until_text(self, selector: str, text: str) -> None:
        """Waits until an element says something."""
        self.page.locator(selector, has_text=text).first.wait_for()

    def check(self) -> None:
        """Asserts that nothing went wrong and nothing sticks out."""
        assert not self.errors, self.errors
        wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{self.page.url} is {wide} pixels too wide"

    def picture(self, name: str) -> None:
        """Writes a screenshot for the documentation where asked to (ALEATOR_SCREENSHOTS=1)."""
        self.check()
        if os.environ.get("ALEATOR_SCREENSHOTS"):
            IMAGES.mkdir(parents=True, exist_ok=True)
            self.page.evaluate("window.scrollTo(0, 0)")
            self.page.wait_for_timeout(300)
            image = Image.open(io.BytesIO(self.page.screenshot()))
            palette = image.convert("RGB").quantize(256, method=Image.Quantize.MEDIANCUT)
            image.convert("RGB").quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG).save(
                IMAGES / f"{name}.png", optimize=True
            )


def play_deal(page: Checked) -> int:
    """Plays a deal by raising as little as possible, then calling; returns how many moves it took."""
    moves, shown = 0, page.page
    while not shown.locator(".result").count():
        said = shown.locator(".said li:not(.none)").count()
        options = shown.locator(".bid:not(:disabled), .act:not(:disabled)")
        options.nth(0 if moves < 2 else options.count() - 1).click()
        moves += 1
        page.until(
            f"document.querySelector('.result') || document.querySelectorAll('.said li:not(.none)').length > {said}"
        )
    return moves
