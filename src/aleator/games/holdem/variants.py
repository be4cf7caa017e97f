"""The heads-up games of the papers by name: `VARIANTS["hunl"].start()` is the state after the blinds.

`load_hand_game` reads names with parameters, as the command line writes them: `hunl:stack=10000`, `hunl:100bb`.

Reference: N. Brown, "Equilibrium Finding for Large Adversarial Imperfect-Information Games" (2020), section 2.4 (limit,
no-limit and flop hold'em) and section 5.1.8 (turn hold'em); ReBeL (2020), appendix C.2 (turn endgame hold'em).

Deviations: limit games have no stacks there; the ones here are larger than what the caps let a player put in. The
thesis does not say which bets its small and large flop hold'em have (Tables 5.1 and 5.2): here the pot, and half the
pot and the pot, with one raise preflop and two bets on the flop; nor its turn hold'em's (Table 5.3): here the pot, once
a street. `nolimit-flop:nested` is the game of Table 5.4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from aleator.errors import GameError, did_you_mean, shown
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.betting import MAX_PLAYERS, BettingRules, BettingState
from aleator.games.holdem.cards import blocked_hands, format_cards, parse_cards
from aleator.games.holdem.hand_state import HandSetup


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldemVariant:
    """A game: its rules and how a hand begins. Those with a name in `VARIANTS` are heads-up.

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
        if (self.pot == 0) != (self.first_street == 0):
            raise GameError(f"{self.name}: a pot is given exactly if betting begins after the first street")

    def start(self) -> BettingState:
        """Returns the state in which the first player acts; its payoffs sum to `pot`."""
        if self.pot:
            return self.rules.start_on_street(self.first_street, pot=self.pot, stacks=self.stacks)
        return self.rules.start(self.stacks)

    @property
    def stacks(self) -> tuple[int, ...]:
        """Chips of all players when betting begins."""
        return (self.stack,) * self.rules.num_players

    @property
    def setup(self) -> HandSetup:
        """How whole hands of this game begin."""
        return HandSetup(
            rules=self.rules, stacks=self.stacks, first_street=self.first_street, pot=self.pot, board=self.board
        )


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


def _with_bets(game: HoldemVariant, name: str, sizes: tuple[str, ...], most: tuple[int, ...]) -> HoldemVariant:
    """Returns a game with some sizes, and at most so many bets and raises on each street."""
    streets = ("preflop", "on the flop", "on the turn")
    counts = [f"{count} {street}" for count, street in zip(most, streets, strict=False)]
    title = f"{game.title}; bets {', '.join(sizes)} of the pot, {', '.join(counts[:-1])} and {counts[-1]}"
    rules, menu = replace(game.rules, max_raises=most), BetMenu.uniform(bets=sizes, raises=sizes)
    return replace(game, name=f"{game.name}:{name}", title=title, rules=rules, menu=menu)


SMALL_FLOP: Final = _with_bets(NO_LIMIT_FLOP, "small", ("100%",), (1, 2))
LARGE_FLOP: Final = _with_bets(NO_LIMIT_FLOP, "large", ("50%", "100%"), (1, 2))
NESTED_FLOP: Final = _with_bets(NO_LIMIT_FLOP, "nested", ("50%", "75%", "100%"), (1, 3))
SMALL_TURN: Final = _with_bets(NO_LIMIT_TURN, "small", ("100%",), (1, 1, 1))

VARIANTS: Final = {
    variant.name: variant
    for variant in (
        HUNL,
        HULH,
        LIMIT_FLOP,
        NO_LIMIT_FLOP,
        SMALL_FLOP,
        LARGE_FLOP,
        NESTED_FLOP,
        NO_LIMIT_TURN,
        SMALL_TURN,
        TURN_ENDGAME,
    )
}
"""All variants by name."""


_HAND_GAMES: Final = {
    "hunl": HUNL, "hulh": HULH, "flop-holdem": LIMIT_FLOP, "nolimit-flop": NO_LIMIT_FLOP, "nolimit-turn": NO_LIMIT_TURN,
    "turn-endgame": TURN_ENDGAME,
}  # fmt: skip
_MAX_STACK: Final = 10_000_000
_SPOT: Final = "spot"
_RING: Final = "ring"
_RING_STACK: Final = 10_000
_SIX: Final = "6max"  # what people call ring:6
_STACK: Final = re.compile(r"stack=(\d{1,12})|(\d{1,12})bb", re.ASCII)


