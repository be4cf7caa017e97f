"""Games of many players by name: `kuhn:players=3`, `leduc:players=4,ranks=3`, `openspiel:kuhn_poker(players=3)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from aleator.errors import GameError, shown
from aleator.games.multiplayer.base import MAX_PLAYERS, MultiplayerGame
from aleator.games.registry import load_game
from aleator.parsing import check_name, parse_options, parse_real, parse_whole


class KnownMultiplayerGame(NamedTuple):
    """A family of games: how its names are written, and what it is."""

    family: str
    usage: str
    summary: str
    make: Callable[[str], MultiplayerGame[Any]]


def _players(options: dict[str, str], family: str) -> int:
    return parse_whole(options["players"], f"players of {family}", least=2, most=MAX_PLAYERS, error=GameError)


def _kuhn(text: str) -> MultiplayerGame[Any]:
    from aleator.games.multiplayer.kuhn import MultiplayerKuhn

    return MultiplayerKuhn(
        _players(parse_options(text, ("players",), of=shown(f"kuhn:{text}"), error=GameError), "kuhn")
    )


def _leduc(text: str) -> MultiplayerGame[Any]:
    from aleator.games.multiplayer.leduc import MultiplayerLeduc

    names = ("players", "bets", "cap", "ranks", "suits")
    options = parse_options(text, names, of=shown(f"leduc:{text}"), error=GameError)
    bets = options.get("bets", "2/4").split("/")
    if len(bets) != 2:
        raise GameError(f"{shown(f'leduc:{text}')}: bets needs a size for each of the two rounds, as in bets=2/4")
    first, second = (parse_real(size, "a bet of Leduc", least=0.0, most=1e9, error=GameError) for size in bets)
    players = _players(options, "leduc")
    cap, ranks, suits = (
        parse_whole(options.get(name, default), f"{name} of Leduc", most=1000, error=GameError)
        for name, default in (("cap", "2"), ("ranks", str(players + 1)), ("suits", "2"))
    )
    return MultiplayerLeduc(players, bets=(first, second), cap=cap, ranks=ranks, suits=suits, name=f"leduc:{text}")


def _openspiel(text: str) -> MultiplayerGame[Any]:
    from aleator.games.multiplayer.openspiel import load_openspiel_histories

    return load_openspiel_histories(text)


_KNOWN = (
    KnownMultiplayerGame("kuhn", "kuhn:players=P", "Kuhn poker for P players: P + 1 cards, one bet", _kuhn),
    KnownMultiplayerGame(
        "leduc", "leduc:players=P[,bets=2/4,cap=2,ranks=P+1,suits=2]", "Leduc hold'em for P players", _leduc
    ),
    KnownMultiplayerGame(
        "openspiel", "openspiel:NAME(players=P)", "games of OpenSpiel for several players, any payoffs", _openspiel
    ),
)


def known_multiplayer_games() -> tuple[KnownMultiplayerGame, ...]:
    """Returns the families of games for many players in the order of the documentation."""
    return _KNOWN


def is_multiplayer(name: str) -> bool:
    """Returns whether a name is of a game of many players: `load_multiplayer_game` has it and `load_game` has not."""
    family, _, parameters = name.partition(":")
    if family == "openspiel" and "players=" in parameters:
        from aleator.games.multiplayer.openspiel import count_players

        return count_players(parameters) != 2
    return family in ("kuhn", "leduc") and any(part.startswith("players=") for part in parameters.split(","))


def load_multiplayer_game(name: str) -> MultiplayerGame[Any]:
    """Returns the game of that name, history by history; two-player games of the library, too.

    Raises:
        GameError: no such game, or parameters it does not take; the message says what is allowed.
    """
    from aleator.games.multiplayer.two_players import TwoPlayerHistories

    check_name(name, "a game", error=GameError)
    family, _, parameters = name.partition(":")
    if not is_multiplayer(name) and family != "openspiel":
        return TwoPlayerHistories(load_game(name))
    return next(known for known in _KNOWN if known.family == family).make(parameters)
