"""A real Chromium through reports over flops and two solutions side by side."""

from __future__ import annotations

import json
import re
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from tests.apps.web.browser import PATIENCE, Checked
from tests.apps.web.running import RunningServer
from tests.search.pluribus.ring.small import three_players

FLOP: dict[str, Any] = {
    "board": "Ks 7s 2d",
    "pot": 20,
    "stack": 30,
    "oop": "AA,KQs,76s,99:0.5",
    "ip": "QQ,JTs,AKs,55",
    "flop": {"oop": {"bet": ["100%"]}, "ip": {"bet": ["100%"]}},
    "solve": {"target": 0.02, "max_iterations": 40},
}
LINES = ["The first decision", "OOP: check", "OOP: bet 20", "OOP: check, IP: bet 20"]
SIZES = ({"width": 1280, "height": 720}, {"width": 1440, "height": 900}, {"width": 390, "height": 844})


def check_sizes(page: Checked) -> None:
    """Asserts that nothing scrolls sideways, on screens and a phone, light and dark."""
    for size in SIZES:
        page.page.set_viewport_size(size)
        for scheme in ("light", "dark"):
            page.page.emulate_media(color_scheme=scheme)
            page.page.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
            page.check()
    page.page.set_viewport_size(SIZES[0])


def begin_with(page: Checked, where: str, spot: dict[str, Any]) -> Any:
    """Opens a page that begins with a spot."""
    page.open("runs")
    text = json.dumps(json.dumps({"spot": spot, "title": "Small"}))
    page.page.evaluate(f"sessionStorage.setItem('spot to open', {text})")
    page.page.evaluate(f"location.hash = '#/{where}?spot=1'")
    return page.page


def full_spot(server: RunningServer) -> dict[str, Any]:
    """Returns the spot as the server writes it, with all its keys."""
    text = server.client.post("/api/holdem/spot/format", json=FLOP).json()["toml"]
    answer: dict[str, Any] = server.client.post("/api/holdem/spot/parse", json={"toml": text}).json()
    return answer


def test_a_report_from_a_spot_to_its_table(page: Checked, server: RunningServer) -> None:
    shown = begin_with(page, "reports", full_spot(server))
    shown.wait_for_selector(".report-form")
    check_sizes(page)
    shown.locator(".report-form .choices span", has_text="list").click()
    shown.get_by_label("Flops", exact=True).last.fill("9s6s2s; 8s8h8d QsJh5d")
    lines = shown.get_by_label("Decision", exact=True)
    lines.locator("option").nth(3).wait_for(state="attached")
    assert lines.locator("option").all_inner_texts() == LINES
    lines.select_option("OOP: check")
    shown.get_by_role("button", name="What will it take?").click()
    page.until_text(".report-form p", "3 flops: about")
    shown.get_by_role("button", name="Make the report").click()
    page.until_text(".lead", "3 flops, all solved")
    page.until_text(".report-tools .choices", "OOP: check")
    rows = shown.locator(".flops tbody tr")
    assert rows.count() == 3 and shown.locator(".map13 span:not(.none)").count() == 3
    check_sizes(page)
    column = "[...document.querySelectorAll('.flops tbody tr')].map(row => parseFloat(row.cells[2].textContent))"
    for name in ("descending", "ascending"):
        shown.locator(".flops .sort", has_text="EV OOP").click()
        shown.wait_for_selector(f".flops th[aria-sort={name}]")
        values = shown.evaluate(column)
        assert values == sorted(values, reverse=name == "descending") and len(set(values)) > 1
    shown.get_by_label("pairing", exact=True).select_option("trips")
    page.until("document.querySelectorAll('.flops tbody tr').length === 1")
    page.until_text(".facts dd", "1 of 3")
    shown.get_by_label("Map shows").select_option("b20")
    page.until_text(".flop-map h2", "bet")
    page.check()
    job = shown.url.rpartition("/")[2]
    table = server.client.get(f"/api/reports/{job}/csv")
    assert table.status_code == 200 and table.text.splitlines()[0].startswith("flop,chance,suits")
    assert len(table.text.strip().splitlines()) == 4
    shown.locator(".flops .flop").first.click()
    shown.wait_for_selector(".board-text")
    page.until("document.querySelector('.board-text').value === '8s 8h 8d'")
    page.check()
    page.open("reports")
    page.until_text(".spot-row", "3 flops")


