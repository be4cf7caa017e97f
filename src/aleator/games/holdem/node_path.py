"""Nodes of a hold'em tree named as PioSOLVER names them: ``r:0:b100:c:8h:b300``.

A path is the root ``r``, the mark ``0`` of the first decision (optional when read, always printed) and one token per
step: ``f`` fold, ``c`` check or call, ``bN`` a bet or raise after which the player has put in ``N`` chips since the
start of the solve, and a card such as ``8h`` where one is dealt (paths have no token for the three cards of a flop).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aleator.errors import AleatorError, shown
from aleator.games.holdem.cards import CardError, format_card, parse_card

MAX_TOKENS = 500
"""Steps of a path; no betting tree is deeper."""
_MAX_DIGITS = 18
_BET = re.compile(r"b0*([1-9]\d*)", re.ASCII)


class NodePathError(AleatorError):
    """A path that cannot be read or leads nowhere; the message names the token and what is possible there."""


@dataclass(frozen=True, slots=True)
class NodePath:
    """The steps from the root to a node.

    Attributes:
        tokens: ``f``, ``c``, ``bN`` and cards, in order; none for the root.
    """

    tokens: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_length(self.tokens)
        for index, token in enumerate(self.tokens):
            if token != _normal_token(token, self, index):
                raise NodePathError(f"token {token!r} of {self} must be written {_normal_token(token, self, index)!r}")

    def __str__(self) -> str:
        return ":".join(("r", "0", *self.tokens))

    @property
    def actions(self) -> tuple[str, ...]:
        """The tokens of the players, without the cards."""
        return tuple(token for token in self.tokens if is_action(token))

    @property
    def cards(self) -> tuple[int, ...]:
        """The cards dealt on the way."""
        return tuple(parse_card(token) for token in self.tokens if not is_action(token))

    def then(self, token: str) -> NodePath:
        """Returns the path one step longer."""
        return NodePath((*self.tokens, token))


def is_action(token: str) -> bool:
    """Returns whether ``token`` is a player's, not a card."""
    return token in ("f", "c") or _BET.fullmatch(token) is not None


def parse_path(text: str) -> NodePath:
    """Returns the path that ``text`` names, such as ``"r:0:b100:c:8h"``.

    Raises:
        NodePathError: ``text`` does not begin with ``r``, or one of its tokens is neither an action nor a card.
    """
    head, *tokens = text.strip().split(":")
    if head != "r":
        raise NodePathError(f"path {shown(text)} must begin with 'r', the root, not {shown(head)}")
    if tokens and tokens[0] == "0":
        tokens = tokens[1:]
    _check_length(tokens)
    return NodePath(tuple(_normal_token(token, text, index) for index, token in enumerate(tokens)))


def check_cards_of_path(path: NodePath, board: Sequence[int]) -> None:
    """Checks that the cards of ``path`` are distinct and not on ``board``.

    Raises:
        NodePathError: a card comes twice.
    """
    seen = list(board)
    for card in path.cards:
        if card in seen:
            raise NodePathError(f"card {format_card(card)} of {path} is dealt already")
        seen.append(card)


def _check_length(tokens: Sequence[str]) -> None:
    if len(tokens) > MAX_TOKENS:
        raise NodePathError(f"a path has at most {MAX_TOKENS} steps, not {len(tokens):,}")


def _normal_token(token: str, path: str | NodePath, index: int) -> str:
    """Returns ``token`` in its one spelling: no leading zeros, cards like ``8h``."""
    if token in ("f", "c"):
        return token
    bet = _BET.fullmatch(token)
    if bet is not None and len(bet[1]) <= _MAX_DIGITS:
        return f"b{bet[1]}"
    try:
        return format_card(parse_card(token))
    except CardError:
        raise NodePathError(
            f"token {shown(token)} (step {index + 1}) of path {shown(str(path))} should be 'f', 'c', 'b' and chips, "
            "or a card"
        ) from None
