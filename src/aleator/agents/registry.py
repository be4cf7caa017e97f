"""Agents by name: `equilibrium`, `search:cfr-d,moves=2`, `game.solution`, `uniform` ..."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from aleator.agents.base import Agent
from aleator.agents.scripted import SCRIPTS, ScriptedAgent
from aleator.errors import AgentError
from aleator.games.base import Game
from aleator.solvers.solve import Limits, OnProgress


class KnownAgent(NamedTuple):
    """A family of agents: how its names are written, what it is, and how one is made from the text after the colon."""

    family: str
    usage: str
    summary: str
    make: Callable[[str, Game[Any], OnProgress | None], Agent]


def _nothing_after(family: str, text: str) -> None:
    if text:
        raise AgentError(f"{family} takes no parameters, not {text!r}")


def _equilibrium(text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.blueprint import BlueprintAgent

    if text and not text.isdecimal():
        raise AgentError(f"equilibrium:{text}: expected a number of iterations, as in equilibrium:1000")
    agent = BlueprintAgent.solving(game, Limits(iterations=int(text or 1000)), on_progress=on_progress)
    agent.name = "equilibrium"
    return agent


def _search(text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.search import SearchAgent
    from aleator.search.random_iteration import SearchConfig
    from aleator.trees.subgame import DepthLimit

    rule, numbers, safe = "cfr-d", {"iterations": 100}, True
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if key == "unsafe" and not equals:
            safe = False
        elif not equals:
            rule = part
        elif key in ("moves", "rounds", "iterations", "seconds") and value.isdecimal():
            numbers[key] = int(value)
        else:
            raise AgentError(
                f"search:{text}: unknown {part!r}; allowed: RULE, moves=N, rounds=N, iterations=N, seconds=N, unsafe"
            )
    iterations, seconds = numbers.pop("iterations"), numbers.pop("seconds", None)
    limit = DepthLimit(**numbers) if numbers else DepthLimit(moves=2)
    config = SearchConfig(limit=limit, rule=rule, iterations=iterations, safe=safe)
    return SearchAgent(game, config, seconds=seconds)


def _rebel(text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    try:
        from aleator.agents.rebel import RebelAgent
    except ModuleNotFoundError as error:
        raise AgentError(f"the rebel agent needs {error.name}: pip install 'aleator[neural]'") from error
    iterations, network = 1024, None
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if key == "iterations" and value.isdecimal() and int(value):
            iterations = int(value)
        elif not equals:
            network = Path(part)
        else:
            raise AgentError(f"rebel:{text}: unknown {part!r}; allowed: FILE, iterations=N")
    return RebelAgent(game, network, iterations=iterations)


def _safe(text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.blueprint import BlueprintAgent
    from aleator.agents.safe import SafeAgent
    from aleator.search.safe import METHODS

    method, blueprint = "resolve", 100
    for part in filter(None, text.split(",")):
        key, _, value = part.partition("=")
        if part in METHODS:
            method = part
        elif key == "blueprint" and value.isdecimal():
            blueprint = int(value)
        else:
            raise AgentError(f"safe:{text}: unknown {part!r}; allowed: {', '.join(METHODS)}, blueprint=ITERATIONS")
    made = BlueprintAgent.solving(game, Limits(iterations=blueprint), on_progress=on_progress)
    return SafeAgent(made.blueprint, METHODS[method])


def _continual(text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.continual import ContinualAgent
    from aleator.search.continual import ContinualSearch

    key, _, value = (text or "iterations=500").partition("=")
    if key != "iterations" or not value.isdecimal():
        raise AgentError(f"continual:{text}: expected a number of iterations, as in continual:iterations=500")
    return ContinualAgent(game, ContinualSearch(iterations=int(value)))


def _scripted(script: str, text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    _nothing_after(script, text)
    return ScriptedAgent(game, script)


_AGENTS = (
    KnownAgent("equilibrium", "equilibrium[:ITERATIONS]", "solves the whole game first, by DCFR", _equilibrium),
    KnownAgent(
        "search",
        "search[:RULE][,moves=N][,rounds=N][,iterations=N][,seconds=N][,unsafe]",
        "searches at its turn with exact values at the leaves; acts by a random iteration",
        _search,
    ),
    KnownAgent(
        "rebel",
        "rebel[:NETWORK][,iterations=N]",
        "ReBeL: searches with a trained value network at the leaves",
        _rebel,
    ),
    KnownAgent(
        "safe",
        "safe[:METHOD][,blueprint=ITERATIONS]",
        "solves the whole game roughly, and with a gadget the subgames that play comes to",
        _safe,
    ),
    KnownAgent(
        "continual",
        "continual[:iterations=N]",
        "re-solves at each decision to the end of the game, as DeepStack",
        _continual,
    ),
    *(
        KnownAgent(script, script, summary, partial(_scripted, script))
        for script, summary in zip(
            SCRIPTS, ("every legal action alike", "always the first legal action", "always the last one"), strict=True
        )
    ),
)


def known_agents() -> tuple[KnownAgent, ...]:
    """Returns the families of agents in the order of the documentation."""
    return _AGENTS


def load_agent(name: str, game: Game[Any], *, on_progress: OnProgress | None = None) -> Agent:
    """Returns the agent of that name for a game; the name of a file is a solution to play.

    Raises:
        AgentError: there is none; the message lists them.
    """
    family, _, text = name.partition(":")
    for known in _AGENTS:
        if known.family == family:
            return known.make(text, game, on_progress)
    if Path(name).is_file():
        from aleator.agents.blueprint import BlueprintAgent
        from aleator.solvers.solution import SolutionFile

        file = SolutionFile(name)
        if file.summary.game != game.name:
            raise AgentError(f"{name} is a solution of {file.summary.game}, not of {game.name}")
        return BlueprintAgent(file.load().policy)
    usages = ", ".join(known.usage for known in _AGENTS)
    raise AgentError(f"unknown agent {name!r}; allowed: {usages}, or a file with a solution")
