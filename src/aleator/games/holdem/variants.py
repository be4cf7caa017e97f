"""The heads-up games of the papers by name: `VARIANTS["hunl"].start()` is the state after the blinds.

Reference: N. Brown, "Equilibrium Finding for Large Adversarial Imperfect-Information Games" (2020), section 2.4 (limit,
no-limit and flop hold'em) and section 5.1.8 (turn hold'em); ReBeL (2020), appendix C.2 (turn endgame hold'em).

Deviations: none. Limit games have no stacks there; the ones here are larger than what the caps let a player put in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aleator.errors import GameError, did_you_mean
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.betting import BettingRules, BettingState
from aleator.games.holdem.cards import parse_cards


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldemVariant:
    """A heads-up game: its rules and how a hand begins.

    Attributes:
        name: as in `VARIANTS`.
        title: in words.
        rules: betting rules; `num_streets` says where the game ends.
        stack: chips of each player when betting begins, blinds included.
        first_street: where betting begins: 0 preflop, 2 turn.
        pot: chips in the middle when betting begins, half of them from each player; blinds are posted if it is 0.
        board: the fixed public cards when betting begins; none: dealt at random.
        menu: the bet sizes that the paper allows; None: all that are legal.
    """

    name: str
    title: str
    rules: BettingRules
    stack: int
    first_street: int = 0
    pot: int = 0
    board: tuple[int, ...] = ()
    menu: BetMenu | None = None

    def __post_init__(self) -> None:
        if self.rules.num_players != 2:
            raise GameError(f"{self.name}: a variant has 2 players, not {self.rules.num_players}")
        if (self.pot == 0) != (self.first_street == 0):
            raise GameError(f"{self.name}: a pot is given exactly if betting begins after the first street")

    def start(self) -> BettingState:
        """Returns the state in which the first player acts; its payoffs sum to `pot`."""
        if self.pot:
            return self.rules.start_on_street(self.first_street, pot=self.pot, stacks=(self.stack, self.stack))
        return self.rules.start((self.stack, self.stack))


HUNL: Final = HoldemVariant(
    name="hunl",
    title="heads-up no-limit hold'em, blinds 50/100, stacks 20,000",
    rules=BettingRules(small_blind=50, big_blind=100),
    stack=20_000,
)
HULH: Final = HoldemVariant(
    name="hulh",
    title="heads-up limit hold'em, blinds 1/2, bets 2/2/4/4",
    rules=BettingRules(small_blind=1, big_blind=2, fixed_bets=(2, 2, 4, 4), max_raises=(3, 4, 4, 4)),
    stack=200,
)
LIMIT_FLOP: Final = HoldemVariant(
    name="limit-flop",
    title="heads-up limit flop hold'em: limit hold'em that ends after the second betting round",
    rules=BettingRules(small_blind=1, big_blind=2, num_streets=2, fixed_bets=(2, 2), max_raises=(3, 4)),
    stack=200,
)
NO_LIMIT_FLOP: Final = HoldemVariant(
    name="nolimit-flop",
    title="heads-up no-limit flop hold'em: no-limit hold'em that ends after the second betting round",
    rules=BettingRules(small_blind=50, big_blind=100, num_streets=2),
    stack=20_000,
)
NO_LIMIT_TURN: Final = HoldemVariant(
    name="nolimit-turn",
    title="heads-up no-limit turn hold'em: no-limit hold'em that ends after the third betting round",
    rules=BettingRules(small_blind=50, big_blind=100, num_streets=3),
    stack=20_000,
)
TURN_ENDGAME: Final = HoldemVariant(
    name="turn-endgame",
    title="turn endgame hold'em: no-limit hold'em from the turn 3s 7h Td Ks on, 1,000 of 20,000 chips each in the pot",
    rules=BettingRules(small_blind=50, big_blind=100),
    stack=19_000,
    first_street=2,
    pot=2_000,
    board=parse_cards("3s 7h Td Ks"),
    menu=BetMenu.uniform(bets=("50%", "100%", "all-in"), raises=("75%", "all-in")),
)

VARIANTS: Final = {
    variant.name: variant for variant in (HUNL, HULH, LIMIT_FLOP, NO_LIMIT_FLOP, NO_LIMIT_TURN, TURN_ENDGAME)
}
"""All variants by name."""


def find_variant(name: str) -> HoldemVariant:
    """Returns the variant of that name.

    Raises:
        GameError: there is none; the message names those there are.
    """
    if name not in VARIANTS:
        hint = did_you_mean(name, VARIANTS)
        raise GameError(f"unknown hold'em variant {name!r}: {hint}there are {', '.join(VARIANTS)}")
    return VARIANTS[name]
