"""How messages show what a user gave."""

from __future__ import annotations

from typing import Any

import pytest

from aleator.errors import GameError, SolveError, check_known, did_you_mean, shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("AA", "'AA'"),
        (3, "3"),
        ("two\nlines", "'two\\nlines'"),
        ("x" * 1_000_000, f"'{'x' * 29} … {'x' * 26}'"),
        (10**5_000, "a whole number of 16,610 bits"),
        ({"a": 10**5_000}, "a value of type dict"),
        ("\ud800", "'\\ud800'"),
    ],
    ids=["text", "number", "lines", "long", "huge", "huge-inside", "surrogate"],
)
def test_values_are_shown_in_one_short_line(value: Any, text: str) -> None:
    assert shown(value) == text and len(text) <= 60


def test_values_nested_too_deeply_are_named_by_their_type() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert shown(deep) == "a value of type list"
    while deep:  # taken apart by hand: the interpreter's own way is recursive
        deep = deep.pop()


def test_near_words_are_asked_for_also_if_the_word_is_endless() -> None:
    assert did_you_mean("pott", ["pot", "stack"]) == "did you mean 'pot'? "
    assert did_you_mean("z" * 1_000_000, ["pot", "stack"]) == ""


def test_unknown_words_are_refused_with_what_is_allowed() -> None:
    check_known("resolve", {"unsafe": 1, "resolve": 2}, "gadget")
    with pytest.raises(SolveError, match=r"^unknown gadget 'resolv'; did you mean 'resolve'\? allowed: unsafe, "):
        check_known("resolv", {"unsafe": 1, "resolve": 2}, "gadget")
    with pytest.raises(GameError, match=r"^unknown rules 7; allowed:$"):
        check_known(7, (), "rules", GameError)  # type: ignore[arg-type]
