"""Bet sizes as players write them, and the amounts that a menu of them gives at a decision.

A size is text; every size gives a *raise-to*, the chips of the acting player on this street after the bet:

| text | raise-to |
|---|---|
| ``"50%"`` | faced + round(0.5 × pot) |
| ``"2.5x"`` | round(2.5 × faced); only for raises |
| ``"geometric"``, ``"geo"``, ``"e"`` | faced + round(r × pot), all-in by the same r on every street left |
| ``"2e"`` | the same with 2 streets |
| ``"all-in"``, ``"allin"``, ``"a"`` | all chips |
| ``"120c"`` | 120; left out where that is below the minimum |

*faced* is the highest bet of the street, 0 for the first bet; *pot* is the pot after calling it. Halves are rounded up.
The geometric r satisfies (1 + 2r)^n = 1 + 2s: s is the stack behind after calling over the pot, n the number of streets
left, this one included, less one for every raise after the first bet of this street (at least 1).

Then, in this order: amounts are clamped to [minimum, all-in]; all-in is added by `all_in_threshold`; amounts become
all-in by `force_all_in_threshold`; equal amounts merge; close ones are dropped by `merge_threshold`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final, NamedTuple

from aleator.errors import AleatorError, shown

OOP: Final = 0
IP: Final = 1
POSITION_NAMES: Final = ("oop", "ip")

_NUMBERED = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(%|x|e|c)")
_FORMS: Final = '"50%", "2.5x" (raises only), "geometric", "2e", "all-in" or "120c"'
_MAX_TEXT: Final = 40


class BetSizeError(AleatorError):
    """A size that cannot be read, or a menu that makes no sense; the message names it and what is allowed."""


class SizeKind(StrEnum):
    """What the number of a size counts; the values are how the number is marked in text."""

    POT = "%"
    PREVIOUS = "x"
    GEOMETRIC = "e"
    CHIPS = "c"
    ALL_IN = "all-in"


class Situation(NamedTuple):
    """What sizes depend on at a decision; amounts are chips of the acting player on this street.

    Attributes:
        pot: chips in the middle after a call.
        faced: the highest bet of the street.
        min_to: the smallest legal raise.
        max_to: all-in.
        num_raises: bets and raises of the street so far.
        streets_left: betting rounds that are left, this one included.
    """

    pot: int
    faced: int
    min_to: int
    max_to: int
    num_raises: int
    streets_left: int


@dataclass(frozen=True, slots=True)
class BetSize:
    """One size of a menu; ``str`` gives its text.

    Attributes:
        kind: what ``number`` counts.
        number: a fraction of the pot, a multiple of the bet faced, streets (0 for all that are left) or chips; 0 for
            all-in.
    """

    kind: SizeKind
    number: Fraction = Fraction(0)

    def __str__(self) -> str:
        if self.kind is SizeKind.ALL_IN:
            return "all-in"
        if self.kind is SizeKind.GEOMETRIC and not self.number:
            return "geometric"
        number = self.number * 100 if self.kind is SizeKind.POT else self.number
        return f"{_decimal_text(number)}{self.kind.value}"

    def raise_to(self, situation: Situation) -> int | None:
        """Returns the raise-to of this size before clamping, None where an exact amount is too small."""
        pot, faced, min_to, max_to, num_raises, streets_left = situation
        match self.kind:
            case SizeKind.POT:
                return faced + round_half_up(self.number * pot)
            case SizeKind.PREVIOUS:
                return round_half_up(self.number * faced)
            case SizeKind.GEOMETRIC:
                streets = max((int(self.number) or streets_left) - max(num_raises - 1, 0), 1)
                return faced + round_half_up(geometric_fraction((max_to - faced) / pot, streets) * pot)
            case SizeKind.CHIPS:
                return int(self.number) if self.number >= min_to else None
            case SizeKind.ALL_IN:
                return max_to


def parse_size(text: str, *, is_raise: bool = True) -> BetSize:
    """Returns the size that ``text`` names, such as ``"50%"``; upper and lower case mean the same.

    Args:
        text: see the table of the module.
        is_raise: whether a multiple of the bet faced is allowed.

    Raises:
        BetSizeError: ``text`` has another form, its number is out of range, or it is a multiple and not a raise.
    """
    if len(text) > _MAX_TEXT:
        raise BetSizeError(f"{shown(text)} is not a bet size: write {_FORMS}")
    word = text.strip().lower()
    if word in ("all-in", "allin", "a"):
        return BetSize(SizeKind.ALL_IN)
    if word in ("geometric", "geo", "e"):
        return BetSize(SizeKind.GEOMETRIC)
    match = _NUMBERED.fullmatch(word)
    if match is None and _NUMBERED.fullmatch(f"{word}%"):
        raise BetSizeError(f'{text!r} is not a bet size: write "{word}%" of the pot or "{word}c" for chips')
    if match is None:
        raise BetSizeError(f"{text!r} is not a bet size: write {_FORMS}")
    number, kind = Fraction(match[1]), SizeKind(match[2])
    if not number:
        raise BetSizeError(f"{text!r} is not a bet size: its number must be positive")
    if kind is SizeKind.PREVIOUS and not is_raise:
        raise BetSizeError(f"{text!r} is a multiple of the bet faced: only raises have one")
    if kind is SizeKind.PREVIOUS and number <= 1:
        raise BetSizeError(f"{text!r} does not raise: the multiple must be above 1")
    if kind in (SizeKind.GEOMETRIC, SizeKind.CHIPS) and number.denominator != 1:
        raise BetSizeError(f"{text!r} is not a bet size: streets and chips are whole numbers")
    return BetSize(kind, number / 100 if kind is SizeKind.POT else number)


def parse_sizes(texts: Iterable[str], *, is_raise: bool = True) -> tuple[BetSize, ...]:
    """Returns the sizes that ``texts`` name, in their order; see `parse_size`."""
    return tuple(parse_size(text, is_raise=is_raise) for text in texts)


def round_half_up(number: Fraction | float) -> int:
    """Returns the nearest integer, the larger of two that are equally near; exact for a `Fraction`."""
    if isinstance(number, Fraction):
        return (2 * number.numerator + number.denominator) // (2 * number.denominator)
    return math.floor(number + 0.5)


def geometric_fraction(stack_to_pot: float, streets: int) -> float:
    """Returns the r with (1 + 2r)^streets = 1 + 2 × stack_to_pot: bets of r pots that are all-in after ``streets``."""
    return float(((1 + 2 * stack_to_pot) ** (1 / streets) - 1) / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerSizes:
    """The sizes of one player on one street.

    Attributes:
        bets: sizes of a first bet; none: check only.
        raises: sizes of a raise; none: fold and call only.
        donks: sizes of a first bet by the player who acts first after having called on the street before; None: as
            ``bets``.
    """

    bets: tuple[BetSize, ...] = ()
    raises: tuple[BetSize, ...] = ()
    donks: tuple[BetSize, ...] | None = None

    def __post_init__(self) -> None:
        for size in (*self.bets, *(self.donks or ())):
            if size.kind is SizeKind.PREVIOUS:
                raise BetSizeError(f'"{size}" is a multiple of the bet faced: only raises have one')


_NO_SIZES: Final = (PlayerSizes(), PlayerSizes())


@dataclass(frozen=True, slots=True, kw_only=True)
class BetMenu:
    """The bet sizes of both players on every street.

    Attributes:
        preflop: sizes of the player out of position and of the one in position.
        flop: likewise.
        turn: likewise.
        river: likewise.
        max_raises: the most bets and raises of a street together; None for no cap.
        all_in_threshold: all-in is added to a menu that is not empty where it adds at most this many pots, the pot
            counted after a call; 0 to switch off.
        force_all_in_threshold: an amount becomes all-in where, once called, the stack behind is at most this many pots;
            0 to switch off.
        merge_threshold: from the largest amount down, each one kept, of x pots, drops the smaller ones, of y pots, with
            (1 + x) / (1 + y) < 1 + threshold; 0 to switch off.
    """

    preflop: tuple[PlayerSizes, PlayerSizes] = _NO_SIZES
    flop: tuple[PlayerSizes, PlayerSizes] = _NO_SIZES
    turn: tuple[PlayerSizes, PlayerSizes] = _NO_SIZES
    river: tuple[PlayerSizes, PlayerSizes] = _NO_SIZES
    max_raises: int | None = None
    all_in_threshold: float = 0.0
    force_all_in_threshold: float = 0.0
    merge_threshold: float = 0.0

    def __post_init__(self) -> None:
        if self.max_raises is not None and self.max_raises < 1:
            raise BetSizeError(f"max_raises must be at least 1, not {self.max_raises}")
        for name in ("all_in_threshold", "force_all_in_threshold", "merge_threshold"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise BetSizeError(f"{name} must be a number from 0 up, not {value}")

    @classmethod
    def uniform(cls, *, bets: Iterable[str], raises: Iterable[str], max_raises: int | None = None) -> BetMenu:
        """Returns the menu with the same sizes on every street for both players."""
        sizes = PlayerSizes(bets=parse_sizes(bets, is_raise=False), raises=parse_sizes(raises))
        both = (sizes, sizes)
        return cls(preflop=both, flop=both, turn=both, river=both, max_raises=max_raises)

    def on_street(self, street: int) -> tuple[PlayerSizes, PlayerSizes]:
        """Returns the sizes of both players on ``street``, 0 for preflop to 3 for the river."""
        return (self.preflop, self.flop, self.turn, self.river)[street]

    def amounts(self, street: int, player: int, situation: Situation, *, is_donk: bool = False) -> tuple[int, ...]:
        """Returns the raise-to amounts of ``player``, ascending; a bet where nothing is faced, else a raise.

        Args:
            street: 0 for preflop to 3 for the river.
            player: 0 out of position, 1 in position.
            situation: pot, bets and limits of the decision.
            is_donk: whether the player acts first on the street and called on the one before.
        """
        if self.max_raises is not None and situation.num_raises >= self.max_raises:
            return ()
        sizes = self.on_street(street)[player]
        if situation.faced:
            return self._amounts_of(sizes.raises, situation)
        return self._amounts_of(sizes.donks if is_donk and sizes.donks is not None else sizes.bets, situation)

    def _amounts_of(self, sizes: tuple[BetSize, ...], situation: Situation) -> tuple[int, ...]:
        if not sizes:
            return ()
        pot, faced, min_to, max_to, *_ = situation
        amounts = {
            min(max(amount, min_to), max_to)
            for amount in (size.raise_to(situation) for size in sizes)
            if amount is not None
        }
        if max_to - faced <= self.all_in_threshold * pot:
            amounts.add(max_to)
        forced = {
            max_to if max_to - amount <= self.force_all_in_threshold * (pot + 2 * (amount - faced)) else amount
            for amount in amounts
        }
        kept: list[int] = []
        for amount in sorted(forced, reverse=True):
            if not kept or pot + kept[-1] - faced >= (1 + self.merge_threshold) * (pot + amount - faced):
                kept.append(amount)
        return tuple(reversed(kept))


CHECK_DOWN: Final = BetMenu()
"""The menu without bets."""


def _decimal_text(number: Fraction) -> str:
    """Returns ``number``, a finite decimal, without trailing zeros."""
    if number.denominator == 1:
        return str(number.numerator)
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    whole = str((number * 10**digits).numerator).rjust(digits + 1, "0")
    return f"{whole[:-digits]}.{whole[-digits:]}"
