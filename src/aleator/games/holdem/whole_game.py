"""Heads-up games from the blinds on, with every legal bet of limit or those of a menu: what a spot is, but preflop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from aleator.caching import lru_cache
from aleator.errors import GameError
from aleator.games.holdem.betting_tree import MAX_NODES, BettingNode, build_tree_from_state
from aleator.games.holdem.cards import HANDS, WHOLE_DECK
from aleator.games.holdem.hand_state import BOARD_CARDS
from aleator.games.holdem.lock import Lock
from aleator.games.holdem.spot import Rake
from aleator.games.holdem.variants import HoldemVariant, load_hand_game

MAX_STREETS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeGame:
    """A game of two from the blinds to a showdown on the flop or the turn; a `BoardGame`.

    Attributes:
        variant: the rules; in no-limit with a bet menu.
        deck: the cards that are played with, ascending; all of them unless given.
    """

    variant: HoldemVariant
    deck: tuple[int, ...] = WHOLE_DECK

    def __post_init__(self) -> None:
        variant = self.variant
        if variant.first_street or variant.rules.num_players != 2:
            raise GameError(f"{variant.name} does not begin with the blinds of two players")
        if not 2 <= variant.rules.num_streets <= MAX_STREETS:
            raise GameError(f"{variant.name} has {variant.rules.num_streets} streets; 2 or {MAX_STREETS} can be solved")
        if variant.rules.fixed_bets is None and variant.menu is None:
            raise GameError(f"{variant.name}: any amount may be bet there; to be solved it needs a bet menu")
        if list(self.deck) != sorted(set(self.deck)) or not set(self.deck) <= set(WHOLE_DECK):
            raise GameError(f"a deck is distinct cards in 0..51, ascending, not {self.deck}")
        if len(self.deck) < (least := 4 + BOARD_CARDS[self.num_streets - 1]):
            raise GameError(f"two hands and a board need a deck of {least} cards or more, not {len(self.deck)}")

    @property
    def board(self) -> tuple[int, ...]:
        """The cards on the table at the beginning: none."""
        return ()

    @property
    def street(self) -> int:
        """Where it begins: preflop."""
        return 0

    @property
    def num_streets(self) -> int:
        """Betting rounds of a whole hand."""
        return self.variant.rules.num_streets

    @property
    def pot(self) -> int:
        """Chips in the middle that nobody has bet: none, since blinds are bets."""
        return 0

    @property
    def stack(self) -> int:
        """Chips of each player, blinds included."""
        return self.variant.stack

    @property
    def big_blind(self) -> int:
        """The unit of results: thousandths of it a hand."""
        return self.variant.rules.big_blind

    @property
    def rake(self) -> Rake:
        """What the house takes: nothing."""
        return Rake()

    @property
    def locks(self) -> tuple[Lock, ...]:
        """Nodes whose policy is fixed: none."""
        return ()

    def weights(self) -> npt.NDArray[np.float64]:
        """Returns 1 for every hand of the deck, ``[2, 1326]``."""
        own = np.isin(HANDS, self.deck).all(axis=1).astype(np.float64)
        return np.stack([own, own])

    def build_tree(self) -> BettingNode:
        """Returns the root of the betting tree."""
        return _built(self.variant)


def load_whole_game(name: str) -> WholeGame:
    """Returns the game of that name, such as ``flop-holdem``.

    Raises:
        GameError: there is none, or it is too large to be solved or needs a bet menu.
    """
    return WholeGame(variant=load_hand_game(name))


@lru_cache(maxsize=8)
def _built(variant: HoldemVariant) -> BettingNode:
    return build_tree_from_state(variant.start(), variant.menu, max_nodes=MAX_NODES)
