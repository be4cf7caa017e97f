"""A real Chromium plays whole hands, looks at them again after a restart, and grades a file of hands."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apps.test_whole_hands_cli import STARS
from tests.apps.web.browser import DESKTOP, PATIENCE, PHONE, Checked
from tests.apps.web.running import RunningServer
from tests.apps.web.test_hands_api import hand_file

LONG = 300_000  # milliseconds: networks are loaded, and searched with, on however busy a machine
READY = "document.querySelector('.table-felt')?.dataset.ready"


def sit_down(page: Checked, path: str) -> Any:
    """Opens a table and waits until something can be done."""
    shown = page.open(path)
    page.until(f"!!{READY}")
    return shown


def press(page: Checked, key: str) -> None:
    """Presses a key and waits until the table has answered."""
    before = page.page.evaluate(READY)
    page.page.keyboard.press(key)
    page.until(f"{READY} && {READY} !== {before!r}")


def play_hand(page: Checked) -> None:
    """Checks and calls until the hand is over."""
    while not page.page.locator(".result .next").count():
        press(page, "c")


@pytest.fixture
def still(browser: Any, server: RunningServer) -> Iterator[Checked]:
    """A page for somebody who does not want things to move."""
    context = browser.new_context(viewport=DESKTOP, color_scheme="light", reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page = Checked(context, server.url, server.token)
    yield page
    page.check()
    context.close()


def test_whole_hands_are_played_from_the_lobby(still: Checked) -> None:
    shown = still.open("play")
    shown.locator(".rival", has_text="Tara").first.click()
    still.until(f"!!{READY}")
    assert shown.locator(".hole.you .card").count() == 2 and shown.locator(".dealer").count() == 1
    for hands in range(1, 4):
        play_hand(still)
        assert shown.locator(".score .facts dd").first.inner_text() == str(hands)
        assert shown.locator(".hole.other .card.back").count() == 0, "the other's cards are shown at the end"
        press(still, "n")
    shown.reload()
    still.until(f"!!{READY}")
    assert shown.locator(".score .facts dd").first.inner_text() in ("3", "4"), "the session is found again"


def test_bets_are_made_by_slider_by_size_and_by_typing_and_taken_back(still: Checked) -> None:
    shown = sit_down(still, "play/hunl?opponent=always-call")
    shown.locator(".chips-input").fill("7.5")
    shown.locator(".chips-input").press("Tab")
    assert "7.5 bb" in shown.locator(".act.raise").inner_text()
    shown.locator(".size", has_text="all-in").click()
    assert "100 bb" in shown.locator(".act.raise").inner_text()
    shown.locator("input[type=range]").fill("0")
    assert "2 bb" in shown.locator(".act.raise").inner_text()
    shown.keyboard.press("Escape")
    shown.locator(".act.raise").click()
    still.until("document.querySelectorAll('.board .card').length >= 3")
    assert shown.locator(".pot b").inner_text() == "4 bb"
    shown.locator("button", has_text="Take back").click()
    still.until("document.querySelectorAll('.board .card').length === 0")
    still.until_text(".tag", "practice")
    assert shown.locator(".pot b").inner_text() in ("1.5 bb", "2 bb")


def test_what_you_do_is_seen_before_the_answer_and_nothing_jumps(still: Checked) -> None:
    shown = sit_down(still, "play/hunl?opponent=always-call")
    place = shown.locator(".hand-controls").bounding_box()
    asked: list[Any] = []
    shown.route("**/move", lambda route: asked.append(route))  # an agent that thinks until the test has seen enough
    shown.locator(".chip.size").first.click()
    size = shown.locator(".act.raise b").inner_text()
    shown.locator(".act.raise").click()
    shown.locator(".bet", has_text=size).first.wait_for()
    shown.locator(".thinking-dots").wait_for()
    assert not shown.evaluate(READY), "the answer has not come"
    assert shown.locator(".hand-controls").bounding_box() == place and not shown.locator(".act.raise").is_visible()
    asked[0].continue_()
    still.until(f"!!{READY}")


def test_keys_do_nothing_while_cards_are_still_coming(page: Checked) -> None:
    shown = sit_down(page, "play/hunl?opponent=always-call")
    shown.keyboard.press("c")
    pressed = shown.evaluate(
        """() => new Promise((done) => {
          let count = 0;
          const timer = setInterval(() => {
            if (document.querySelector(".table-felt").dataset.ready) {
              clearInterval(timer);
              return done(count);
            }
            count += 1;
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "r", bubbles: true }));
          }, 20);
        })"""
    )
    assert pressed > 5, "there was time for it"
    said = shown.locator(".hand-line dd b", has_text="you").all_inner_texts()
    assert len(said) == 1 and shown.locator(".board .card").count() == 3


def test_two_windows_of_one_hand_do_not_act_for_each_other(still: Checked) -> None:
    shown = sit_down(still, "play/hunl?opponent=always-call")
    other = shown.context.new_page()
    other.goto(f"{still.url}/#/play/hunl")
    other.locator(".hand-controls .act").first.wait_for()
    press(still, "c")
    gone_on = shown.evaluate(READY)
    other.bring_to_front()
    other.keyboard.press("r")  # as things stood before
    other.locator(".toast", has_text="gone on in another window").wait_for()
    other.locator(f".table-felt[data-ready={gone_on!r}]").wait_for()
    other.close()
    shown.reload()
    still.until(f"!!{READY}")
    assert shown.evaluate(READY) == gone_on, "the other window's move has not been made"


def test_a_hint_before_the_flop_has_values_and_a_chart(still: Checked) -> None:
    pytest.importorskip("torch", reason="searches need PyTorch")
    shown = sit_down(still, "play/hunl?opponent=always-call")
    shown.locator(".hint-button").click()
    shown.locator(".hint").get_by_text("Open the chart").wait_for(timeout=LONG)
    assert "worth" in shown.locator(".hint").inner_text() and "raise to 2 bb" in shown.locator(".hint").inner_text()


def test_amounts_are_big_blinds_until_chips_are_chosen(still: Checked) -> None:
    shown = sit_down(still, "play/hunl?opponent=always-call")
    assert shown.locator(".pot b").inner_text() in ("1.5 bb", "2 bb")
    shown.locator("[aria-label='Amounts in'] label", has_text="Chips").click()
    still.until("/^(150|200)$/.test(document.querySelector('.pot b').textContent)")
    shown.locator(".chips-input").fill("2.5bb")
    shown.locator(".chips-input").press("Tab")
    assert "250" in shown.locator(".act.raise").inner_text()
    shown.keyboard.press("Escape")
    shown.locator(".act.raise").click()
    still.until("document.querySelectorAll('.board .card').length >= 3")
    assert shown.locator(".pot b").inner_text() == "500"
    shown.reload()
    still.until(f"!!{READY}")
    assert shown.locator(".pot b").inner_text() == "500", "the choice is kept"
    play_hand(still)
    still.open("hands")
    still.until_text(".facts dt", "Chips")
    shown.locator("[aria-label='Amounts in'] label", has_text="Big blinds").click()
    still.until_text(".facts dt", "Big blinds")


def test_a_phone_shows_everybody_on_the_first_screen(browser: Any, server: RunningServer) -> None:
    context = browser.new_context(viewport=PHONE, color_scheme="light", reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page = Checked(context, server.url, server.token)
    shown = page.open("play")
    rivals = shown.locator(".rivals .tile")
    rivals.first.wait_for()
    ends = [box["y"] + box["height"] for box in (rivals.nth(at).bounding_box() for at in range(rivals.count())) if box]
    assert len(ends) >= 8 and max(ends) <= PHONE["height"], "some are below the first screen"
    shown.locator(".jumps button", has_text="Spots").click()
    page.until("document.documentElement.scrollTop > 0")
    page.check()
    context.close()


def test_nothing_sticks_out_on_a_phone_in_the_dark(browser: Any, server: RunningServer) -> None:
    context = browser.new_context(viewport=PHONE, color_scheme="dark", reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page = Checked(context, server.url, server.token)
    for table in ("6max", "always-call"):
        shown = sit_down(page, f"play/hunl?opponent={table}")
        page.check()
        box = shown.locator(".hand-controls").bounding_box()
        assert box["y"] + box["height"] <= PHONE["height"], "what can be done is below the first screen"
    play_hand(page)
    page.check()
    assert shown.locator(".pot").inner_text().count("bb") == 1, "the pot is said once"
    clipped = (
        "[...document.querySelectorAll('.hand-line dd')].filter(box => box.scrollHeight > box.clientHeight + 1).length"
    )
    assert shown.evaluate(clipped) == 0, "all of the line is seen"
    page.open("hands").wait_for_selector(".history-table")
    page.check()
    shown.locator(".history-table a").first.click()
    shown.locator(".history-table a", has_text="Hand").first.click()
    shown.wait_for_selector(".replay-steps")
    page.check()
    context.close()


def shove_on_the_flop(page: Checked) -> None:
    """Plays a hand with one decision after the flop, against somebody who calls everything."""
    shown = page.page
    while not shown.locator(".board .card").count():
        press(page, "c")
    before = shown.evaluate(READY)
    shown.locator(".size", has_text="all-in").click()
    shown.locator(".act.raise").click()
    page.until(f"{READY} && {READY} !== {before!r}")
    assert shown.locator(".result .next").count()


def test_a_hand_is_played_replayed_and_reviewed_after_a_restart(browser: Any, empty: Path) -> None:
    server = RunningServer(empty).start()
    context = browser.new_context(viewport=DESKTOP, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page = Checked(context, server.url, server.token)
    sit_down(page, "play/hunl?opponent=always-call")
    shove_on_the_flop(page)
    pot = page.page.locator(".pot b").inner_text()
    page.page.goto("about:blank")  # nobody asks while the server is away
    server.stop()
    again = RunningServer(empty)
    again.port, again.url = server.port, server.url
    again.client = type(again.client)(base_url=again.url, timeout=120.0)
    again.start()
    shown = page.open("hands")
    shown.locator(".history-table a").first.click()
    shown.get_by_role("link", name="Play on").click()
    page.until(f"!!{READY}")
    assert "200 bb" in shown.locator(".pot b").inner_text(), "the session goes on where it was"
    page.open("hands")
    shown.locator(".history-table a").first.click()
    shown.locator(".history-table a", has_text="Hand 1").click()
    shown.wait_for_selector(".replay-steps")
    assert shown.locator(".pot b").inner_text() == pot == "200 bb"
    shown.locator(".replay-steps button").first.click()
    assert shown.locator(".pot b").inner_text() == "1.5 bb", "the blinds"
    shown.keyboard.press("ArrowRight")
    assert shown.locator("[aria-current=step]").inner_text() != "deal"
    page.check()
    if importlib.util.find_spec("torch") is not None:  # which searches need
        shown.get_by_role("button", name="Review this hand").click()
        graded = shown.locator(".decision")
        graded.first.wait_for(timeout=LONG)
        said = [text.replace("\n", " ") for text in graded.locator("summary").all_inner_texts()]
        assert len(said) == 2 and any("all-in 99 bb" in text for text in said), "before the flop and on it"
        assert any("preflop" in text for text in said)
        shown.locator(".replay-steps button").last.click()
        page.picture("review")
        before = shown.locator(".decision", has_text="preflop")
        if not before.get_attribute("open"):
            before.locator("summary").click()
        assert "worth" in before.inner_text() and "Open the chart" in before.inner_text()
        shown.reload()
        graded.first.wait_for()
        assert [text.replace("\n", " ") for text in graded.locator("summary").all_inner_texts()] == said, "it is kept"
        page.check()
    context.close()
    again.stop()


def test_a_file_of_hands_is_graded(still: Checked, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="searches need PyTorch")
    file = tmp_path / "mine.phhs"
    file.write_text(hand_file(1, first=1))  # a decision or two on the flop
    shown = still.open("hands")
    shown.locator("input[type=file]").set_input_files(file)
    shown.locator(".player", has_text="Olive").click()
    shown.wait_for_selector(".graded", timeout=LONG)
    on_flop = shown.locator(".decision", has=shown.locator("button", has_text="Open as a spot"))
    assert shown.locator(".decision").count() > on_flop.count() >= 1, "decisions before the flop are there, too"
    on_flop.first.locator("summary").click()
    on_flop.first.locator("button", has_text="Open as a spot").click()
    shown.wait_for_selector(".editor", timeout=LONG)
    assert "solve" in shown.url and shown.locator(".editor input[aria-label=Name]").input_value().count(" on ") == 1


@pytest.mark.slow
def test_a_file_of_a_hundred_hands_is_graded(still: Checked, server: RunningServer, tmp_path: Path) -> None:
    """Slow: 288 searches, a quarter of an hour on one core; it may compute for two hours on the slowest."""
    pytest.importorskip("torch", reason="searches need PyTorch")
    file = tmp_path / "hundred.phhs"
    file.write_text(hand_file(100))
    shown = still.open("hands")
    shown.locator("input[type=file]").set_input_files(file)
    still.until_text(".drop ~ .after p, .after p", "100 hands")
    shown.locator(".player", has_text="Tara").click()
    shown.wait_for_selector("progress")
    graded = shown.locator(".graded")
    server.wait_computing(lambda: bool(graded.count()), "it is not graded", 7_200)
    facts = shown.locator(".facts dd").all_inner_texts()
    assert facts[0] == "100" and int(facts[1]) > 50
    costs = shown.locator(".decision .tag").all_inner_texts()
    lost = [float(text.split()[-2]) for text in costs if text.startswith("gave up")]
    assert lost == sorted(lost, reverse=True), "the costliest comes first"
    everything = shown.locator(".decision").count()
    shown.get_by_label("Mistakes only").check()
    assert 0 < shown.locator(".decision").count() == len(lost) < everything
    shown.locator(".choices label", has_text="River").click()
    assert all("river" in text for text in shown.locator(".decision p.muted").all_text_contents())
    shown.locator(".decision summary").first.click()
    shown.locator(".decision a", has_text="The whole hand").first.click()
    shown.wait_for_selector(".replay-steps")


def test_a_hand_of_six_is_played_and_replayed(still: Checked) -> None:
    shown = still.open("play")
    shown.locator(".rival", has_text="Six-handed").click()
    still.until(f"!!{READY}")
    assert shown.locator(".ring-seat").count() == 6 and shown.locator(".ring-seat.you .card.back").count() == 0
    assert shown.locator(".dealer").count() == 1
    still.picture("table")
    shown.locator(".hint-button").click()
    still.until_text(".hint th", "±")  # the hand was played out before the flop
    assert "played out" in shown.locator(".hint").inner_text()
    play_hand(still)
    assert "6 players" in shown.locator("h1").inner_text()
    still.check()
    shown.set_viewport_size(PHONE)
    still.check()
    session = shown.evaluate("localStorage.getItem('hands session')")
    shown = still.open(f"hands/played/{session}-1")
    shown.wait_for_selector(".replay-steps")
    assert shown.locator(".ring-seat").count() == 6
    still.check()


def test_a_file_says_whose_it_is_or_that_it_has_no_hands(still: Checked, tmp_path: Path) -> None:
    shown = still.open("hands")
    for name, text, told in (
        ("empty.txt", "", "No hands were found in empty.txt"),
        ("list.txt", "eggs\nmilk\n", "PokerStars"),
        ("mine.txt", STARS, "The file shows the cards of ann"),
    ):
        file = tmp_path / name
        file.write_text(text)
        shown.locator("input[type=file]").set_input_files(file)
        still.until_text(".drop ~ .after p", told)
        assert shown.locator(".player").count() == (2 if text == STARS else 0)
    assert shown.locator(".player").first.text_content() == "ann 1 hand"
    assert shown.evaluate("document.activeElement.textContent") == "ann 1 hand"
    still.check()


def test_names_from_files_are_text_and_nothing_else(still: Checked) -> None:
    """What a stranger's file says is shown, and never run."""
    evil = "<img src=x onerror=document.title=1>"
    shown = still.open("hands")
    shown.wait_for_selector(".drop")
    title = shown.title()
    drop = """([name, text]) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([text], name));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true, bubbles: true }));
    }"""
    shown.evaluate(drop, [f"{evil}.phhs", hand_file(2).replace("Olive", evil)])  # anywhere on the page
    shown.locator(".player", has_text=evil).wait_for()
    assert shown.locator("main img").count() == 0 and shown.title() == title
