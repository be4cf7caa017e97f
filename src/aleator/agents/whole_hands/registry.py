"""Agents of whole hands by name: `always-call`, `tight-aggressive`, `python:FILE.py:CLASS` ..."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from aleator.agents.parameters import Reader, read_parameters, whole, word
from aleator.agents.whole_hands.base import HandAgent
from aleator.agents.whole_hands.scripted import HABITS, ScriptedHandAgent
from aleator.errors import AgentError, did_you_mean


class KnownHandAgent(NamedTuple):
    """A family of whole-hand agents: how it is written, what it is, how one is made from the text after the colon."""

    family: str
    usage: str
    summary: str
    make: Callable[[str], HandAgent]


def _scripted(name: str, text: str) -> HandAgent:
    _no_parameters(name, text)
    return ScriptedHandAgent(name, HABITS[name][1])


def _tight_aggressive(text: str) -> HandAgent:
    from aleator.agents.whole_hands.tight_aggressive import TightAggressiveAgent

    _no_parameters("tight-aggressive", text)
    return TightAggressiveAgent()


def _pot_odds(text: str) -> HandAgent:
    from aleator.agents.whole_hands.pot_odds import PotOddsAgent

    _no_parameters("pot-odds", text)
    return PotOddsAgent()


def _equilibrium(text: str) -> HandAgent:
    from aleator.abstraction.translation import parse_translation
    from aleator.agents.whole_hands.equilibrium import equilibrium_agent

    file, _, rest = text.partition(",")
    if not file:
        raise AgentError("equilibrium needs the file of a solved spot: equilibrium:FILE")
    values = {"translation": _named(parse_translation), "otherwise": _named(load_hand_agent)}
    return equilibrium_agent(file, **read_parameters("equilibrium", rest, values=values))


def _named(parse: Callable[[str], Any]) -> Reader:
    return lambda text, what: parse(text)


def _river_perfect(text: str) -> HandAgent:
    from aleator.agents.whole_hands.river_perfect import RiverPerfectAgent

    found = read_parameters("river-perfect", text, values={"iterations": whole})
    if found.get("iterations", 1) < 1:
        raise AgentError(f"river-perfect:{text}: at least 1 iteration")
    return RiverPerfectAgent(**found)


def _searching(family: str, text: str) -> HandAgent:
    from aleator.agents.whole_hands.deepstack import DeepStackAgent
    from aleator.agents.whole_hands.rebel import RebelHandAgent
    from aleator.agents.whole_hands.searching import SearchSettings

    numbers = dict.fromkeys(("preflop", "flop", "turn", "river", "exact-turn", "seed"), whole)
    unsafe = {"average": ("safe", False)} if family == "rebel" else {}
    found = read_parameters(family, text, words=unsafe, values=numbers | {"device": word, "networks": word})
    safe = {"safe": found.pop("safe")} if "safe" in found else {}
    if "networks" in found:
        found["networks"] = Path(found["networks"])
    settings = SearchSettings(**found)
    return RebelHandAgent(settings, **safe) if family == "rebel" else DeepStackAgent(settings)


def _python(text: str) -> HandAgent:
    from aleator.games.own import make_own

    made: HandAgent = make_own(text, HandAgent, AgentError)
    return made


def _no_parameters(family: str, text: str) -> None:
    if text:
        raise AgentError(f"{family} takes no parameters, not {text!r}")


_SEARCH_USAGE = "preflop=N,flop=N,turn=N,river=N,exact-turn=N,device=cpu|cuda,networks=FOLDER,seed=N"

_KNOWN = (
    *(KnownHandAgent(name, name, summary, partial(_scripted, name)) for name, (summary, _) in HABITS.items()),
    KnownHandAgent(
        "tight-aggressive", "tight-aggressive", "a rule bot: bets good hands, bluffs a little", _tight_aggressive
    ),
    KnownHandAgent("pot-odds", "pot-odds", "checks, and calls what its equity is worth", _pot_odds),
    KnownHandAgent(
        "equilibrium",
        "equilibrium:FILE[,translation=NAME,otherwise=AGENT]",
        "a solved spot, from where it begins; pot-odds before and off its tree",
        _equilibrium,
    ),
    KnownHandAgent(
        "river-perfect",
        "river-perfect[:iterations=N]",
        "checks and calls by equity, and solves every river (no-limit, heads-up)",
        _river_perfect,
    ),
    KnownHandAgent(
        "deepstack",
        f"deepstack[:{_SEARCH_USAGE}]",
        "re-solves at every decision, with value networks at the end of the round (hunl)",
        partial(_searching, "deepstack"),
    ),
    KnownHandAgent(
        "rebel",
        f"rebel[:{_SEARCH_USAGE},average]",
        "searches from both players' ranges, plays a random iteration, value networks at the end of the round (hunl)",
        partial(_searching, "rebel"),
    ),
    KnownHandAgent("python", "python:FILE.py:CLASS", "an agent of your own, a HandAgent written in Python", _python),
)


def known_hand_agents() -> tuple[KnownHandAgent, ...]:
    """Returns the families of agents of whole hands, in the order of the documentation."""
    return _KNOWN


def load_hand_agent(name: str) -> HandAgent:
    """Returns the agent of that name.

    Raises:
        AgentError: there is none; the message lists them.
    """
    family, _, text = name.partition(":")
    for known in _KNOWN:
        if known.family == family:
            return known.make(text)
    families = [known.family for known in _KNOWN]
    hint = did_you_mean(family, families)
    raise AgentError(f"unknown agent of whole hands {name!r}; {hint}allowed: {', '.join(families)}")
