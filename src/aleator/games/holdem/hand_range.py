"""Hand ranges as players write them: `AA,AKs,QQ:0.5,22+,A5s-A2s,AsKh,random`.

A hand range gives each of the 1,326 hands a weight in [0, 1]. Its text is a list of tokens between commas, spaces or
newlines; a later token overrides an earlier one:

    QQ          a pair: 6 hands                    AsKh        one hand
    AKs, AKo    suited: 4 hands, offsuit: 12       random      all 1,326 hands
    AK          both: 16 hands                     ...:0.25    the weight of a token; 1 unless given
    TT+         TT and every higher pair           77-22       the pairs from one to the other
    KTs+        KTs, KJs, KQs: the high card stays A5s-A2s     the same high card, the kickers from one to the other
    JTs-76s     the same gap, from one high card to the other
    AA@25       a weight in percent                top 20%     the best hands by equity, the last class in part
    [25]AA,KK[/25]  a weight in percent for all tokens between, as GTO+ writes it

Upper and lower case mean the same, and 10 means T.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import AleatorError, shown
from aleator.games.holdem.cards import (
    HAND_CLASS_NAMES,
    HAND_CLASSES,
    NUM_HANDS,
    RANKS,
    CardError,
    blocked_hands,
    format_hand,
    parse_hand,
)

# No comma, and space only around a colon or a dash. A run of spaces is looked at from its beginning only: linear time.
_TOKEN: Final = re.compile(
    r"top\s*+[\d.]++\s*+%(?:[:@][^\s,]*+)?|\[[^\s,\[\]]*+\]|\[|(?:[^\s,:\[-]|(?:(?<!\s)\s++)?[:-]\s*+)+", re.IGNORECASE
)
_TOP: Final = re.compile(r"top\s*([\d.]+)\s*%", re.ASCII | re.IGNORECASE)
_WEIGHT: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_HANDS_OF_CLASS: Final = {name: np.flatnonzero(i == HAND_CLASSES) for i, name in enumerate(HAND_CLASS_NAMES)}
_ALLOWED: Final = (
    "write a pair (QQ), a suited or offsuit class (AKs, AKo, AK), a run (22+, A5s-A2s), a hand (AsKh), top 20% or "
    "random (all)"
)
MAX_TEXT: Final = 100_000
"""Characters of a hand range; all 1,326 hands with weights of 16 digits take 30,000."""


class HandRangeError(AleatorError):
    """A hand range that cannot be read or printed.

    Attributes:
        token: the part of the text that is wrong; None where no text was read.
        position: where the token begins in the text, counted from 0; None where no text was read.
    """

    def __init__(self, problem: str, *, token: str | None = None, position: int | None = None) -> None:
        super().__init__(f"{shown(token)} at position {position} of the hand range: {problem}" if token else problem)
        self.token = token
        self.position = position


class _ProblemError(Exception):
    """What is wrong with a token, before the token and its position are added."""


class _RankPair(NamedTuple):
    """Ranks 0..12 with high >= low, and "s", "o" or "" (both; always for a pair)."""

    high: int
    low: int
    mark: str

    def hands(self) -> npt.NDArray[np.int64]:
        ranks = RANKS[self.high] + RANKS[self.low]
        if self.mark or self.high == self.low:
            return _HANDS_OF_CLASS[ranks + self.mark]
        return np.concatenate([_HANDS_OF_CLASS[ranks + "s"], _HANDS_OF_CLASS[ranks + "o"]])


def parse_hand_range(text: str) -> npt.NDArray[np.float64]:
    """Returns the weights that `text` gives to the hands, float64 `[1326]` in [0, 1]; hands not named weigh 0.

    Raises:
        HandRangeError: a token cannot be read, its weight is outside [0, 1], or there is no token.
    """
    if len(text) > MAX_TEXT:
        raise HandRangeError(f"a hand range has at most {MAX_TEXT:,} characters, not {len(text):,}")
    weights = np.zeros(NUM_HANDS, dtype=np.float64)
    empty, around = True, 1.0
    opened: tuple[str, int] | None = None  # a weight for all that follows, and where
    for match in _TOKEN.finditer(text):
        token = match.group().strip()
        position = match.start() + match.group().index(token)
        try:
            if token.startswith("["):
                is_end = token.startswith("[/")
                if is_end == (opened is None):
                    raise _ProblemError("brackets come in pairs, like [25]AA,KK[/25]")
                percent = _parse_percent(token[2:-1] if is_end else token[1:-1])
                if opened is not None and percent != around:
                    raise _ProblemError(f"the bracket {opened[0]} is closed by [/{opened[0][1:]}")
                opened = None if is_end else (token, position)
                around = 1.0 if is_end else percent
                continue
            hands, shares = _parse_token(token)
            weights[hands] = around * shares
        except _ProblemError as problem:
            raise HandRangeError(str(problem), token=token, position=position) from None
        empty = False
    if opened is not None:
        raise HandRangeError("the bracket is never closed, like [25]AA,KK[/25]", token=opened[0], position=opened[1])
    if empty:
        raise HandRangeError(f"the hand range {shown(text)} is empty: {_ALLOWED}")
    return weights


def _parse_token(token: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64] | float]:
    """Returns the hands of a token and their weights."""
    body, mark, text = token.partition("@") if "@" in token else token.partition(":")
    weight = 1.0
    if mark:
        weight = _parse_percent(text.strip()) if mark == "@" else _parse_weight(text.strip())
    if top := _TOP.fullmatch(body.strip()):
        shares = _best_hands(_parse_percent(top[1]))
        chosen = np.flatnonzero(shares)
        return chosen, weight * shares[chosen]
    return _parse_body(body.strip().replace("10", "T")), weight


def _parse_percent(text: str) -> float:
    if not _WEIGHT.fullmatch(text) or not 0.0 <= float(text) <= 100.0:
        raise _ProblemError(f"{shown(text)} is not a number of percent in [0, 100], like 25")
    return float(text) / 100.0


def _best_hands(share: float) -> npt.NDArray[np.float64]:
    """Returns `[1326]`: 1 for the hands of highest equity against any hand, up to a share of all, whole classes first.

    The class at the border gets the weight that makes the share exact.
    """
    from aleator.games.holdem.equity import hand_strengths

    equities = np.asarray(hand_strengths(np.zeros(0, np.int8)))
    means = {name: float(equities[hands].mean()) for name, hands in _HANDS_OF_CLASS.items()}
    weights, left = np.zeros(NUM_HANDS), share * NUM_HANDS
    for name in sorted(means, key=lambda name: -means[name]):
        hands = _HANDS_OF_CLASS[name]
        weights[hands] = min(max(left / len(hands), 0.0), 1.0)
        left -= len(hands)
    return weights


def _parse_weight(text: str) -> float:
    if not _WEIGHT.fullmatch(text):
        raise _ProblemError(f"the weight {shown(text)} is not a number in [0, 1], like 0.25")
    weight = float(text)
    if not 0.0 <= weight <= 1.0:
        raise _ProblemError(f"the weight {text[:40]} is outside [0, 1]")
    return weight + 0.0  # turns -0.0 into 0.0


def _parse_body(body: str) -> npt.NDArray[np.int64]:
    """Returns the hands that a token without its weight names."""
    if body.lower() == "random":
        return np.arange(NUM_HANDS)
    if "-" in body:
        ends = [_parse_rank_pair(end.strip()) for end in body.split("-")]
        if len(ends) != 2:
            raise _ProblemError("a run has two ends, like A5s-A2s")
        return np.concatenate([pair.hands() for pair in _run(*ends)])
    if body.endswith("+"):
        first = _parse_rank_pair(body[:-1])
        last = len(RANKS) - 1 if first.high == first.low else first.high - 1
        steps = range(first.low, last + 1)
        pairs = [_RankPair(low if first.high == first.low else first.high, low, first.mark) for low in steps]
        return np.concatenate([pair.hands() for pair in pairs])
    if len(body) == 4:
        try:
            return np.array([parse_hand(body)])
        except CardError as error:
            raise _ProblemError(f"{error}; {_ALLOWED}") from None
    return _parse_rank_pair(body).hands()


def _parse_rank_pair(text: str) -> _RankPair:
    if len(text) not in (2, 3):
        raise _ProblemError(f"{shown(text)} is not a class of hands: {_ALLOWED}")
    for rank in text[:2]:
        if rank.upper() not in RANKS:
            raise _ProblemError(f"unknown rank {rank!r}, ranks are {RANKS}: {_ALLOWED}")
    low, high = sorted(RANKS.index(rank.upper()) for rank in text[:2])
    mark = text[2:].lower()
    if mark not in ("", "s", "o"):
        raise _ProblemError(f"{text[2]!r} is neither s (suited) nor o (offsuit): {_ALLOWED}")
    if mark and high == low:
        raise _ProblemError(f"a pair is never suited and needs no mark: write {2 * RANKS[high]}")
    return _RankPair(high, low, mark)


def _run(first: _RankPair, last: _RankPair) -> Iterator[_RankPair]:
    """Yields the rank pairs from the lower end of a run to the upper one; the ends come in either order."""
    first, last = sorted((first, last))
    if first.mark != last.mark:
        raise _ProblemError("both ends of a run must be suited, both offsuit, or neither marked, like A5s-A2s")
    if (first.high == first.low) != (last.high == last.low):
        raise _ProblemError("the ends of a run must be two pairs or no pair, like 77-22 or A5s-A2s")
    if first.high == last.high:
        for low in range(first.low, last.low + 1):
            yield _RankPair(first.high, low, first.mark)
    elif first.high - first.low == last.high - last.low:
        for high in range(first.high, last.high + 1):
            yield _RankPair(high, high - first.high + first.low, first.mark)
    else:
        raise _ProblemError("the ends of a run must share the high card or the gap, like A5s-A2s, 77-22 or JTs-76s")


def format_hand_range(weights: npt.ArrayLike, *, digits: int | None = None, board: Sequence[int] = ()) -> str:
    """Returns the canonical text of a hand range, which parses back to the same weights.

    Pairs come first, then suited, then offsuit classes, each from aces down with runs of equal weight merged; hands of
    classes whose hands differ in weight come last, one by one. One weight for all hands is `random`, or `random:0.5`.

    Args:
        weights: `[1326]`, in [0, 1].
        digits: decimals to round the weights to first; None keeps them exact.
        board: cards that are dealt. No hand can have them, so that weights of hands that do are not told: a class is
            written as one if its other hands agree.

    Raises:
        HandRangeError: the shape is not `[1326]`, or a weight is outside [0, 1] or not a number.
    """
    exact = np.asarray(weights, dtype=np.float64)
    if exact.shape != (NUM_HANDS,):
        raise HandRangeError(f"a hand range has shape [1326], not {list(exact.shape)}")
    wrong = ~((exact >= 0.0) & (exact <= 1.0))
    if wrong.any():
        hand = int(np.flatnonzero(wrong)[0])
        raise HandRangeError(f"the weight {float(exact[hand])} of {format_hand(hand)} is outside [0, 1]")
    rounded = exact if digits is None else exact.round(digits)
    possible = ~blocked_hands(board)
    if (rounded[possible] == rounded[possible][0]).all():
        return "random" + _format_weight(rounded[possible][0])

    tokens: list[str] = []
    mixed: list[int] = []
    for names in _rows():
        row: list[float | None] = []  # None: the hands of the class differ in weight
        for name in names:
            hands = _HANDS_OF_CLASS[name]
            hands = hands[possible[hands]]
            same = bool((rounded[hands] == rounded[hands[:1]]).all())
            row.append((float(rounded[hands[0]]) if len(hands) else 0.0) if same else None)
            if not same:
                mixed.extend(int(hand) for hand in hands[::-1] if rounded[hand] > 0.0)
        tokens.extend(_format_row(names, row))
    tokens.extend(format_hand(hand) + _format_weight(rounded[hand]) for hand in mixed)
    return ",".join(tokens)


def _rows() -> Iterator[list[str]]:
    """Yields the names of the classes in rows whose neighbours can merge into a run, each from its strongest."""
    ranks = RANKS[::-1]
    yield [2 * rank for rank in ranks]
    for mark in "so":
        for i, high in enumerate(ranks[:-1]):
            yield [high + low + mark for low in ranks[i + 1 :]]


def _format_row(names: Sequence[str], weights: Sequence[float | None]) -> Iterator[str]:
    """Yields the tokens of a row of classes, equal neighbours merged."""
    start = 0
    for end in range(1, len(names) + 1):
        if end < len(names) and weights[end] == weights[start]:
            continue
        weight = weights[start]
        if weight:
            if end - start == 1:
                run = names[start]
            elif start == 0:
                run = names[end - 1] + "+"
            else:
                run = f"{names[start]}-{names[end - 1]}"
            yield run + _format_weight(weight)
        start = end


def _format_weight(weight: float) -> str:
    return "" if weight == 1.0 else f":{float(weight)!r}".removesuffix(".0")
