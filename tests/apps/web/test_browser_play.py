"""A real Chromium plays: with the mouse, with keys alone, from the lobby and from an address."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apps.web.browser import Checked, play_deal


def check_bars(page: Any) -> None:
    """Asserts that the bars of beliefs are as high as what they say, to the rounding of both."""
    for bars in page.locator(".bars").all():
        heights = [bar.bounding_box()["height"] for bar in bars.locator("i").all()]
        shares = [float(text.removesuffix(" %")) for text in bars.locator("em").all_inner_texts()]
        for height, share in zip(heights, shares, strict=True):
            assert height / max(heights) == pytest.approx(share / max(shares), abs=0.06)


def _number(text: str) -> float:
    return float(text.replace("−", "-").replace("+", ""))


def test_a_full_game_of_liars_dice(page: Checked) -> None:
    shown = page.open("play/liars-dice:1x5?opponent=equilibrium")
    shown.wait_for_selector(".bids")
    assert shown.locator(".seat.agent .die[aria-label='a hidden die']").count() == 1
    for deals in range(1, 5):
        assert play_deal(page) >= 1
        assert shown.locator(".seat.agent .die[aria-label='a hidden die']").count() == 0
        assert shown.locator(".facts dd").first.inner_text() == str(deals)
        shown.evaluate("document.querySelector('.all-steps').open = true")
        steps = shown.locator(".all-steps .step")
        assert steps.count() >= 3 and steps.locator(".why").count() >= 1
        result, value, lost, luck = (_number(text) for text in shown.locator(".sum dd").all_inner_texts())
        assert result == pytest.approx(value - lost + luck, abs=1e-9), "what is shown adds up"
        shares = steps.first.locator(".bars em").all_inner_texts()
        assert shares == ["20 %"] * 5, "before anything is said every face is equally likely"
        check_bars(shown)
        if deals == 3:
            page.picture("play")
        shown.locator(".next").click()
        shown.wait_for_selector(".result", state="detached")
    won = _number(shown.locator(".score dd.won").inner_text())
    assert won in (-4, -2, 0, 2, 4)
    shown.reload()
    shown.wait_for_selector(".facts")
    assert shown.locator(".facts dd").first.inner_text() == "4", "the session is found again"


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
def test_poker_is_played_with_keys_alone(page: Checked, game: str) -> None:
    shown = page.open(f"play/{game}")
    shown.wait_for_selector(".act, .result")
    for _ in range(8):
        if shown.locator(".result").count():
            break
        before = shown.locator(".said li:not(.none)").count()
        shown.keyboard.press("1")
        page.until(
            f"document.querySelector('.result') || document.querySelectorAll('.said li:not(.none)').length > {before}"
        )
    assert shown.locator(".step").count() >= 2
    shown.keyboard.press("n")
    shown.wait_for_selector(".result", state="detached")


def test_dice_are_played_with_keys_alone(page: Checked) -> None:
    shown = page.open("play/liars-dice:1x4?opponent=equilibrium")
    shown.wait_for_selector(".bid, .result")
    for _ in range(20):  # past the links at the top
        shown.keyboard.press("Tab")
        if shown.evaluate("document.activeElement.matches('.bid, .act')"):
            break
    while not shown.locator(".result").count():
        assert shown.evaluate("document.activeElement.matches('.bid:not(:disabled), .act:not(:disabled)')")
        said = shown.locator(".said li:not(.none)").count()
        shown.keyboard.press("Enter")
        page.until(
            f"document.querySelector('.result') || document.querySelectorAll('.said li:not(.none)').length > {said}"
        )
    shown.keyboard.press("Enter")
    shown.wait_for_selector(".result", state="detached")
    assert shown.evaluate("document.activeElement.matches('.bid, .act, .next')"), "the next deal is at hand, too"


def test_the_address_chooses_the_opponent_whoever_was_played_before(page: Checked) -> None:
    for opponent in ("equilibrium", "search", "equilibrium"):
        shown = page.open(f"play/kuhn?opponent={opponent}")
        shown.wait_for_selector(".act, .result")
        page.until(f"document.querySelector('.choices input:checked')?.value === '{opponent}'")
    kept = shown.evaluate("localStorage.getItem('session kuhn')")
    shown = page.open("play/kuhn")
    shown.wait_for_selector(".act, .result")
    assert shown.evaluate("localStorage.getItem('session kuhn')") == kept, "without a wish, the game goes on"


def test_a_spot_to_begin_with_is_played_from_the_lobby(page: Checked) -> None:
    shown = page.open("play")
    shown.locator("button.tile", has_text="Nuts or air").click()
    shown.wait_for_selector(".act, .result")
    assert "#/play/holdem/" in shown.url
    assert play_deal(page) >= 1 and shown.locator(".mini-grid").count() >= 2
