"""What the pages offer: games, opponents, algorithms, presets. Requests name these; nothing else is ever opened."""

from __future__ import annotations

import importlib.util
from importlib import resources

from aleator.apps.web.models import Preset, SpotModel
from aleator.apps.web.models_play import GameInfo, OpponentInfo
from aleator.caching import cache
from aleator.games.holdem.spot_file import parse_spot, spot_table
from aleator.learning.rebel.shipped import shipped_games

_GAMES = {
    "liars-dice:1x4": ("Liar's Dice, four faces", "One die each with four faces; fours are wild.", "dice"),
    "liars-dice:1x5": ("Liar's Dice, five faces", "One die each with five faces; fives are wild.", "dice"),
    "liars-dice:1x6": ("Liar's Dice", "One ordinary die each; sixes are wild.", "dice"),
    "liars-dice:1x7": ("Liar's Dice, seven faces", "One die each with seven faces; sevens are wild.", "dice"),
    "liars-dice:2x3": ("Liar's Dice, two dice", "Two dice each with three faces; threes are wild.", "dice"),
    "kuhn": ("Kuhn poker", "Three cards, one bet: the smallest poker with bluffing.", "cards"),
    "leduc": ("Leduc hold'em", "Six cards, two rounds of betting, one card on the table.", "cards"),
    "one-card:5": ("One-card poker", "Kuhn poker with five cards.", "cards"),
    "leduc:nolimit": ("No-limit Leduc", "Leduc with every bet up to a stack of five.", "cards"),
    "leduc:5": ("Leduc-5", "Leduc with five bet sizes in each round.", "cards"),
    "goofspiel:4": ("Goofspiel, four cards", "Secret bids for known prizes.", "bids"),
    "goofspiel:5": ("Goofspiel, five cards", "Secret bids for known prizes.", "bids"),
    "rps-plus": ("Rock-paper-scissors+", "Scissors count double.", "matrix"),
    "coin-toss": ("Coin toss", "The example of safe and unsafe search.", "matrix"),
}
RACED = [
    GameInfo(name=name, title=title, summary=summary, family=family)
    for name, (title, summary, family) in _GAMES.items()
]
MATCH = GameInfo(
    name="dice-match:2x4",
    title="Liar's Dice, to the last die",
    summary="Two dice each with four faces; who is wrong loses a die, who has none left loses.",
    family="dice",
    note="Only the equilibrium plays all rounds of a match. ReBeL has no networks for two dice with four faces, nor "
    "for more dice on one side; Search would take minutes a move there.",
)
PLAYED = [*RACED[:5], MATCH, *RACED[5:7]]

EQUILIBRIUM, REBEL = "equilibrium", "rebel"
_RANDOM_ITERATION = (
    "It plays one random iteration of its search, not the average of all, so that nobody can exploit how it searches. "
    "“As it played” is that iteration, and it believes that you play by it, too: so it may take your hand for "
    "unlikely, or be sure of it, until its next search begins with beliefs of its own."
)
_OPPONENTS = {
    REBEL: OpponentInfo(
        name=REBEL,
        title="ReBeL",
        summary="searches at every move, with a value network learnt by self-play",
        games=shipped_games(),
        note=_RANDOM_ITERATION,
    ),
    EQUILIBRIUM: OpponentInfo(
        name=EQUILIBRIUM,
        title="Equilibrium",
        summary="plays an exact equilibrium: it cannot be beaten in the long run",
        games=[game.name for game in PLAYED],
    ),
    "search": OpponentInfo(
        name="search",
        title="Search",
        summary="solves the next two moves at its turn, with exact values at the leaves",
        games=["kuhn", "leduc", "liars-dice:1x4"],
        note=_RANDOM_ITERATION,
    ),
}


@cache
def opponents() -> list[OpponentInfo]:
    """Returns the agents that can be played against; ReBeL where PyTorch is installed."""
    rebel = importlib.util.find_spec("torch") and importlib.util.find_spec("aleator.agents.rebel")
    return [info for name, info in _OPPONENTS.items() if name != REBEL or rebel]


@cache
def presets() -> list[Preset]:
    """Returns the spots to begin with, from the files of this package; the first line of each is its summary."""
    listed = []
    for file in sorted(resources.files("aleator.apps.web").joinpath("presets").iterdir(), key=lambda file: file.name):
        text = file.read_text(encoding="utf-8")
        name, _, summary = text.splitlines()[0].removeprefix("# ").partition(": ")
        listed.append(Preset(name=name, summary=summary, spot=SpotModel.model_validate(spot_table(parse_spot(text)))))
    return listed
