"""Whom whole hands are played against in the browser: agents of the registry, each with a name, a face and a level."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from aleator import shipped
from aleator.agents.whole_hands.base import HandAgent
from aleator.agents.whole_hands.registry import known_hand_agents, load_hand_agent
from aleator.apps.web.worker.blueprints import blueprint_game
from aleator.apps.web.worker.channel import Channel
from aleator.caching import lru_cache
from aleator.errors import AgentError
from aleator.storage import StorageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """Somebody to play against.

    Attributes:
        name: what requests call it.
        agent: its name in the registry, with settings.
        title: what people call it.
        face: the hue of its picture, in degrees.
        level: 1 for beginners to 5.
        summary: how it plays.
        seats: names of those who sit around the table with the player, where it is a table of several.
        stack: chips of everybody if it plays with no others, with a big blind of 100.
    """

    name: str
    agent: str
    title: str
    face: int
    level: int
    summary: str
    seats: tuple[str, ...] = ()
    stack: int | None = None

    @property
    def players(self) -> int:
        """How many sit at the table, the player included."""
        return 1 + max(len(self.seats), 1)


_PERSONAS: Final = {
    "always-call": ("Nell", 130, 1, "never folds, never raises"),
    "half-call-half-raise": ("Blaze", 12, 1, "raises any two cards to any amount, every other time"),
    "pot-odds": ("Olive", 75, 2, "counts pot odds and never bets"),
    "tight-aggressive": ("Tara", 28, 3, "bets good hands, bluffs a little, folds the rest"),
    "river-perfect": ("Rio", 200, 3, "quiet until the river, which it solves exactly"),
    "deepstack": ("DeepStack", 265, 5, "solves its street anew at every decision, with networks at the end of it"),
    "rebel": ("ReBeL", 340, 5, "searches from what both may hold, and plays a random iteration of it"),
    "blueprint": ("Blueprint", 45, 4, "plays by heart a policy of the whole game in an abstraction"),
    "modicum": ("Modicum", 160, 5, "searches to a depth at which its opponent may choose how to go on"),
    "pluribus": ("Pluribus", 290, 5, "a blueprint before the flop, then search for all seats"),
    "libratus": ("Libratus", 220, 5, "a blueprint early, solved again in the hand as it goes"),
}
_LEFT_OUT: Final = {"always-fold", "random", "python", "equilibrium", "biased", "deep-cfr"}  # the last: other games
_SEARCHING: Final = {"deepstack", "rebel", "modicum"}
_OTHERS: Final = (  # agents of the registry with other settings
    Rival(
        name="nit", agent="tight-aggressive:value-bet=0.85,bluff-share=0,value-raise=0.97,margin=0.35", title="Nora",
        face=95, level=2, summary="waits for a good hand, and believes your bets",
    ),
    Rival(
        name="station", agent="tight-aggressive:value-bet=0.85,bluff-share=0,value-raise=0.98,margin=-0.25",
        title="Carl", face=55, level=2, summary="wants to see your cards, and seldom bets",
    ),
    Rival(
        name="maniac", agent="tight-aggressive:value-bet=0.45,bluff=0.35,bluff-share=0.7,value-raise=0.75,size=1.2",
        title="Max", face=0, level=2, summary="bets big and often, with whatever he has",
    ),
    Rival(
        name="rebel-quick", agent="rebel:preflop=30,flop=8,turn=20,river=60", title="Young ReBeL", face=320, level=4,
        summary="the same search with a fraction of the thought",
    ),
    Rival(
        name="rebel-calls", agent="biased:rebel,towards=call,times=4", title="Curious ReBeL", face=300, level=4,
        summary="searches like ReBeL, but cannot resist a call",
    ),
    Rival(
        name="6max", agent="", title="Six-handed", face=180, level=2, summary="with Tara, Nora, Carl, Max and Nell",
        seats=("tight-aggressive", "nit", "station", "maniac", "always-call"),
    ),
)  # fmt: skip
_FROM_BLUEPRINTS: Final = {2: ("blueprint", "modicum", "libratus"), 6: ("blueprint", "pluribus")}
"""Families that play a blueprint for so many players; for other tables of several as for six."""
_MENU: Final = Path(__file__).with_name("quick_menu.toml")
_SETTINGS: Final = {
    "modicum": f",flop=30,turn=40,river=150,seconds=1.5,menu={_MENU}",
    "libratus": ",turn=60,river=200,seconds=2",
}
"""That keep a player from waiting."""
_BIG_BLIND: Final = 100  # of sessions


def rivals(blueprints: tuple[str, ...] = ()) -> list[Rival]:
    """Returns everybody who can be played against, the easiest first; a family that the registry gains is among them.

    Args:
        blueprints: files of blueprints, those of the package included; each family that plays from one plays each.
    """
    has_torch = importlib.util.find_spec("torch") is not None
    found = []
    for known in known_hand_agents():
        required = [setting.name for setting in known.settings if setting.required]
        if known.family in _LEFT_OUT or required or any(known.family in names for names in _FROM_BLUEPRINTS.values()):
            continue
        if has_torch or known.family not in _SEARCHING:
            found.append(_rival(known.family, known.summary))
    for number, file in enumerate(blueprints, start=1):
        found += [
            rival for rival in _from_blueprint(file, number) if has_torch or rival.agent.split(":")[0] not in _SEARCHING
        ]
    found += [rival for rival in _OTHERS if has_torch or "rebel" not in rival.agent]
    return sorted(found, key=lambda rival: rival.level)


def _rival(family: str, summary: str = "") -> Rival:
    title, face, level, told = _PERSONAS.get(family, (family.capitalize(), 210, 5, summary))
    return Rival(name=family, agent=family, title=title, face=face, level=level, summary=told)


def _from_blueprint(file: str, number: int) -> list[Rival]:
    """Returns those who play from a blueprint; from one that is not there as if for two: they say so when they play.

    Args:
        file: of the blueprint.
        number: of those that the server knows, from 1 on.
    """
    try:
        game = blueprint_game(file)
        players, stack = game.rules.num_players, game.stack * _BIG_BLIND // game.rules.big_blind
    except StorageError:
        players, stack = 2, None
    is_shipped, found = Path(file) in shipped.blueprints(), []
    for family in _FROM_BLUEPRINTS.get(players, _FROM_BLUEPRINTS[6]):
        rival, name = _rival(family), f"{family}-{number}"
        title = rival.title if is_shipped else f"{rival.title} · {Path(file).stem}"
        if is_shipped:
            name = family if players == 2 or family != "blueprint" else f"{family}-{Path(file).stem}"
        seats = (name,) * (players - 1) if players > 2 else ()
        agent = f"{family}:{file}{_SETTINGS.get(family, '')}"
        found.append(replace(rival, name=name, agent=agent, title=title, seats=seats, stack=stack))
    return found


def find_rival(name: str, blueprints: tuple[str, ...]) -> Rival:
    """Returns the one of that name.

    Raises:
        AgentError: there is none.
    """
    known = rivals(blueprints)
    for rival in known:
        if rival.name == name:
            return rival
    raise AgentError(f"there is no opponent {name!r}; known: {', '.join(rival.name for rival in known)}")


@lru_cache(maxsize=8)
def load_rival(agent: str) -> HandAgent:
    """Returns the agent of a rival; the last few are kept."""
    return load_hand_agent(agent)


def table_of(name: str, blueprints: tuple[str, ...]) -> list[Rival]:
    """Returns those who sit around the table with the player, in their order.

    Raises:
        AgentError: there is nobody of that name.
    """
    rival = find_rival(name, blueprints)
    return [find_rival(seat, blueprints) for seat in rival.seats] or [rival]


def list_rivals(params: dict[str, Any], channel: Channel) -> list[dict[str, Any]]:
    """Returns everybody who can be played against, without where files are."""
    return [
        {name: getattr(rival, name) for name in ("name", "title", "face", "level", "summary", "players", "stack")}
        for rival in rivals(tuple(params["blueprints"]))
    ]
