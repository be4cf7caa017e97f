"""Games by name: `leduc`, `leduc:5`, `liars-dice:1x6`, `goofspiel:5,descending`, `openspiel:kuhn_poker` ..."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aleator.errors import GameError, did_you_mean, shown
from aleator.games.base import Game
from aleator.games.holdem.variants import is_hand_game
from aleator.parsing import MAX_SEED, check_name, parse_options, parse_real, parse_whole


class KnownGame(NamedTuple):
    """A family of games: how its names are written, what it is, and instances worth listing."""

    family: str
    usage: str
    summary: str
    make: Callable[[str], Game[Any]]
    examples: tuple[str, ...]


_MOST = 1_000_000  # cards, dice, rows: games themselves allow far less, and say so
_MOST_CHIPS = 1e9


def _whole(family: str, text: str, default: int) -> int:
    """Returns the one number that a family takes."""
    return parse_whole(text, f"the number after {family}:", most=_MOST, error=GameError) if text else default


def _two(family: str, text: str, names: str, example: str) -> tuple[int, int]:
    """Returns two numbers with an x between them."""
    first, x, second = text.partition("x")
    if not x or "x" in second:
        raise GameError(f"{shown(f'{family}:{text}')}: expected {names}, as in {family}:{example}")
    of = f"{names} of {family}:"
    return parse_whole(first, of, most=_MOST, error=GameError), parse_whole(second, of, most=_MOST, error=GameError)


def _kuhn(text: str) -> Game[Any]:
    from aleator.games.one_card import kuhn

    if text:
        raise GameError(f"kuhn takes no parameters, not {shown(text)}; one-card:N has N cards")
    return kuhn()


def _one_card(text: str) -> Game[Any]:
    from aleator.games.one_card import OneCardPoker

    return OneCardPoker(_whole("one-card", text, 5))


def _leduc(text: str) -> Game[Any]:
    from aleator.games.continuous_leduc import ContinuousLeduc
    from aleator.games.leduc import Leduc, leduc5, no_limit_leduc

    if not text:
        return Leduc()
    if text == "5":
        return leduc5()
    if text.startswith("nolimit"):
        return no_limit_leduc(_whole("leduc:nolimit", text.removeprefix("nolimit"), 5))
    if text.startswith("pots="):
        return ContinuousLeduc(
            tuple(_chips(size, "a bet of Leduc") for size in text.removeprefix("pots=").split("+")),
            name=f"leduc:{text}",
        )
    if "=" not in text:
        raise GameError(
            f"{shown(f'leduc:{text}')}: unknown; allowed: 5, pots=0.01+1, nolimit, nolimitN (stack N), or any of "
            "bets=2/4 (sizes of a round joined by +), cap=2, ranks=3, suits=2, stack=20, joined by commas"
        )
    options = parse_options(
        text, ("bets", "cap", "ranks", "suits", "stack"), of=shown(f"leduc:{text}"), error=GameError
    )
    rounds = [
        [_chips(size, "a bet of Leduc") for size in part.split("+")] for part in options.get("bets", "2/4").split("/")
    ]
    if len(rounds) != 2:
        raise GameError(f"{shown(f'leduc:{text}')}: bets needs the sizes of two rounds, as in bets=2/4")
    cap, ranks, suits = (
        parse_whole(options.get(name, default), f"{name} of Leduc", most=_MOST, error=GameError)
        for name, default in (("cap", "2"), ("ranks", "3"), ("suits", "2"))
    )
    stack = _chips(options["stack"], "the stack of Leduc") if "stack" in options else None
    return Leduc((rounds[0], rounds[1]), max_bets=cap, ranks=ranks, suits=suits, stack=stack, name=f"leduc:{text}")


def _chips(text: str, what: str) -> float:
    return parse_real(text, what, least=0.0, most=_MOST_CHIPS, error=GameError)


def _liars_dice(text: str) -> Game[Any]:
    from aleator.games.liars_dice import LiarsDice

    dice, plus, rest = (text or "1x6").removesuffix("f").partition("+")
    if not plus:
        return LiarsDice(*_two("liars-dice", dice, "dice x faces", "1x6"))
    second, faces = _two("liars-dice", rest, "dice of each player x faces", "2+1x4")
    return LiarsDice((_whole("liars-dice", dice, 1), second), faces)


def _goofspiel(text: str) -> Game[Any]:
    from aleator.games.goofspiel import Goofspiel

    cards, *flags = (text or "5").split(",")
    unknown = set(flags) - {"ascending", "descending", "win-loss"}
    if unknown or {"ascending", "descending"} <= set(flags):
        raise GameError(
            f"{shown(f'goofspiel:{text}')}: after the number of cards: ascending or descending, and win-loss"
        )
    return Goofspiel(_whole("goofspiel", cards, 5), descending="descending" in flags, win_loss="win-loss" in flags)


def _flop_holdem(text: str) -> Game[Any]:
    from aleator.games.flop_holdem import FlopHoldem

    if not text:
        return _whole_game("flop-holdem")
    return FlopHoldem(*_two("flop-holdem", text, "ranks x suits", "4x2"))


def _whole_game(name: str) -> Game[Any]:
    from aleator.games.holdem.game import WholeHoldemGame
    from aleator.games.holdem.whole_game import load_whole_game

    try:
        return WholeHoldemGame(load_whole_game(name))
    except GameError as error:
        raise GameError(
            f"{shown(name)} is a game of whole hands: it is played (match, play, lbr), not solved as a tree ({error})"
        ) from None


def _coin_toss(text: str) -> Game[Any]:
    from aleator.games.matrix import CoinToss

    return CoinToss(_whole("coin-toss", text, 1))


def _rps_plus(text: str) -> Game[Any]:
    from aleator.games.matrix import rps_plus

    if text:
        raise GameError(f"rps-plus takes no parameters, not {shown(text)}")
    return rps_plus()


def _matrix(text: str) -> Game[Any]:
    from aleator.games.matrix import random_matrix

    size, comma, rest = (text or "100x100").partition(",")
    rows, columns = _two("matrix", size, "rows x columns", "100x100,seed=7")
    options = parse_options(rest, ("seed",), of=shown(f"matrix:{text}"), error=GameError) if comma else {}
    seed = parse_whole(options.get("seed", "0"), "the seed of matrix:", most=MAX_SEED, error=GameError)
    return random_matrix(rows, columns, rng=np.random.default_rng(seed), name=f"matrix:{text or '100x100'}")


def _openspiel(text: str) -> Game[Any]:
    from aleator.games.extensive.openspiel import load_openspiel

    if not text:
        raise GameError("openspiel: needs the name of an OpenSpiel game, as in openspiel:kuhn_poker")
    return load_openspiel(text)


def _holdem(text: str) -> Game[Any]:
    from aleator.games.holdem.game import HoldemGame
    from aleator.games.holdem.sized_game import SizedHoldem, parse_sizes
    from aleator.games.holdem.spot_file import load_spot

    if not text:
        raise GameError("holdem: needs a spot file, as in holdem:examples/river.toml")
    file, at, sizes = text.partition("@r:")
    if at:
        return SizedHoldem(load_spot(file), parse_sizes(f"r:{sizes}"), f"holdem:{text}")
    game = HoldemGame(load_spot(text))
    game.name = f"holdem:{text}"
    return game


def _python(text: str) -> Game[Any]:
    from aleator.games.contract import check_own_game
    from aleator.games.own import make_own

    made: Game[Any] = make_own(text, Game, GameError)
    check_own_game(made)
    return made


_KNOWN = (
    KnownGame("kuhn", "kuhn", "Kuhn poker: three cards, one bet", _kuhn, ("kuhn",)),
    KnownGame("one-card", "one-card:N", "one-card poker with N cards (Kuhn is 3)", _one_card, ("one-card:5",)),
    KnownGame(
        "leduc",
        "leduc[:5|:nolimit[STACK]|:bets=2/4,cap=2,ranks=3,suits=2,stack=S]",
        "Leduc hold'em, up to suit symmetry",
        _leduc,
        ("leduc", "leduc:5", "leduc:nolimit"),
    ),
    KnownGame(
        "liars-dice",
        "liars-dice:DxF|:A+BxF",
        "Liar's Dice, D dice of F faces each (or A and B), highest face wild",
        _liars_dice,
        ("liars-dice:1x4", "liars-dice:1x5", "liars-dice:1x6", "liars-dice:2x3"),
    ),
    KnownGame(
        "goofspiel",
        "goofspiel:N[,descending][,win-loss]",
        "Goofspiel, hidden bids, known order of prizes (ascending unless said)",
        _goofspiel,
        ("goofspiel:4", "goofspiel:5"),
    ),
    KnownGame(
        "flop-holdem",
        "flop-holdem[:RxS]",
        "limit flop hold'em; no-limit flop hold'em with a deck of R ranks and S suits",
        _flop_holdem,
        ("flop-holdem:4x2",),
    ),
    KnownGame(
        "coin-toss", "coin-toss[:N]", "Coin Toss of Brown's thesis, 5.1.1, with N subgames", _coin_toss, ("coin-toss",)
    ),
    KnownGame("rps-plus", "rps-plus", "rock-paper-scissors+ of ReBeL, Fig. 1", _rps_plus, ("rps-plus",)),
    KnownGame("matrix", "matrix:RxC[,seed=S]", "a random matrix game, payoffs in [-1, 1]", _matrix, ()),
    KnownGame(
        "holdem", "holdem:SPOT.toml[@NODE=PERCENT,…]", "a hold'em spot as a general game (small ranges)", _holdem, ()
    ),
    KnownGame("python", "python:FILE.py:CLASS", "a game of your own, written in Python", _python, ()),
    KnownGame("openspiel", "openspiel:NAME", "any two-player zero-sum game of OpenSpiel", _openspiel, ()),
)


def known_games() -> tuple[KnownGame, ...]:
    """Returns the families of games in the order of the documentation."""
    return _KNOWN


def load_game(name: str) -> Game[Any]:
    """Returns the game of that name.

    Raises:
        GameError: no such game, or parameters it does not take; the message says what is allowed.
    """
    check_name(name, "a game", error=GameError)
    family, _, parameters = name.partition(":")
    if family in ("kuhn", "leduc") and "players=" in parameters:
        raise GameError(
            f"{shown(name)} is a game of many players, which `aleator solve` and `games` take; this needs one of two: "
            "leave out players="
        )
    for known in _KNOWN:
        if known.family == family:
            return known.make(parameters)
    if is_hand_game(name):
        return _whole_game(name)
    families = [known.family for known in _KNOWN]
    hint = _meant(name) or did_you_mean(family, families)
    raise GameError(f"unknown game {shown(name)}; {hint}known: {', '.join(known.usage for known in _KNOWN)}")


def _meant(name: str) -> str:
    """Returns what a file that is given in place of a game is taken for, as part of an error's message."""
    if name.endswith(".toml"):
        return f"a spot is named holdem:{shown(name)[1:-1]}; "
    if name.partition(":")[0].endswith(".py"):
        file, _, which = name.partition(":")
        return f"a game of your own is named python:{shown(file)[1:-1]}:{shown(which or 'CLASS')[1:-1]}; "
    if os.path.isdir(name):
        return "this is a directory, not a game; "
    if name.endswith((".solution", ".blueprint")):
        if not os.path.exists(name):
            return "there is no such file; "
        return "this is the name of a file with a policy, not of a game; "
    return ""


def load_recorded_game(name: str) -> Game[Any]:
    """Returns the game whose name stands in a file: only one that this package has the rules of.

    Raises:
        GameError: no such game, or one in another file, which the user must name.
    """
    if is_recorded_elsewhere(name):
        raise GameError(
            f"its game {shown(name)} is in another file, which is opened only if you name it: "
            f"--game {name.partition(':')[0]}:FILE, or in Python the game itself"
        )
    return load_game(name)


def is_recorded_elsewhere(name: str) -> bool:
    """Returns whether the rules of a game are in another file: code of one's own, a spot, a file of OpenSpiel's."""
    family, _, parameters = name.partition(":")
    return family in ("python", "holdem") or (family == "openspiel" and "filename" in parameters)
