"""Agents of whole hands by name: `always-call`, `tight-aggressive`, `python:FILE.py:CLASS` ..."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from aleator.agents.known import ITERATIONS, MAX_NUMBER, OWN_CLASS, KnownFamily, switch
from aleator.agents.whole_hands.base import HandAgent
from aleator.agents.whole_hands.biased import BIASES, BiasedAgent
from aleator.agents.whole_hands.scripted import HABITS, ScriptedHandAgent
from aleator.agents.whole_hands.search_settings import NestedSettings, PluribusSettings, SearchSettings
from aleator.agents.whole_hands.tight_aggressive import TightAggressive, TightAggressiveAgent
from aleator.errors import AgentError, did_you_mean, extras_named
from aleator.settings import PLACED, Setting, settings_of

Values = dict[str, Any]  # of settings


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownHandAgent(KnownFamily):
    """A family of agents of whole hands.

    Attributes:
        make: makes one from the values of its settings and, if it `asks_players`, how many play.
        asks_players: whether that matters to it.
    """

    make: Callable[..., HandAgent]
    asks_players: bool = False


def _scripted(name: str, values: Values) -> HandAgent:
    return ScriptedHandAgent(name, HABITS[name][1])


def _tight_aggressive(values: Values) -> HandAgent:
    return TightAggressiveAgent(TightAggressive(**values))


def _pot_odds(values: Values) -> HandAgent:
    from aleator.agents.whole_hands.pot_odds import PotOddsAgent

    return PotOddsAgent()


def _equilibrium(values: Values) -> HandAgent:
    from aleator.agents.whole_hands.equilibrium import equilibrium_agent

    return equilibrium_agent(values.pop("file"), **values)


def _blueprint(values: Values, players: int = 2) -> HandAgent:
    from aleator.abstraction.ring.file import is_ring_blueprint
    from aleator.agents.whole_hands.blueprint import blueprint_agent
    from aleator.agents.whole_hands.ring_blueprint import ring_blueprint_agent, shipped_for_several

    file = values.pop("file", None)
    if players == 2 if file is None else not is_ring_blueprint(file):
        return blueprint_agent(file, **values)
    if file is None:
        shipped_for_several(players)  # which says so if there is none for so many
    if "translation" in values:
        raise AgentError(
            f"{file or 'blueprint'}: a blueprint of several players reads a bet as its nearest: leave out translation="
        )
    return ring_blueprint_agent(file, **values)


def _modicum(values: Values) -> HandAgent:
    from aleator.agents.whole_hands.blueprint import blueprint_agent
    from aleator.agents.whole_hands.modicum import ModicumAgent

    blueprint = blueprint_agent(values.pop("file", None), abstraction=values.pop("abstraction", None))
    naive = values.pop("naive", False)
    return ModicumAgent(blueprint, NestedSettings(**values), naive=naive)


def _libratus(values: Values) -> HandAgent:
    from aleator.agents.whole_hands.blueprint import blueprint_agent
    from aleator.agents.whole_hands.libratus import LibratusAgent

    blueprint = blueprint_agent(values.pop("file", None), abstraction=values.pop("abstraction", None))
    seed, most_varied = values.pop("seed", 0), values.pop("most_varied", 8)
    return LibratusAgent(blueprint, NestedSettings(**values), seed=seed, most_varied=most_varied)


def _pluribus(values: Values) -> HandAgent:
    from aleator.agents.whole_hands.pluribus import pluribus_agent

    file, abstraction = values.pop("file", None), values.pop("abstraction", None)
    return pluribus_agent(file, PluribusSettings(**values), abstraction=abstraction)


def _translation(text: str) -> Any:
    from aleator.abstraction.translation import parse_translation

    return parse_translation(text)


def _river_perfect(values: Values) -> HandAgent:
    from aleator.agents.whole_hands.river_perfect import RiverPerfectAgent

    return RiverPerfectAgent(**values)


def _deepstack(values: Values) -> HandAgent:
    from aleator.agents.whole_hands.deepstack import DeepStackAgent

    return DeepStackAgent(SearchSettings(**values))


def _rebel(values: Values) -> HandAgent:
    from aleator.agents.whole_hands.rebel import RebelHandAgent

    safe = values.pop("safe", True)
    return RebelHandAgent(SearchSettings(**values), safe=safe)


def _biased(values: Values, players: int = 2) -> HandAgent:
    return BiasedAgent(load_hand_agent(values.pop("agent"), players), **values)


def _networks(kind: str, values: Values) -> HandAgent:
    from aleator.agents.whole_hands.networks import network_agent

    return network_agent(kind, values.get("file"))


def _python(values: Values) -> HandAgent:
    from aleator.games.own import make_own

    made: HandAgent = make_own(values["place"], HandAgent, AgentError)
    return made


def _otherwise(text: str) -> HandAgent:
    return load_hand_agent(text)


_BLUEPRINT_FILE = (
    Setting(name="file", form=PLACED, help="of a blueprint; by default that of the package"),
    Setting(name="abstraction", metavar="FILE", help="its buckets, if they have moved"),
)

_TRANSLATION = Setting(name="translation", metavar="NAME", read=_translation, help="of bets between sizes")
_OTHERWISE = Setting(name="otherwise", metavar="AGENT", read=_otherwise, help="who plays where it knows nothing")

_KNOWN = (
    *(
        KnownHandAgent(family=name, summary=summary, make=partial(_scripted, name))
        for name, (summary, _) in HABITS.items()
    ),
    KnownHandAgent(
        family="tight-aggressive",
        summary="a rule bot: bets good hands, bluffs a little",
        make=_tight_aggressive,
        settings=settings_of(TightAggressive()),
    ),
    KnownHandAgent(family="pot-odds", summary="checks, and calls what its equity is worth", make=_pot_odds),
    KnownHandAgent(
        family="equilibrium",
        summary="a solved spot or flop-holdem, from where it begins; pot-odds before and off its tree",
        make=_equilibrium,
        settings=(
            Setting(name="file", form=PLACED, required=True, help="of a solved spot or game"),
            _TRANSLATION,
            replace(_OTHERWISE, help="who plays before and off it"),
        ),
    ),
    KnownHandAgent(
        family="blueprint",
        summary="a policy of the whole game in an abstraction: that of the package (hunl, 6max), or of a file",
        make=_blueprint,
        asks_players=True,
        settings=(
            *_BLUEPRINT_FILE,
            switch("purified", "plays the likeliest action only", key="purify", value=True),
            _TRANSLATION,
            _OTHERWISE,
        ),
    ),
    KnownHandAgent(
        family="modicum",
        summary="a blueprint before the flop, then depth-limited search with multi-valued states (hunl)",
        make=_modicum,
        settings=(
            *_BLUEPRINT_FILE,
            *settings_of(NestedSettings()),
            Setting(name="leaves", key="naive", choices={"multi-valued": False, "naive": True},
                    help="at the end of the flop: the opponent chooses, or the blueprint goes on"),
        ),
    ),
    KnownHandAgent(
        family="libratus",
        summary="a blueprint before the turn, then nested safe search to the end of the hand (hunl)",
        make=_libratus,
        settings=(
            *_BLUEPRINT_FILE,
            *settings_of(NestedSettings(), "turn", "river", "seconds", "menu"),
            Setting(name="seed", kind=int, least=0, most=MAX_NUMBER, default=0, help="of the bet sizes, which vary"),
            Setting(name="varied", key="most_varied", kind=int, least=0, most=50, default=8,
                    help="percent that bet sizes are larger or smaller at most"),
        ),
    ),
    KnownHandAgent(
        family="pluribus",
        summary="a blueprint before the flop, then depth-limited search by all players (6max; with a file ring:N)",
        make=_pluribus,
        settings=(
            *_BLUEPRINT_FILE,
            switch("guarded", "plays the blueprint where the search is worth less against it", key="guard"),
            *settings_of(PluribusSettings()),
        ),
    ),
    KnownHandAgent(
        family="river-perfect",
        summary="checks and calls by equity, and solves every river (no-limit, heads-up)",
        make=_river_perfect,
        settings=(replace(ITERATIONS, help="of a river, each for both players"),),
    ),
    KnownHandAgent(
        family="deepstack",
        summary="re-solves at every decision, with value networks at the end of the round (hunl)",
        make=_deepstack,
        settings=settings_of(SearchSettings()),
    ),
    KnownHandAgent(
        family="rebel",
        summary="searches from both players' ranges, plays a random iteration, value networks at the end of the round "
        "(hunl)",
        make=_rebel,
        settings=(
            *settings_of(SearchSettings()),
            switch("average", "plays the average policy, not a random iteration", key="safe", value=False),
        ),
    ),
    KnownHandAgent(
        family="biased",
        summary="another agent that likes one kind of action too much",
        make=_biased,
        asks_players=True,
        settings=(
            Setting(name="agent", form=PLACED, required=True, help="who is biased"),
            Setting(name="towards", choices={name: name for name in BIASES}, default="call", help="what it likes"),
            Setting(name="times", kind=float, least=1.0, most=1000.0, default=5.0, help="how much likelier that gets"),
        ),
    ),
    KnownHandAgent(
        family="deep-cfr",
        summary="networks of Deep CFR (flop-holdem: aleator train deep-cfr --game flop-holdem --preset fhp)",
        make=partial(_networks, "deep-cfr"),
        settings=(Setting(name="file", form=PLACED, help="of networks, in place of those of the package"),),
    ),
    KnownHandAgent(
        family="nfsp",
        summary="networks of NFSP (flop-holdem: aleator train nfsp --game flop-holdem --preset fhp)",
        make=partial(_networks, "nfsp"),
        settings=(Setting(name="file", form=PLACED, required=True, help="of trained networks"),),
    ),
    KnownHandAgent(
        family="python",
        summary="an agent of your own, a HandAgent written in Python",
        make=_python,
        settings=(OWN_CLASS,),
    ),
)  # fmt: skip


def known_hand_agents() -> tuple[KnownHandAgent, ...]:
    """Returns the families of agents of whole hands, in the order of the documentation."""
    return _KNOWN


def load_hand_agent(name: str, players: int = 2) -> HandAgent:
    """Returns the agent of that name.

    Args:
        name: as it is typed.
        players: at the table: `blueprint` without a file is another one for six than for two.

    Raises:
        AgentError: there is none; the message lists them.
    """
    family, _, text = name.partition(":")
    for known in _KNOWN:
        if known.family == family:
            values = known.values(text)
            with extras_named():
                return known.make(values, players) if known.asks_players else known.make(values)
    families = [known.family for known in _KNOWN]
    hint = did_you_mean(family, families)
    raise AgentError(f"unknown agent of whole hands {name!r}; {hint}allowed: {', '.join(families)}")
