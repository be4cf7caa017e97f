"""What was computed last is kept."""

from __future__ import annotations

from itertools import count

from aleator.caching import Kept


def test_what_was_not_asked_for_longest_is_dropped() -> None:
    kept, number = Kept[int](2), count(1)
    asked = [kept.find_or_make(key, lambda: next(number)) for key in "abac"]
    assert asked == [1, 2, 1, 3]
    assert kept.find("b") is None, "a was asked for after it"
    assert kept.find("a") == 1 and kept.find("c") == 3


def test_the_last_key_that_is_there_is_found() -> None:
    kept = Kept[str](8)
    for key in (0, 2, 3):
        kept.keep(key, f"of {key}")
    assert kept.find_last([0, 1, 2, 4]) == (2, "of 2")
    assert kept.find_last([3, 1, 4]) is None, "the first is not asked"
