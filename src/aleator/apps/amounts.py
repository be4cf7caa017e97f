"""Bets as people type them: `b 300`, `r 2.5x`, `pot`, `half`, `75%`, `all-in`, `c`, `f`."""

from __future__ import annotations

import re

from aleator.errors import AleatorError
from aleator.games.holdem.betting import CALL, FOLD, Action, raise_to
from aleator.games.holdem.hand_state import HandState

_HELP = "type f, c (or k to check), b 300, r 2.5x, 75%, pot, half, min or all-in"
_NUMBER = re.compile(r"(\d{1,12}(?:\.\d{1,6})?|\.\d{1,6})(k|%|x|bb|p|pot)?", re.ASCII)
_WORDS = {"all-in": "max", "allin": "max", "all in": "max", "a": "max", "shove": "max", "max": "max", "min": "min"}


class TypedError(AleatorError):
    """What was typed is not an action here; the message says what is."""


def parse_typed(text: str, state: HandState) -> Action:
    """Returns the action that a player means.

    Bets and raises are "to" amounts of this street: `r 600` raises to 600. `2.5x` multiplies the bet that is faced,
    `75%` and `pot` are of the pot after a call, `3bb` big blinds, `1.5k` thousands. Amounts beyond the stack are
    all-in.

    Raises:
        TypedError: it cannot be read, or is not legal; the message says what is.
    """
    legal = state.legal_actions()
    word = " ".join(text.lower().replace(",", "").split())
    if word in ("f", "fold"):
        if not legal.can_fold:
            raise TypedError("there is nothing to fold to: check with c")
        return FOLD
    if word in ("c", "call", "k", "check", "ch", "x"):
        if word in ("k", "check", "ch", "x") and legal.call_amount:
            raise TypedError(f"you cannot check: it costs {legal.call_amount:,} to call")
        return CALL
    if legal.min_raise_to is None or legal.max_raise_to is None:
        raise TypedError(f"you cannot bet here: legal are {legal}")
    amount = _amount(_without_verb(word), state, legal.min_raise_to, legal.max_raise_to)
    if amount >= legal.max_raise_to:
        amount = legal.max_raise_to
    if amount < legal.min_raise_to:
        raise TypedError(f"{amount:,} is too little: from {legal.min_raise_to:,} to {legal.max_raise_to:,}")
    return raise_to(amount)


def _without_verb(word: str) -> str:
    match = re.fullmatch(r"(?:b|bet|r|raise|to)(?: to)?(?: |(?=[\d.]))(.+)", word)
    return match[1] if match else word


def _amount(word: str, state: HandState, low: int, high: int) -> int:
    betting = state.betting
    assert betting.player is not None
    faced = max(betting.bets)
    pot = betting.pot + state.legal_actions().call_amount
    if word in ("b", "bet", "r", "raise"):
        if low < high:
            raise TypedError(f"how much? From {low:,} to {high:,}, as in {word} {low}")
        return low
    if word in _WORDS:
        return high if _WORDS[word] == "max" else low
    if word in ("pot", "p", "half", "half pot", "1/2", "third", "1/3", "2/3"):
        share = {"half": 0.5, "half pot": 0.5, "1/2": 0.5, "third": 1 / 3, "1/3": 1 / 3, "2/3": 2 / 3}.get(word, 1.0)
        return max(faced + round(share * pot), low)
    match = _NUMBER.fullmatch(word.replace(" ", ""))
    if match is None:
        raise TypedError(f"{word[:30]!r} is not an action: {_HELP}")
    number, unit = float(match[1]), match[2]
    if unit == "%":
        return max(faced + round(number / 100 * pot), low) if number else 0
    if unit in ("p", "pot"):
        return max(faced + round(number * pot), low) if number else 0
    if unit == "x":
        if not faced:
            raise TypedError("there is no bet to multiply: type chips, or a share of the pot like 75%")
        return round(number * faced)
    scale = {"bb": state.setup.rules.big_blind, "k": 1000}.get(unit or "", 1)
    if unit is None and not number.is_integer():
        raise TypedError(f"{word[:30]!r}: chips are whole numbers")
    return round(number * scale)
