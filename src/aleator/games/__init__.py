"""Games with hidden information: rules only, no solver."""

from aleator.games.base import CHANCE, TERMINAL, Child, Game, Payoff
from aleator.games.contract import check_game
from aleator.games.registry import known_games, load_game
from aleator.games.size import GameSize, measure

__all__ = [
    "CHANCE",
    "TERMINAL",
    "Child",
    "Game",
    "GameSize",
    "Payoff",
    "check_game",
    "known_games",
    "load_game",
    "measure",
]