def test_reports_of_what_cannot_be_are_refused(server: RunningServer) -> None:
    for change, message in (
        ({"flops": "26"}, "there are subsets of 25"),
        ({"node": "r:0:c:c:8h"}, "has cards"),
        ({"spot": FLOP | {"oop": "AcKc"}}, "all suits"),
    ):
        answer = server.client.post("/api/jobs/report", json={"spot": FLOP, "flops": "8s8h8d", **change})
        assert answer.status_code == 400 and message in answer.json()["detail"]
    assert server.client.get("/api/reports/none").status_code == 404


def test_a_report_goes_on_after_a_restart_and_keeps_what_it_has_when_stopped(empty: Path) -> None:
    spot = FLOP | {"solve": {"target": 0, "max_iterations": 1_000_000}}  # nobody waits for it: it is stopped
    server = RunningServer(empty).start()
    try:
        made = server.client.post("/api/jobs/report", json={"spot": spot, "flops": "8s8h8d,9s6s2s", "processes": 2})
        assert made.status_code == 201
        job = made.json()["id"]
        for turn in range(2):
            while not (server.data_dir / "solutions" / f"{job}.report").exists() or _status(server, job) != "running":
                sleep(0.05)
            if turn == 0:
                server.stop()
                server = RunningServer(empty).start()
        server.client.post(f"/api/jobs/{job}/stop")
        ended = server.ended(job)
        assert ended["status"] == "done" and ended["summary"]["stopped"] and ended["summary"]["solved"] == 0
        report = server.client.get(f"/api/reports/{job}").json()
        assert (report["wanted"], report["solved"], report["flops"]) == (2, 0, [])
    finally:
        server.stop()


def _status(server: RunningServer, job: str) -> str:
    return str(server.client.get(f"/api/jobs/{job}").json()["status"])


def test_two_solutions_are_compared_node_by_node(page: Checked, server: RunningServer, river: str) -> None:
    locks = [{"path": "r:0", "edits": [{"hands": "random", "policy": [0.0, 1.0]}]}]
    made = server.client.post(f"/api/solutions/{river}/resolve", json={"name": "Always bets", "locks": locks})
    locked = server.ended(made.json()["id"])
    assert locked["status"] == "done", locked["error"]
    shown = page.open(f"solve/{river}/r:0")
    shown.get_by_role("link", name="Compare", exact=True).click()
    shown.wait_for_selector(".compare-columns .actions-table")
    shown.get_by_label("Second", exact=True).select_option(locked["id"])
    page.until_text(".compare-columns .actions-table", "100.0 %")
    page.until("document.querySelectorAll('.compare-columns .cell:not(.dim)').length > 20")
    check_sizes(page)
    first = shown.locator(".compare-columns .flops tbody a").first
    assert first.inner_text() == "The first decision" and first.get_attribute("title") == "r:0"
    shown.locator(".compare-columns .cell[data-name='AA']").hover()
    page.until_text(".compare-columns .caption", "Bets")
    shown.get_by_text("EV", exact=True).click()
    shown.wait_for_selector("[aria-label='Whose EV']")
    deeper = shown.locator(".compare-columns .flops tbody a").nth(1)
    line = deeper.inner_text()
    assert re.match(r"(OOP|IP): (check|bet|call|raise|all-in)", line), "not the path of a node"
    deeper.click()
    page.until_text(".compare-columns h2", line)
    check_sizes(page)
    answer = server.client.get("/api/compare", params={"first": river, "second": locked["id"], "path": "r:0:b99"})
    assert answer.status_code == 400
    answer = server.client.get("/api/compare", params={"first": river, "second": "none"})
    assert answer.status_code == 404


def test_solutions_of_one_name_are_told_apart(page: Checked, server: RunningServer, river: str) -> None:
    spot = server.client.get(f"/api/jobs/{river}").json()["spot"]
    for stack in (spot["stack"], spot["stack"] + 7):
        made = server.client.post("/api/jobs/solve", json={"name": "Twin", "spot": spot | {"stack": stack}})
        assert server.ended(made.json()["id"])["status"] == "done"
    shown = page.open(f"compare/{made.json()['id']}")
    page.until_text(".compare-columns .actions-table", f"Twin · pot {spot['pot']}, {spot['stack'] + 7} behind")
    names = shown.get_by_label("First", exact=True).locator("option").all_inner_texts()
    check_sizes(page)
    assert len(set(names)) == len(names) and sum("Twin · pot" in name for name in names) == 2
    first, second, change = re.findall(r"[−+]?\d+\.\d+", shown.locator(".compare-columns .facts dd").first.inner_text())
    assert round(float(second) - float(first), 3) == float(change.replace("−", "-"))


