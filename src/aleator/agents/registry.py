"""Agents by name: `equilibrium`, `search:cfr-d,moves=2`, `game.solution`, `uniform` ..."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from aleator.agents import makers
from aleator.agents.base import Agent
from aleator.agents.known import ITERATIONS, MAX_NUMBER, OWN_CLASS, SECONDS, KnownFamily, switch, words_of
from aleator.agents.makers import Values
from aleator.agents.scripted import SCRIPTS
from aleator.errors import AgentError, did_you_mean, shown
from aleator.games.base import Game
from aleator.games.registry import load_game
from aleator.parsing import check_name
from aleator.settings import PLACED, Setting
from aleator.solvers.limits import OnProgress

if TYPE_CHECKING:
    from aleator.games.holdem.game import HoldemGame
    from aleator.solvers.holdem.tree import SpotSize

_SPOT, _GENERAL = (partial(makers.whole_spot, size) for size in (makers.SPOT_ENGINE, makers.GENERAL_ENGINE))


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAgent(KnownFamily):
    """A family of agents of games with a public tree.

    Attributes:
        make: makes one from the values of its settings, for a game.
        size: how big the tree of a hold'em spot is and how much memory the agent takes there; None if it takes no tree.
    """

    make: Callable[[Values, Game[Any], OnProgress | None], Agent]
    size: Callable[[Values, HoldemGame], SpotSize] | None = _GENERAL


_SPENDING = (ITERATIONS, SECONDS)
_MOVES = Setting(name="moves", kind=int, most=MAX_NUMBER, help="how many moves a search looks ahead")
_ROUNDS = Setting(name="rounds", kind=int, most=MAX_NUMBER, help="how many rounds a search looks ahead")
_DEPTH = (_MOVES, _ROUNDS)
_BLUEPRINT = Setting(name="blueprint", metavar="N", default=makers.ROUGHLY, help="iterations of DCFR, or a solution")
_GADGET = words_of("gadget", "aleator.search.safe", "GADGETS", "what makes a search safe")
_AGENTS = (
    KnownAgent(
        family="equilibrium",
        summary="solves the whole game first, by DCFR",
        make=makers.equilibrium,
        settings=(replace(ITERATIONS, form=PLACED, default=1000, help="of the solve"),),
        size=_SPOT,
    ),
    KnownAgent(
        family="search",
        summary="searches at its turn with exact values at the leaves; acts by a random iteration",
        make=makers.search,
        settings=(
            words_of("rule", "aleator.solvers.search_rule", "SEARCH_RULES", "how a subgame is solved"),
            Setting(name="weights", metavar="RULE", read=makers.weights, help="another regret rule inside"),
            *_DEPTH, *_SPENDING,
            switch("unsafe", "acts by the average policy", key="safe", value=False),
        ),
        size=makers.searched_spot,
    ),
    KnownAgent(
        family="rebel",
        summary="ReBeL: searches with a trained value network at the leaves",
        make=makers.rebel,
        settings=(
            Setting(name="network", form=PLACED, help="a file, in place of the network of the package"),
            *_SPENDING,
        ),
    ),
    *(
        KnownAgent(
            family=kind,
            summary=f"{summary}, without search",
            make=partial(makers.sampled, kind),
            settings=(Setting(name="network", form=PLACED, required=True, help=f"a file by `aleator train {kind}`"),),
        )
        for kind, summary in (
            ("deep-cfr", "Deep CFR or SD-CFR: plays what its networks say"),
            ("nfsp", "NFSP: plays what its network of the average policy says"),
            ("double-neural", "Double Neural CFR: plays what its network of the average policy says"),
        )
    ),
    KnownAgent(
        family="safe",
        summary="solves the whole game roughly, and with a gadget the subgames that play comes to",
        make=makers.safe,
        settings=(words_of("method", "aleator.search.safe", "METHODS", "of safe search"), _BLUEPRINT, *_SPENDING),
    ),
    KnownAgent(
        family="nested",
        summary="solves the game without some of its moves, and a subgame whenever the opponent makes one of them "
        "(Libratus)",
        make=makers.nested,
        settings=(
            _GADGET,
            switch("expensive", "searches from where the move was made, not from behind it"),
            switch("reach", "adds what the opponent gave up on the way"),
            Setting(name="off-tree", metavar="MOVE+MOVE", help="the moves that the blueprint lacks"),
            replace(ITERATIONS, name="blueprint", key="blueprint", default=int(makers.ROUGHLY),
                    help="iterations of DCFR"),
            *_SPENDING,
        ),
    ),
    KnownAgent(
        family="multi-valued",
        summary="searches round by round with a choice of continuations at the depth limit (Modicum)",
        make=makers.multi_valued,
        settings=(
            words_of("values", "aleator.search.modicum", "VALUES", "where continuations come from"),
            Setting(name="count", kind=int, most=MAX_NUMBER, help="how many continuations there are"),
            switch("both", "both players choose"),
            _GADGET, *_DEPTH, _BLUEPRINT, *_SPENDING,
        ),
    ),
    KnownAgent(
        family="pluribus",
        summary="searches from the start of the round at each turn, its own past actions held fixed; both choose "
        "continuations",
        make=makers.pluribus,
        settings=(*_DEPTH, _BLUEPRINT, *_SPENDING),
    ),
    KnownAgent(
        family="continual",
        summary="re-solves at each decision to the end of the game (DeepStack)",
        make=makers.continual,
        settings=(
            words_of(
                "carried", "aleator.search.continual_resolving", "CARRIED", "carried on from search to search", "VALUES"
            ),
            words_of("ranges", "aleator.search.continual_resolving", "RANGES", "of the opponent at the root"),
            *_SPENDING,
        ),
        size=_SPOT,
    ),
    *(
        KnownAgent(family=script, summary=summary, make=partial(makers.scripted, script), size=None)
        for script, summary in zip(
            SCRIPTS, ("every legal action alike", "always the first legal action", "always the last one"), strict=True
        )
    ),
    KnownAgent(
        family="python", summary="an agent of your own, written in Python", make=makers.python, settings=(OWN_CLASS,),
        size=None,
    ),
)  # fmt: skip


def known_agents() -> tuple[KnownAgent, ...]:
    """Returns the families of agents in the order of the documentation."""
    return _AGENTS


def spot_to_solve(name: str, game: Game[Any]) -> SpotSize | None:
    """Returns how big a hold'em spot is whose whole tree the agent of that name takes; None if it takes none."""
    from aleator.games.holdem.game import HoldemGame

    family, _, text = name.partition(":")
    known = next((known for known in _AGENTS if known.family == family), None)
    if known is None or known.size is None or not isinstance(game, HoldemGame):
        return None
    return known.size(known.values(text), game)


def load_agent(name: str, game: Game[Any] | str, *, on_progress: OnProgress | None = None) -> Agent:
    """Returns the agent of that name for a game, or for a game's name; the name of a file is a solution to play.

    Raises:
        AgentError: there is none; the message lists them.
        TooBigError: there is not enough memory for the tree of a hold'em spot that it takes, or for what it will
            remember.
    """
    check_name(name, "an agent", error=AgentError)
    game = load_game(game) if isinstance(game, str) else game
    family, _, text = name.partition(":")
    if size := spot_to_solve(name, game):
        size.check_fits(game.name)
    for known in _AGENTS:
        if known.family == family:
            return known.make(known.values(text), game, on_progress)
    if os.path.isfile(name):  # of what can be no path, too
        from aleator.agents.blueprint import BlueprintAgent

        return BlueprintAgent(makers.saved(name, game))
    families = [known.family for known in _AGENTS]
    hint = did_you_mean(family, families)
    raise AgentError(f"unknown agent {shown(name)}; {hint}allowed: {', '.join(families)}, or a file with a solution")