def is_hand_game(name: str) -> bool:
    """Returns whether ``name`` is a game of whole hands with the whole deck; `flop-holdem:4x2` is not."""
    family, _, text = name.partition(":")
    return family in (*_HAND_GAMES, _RING, _SPOT, _SIX) and not re.fullmatch(r"\d+x\d+", text)


def load_hand_game(name: str) -> HoldemVariant:
    """Returns the game of that name: ``hunl``, ``hunl:stack=10000``, ``hunl:100bb``, ``ring:6``, ``spot:FILE.toml`` ...

    Raises:
        GameError: there is no such game, or it does not take the parameter; the message says what is allowed.
    """
    if not isinstance(name, str):
        raise GameError(f"a game is named, such as hunl, not {shown(name)}")
    family, colon, text = name.partition(":")
    if family == _SPOT:
        return _spot_game(name, text)
    if family == _RING:
        return _ring_game(name, text)
    if name == _SIX:
        return replace(_ring_game(name, "6"), name=name)
    if family not in _HAND_GAMES:
        hint = did_you_mean(family, _HAND_GAMES)
        raise GameError(
            f"unknown game of whole hands {name!r}; {hint}known: {', '.join(_HAND_GAMES)}, ring:N, spot:FILE.toml"
        )
    if name in VARIANTS:
        return VARIANTS[name]
    game = _HAND_GAMES[family]
    if not colon:
        return replace(game, name=name)
    stack = _parse_stack(name, text, game.rules)
    return replace(game, name=name, title=f"{game.title.split(', stacks')[0]}, stacks {stack:,}", stack=stack)


def load_recorded_hand_game(name: str) -> HoldemVariant:
    """Returns the game whose name stands in a file: only one that this package has the rules of.

    Raises:
        GameError: no such game, or a spot, which is in another file.
    """
    if name.partition(":")[0] == _SPOT:
        raise GameError(f"its game {shown(name)} is in another file, which is opened only if you name it")
    return load_hand_game(name)


def _parse_stack(name: str, text: str, rules: BettingRules) -> int:
    match = _STACK.fullmatch(text)
    if match is None:
        example = f"{name.partition(':')[0]}:100bb"
        raise GameError(f"{name}: unknown {text!r}; allowed: stack=CHIPS or Nbb, as in {example}")
    stack = int(match[1]) if match[1] else int(match[2]) * rules.big_blind
    if not rules.big_blind <= stack <= _MAX_STACK:
        raise GameError(f"{name}: a stack has {rules.big_blind} to {_MAX_STACK:,} chips, not {stack:,}")
    return stack


def _ring_game(name: str, text: str) -> HoldemVariant:
    """Returns no-limit hold'em of several players, with 100 big blinds each unless told otherwise."""
    players, comma, rest = text.partition(",")
    if not re.fullmatch(r"\d{1,2}", players, re.ASCII) or not 2 <= int(players) <= MAX_PLAYERS:
        raise GameError(f"{name}: ring needs 2 to {MAX_PLAYERS} players, as in ring:6 or ring:6,stack=20000")
    rules = BettingRules(num_players=int(players), small_blind=HUNL.rules.small_blind, big_blind=HUNL.rules.big_blind)
    stack = _parse_stack(name, rest, rules) if comma else _RING_STACK
    title = f"no-limit hold'em of {rules.num_players} players, blinds 50/100, stacks {stack:,}"
    return HoldemVariant(name=name, title=title, rules=rules, stack=stack)


def _spot_game(name: str, file: str) -> HoldemVariant:
    """Returns whole hands that begin with a spot: any amount may be bet, and its smallest bet is the big blind."""
    from aleator.games.holdem.spot_file import load_spot

    if not file:
        raise GameError("spot needs a file: spot:FILE.toml")
    spot = load_spot(file)
    if (spot.weights() != ~blocked_hands(spot.board)).any():
        raise GameError(f"{name}: whole hands are dealt from all hands, so both ranges of the spot must be 'random'")
    if spot.rake.rate > 0.0:
        raise GameError(f"{name}: whole hands have no rake, and this spot has one")
    title = (
        f"no-limit hold'em from {format_cards(spot.board)} on, {spot.pot:,} chips in the pot and {spot.stack:,} behind"
    )
    rules = BettingRules(small_blind=0, big_blind=spot.min_bet)
    return HoldemVariant(
        name=name, title=title, rules=rules, stack=spot.stack, first_street=spot.street, pot=spot.pot, board=spot.board
    )


def known_hand_games() -> dict[str, HoldemVariant]:
    """Returns the games of whole hands by name, in the order of the documentation."""
    return dict(_HAND_GAMES)