def test_a_spot_from_a_line_before_the_flop_to_its_report(page: Checked) -> None:
    pytest.importorskip("torch")
    asked: list[str] = []
    page.page.on("request", lambda request: asked.append(request.url))
    shown = page.open("preflop/10")
    shown.wait_for_selector(".preflop-action")
    assert any("/preflop/progress?stack=10" in url for url in asked), "a bar shows how far the first solve is"
    assert shown.locator(".preflop-line b").inner_text() == "SB to act"
    assert shown.locator(".preflop-chart .cell:not(.dim)").count() == 169
    check_sizes(page)
    shown.locator(".preflop-chart .cell[data-name='AA']").hover()
    page.until_text(".preflop-chart .caption", "raise to")
    for who, action in (("BB to act", "raise to"), ("SB to act", "raise to"), ("the flop", "call")):
        shown.locator(".preflop-action", has_text=action).first.click()
        page.until_text(".preflop-line b", who)
        if who != "the flop":
            shown.wait_for_selector(".preflop-action")
    page.until("document.querySelectorAll('.flop-ranges .cell.dim').length > 0")
    assert shown.locator(".flop-ranges .grid13:visible").count() == 2, "the ranges of both are seen"
    check_sizes(page)
    shown.get_by_role("button", name="Report over flops").click()
    shown.wait_for_selector(".report-form")
    page.until_text(".report-form .told", "AA")
    shown.locator(".report-form .choices span", has_text="list").click()
    shown.get_by_label("Flops", exact=True).last.fill("8s8h8d")
    shown.get_by_role("button", name="Make the report").click()
    page.until_text(".lead", "1 flop, solved")
    assert shown.locator(".flops tbody tr").count() == 1
    page.open("preflop/20")
    shown.wait_for_selector(".preflop-action")
    shown.locator(".preflop-action", has_text="call").click()
    page.until_text(".preflop-line b", "BB to act")
    shown.locator(".preflop-action", has_text="check").click()
    shown.get_by_role("button", name="Solve a flop").click()
    page.until("document.querySelector('.board-text')?.value === 'Ks 7h 2d'")
    assert shown.get_by_label("Pot", exact=True).input_value() == "2", "in big blinds"


def test_charts_of_several_players_from_a_pair_of_positions_to_a_flop(browser: Any, empty: Path) -> None:
    file = three_players(empty.parent)
    server = RunningServer(empty, "--blueprint", str(file)).start()
    context = browser.new_context(viewport=SIZES[0], color_scheme="light")
    context.set_default_timeout(PATIENCE)
    page = Checked(context, server.url, server.token)
    shown = page.open("preflop/blueprint-1")
    page.until_text(".preflop-line b", "BTN to act")
    assert shown.locator(".preflop-chart .cell:not(.dim)").count() == 169
    check_sizes(page)
    shown.get_by_role("link", name="SB", exact=True).click()  # folds to
    page.until_text(".preflop-line b", "SB to act")
    shown.get_by_role("link", name="BB faces the raise of BTN").click()
    page.until_text(".preflop-line b", "BB to act")
    assert shown.locator(".preflop-line .tag").all_inner_texts()[1] == "SB fold"
    shown.locator(".preflop-action", has_text="call").click()
    page.until_text(".preflop-line b", "the flop")
    check_sizes(page)
    shown.get_by_role("button", name="Solve a flop").click()
    page.until("document.querySelector('.board-text')?.value === 'Ks 7h 2d'")
    page.check()
    assert server.client.get("/api/preflop", params={"blueprint": 99}).status_code == 404
    context.close()
    server.stop()


def test_lines_that_are_not_there_are_refused(server: RunningServer) -> None:
    pytest.importorskip("torch")
    answer = server.client.get("/api/preflop", params={"path": "r:0:b7", "stack": 20})
    assert answer.status_code == 400 and "no action b7 here" in answer.json()["detail"]
    assert server.client.get("/api/preflop", params={"stack": 4}).status_code == 422
