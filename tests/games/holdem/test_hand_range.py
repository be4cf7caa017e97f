"""Hand ranges: what each token means, how ranges are printed, and what errors say."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.patience import patience

from aleator.games.holdem.cards import (
    HAND_CLASS_NAMES,
    HAND_CLASSES,
    blocked_hands,
    format_hand,
    parse_cards,
    parse_hand,
)
from aleator.games.holdem.hand_range import _TOKEN, HandRangeError, format_hand_range, parse_hand_range


def weights_of(**classes: float) -> npt.NDArray[np.float64]:
    """Weights by class name, 0 elsewhere."""
    by_class = np.array([classes.get(f"_{name}", 0.0) for name in HAND_CLASS_NAMES])
    return by_class[HAND_CLASSES]


def named(*names: str) -> npt.NDArray[np.float64]:
    return weights_of(**{f"_{name}": 1.0 for name in names})


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("AA", ["AA"]),
        ("AKs", ["AKs"]),
        ("AKo", ["AKo"]),
        ("AK", ["AKs", "AKo"]),
        ("KAs", ["AKs"]),
        ("aKS", ["AKs"]),
        ("TT+", ["TT", "JJ", "QQ", "KK", "AA"]),
        ("AA+", ["AA"]),
        ("KTs+", ["KTs", "KJs", "KQs"]),
        ("ATo+", ["ATo", "AJo", "AQo", "AKo"]),
        ("QT+", ["QTs", "QJs", "QTo", "QJo"]),
        ("54s+", ["54s"]),
        ("A5s-A2s", ["A5s", "A4s", "A3s", "A2s"]),
        ("A2s-A5s", ["A5s", "A4s", "A3s", "A2s"]),
        ("77-55", ["77", "66", "55"]),
        ("55-77", ["77", "66", "55"]),
        ("AK-AQ", ["AKs", "AQs", "AKo", "AQo"]),
        ("AKs-AKs", ["AKs"]),
        ("JTs-87s", ["JTs", "T9s", "98s", "87s"]),
        ("86s-QTs", ["86s", "97s", "T8s", "J9s", "QTs"]),
        ("AA KK\nQQ,\tJJ,,", ["AA", "KK", "QQ", "JJ"]),
        ("A5s - A3s", ["A5s", "A4s", "A3s"]),
        ("random", list(HAND_CLASS_NAMES)),
        ("22+,A2s+,KQo, AA:0", [2 * r for r in "23456789TJQK"] + [f"A{r}s" for r in "23456789TJQK"] + ["KQo"]),
    ],
)
def test_what_tokens_mean(text: str, names: list[str]) -> None:
    assert (parse_hand_range(text) == named(*names)).all()


def test_weights() -> None:
    expected = weights_of(_QQ=0.5, _AKs=1.0, _AQs=0.25, _AJs=0.25, _72o=0.0, _JJ=1e-3)
    assert (parse_hand_range("QQ:0.5,AKs:1,AQs-AJs:.25,72o:0,JJ:1e-3") == expected).all()
    assert (parse_hand_range("QQ : 0.5 AKs,AQs - AJs: 0.25\n72o :0 JJ:0.001") == expected).all()


def test_single_hands() -> None:
    weights = parse_hand_range("AsKh,AdKd:0.25")
    assert weights[parse_hand("AsKh")] == 1.0
    assert weights[parse_hand("AdKd")] == 0.25
    assert np.count_nonzero(weights) == 2
    assert (parse_hand_range("khas") == parse_hand_range("AsKh")).all()


def test_later_tokens_override_earlier_ones() -> None:
    assert (parse_hand_range("22+:0.5,AA") == parse_hand_range("KK-22:0.5,AA")).all()
    weights = parse_hand_range("AK,AKo:0.5,AsKh:0,AsKs:0.75")
    assert weights.sum() == 3 + 0.75 + 11 * 0.5


def test_sizes_of_typical_ranges() -> None:
    first = "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s"
    second = "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+"
    # By hand: 9 pairs, 25 suited and 4 offsuit classes; 11 pairs, 40 suited and 6 offsuit classes.
    assert parse_hand_range(first).sum() == 9 * 6 + 25 * 4 + 4 * 12
    assert parse_hand_range(second).sum() == 11 * 6 + 40 * 4 + 6 * 12


@pytest.mark.parametrize(
    ("text", "token", "position", "words"),
    [
        ("AA,KXs", "KXs", 3, ["'X'", "23456789TJQKA"]),
        ("AA, As", "As", 4, ["'s'", "23456789TJQKA"]),
        ("AKx", "AKx", 0, ["'x'", "s (suited)", "o (offsuit)"]),
        ("QQ\nAAs", "AAs", 3, ["pair", "AA"]),
        ("AAo+", "AAo+", 0, ["pair", "AA"]),
        ("AsKx", "AsKx", 0, ["'x'", "cdhs"]),
        ("KK AsAs", "AsAs", 3, ["twice"]),
        ("AA:1.5", "AA:1.5", 0, ["1.5", "[0, 1]"]),
        ("AA:-0.5", "AA:-0.5", 0, ["-0.5", "[0, 1]"]),
        ("AA:half", "AA:half", 0, ["'half'", "[0, 1]"]),
        ("AA:nan", "AA:nan", 0, ["'nan'", "[0, 1]"]),
        ("AA:", "AA:", 0, ["[0, 1]"]),
        ("AA:0.5:0.5", "AA:0.5:0.5", 0, ["'0.5:0.5'"]),
        ("A2s-K5s", "A2s-K5s", 0, ["share the high card or the gap"]),
        ("AKs-AQo", "AKs-AQo", 0, ["suited", "offsuit"]),
        ("77-A2", "77-A2", 0, ["two pairs"]),
        ("A5s-A4s-A3s", "A5s-A4s-A3s", 0, ["two ends"]),
        ("KK,A5s- ,QQ", "A5s-", 3, ["''", "A5s-A2s"]),
        ("KK, :0.5", ":0.5", 4, ["''"]),
        ("AsKh+", "AsKh+", 0, ["'AsKh'", "class"]),
        ("AA,100%", "100%", 3, ["random"]),
        ("any", "any", 0, ["random"]),
        ("AAKK", "AAKK", 0, ["'A'", "cdhs"]),
    ],
)
def test_errors_point_at_the_token(text: str, token: str, position: int, words: list[str]) -> None:
    with pytest.raises(HandRangeError) as error:
        parse_hand_range(text)
    assert (error.value.token, error.value.position) == (token, position)
    assert f"{token!r} at position {position}" in str(error.value)
    assert all(word in str(error.value) for word in words)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "  \n ", ",,", " " * 100_000])
def test_text_without_a_token_is_an_error(text: str) -> None:
    with pytest.raises(HandRangeError, match="is empty") as error:
        parse_hand_range(text)
    assert error.value.token is None
    assert error.value.position is None
    assert len(str(error.value)) < 300


def test_long_texts_take_a_moment_or_are_refused() -> None:
    with patience():
        assert parse_hand_range("AA" + " " * 99_000 + ":0.5").sum() == 3
        assert parse_hand_range("AA" + " " * 99_000 + "KK").sum() == 12, "spaces that lead to no colon"
        assert parse_hand_range(" ," * 40_000 + "AA").sum() == 6
        with pytest.raises(HandRangeError, match="at most 100,000 characters, not 100,001"):
            parse_hand_range(" " * 100_001)
        with pytest.raises(HandRangeError, match="is not a class of hands") as error:
            parse_hand_range("x" * 90_000)
    assert len(str(error.value)) < 400


@given(text=st.text(alphabet="A5 \t\n,:-+", max_size=30))
def test_tokens_are_those_of_the_obvious_pattern(text: str) -> None:
    obvious = re.compile(r"(?:[^\s,:-]|\s*[:-]\s*)+")
    assert [found.group().strip() for found in _TOKEN.finditer(text)] == [
        found.group().strip() for found in obvious.finditer(text)
    ]


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("random", "random"),
        ("22+,A2+,K2+,Q2+,J2+,T2+,92+,82+,72+,62+,52+,42+,32", "random"),
        ("random:.50", "random:0.5"),
        ("random:0", "random:0"),
        ("AKo,AKs,AA", "AA,AKs,AKo"),
        ("AK", "AKs,AKo"),
        ("AA,KK,QQ", "QQ+"),
        ("KK,QQ,22", "KK-QQ,22"),
        ("A2s,A3s,A4s,A5s,AKs,AQs", "AQs+,A5s-A2s"),
        ("AA,KK:0.5,QQ:0.5,JJ", "AA,KK-QQ:0.5,JJ"),
        ("KQs,AKs", "AKs,KQs"),
        ("32o,AsKs,22", "22,32o,AsKs"),
        ("AsKs,AhKh,AdKd,AcKc", "AKs"),
        ("QhQd,AA:0.25,QsQh:0.5", "AA:0.25,QsQh:0.5,QhQd"),
        ("KK:0.5,AA,AA:0.5", "KK+:0.5"),
        ("AA:0.00001", "AA:1e-05"),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    weights = parse_hand_range(text)
    assert format_hand_range(weights) == canonical
    assert (parse_hand_range(canonical) == weights).all()


def test_digits_round_the_weights() -> None:
    weights = parse_hand_range("AA,KK:0.33333333,QQ:0.00001,JJ:0.999")
    assert format_hand_range(weights, digits=2) == "AA,KK:0.33,JJ"
    assert format_hand_range(weights) == "AA,KK:0.33333333,QQ:1e-05,JJ:0.999"


def test_hands_that_a_board_blocks_are_not_told_apart() -> None:
    board = parse_cards("Kh 7d 7c 7s")
    weights = parse_hand_range("KK,AKs:0.5,87s,54s") * ~blocked_hands(board)
    assert format_hand_range(weights, board=board) == "KK,AKs:0.5,87s,54s"
    assert "KsKd" in format_hand_range(weights) and "KK" not in format_hand_range(weights)
    weights[parse_hand("AsKs")] = 1.0
    assert format_hand_range(weights, board=board) == "KK,87s,54s,AsKs,AdKd:0.5,AcKc:0.5"
    assert format_hand_range(~blocked_hands(board), board=board) == "random"
    nothing_left = parse_cards("7h 7d 7c 7s")
    assert format_hand_range(named("76s", "65s") * ~blocked_hands(nothing_left), board=nothing_left) == "65s"


@pytest.mark.parametrize("weight", [-0.1, 1.1, np.nan, np.inf])
def test_weights_that_cannot_be_printed(weight: float) -> None:
    weights = np.zeros(1326)
    weights[parse_hand("AsKh")] = weight
    with pytest.raises(HandRangeError, match=f"{weight} of AsKh"):
        format_hand_range(weights)
    with pytest.raises(HandRangeError, match=r"not \[169\]"):
        format_hand_range(np.zeros(169))


few_digits = st.sampled_from([0.0, 1.0, 0.5, 0.25, 0.125, 0.001])
any_weight = st.floats(0.0, 1.0)


@settings(deadline=None)
@given(st.lists(few_digits, min_size=169, max_size=169), st.dictionaries(st.integers(0, 1325), any_weight, max_size=20))
def test_weights_round_trip(by_class: list[float], by_hand: dict[int, float]) -> None:
    weights = np.array(by_class)[HAND_CLASSES]
    for hand, weight in by_hand.items():
        weights[hand] = weight
    text = format_hand_range(weights)
    assert (parse_hand_range(text) == weights).all()
    assert format_hand_range(parse_hand_range(text)) == text


class_name = st.sampled_from(HAND_CLASS_NAMES)
body = st.one_of(
    class_name,
    class_name.map(lambda name: name[:2]),
    class_name.map(lambda name: name + "+"),
    st.integers(0, 1325).map(format_hand),
    st.just("random"),
)
token = st.tuples(body, st.sampled_from(["", ":0.5", ":1", ": 0", " :.75"])).map("".join)


@settings(deadline=None)
@given(st.lists(token, min_size=1, max_size=12), st.sampled_from([",", ", ", "\n", " "]))
def test_printing_a_parsed_text_keeps_its_weights(tokens: list[str], separator: str) -> None:
    weights = parse_hand_range(separator.join(tokens))
    assert (parse_hand_range(format_hand_range(weights)) == weights).all()
    one_by_one = np.zeros(1326)
    for each in tokens:
        named_hands = parse_hand_range(each.split(":")[0]) > 0
        one_by_one[named_hands] = parse_hand_range(each)[named_hands]
    assert (one_by_one == weights).all()


@settings(deadline=None)
@given(st.text(alphabet="AK2Tsoh+-:,. 01\n%", max_size=12))
def test_any_text_parses_or_raises_the_one_error(text: str) -> None:
    weights, error = None, None
    try:
        weights = parse_hand_range(text)
    except HandRangeError as caught:
        error = caught
    if weights is not None:
        assert weights.shape == (1326,)
        assert ((weights >= 0) & (weights <= 1)).all()
    elif error is not None and error.position is not None:
        assert error.token
        assert text[error.position :].startswith(error.token)
    else:
        assert not text.strip(", \n")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("AA@50", "AA:0.5"),
        ("[50.0]AA,KK[/50.0],QQ", "AA:0.5,KK:0.5,QQ"),
        ("[25]AA@50[/25]", "AA:0.125"),
        ("[50]AA[/50.0]", "AA:0.5"),
        ("A10s,1010,10c9c", "ATs,TT,Tc9c"),
        ("top 100%", "random"),
        ("top0%,22", "22"),
    ],
)
def test_ranges_as_other_programs_write_them(text: str, same: str) -> None:
    np.testing.assert_array_equal(parse_hand_range(text), parse_hand_range(same))


def test_the_top_of_all_hands_is_exact_and_grows() -> None:
    some, more = parse_hand_range("top 10%"), parse_hand_range("Top 20 %:1")
    assert some.sum() == pytest.approx(132.6) and more.sum() == pytest.approx(265.2)
    assert (some <= more).all() and some[parse_hand("AsAh")] == 1 and some[parse_hand("7d2c")] == 0


@pytest.mark.parametrize(
    "text", ["[50]AA", "AA[/50]", "[50", "[x]AA[/x]", "AA@150", "top 120%", "[50][50]AA[/50]", "[50]AA[/60]"]
)
def test_what_is_wrong_in_them_is_told(text: str) -> None:
    with pytest.raises(HandRangeError, match="at position"):
        parse_hand_range(text)
