"""Inputs that make no sense, made from ones that do."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from typing import Any

ODD_TEXTS = (
    "", " ", "\n", "\t", "\x00", "\x7f", "\ufeff", "\u2028", "\ud800", "\udfff", "é", "٣", "²", "𝟗", "🂡", "İ", "ß",
    "'", '"', '"""', "'''", "\\", "#", "=", "[", "]", "[[", "{", "}", ",", ".", ":", "-", "+", "%", "/", "//",
    "..", "../", "%00",
    "%ff", "&", "?", "nan", "inf", "-inf", "1e400", "1e-400", "-0", "0x1f", "1_000", "9" * 25, "9" * 5_000,
    "0." + "3" * 400, "true", "null", "None", "1979-05-27T07:32:00Z", " " * 3_000, "[" * 300, "{a=" * 300, "a." * 300,
    "AA," * 900, "random", "AKs", "A5s-A2s", "22+", "AsKh", ":0.5", ":2", "rest", "r:0", ":c", ":b50", ":8h", "all-in",
    "50%", "2x", "geometric", "lock", "added", "sharp-dcfr+", "mccfr:batch=1e15", "python:x.py:X", "holdem:/etc/passwd",
    "cfr/",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, float("nan"), float("inf"), float("-inf"), "",
    "x", "\ud800", "\x00", [], {}, [[]], [{}], {"": ""}, {"\ud800": 1}, ["50%"] * 30, "AA", "random", "9" * 5_000,
    "[" * 300,
)  # fmt: skip


class Fuzz:
    """Changes to texts, bytes and JSON values, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def text(self, seeds: Sequence[str]) -> str:
        """Returns a text with a few changes."""
        text = self.rng.choice(seeds)
        for _ in range(self.rng.choice((1, 1, 2, 3, 8))):
            text = self._change(text)
        return text[:30_000]

    def _change(self, text: str) -> str:
        begin = self.rng.randrange(len(text) + 1)
        end = min(len(text), begin + int(self.rng.expovariate(0.15)))
        match self.rng.randrange(6):
            case 0:
                return text[:begin] + text[end:]
            case 1:
                return text[:begin] + self.rng.choice(ODD_TEXTS) + text[begin:]
            case 2:
                return text[:begin] + self.rng.choice(ODD_TEXTS) + text[end:]
            case 3:
                return text[:end] + text[begin:end] * self.rng.choice((1, 2, 50)) + text[end:]
            case 4:
                return text[:begin] + chr(self.rng.randrange(0x3000)) + text[begin + 1 :]
            case _:
                lines = text.splitlines(keepends=True)
                self.rng.shuffle(lines)
                return "".join(lines)

    def bytes(self, seeds: Sequence[bytes]) -> bytes:
        """Returns bytes with a few changes."""
        data = bytearray(self.rng.choice(seeds))
        for _ in range(self.rng.choice((1, 1, 2, 4, 16))):
            begin = self.rng.randrange(len(data) + 1)
            end = min(len(data), begin + int(self.rng.expovariate(0.1)))
            match self.rng.randrange(5):
                case 0:
                    del data[begin:end]
                case 1:
                    data[begin:begin] = self.rng.choice(ODD_TEXTS).encode(errors="surrogatepass")
                case 2:
                    data[begin:end] = self.rng.randbytes(end - begin)
                case 3:
                    data[begin:begin] = data[begin:end]
                case _:
                    if begin < len(data):
                        data[begin] ^= 1 << self.rng.randrange(8)
        return bytes(data)

    def value(self, seeds: Sequence[Any]) -> Any:
        """Returns a JSON value with a few changes somewhere inside."""
        value = copy.deepcopy(self.rng.choice(seeds))
        for _ in range(self.rng.choice((1, 1, 2, 4))):
            value = self._change_value(value)
        return value

    def _change_value(self, value: Any) -> Any:
        if isinstance(value, dict) and value and self.rng.random() < 0.85:
            key = self.rng.choice(list(value))
            if self.rng.random() < 0.1:
                value[self.text([key])[:600]] = value.pop(key)
            elif self.rng.random() < 0.08:
                del value[key]
            else:
                value[key] = self._change_value(value[key])
            return value
        if isinstance(value, list) and value and self.rng.random() < 0.85:
            at = self.rng.randrange(len(value))
            value[at] = self._change_value(value[at])
            return value
        if isinstance(value, str) and self.rng.random() < 0.6:
            return self.text([value])
        if isinstance(value, int | float) and self.rng.random() < 0.4:
            return value * self.rng.choice((-1, 0, 2, 1000, 10**12, 0.1))
        return copy.deepcopy(self.rng.choice(ODD_VALUES))
