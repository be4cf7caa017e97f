"""The rules of each family of games in a few sentences, for whoever sits down to play."""

from __future__ import annotations

import inspect
from typing import Any, Final

from aleator.games.base import Game
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.cards import format_cards
from aleator.games.holdem.variants import HoldemVariant
from aleator.games.leduc import Leduc

_NUMBERS: Final = {1: "one", 2: "two", 3: "three"}
_ONE_BET: Final = "Then you check or bet 1; facing a bet, you fold or call. The higher card wins the pot."
RULES: Final = {
    "kuhn": f"Each player antes 1 and gets one of three cards: a jack, a queen or a king. {_ONE_BET}",
    "one-card": f"Each player antes 1 and gets one of N different cards. {_ONE_BET}",
    "liars-dice": (
        "Both players roll their dice in secret. In turn you bid how many of all dice show a face: 2x3 says that "
        "at least two are threes. The highest face is wild and counts as any other. Each bid must be higher than "
        "the last: more dice, or the same number of a higher face. Instead of bidding you may call the other a "
        "liar: all dice are shown, and whoever was wrong loses 1."
    ),
    "goofspiel": (
        "Both players hold the cards 1 to N. Prizes worth 1 to N points come up one by one, and both bid a card "
        "for each in secret: the higher bid takes the prize, equal bids split it. You learn who won, never the "
        "other's card. The last bid is forced. Whoever has more points wins the difference."
    ),
    "flop-holdem": (
        "Each player gets two cards. The first to act has put in 1/2, the other 1: fold, call or raise by the "
        "pot, once. Then three cards are dealt face up, and the other player begins a round with at most two bets "
        "of the pot. The better five-card poker hand wins. With the whole deck bets are fixed: raises of the big "
        "blind, at most three before the flop and four after it."
    ),
    "coin-toss": (
        "The first player looks at a coin and either sells it, for 1/2 if it is heads and -1/2 if it is tails, or "
        "plays. Then the second player guesses the coin: a right guess wins 1, a wrong one loses 1, and so does "
        "forfeiting."
    ),
    "rps-plus": (
        "Both players choose rock, paper or scissors in secret. Paper beats rock, rock beats scissors, scissors "
        "beat paper. The winner gets 1, or 2 if there were scissors."
    ),
    "matrix": (
        "The first player chooses a row and the second a column, in secret. The entry of the matrix there is what "
        "the first player wins from the second."
    ),
    "holdem": (
        "No-limit hold'em that starts at the spot's board, with the ranges, stacks and bet sizes of its file. The "
        "first player is out of position. Winnings are in chips, and count half of the pot at the start as your "
        "own."
    ),
}


def rules_of(game: Game[Any]) -> str:
    """Returns the rules of a game in one paragraph; of a game of one's own, what its class says."""
    family, _, rest = game.name.partition(":")
    if family == "openspiel":
        return f"The rules are those of {rest.partition('(')[0]} in OpenSpiel."
    if isinstance(game, Leduc):
        return _rules_of_leduc(game)
    if family in RULES:
        return RULES[family]
    return " ".join((inspect.getdoc(type(game)) or "This game does not say its rules.").split("\n\n")[0].split())


def _rules_of_leduc(game: Leduc) -> str:
    cards = "two jacks, two queens and two kings" if (game.ranks, game.suits) == (3, 2) else ""
    cards = cards or f"{game.ranks} ranks, {game.suits} cards of each"
    count = "six" if game.ranks * game.suits == 6 else str(game.ranks * game.suits)
    if game.no_limit:
        amounts = "Bets and raises are of any whole number of chips"
    else:
        first, second = (" or ".join(f"{size:g}" for size in sizes) for sizes in game.bets)
        amounts = f"Bets and raises are {first} in the first round and {second} in the second"
    if game.max_bets is not None:
        amounts += f", at most {_NUMBERS.get(game.max_bets, game.max_bets)} in each"
    if game.stack is not None:
        amounts += f"; nobody puts in more than {game.stack:g} chips, the ante included"
    return (
        f"Each player antes {game.ante:g} and gets one of {count} cards: {cards}. After a round of betting one card is "
        f"dealt face up, and a second round follows. You check or bet; facing a bet, you fold, call or raise. "
        f"{amounts}. A pair with the card on the table wins, else the higher card; equal cards split the pot."
    )


def rules_of_hands(variant: HoldemVariant) -> str:
    """Returns the rules of a game of whole hands in one paragraph."""
    rules, first = variant.rules, variant.first_street
    if variant.pot:
        start = f"Play begins on the {STREET_NAMES[first]}, with {variant.pot:,} chips in the pot"
        start += f" and {format_cards(variant.board)} on the table. " if variant.board else ". "
        start += f"Each of {rules.num_players} players has two cards and {variant.stack:,} more chips."
    else:
        start = f"Each of {rules.num_players} players gets two cards and has {variant.stack:,} chips. "
        start += f"The blinds are {rules.small_blind:,} and {rules.big_blind:,}."
    streets = [STREET_NAMES[street] for street in range(first, rules.num_streets)]
    rounds = streets[0] if len(streets) == 1 else f"{', '.join(streets[:-1])} and {streets[-1]}"
    if rules.fixed_bets is None:
        amounts = f"Bets are of {rules.big_blind:,} or more, raises at least of what the last one was, up to all chips."
    else:
        amounts = f"Bets and raises are of {_by_street(rules.fixed_bets)} chips."
    if rules.max_raises is not None:
        amounts += f" There are at most {_by_street(rules.max_raises)} on a street."
    if variant.menu is not None:
        amounts += " The papers that solve it allow some sizes only."
    return (
        f"{start} There is betting on {rounds}: you check or bet, or fold, call or raise. {amounts} "
        "Whoever is left wins the pot; of several, who makes the best five-card hand with the cards on the table."
    )


def _by_street(values: tuple[int | None, ...]) -> str:
    return "/".join("any number" if value is None else str(value) for value in values)
