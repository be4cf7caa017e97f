"""A real Chromium through every page: paint, solve, browse, lock, solve again, save, restart, find; race, watch."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from aleator.games.holdem.spot import DEFAULT_RULE
from tests.apps.web.browser import DESKTOP, PATIENCE, PHONE, Checked, play_deal
from tests.apps.web.running import LONG, RIVER, SECONDS, RunningServer


def test_the_first_page_asks_for_little(page: Checked, server: RunningServer) -> None:
    """What makes it quick; `aleator bench web` measures how quick."""
    page.open("")
    page.page.wait_for_selector(".hero .button.primary")
    page.page.wait_for_load_state("networkidle")
    entries = "['navigation', 'resource'].flatMap(type => performance.getEntriesByType(type))"
    answers = page.page.evaluate(f"{entries}.map(entry => [entry.name, entry.decodedBodySize])")
    assert all(url.startswith(server.url) for url, _ in answers)
    assert 5 < len(answers) < 30 and 20_000 < sum(size for _, size in answers) < 200_000  # 18 and 104,000, half a font
    page.picture("home")
    page.page.keyboard.press("Tab")
    assert page.page.evaluate("document.activeElement.textContent") == "Skip to the page"


def test_the_editor_helps_and_refuses_what_cannot_be(page: Checked) -> None:
    shown = page.open("solve")
    shown.wait_for_selector(".estimate .facts")
    assert shown.get_by_label("Algorithm").input_value() == DEFAULT_RULE
    shown.get_by_label("Typical range for IP").select_option(label="4-bet, 3 %")
    page.until("document.querySelector('.painter[data-side=ip] textarea').value === 'QQ+,AKs,AKo,A5s:0.5'")
    shown.get_by_role("button", name="Swap").click()
    page.until("document.querySelector('.painter[data-side=oop] textarea').value === 'QQ+,AKs,AKo,A5s:0.5'")
    before = shown.locator(".board-text").input_value()
    shown.get_by_role("button", name="Random").click()
    after = shown.locator(".board-text").input_value().split()
    assert after != before.split() and len(set(after)) == 5
    shown.locator(".board-text").fill("Qs Qs 2h 8c 3d")
    page.until_text(".estimate .problem-text", "comes twice")
    shown.locator(".board-text").fill("Qs Jh 2h")
    page.until_text(".estimate dt", "Nodes")
    shown.get_by_label("Stack behind").fill("10000")
    sizes = ", ".join(f"{size}%" for size in range(20, 201, 20))
    for side in ("oop", "ip"):
        for kind in ("bet", "raise"):
            shown.get_by_label(f"flop {side} {kind}").fill(sizes)
    page.until_text(".estimate .problem-text", "more than the 40,000 nodes that are allowed: use fewer sizes")
    assert shown.get_by_role("button", name="Solve", exact=True).is_disabled()
    assert "use fewer sizes" in shown.locator(".solve-bar .solve-why").inner_text(), "the reason is beside the button"


def paint(page: Any, side: str, classes: list[str]) -> None:
    """Paints classes in a range painter."""
    for name in classes:
        page.locator(f".painter[data-side={side}] .cell[data-name='{name}']").click()


def test_a_spot_from_paint_to_restart(browser: Any, empty: Path) -> None:
    server = RunningServer(empty).start()
    context = browser.new_context(viewport=DESKTOP, color_scheme="light", accept_downloads=True)
    context.set_default_timeout(PATIENCE)
    page = Checked(context, server.url, server.token)
    try:
        _paint_and_solve(page)
        locked = _lock_and_solve_again(page)
        page.page.goto("about:blank")  # nobody asks while the server is away
        server.stop()
        again = RunningServer(empty)
        again.port, again.url = server.port, server.url
        again.client = type(server.client)(base_url=server.url, timeout=SECONDS)
        server = again.start()
        shown = page.open("solve")
        shown.wait_for_selector(".spot-row")
        assert shown.locator(".spot-row").count() == 2
        assert {"Painted", "Painted, locked"} == set(shown.locator(".spot-row a > b").all_inner_texts())
        shown.goto(locked)
        shown.reload()
        shown.wait_for_selector(".node-summary table")
        assert re.search(r"r:0:c:b\d+", shown.url)
        assert "fold" in shown.locator(".actions-table").inner_text()
        page.check()
    finally:
        context.close()
        server.stop()


def _paint_and_solve(page: Checked) -> None:
    shown = page.open("solve")
    shown.wait_for_selector(".estimate .facts")
    shown.get_by_role("button", name="Nuts or air").click()
    shown.locator(".painter[data-side=ip] .chip", has_text="Clear").click()
    paint(shown, "ip", ["AA", "KK", "JTs"])
    shown.locator(".painter[data-side=ip] input[type=range]").fill("50")
    paint(shown, "ip", ["QJs"])
    text = shown.locator(".painter[data-side=ip] textarea")
    page.until("document.querySelector('.painter[data-side=ip] textarea').value.includes('QJs:0.5')")
    assert text.input_value() == "KK+,QJs:0.5,JTs"
    text.fill("AA,KK,88,QJs:0.5,JTs")
    shown.wait_for_selector(".painter[data-side=ip] .cell[data-name='88'][aria-label*='100']")
    shown.locator(".deck .key[data-card='2d']").first.click()
    shown.locator(".deck .key[data-card='3d']").first.click()
    assert shown.locator(".board-text").input_value() == "Ah Kd 8s 5c 3d"
    shown.get_by_label("river ip bet").fill("50%, 100%, oops")
    page.until_text(".estimate .problem-text", "oops")
    shown.get_by_label("river ip bet").fill("50%, 100%")
    shown.wait_for_selector(".estimate .facts dd >> text=/\\d (ms|s)/")
    shown.get_by_label("Name", exact=True).fill("Painted")
    shown.get_by_role("button", name="Solve", exact=True).click()
    shown.wait_for_selector(".explorer-columns .cell.selected")
    page.check()


def _lock_and_solve_again(page: Checked) -> str:
    """Browses, locks a node and solves again; returns the URL of a node of the result."""
    shown = page.page
    first = shown.url
    shown.locator(".line-action", has_text="check").last.click()
    shown.wait_for_selector(".line-step.here >> text=bet 50")
    page.until_text(".node-summary", "IP to act")
    assert shown.url != first and shown.url.endswith("r:0:c")
    shown.locator(".line-action", has_text="all-in 100").click()
    page.until_text(".node-summary", "OOP to act")
    before = shown.locator(".actions-table tbody tr").first.inner_text()
    for show in ("EV", "Equity", "Range", "Actions"):
        shown.locator(".grid-head label", has_text=show).click()
    shown.locator(".page-solve .explorer-columns .cell[data-name='KQs']").click()
    shown.wait_for_selector(".hands tbody tr")
    assert shown.locator(".hands tbody tr").count() == 3, "three suits of KQs: the king of diamonds is on the board"
    assert shown.locator(".hands td.action").count() == 6 and shown.locator(".hands td.action .best").count() >= 3
    shown.locator(".locks summary").click()
    shown.get_by_label("Hands to lock, as a range").fill("random")
    shown.get_by_label("fold, per cent").fill("100")
    shown.get_by_label("call 100, per cent").fill("0")
    shown.get_by_role("button", name="Lock these hands").click()
    shown.get_by_role("button", name="Solve again").click()
    shown.wait_for_selector(".tag.warn >> text=locked at")
    shown.locator(".tag.warn", has_text="locked at").click()
    page.until_text(".node-summary", "OOP to act")
    after = shown.locator(".actions-table tbody tr").first.inner_text()
    assert "100.0 %" in after and after != before
    title = shown.locator(".title-input")
    assert title.input_value() == "Painted, locked"
    with shown.expect_download() as download:
        shown.get_by_text("Download").click()
    assert Path(download.value.path()).stat().st_size > 1000
    page.check()
    return str(shown.url)


def test_a_turn_is_explored_card_by_card_and_played(page: Checked) -> None:
    shown = page.open("solve")
    shown.get_by_role("button", name="Turn", exact=True).click()
    page.until("document.querySelector('.board-text').value === '3s 7h Td Ks'")
    shown.wait_for_selector(".estimate .facts dd >> text=/\\d (ms|s)/")
    page.picture("solve")
    shown.get_by_role("button", name="Solve", exact=True).click()
    shown.wait_for_selector(".explorer-columns .cell.selected")
    shown.locator(".line-action", has_text="check").last.click()
    page.until_text(".node-summary", "IP to act")
    shown.wait_for_selector(".hands tbody tr")
    types = shown.locator(".types tbody th").all_inner_texts()
    assert "top pair" in types and "flush draw" in types and "no draw" in types
    page.picture("explorer")
    shown.locator(".line-step.here .line-action", has_text="check").click()
    shown.get_by_role("button", name="Compare all cards").click()
    shown.wait_for_selector(".runout-chart .column")
    assert shown.locator(".runout-chart .column").count() == 48
    page.picture("runouts")
    shown.locator(".runout-figure label", has_text="Equity OOP").click()
    assert shown.locator(".runout-chart circle").count() == 48 and "mean" in shown.locator(".runout-chart").inner_html()
    shown.get_by_text("As a table").click()
    grid = shown.locator(".explorer-columns .grid13").bounding_box()
    assert grid and grid["y"] + grid["height"] < DESKTOP["height"], "the grid stays on the first screen"
    assert shown.locator(".runout-table tbody tr").count() == 48
    shown.locator(".runout-chart .column[data-card='8h']").click()
    page.until("location.hash.endsWith('r:0:c:c:8h')")
    _go_on_from_here(page)
    shown.get_by_text("Play this spot").click()
    shown.wait_for_selector(".act, .result")
    play_deal(page)
    assert shown.locator(".mini-grid").count() >= 2
    page.check()


def _go_on_from_here(page: Checked) -> None:
    """Copies a range, and finds both in an editor with the board, the pot and the stack of the node; then goes back."""
    shown = page.page
    shown.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown.get_by_role("button", name="IP", exact=True).last.click()
    page.until_text(".toast", "Copied: IP.")
    copied = shown.evaluate("navigator.clipboard.readText()")
    assert "QsQh" in copied, "hands of a class play differently"
    shown.get_by_text("Solve from here").click()
    page.until("document.querySelector('.board-text')?.value === '3s 7h Td Ks 8h'")
    page.until(f"document.querySelector('.painter[data-side=ip] textarea').value === {json.dumps(copied)}")
    shown.wait_for_selector(".estimate .facts")
    assert shown.get_by_label("Pot", exact=True).input_value() == "100"
    shown.locator(".painter[data-side=ip] textarea").fill("AKx")
    page.until_text(".estimate .problem-text", "AKx")
    assert shown.get_by_role("button", name="Solve", exact=True).is_disabled(), "not with the range of before"
    shown.go_back()
    shown.wait_for_selector(".node-ranges")


def test_numbers_are_written_for_readers(page: Checked, river: str) -> None:
    shown = page.open(f"solve/{river}/r:0:b75")
    page.until_text(".node-summary", "IP to act")
    page.until("document.querySelector('.actions-table tbody td:last-child').innerText !== '…'")
    assert not re.search(r"\de[−-]", shown.locator("main").inner_text()), "no powers of ten among chips"


def test_a_solve_is_stopped_and_kept(page: Checked, server: RunningServer) -> None:
    spot = json.loads(json.dumps(RIVER)) | {"board": "Qs Jh 2h 8c", "solve": {"target": 0, "max_iterations": 1_000_000}}
    job = server.solve(spot, name="Stopped")
    shown = page.open(f"solve/{job}")
    shown.wait_for_selector(".series[d*=L]")
    shown.get_by_role("button", name="Stop and keep").click()
    assert shown.wait_for_selector(".tag.warn >> text=stopped early").is_visible()


def test_what_is_being_solved_can_be_seen(page: Checked, server: RunningServer) -> None:
    """Board, pot, ranges, sizes: in the list while a solve runs and another waits, and on the page of a running one."""
    running, waiting = server.solve(LONG, name="Long"), server.solve(RIVER | {"pot": 120}, name="Waits")
    try:
        shown = page.open("solve")
        for name, board, pot in (("Long", 4, "Pot 100, 300 behind"), ("Waits", 5, "Pot 120, 300 behind")):
            row = shown.locator(".spot-row", has=shown.get_by_text(name, exact=True))
            row.locator(".tag.live").wait_for()
            assert row.locator(".card").count() == board
            told = row.locator(".told").inner_text()
            assert told.startswith(f"{pot} · OOP {RIVER['oop']} · IP {RIVER['ip']}"), told
            assert told.endswith("River both: bets 75%, raises all-in") and ("Turn both" in told) == (board == 4)
        page.check()
        shown.locator(".spot-row a", has=shown.get_by_text("Long", exact=True)).click()
        shown.wait_for_selector("dl.told")
        assert shown.locator("dl.told dt").all_inner_texts() == ["Pot", "OOP", "IP", "Turn", "River"]
        assert RIVER["ip"] in shown.locator("dl.told").inner_text()
        assert shown.locator(".title-row .card").count() == 4
        shown.set_viewport_size(PHONE)
        page.check()
        page.open("solve").wait_for_selector(".spot-row .told")
        page.check()
    finally:
        for job in (waiting, running):
            server.client.delete(f"/api/jobs/{job}").raise_for_status()


def test_algorithms_race(page: Checked) -> None:
    shown = page.open("learn/leduc")
    shown.wait_for_selector(".standing tbody tr")
    page.until("document.querySelectorAll('.standing tbody tr').length === 4")
    page.until_text(".page-learn", "worth −0.08")
    page.until("[...document.querySelectorAll('.standing tbody tr')].every(row => row.cells[2].innerText.length >= 5)")
    shown.get_by_role("button", name="Stop").click()
    page.until_text("main", "The race is over")
    names = [text.split("\n") for text in shown.locator(".standing tbody th").all_inner_texts()]
    assert names[-1] == ["cfr", "vanilla CFR (2007)"], f"vanilla CFR comes last, not {names}"
    page.picture("learn")
    shown.locator(".picks summary").click()
    shown.get_by_label("Algorithm to set").select_option("mccfr")
    shown.get_by_label("scheme").select_option("public-chance")
    shown.get_by_label("batch").fill("5")
    assert shown.locator(".picks output").inner_text() == "mccfr:public-chance,batch=5"
    shown.get_by_label("Another algorithm").fill("dcfr:1,0,1")
    shown.keyboard.press("Enter")
    shown.get_by_role("button", name="Start the race").click()
    page.until("document.querySelectorAll('.standing tbody tr').length === 5")
    shown.get_by_role("button", name="Stop").click()
    page.until_text("main", "The race is over")
    shown.locator(".tree-node.p1").first.click()
    assert "Player 2" in shown.locator(".policy-panel h3").inner_text()


def test_runs_grow_while_they_are_watched(page: Checked, server: RunningServer) -> None:
    folder = server.data_dir / "runs" / "liars-dice-1x4"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text('{"game": "liars-dice:1x4", "preset": "demo"}')
    metrics = folder / "metrics.jsonl"

    def write(epochs: int) -> None:
        loss = [(0.002 + 0.05 / (1 + k / 9)) * (1.3 + math.sin(13 * k * k)) for k in range(epochs)]
        rows = [
            {"epoch": k, "seconds": 0.8 * k, "examples": 512 * k, "loss": loss[k]}
            | ({"exploitability": 0.71 / (1 + k / 4)} if k % 5 == 0 else {})
            for k in range(epochs)
        ]  # fmt: skip
        metrics.write_text("".join(json.dumps(row) + "\n" for row in rows))

    write(60)
    shown = page.open("runs/liars-dice-1x4")
    shown.wait_for_selector(".run-charts .series")
    assert shown.locator(".facts dd").first.inner_text() == "59"
    write(100)
    page.until("document.querySelector('.facts dd').innerText === '99'")
    shown.locator(".run-list a", has_text="shipped/liars-dice-1x6").click()
    page.until_text(".facts", "NVIDIA")
    home = "~/.local/share/aleator"  # where runs are unless told otherwise
    shown.evaluate(
        f"(c => c.innerText = c.innerText.replace(/ \\/\\S+(?=.runs)/, ' {home}'))(document.querySelector('.command'))"
    )
    page.picture("runs")


def test_every_page_fits_a_phone_in_light_and_dark(browser: Any, server: RunningServer, river: str) -> None:
    for scheme in ("light", "dark"):
        context = browser.new_context(viewport=PHONE, color_scheme=scheme, has_touch=True, is_mobile=True)
        context.set_default_timeout(PATIENCE)
        page = Checked(context, server.url, server.token)
        waits = {
            "": ".tile", "play": ".tile.game", "play/liars-dice:1x6?opponent=equilibrium": ".bid",
            "play/kuhn": ".act, .result", "solve": ".estimate dd", f"solve/{river}/r:0:c": ".hands th",
            "learn/kuhn": ".tree path", "runs": "h1",
        }  # fmt: skip
        for path, selector in waits.items():
            page.open(path).wait_for_selector(selector, state="attached")
            page.check()
        seen = "getComputedStyle(document.documentElement).colorScheme"
        assert page.page.evaluate(seen) == scheme
        page.page.locator("#theme").click()
        assert page.page.evaluate(seen) != scheme
        page.page.reload()
        assert page.page.evaluate(seen) != scheme, "what was chosen is kept"
        context.close()


def test_a_failed_job_says_so(page: Checked, server: RunningServer) -> None:
    spot = json.loads(json.dumps(RIVER)) | {"board": "Qs Jh 2h 8c", "solve": {"target": 0, "max_iterations": 1_000_000}}
    job = server.solve(spot, name="Unlucky")
    shown = page.open(f"solve/{job}")
    shown.wait_for_selector(".series[d*=L]")
    server.kill_solver()
    assert shown.wait_for_selector(".problem >> text=killed by SIGKILL").is_visible()
    shown.get_by_role("button", name="Run again").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 720), (1440, 900), (390, 844)])
def test_the_editor_and_the_explorer_are_on_one_screen(
    browser: Any, server: RunningServer, river: str, size: tuple[int, int], scheme: str
) -> None:
    """The Solve button, both grids of ranges, the line and the whole grid of a node are seen without scrolling.

    On a phone it is one grid of ranges.
    """
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    context.set_default_timeout(PATIENCE)
    page = Checked(context, server.url, server.token)
    is_phone = size[0] < 640

    def is_seen(selector: str) -> bool:
        boxes = [box.bounding_box() for box in shown.locator(selector).all()]
        return bool(boxes) and all(box and box["y"] >= 0 and box["y"] + box["height"] <= size[1] for box in boxes)

    shown = page.open("solve")
    shown.wait_for_selector(".grid13")
    assert is_seen(".solve-bar .primary")
    assert is_seen(".ranges [data-side=oop] .grid13" if is_phone else ".ranges .grid13")
    assert is_seen(".tabs a"), "charts, reports and comparisons are found at once"
    assert size[0] < 1440 or is_seen(".of-board, .of-sizes, .of-cost"), "there is room for everything"
    page.check()
    shown = page.open(f"solve/{river}/r:0")
    shown.wait_for_selector(".line-step")
    assert is_seen(".line") and is_seen(".explorer-columns .grid13")
    page.check()
    context.close()
