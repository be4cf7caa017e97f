"""Numbers and names as people type them."""

from __future__ import annotations

from math import inf

import pytest

from aleator.errors import AleatorError, GameError, one_line
from aleator.parsing import MAX_NAME, check_name, parse_options, parse_real, parse_whole


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("12", 12), ("1_000", 1000), ("1e6", 10**6), ("2.5e1", 25), ("007", 7), ("1E3", 1000), ("5.", 5)],
)
def test_whole_numbers(text: str, number: int) -> None:
    assert parse_whole(text, "it") == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "-1",
        "1.5",
        "1e-1",
        "nan",
        "inf",
        "1__0",
        "_1",
        " 1",
        "1 ",
        "٣",
        "²",
        "0x10",
        "9" * 5000,
        "1e99999999",
        "1e16",
    ],
)
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    with pytest.raises(
        GameError, match=r"^dice must be a whole number from 0 to 1,000,000,000,000,000, not "
    ) as caught:
        parse_whole(text, "dice", error=GameError)
    assert len(str(caught.value)) < 160
    with pytest.raises(AleatorError, match="it must be a whole number from 1 to 6, not '7'"):
        parse_whole("7", "it", least=1, most=6)


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0.0), ("-0.0", 0.0), (".5", 0.5), ("5.", 5.0), ("-1e-3", -0.001), ("+2", 2.0)]
)
def test_numbers(text: str, number: float) -> None:
    assert parse_real(text, "it") == number
    assert str(parse_real(text, "it")) == str(number)


@pytest.mark.parametrize(
    "text", ["", ".", "x", "nan", "inf", "1e999", "1_0", "infinity", "9" * 5000, " 1", "١", "1e", "--1"]
)
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(AleatorError, match=r"^it must be a number, not "):
        parse_real(text, "it")


def test_limits_of_numbers() -> None:
    assert parse_real("inf", "it", infinite=True) == inf and parse_real("-inf", "it", infinite=True) == -inf
    assert parse_real("0", "it", least=0.0, most=1.0) == 0.0
    with pytest.raises(AleatorError, match=r"it must be a number from 0 to 1, not '1\.5'"):
        parse_real("1.5", "it", least=0.0, most=1.0)
    with pytest.raises(AleatorError, match="it must be a number above 0 and below 9, not '0'"):
        parse_real("0", "it", least=0.0, most=9.0, open_ends=True)
    with pytest.raises(AleatorError, match="it must be a number or inf, not 'infinity'"):
        parse_real("infinity", "it", infinite=True)


def test_options() -> None:
    assert parse_options("b=1,a=x=y", ("a", "b"), of="it") == {"b": "1", "a": "x=y"}
    with pytest.raises(AleatorError, match=r"it: unknown 'bats'; did you mean 'bets'\? allowed: bets=, cap="):
        parse_options("bats=2", ("bets", "cap"), of="it")
    with pytest.raises(AleatorError, match="it: cap is given twice"):
        parse_options("cap=2,cap=2", ("bets", "cap"), of="it")
    with pytest.raises(AleatorError, match="unknown ''"):
        parse_options("cap=2,", ("bets", "cap"), of="it")


def test_names() -> None:
    check_name("python:Ünï cødé/é.py:Game", "a game")
    check_name("x" * MAX_NAME, "a game")
    with pytest.raises(GameError, match="the name of a game has at most 4,096 characters, not 4,097: 'xxx"):
        check_name("x" * (MAX_NAME + 1), "a game", error=GameError)
    for name in ("a\0b", "a\nb", "\x1b[31m"):
        with pytest.raises(AleatorError, match="cannot be printed"):
            check_name(name, "a game")
    with pytest.raises(AleatorError, match="cannot be encoded"):
        check_name("\ud800", "a game")


def test_messages_are_one_line() -> None:
    assert one_line("  a \n\t b\r\n") == "a b"
    assert one_line("\x1b[2J \u202e \ud800 é") == "\\x1b[2J \\u202e \\ud800 é"
    long = one_line("begin " + "x" * 10**7 + " end")
    assert len(long) == 500 and long.startswith("begin x") and long.endswith("x end") and " ... " in long
    assert str(GameError("two\nlines")) == "two lines"
    assert len(str(GameError("\x00" * 10**6))) <= 500
    assert str(AleatorError("short")) == "short"
