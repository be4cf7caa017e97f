"""Texts that nobody would type, made from texts that somebody would: what the doors of the library are tried with."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

NUMBERS = (
    "0", "1", "2", "3", "5", "7", "10", "-1", "-0", "+1", "1.5", ".5", "5.", "1e3", "1e6", "1e-9", "1e15", "1e16",
    "1e308", "1e999", "nan", "inf", "-inf", "infinity", "1_000", "1__0", "007", "0x10", "٣", "²", "1,000", "99",
    "100", "101", "999999", "2147483647", "2147483648", "-2147483648", "9223372036854775807", "9223372036854775808",
    "9" * 40, "9" * 4300, "9" * 5000, "1" + "0" * 5000, "0." + "0" * 5000 + "1",
)  # fmt: skip
ODD = (
    "", " ", "  ", "\t", "\n", "\r\n", "\0", "\x1b[2J", "\x7f", "\u200b", "\u202e", "\ud800", "\udcff", "é", "漢", "🂡",
    "\\", "'", '"', "%s", "{}", "$(id)", "../", "/dev/null", "a" * 10_000, " " * 20_000, "[" * 3000, "]", "(", ")", "{",
    "}", ",", ",,", ":", "::", "/", "=", "==", "+", "-", "--", "|", "*", ".", "#", "x", "X",
)  # fmt: skip
_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d]+|\s+|.", re.DOTALL)


class Texts:
    """Random texts near the given ones.

    Args:
        samples: texts that are understood, or nearly.
        words: more words to put in.
        seed: of the randomness.
    """

    def __init__(self, samples: Sequence[str], words: Sequence[str] = (), *, seed: int) -> None:
        self._samples, self._rng = list(samples), random.Random(seed)
        self._words = sorted({word for text in samples for word in _WORD.findall(text)} | set(words))

    def next(self) -> str:
        """Returns the next text: a sample as it is, a changed one, or words at random."""
        rng = self._rng
        kind = rng.random()
        if kind < 0.05:
            return rng.choice(self._samples)
        if kind < 0.15:
            return "".join(self._piece() for _ in range(rng.randrange(1, 8)))
        pieces = _WORD.findall(rng.choice(self._samples))
        for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
            self._change(pieces)
        return "".join(pieces)

    def _piece(self) -> str:
        rng = self._rng
        return rng.choice((NUMBERS, ODD, self._words, self._words)[rng.randrange(4)])

    def _change(self, pieces: list[str]) -> None:
        """Changes some pieces in place."""
        rng = self._rng
        place = rng.randrange(len(pieces) + 1)
        numbers = [k for k, piece in enumerate(pieces) if piece[:1].isdigit()]
        match rng.randrange(7):
            case 0:
                pieces.insert(place, self._piece())
            case 1 if pieces:
                del pieces[place % len(pieces)]
            case 2 if pieces:
                pieces[place % len(pieces)] = self._piece()
            case 3 | 4 if numbers:
                pieces[rng.choice(numbers)] = rng.choice(NUMBERS)
            case 5 if pieces:
                start = place % len(pieces)
                again = pieces[start : start + rng.randrange(1, 6)]
                pieces[place:place] = again * rng.choice((1, 1, 2, 50))
            case _:
                rng.shuffle(pieces)
