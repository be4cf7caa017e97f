"""A real Chromium in the spot editor: single suits, and changes that are taken back."""

from __future__ import annotations

from tests.apps.web.browser import Checked
from tests.apps.web.running import RunningServer

OOP = ".painter[data-side=oop]"
TEXT = f"document.querySelector('{OOP} textarea').value"


def test_one_hand_of_a_class_is_painted_and_others_keep_theirs(page: Checked) -> None:
    shown = page.open("solve")
    shown.wait_for_selector(".estimate .facts")
    shown.locator(f"{OOP} .chip", has_text="Clear").click()
    shown.locator(f"{OOP} .cell[data-name='AKs']").click()
    page.until(f"{TEXT} === 'AKs'")
    assert shown.locator(f"{OOP} .suits button[aria-pressed=true]").count() == 4
    shown.locator(f"{OOP} .suits button[title^=AhKh]").click()
    page.until(f"{TEXT} === 'AsKs,AdKd,AcKc' || {TEXT} === 'AcKc,AdKd,AsKs'")
    assert shown.locator(f"{OOP} .cell[data-name='AKs']").get_attribute("aria-label") == "AKs, weight 75 %"
    shown.locator(f"{OOP} .cell[data-name='QQ']").click()
    page.until(f"{TEXT}.includes('QQ') && {TEXT}.includes('AdKd')")
    assert "AhKh" not in shown.locator(f"{OOP} textarea").input_value(), "painting elsewhere leaves suits as they are"
    assert shown.locator(f"{OOP} .suits button").count() == 6


def test_changes_are_taken_back_one_by_one(page: Checked) -> None:
    shown = page.open("solve")
    shown.wait_for_selector(".estimate .facts")
    undo = shown.locator(".undo")
    assert undo.is_disabled()
    first = shown.locator(f"{OOP} textarea").input_value()
    shown.get_by_label("Pot", exact=True).fill("77")
    page.until("!document.querySelector('.undo').disabled")
    shown.wait_for_timeout(700)  # what follows soon is the same change
    shown.locator(f"{OOP} .chip", has_text="Clear").click()
    page.until(f"{TEXT} === ''")
    shown.locator("h1").click()
    shown.keyboard.press("Control+z")
    page.until(f"{TEXT} === {first!r}")
    assert shown.get_by_label("Pot", exact=True).input_value() == "77"
    undo.click()
    page.until("document.querySelector('[aria-label=Pot]').value !== '77'")
    page.until("document.querySelector('.undo').disabled")


def test_amounts_are_typed_in_big_blinds_and_the_spot_keeps_whole_chips(page: Checked, server: RunningServer) -> None:
    shown = page.open("solve")
    shown.wait_for_selector(".estimate .facts")
    shown.locator(".presets .chip", has_text="River").click()
    shown.locator("[aria-label='Amounts in'] label", has_text="Big blinds").click()
    page.until("document.querySelector('[aria-label=Pot]').value === '20'")
    shown.get_by_label("Pot", exact=True).fill("20.5")  # of 5 chips each: 102.5
    assert shown.get_by_label("Big blind, chips").input_value() == "50"
    assert shown.get_by_label("Stack behind").input_value() == "60"
    shown.get_by_label("river oop bet").fill("2.5bb, 75%")
    shown.locator(".solve-bar .primary").click()
    page.until_text(".node-summary .tag", "pot 20.5 bb")
    page.until_text(".node-summary", "bet 2.5 bb")
    job = shown.url.partition("solve/")[2].partition("/")[0]
    spot = server.job(job)["request"]["spot"]
    assert (spot["pot"], spot["stack"], spot["min_bet"]) == (1025, 3000, 50)
    assert spot["river"]["oop"]["bet"] == ["125c", "75%"]
    shown.locator("[aria-label='Amounts in'] label", has_text="Chips").click()
    page.until_text(".node-summary .tag", "pot 1,025")
    page.open("solve")
    shown.wait_for_selector(".estimate .facts")
    shown.get_by_label("Pot", exact=True).fill("much")
    page.until_text(".estimate .problem-text", "much")
