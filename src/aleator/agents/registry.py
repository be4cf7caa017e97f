"""Agents by name: `equilibrium`, `search:cfr-d,moves=2`, `game.solution`, `uniform` ..."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from aleator.agents.base import Agent
from aleator.agents.parameters import Reader, positive, read_parameters, whole, word
from aleator.agents.scripted import SCRIPTS, ScriptedAgent
from aleator.errors import AgentError, SolutionError, did_you_mean, shown
from aleator.games.base import CHANCE, Game
from aleator.games.registry import load_game
from aleator.parsing import check_name
from aleator.solvers.limits import Limits, OnProgress

if TYPE_CHECKING:
    from aleator.games.holdem.game import HoldemGame
    from aleator.search.random_iteration import SearchConfig
    from aleator.solvers.holdem.tree import SpotSize
    from aleator.trees.policy import HistoryPolicy, Policy
    from aleator.trees.public_tree import PublicTree
    from aleator.trees.subgame import DepthLimit


_SPOT_ENGINE, _GENERAL_ENGINE = 40, 200  # bytes per number of a policy, measured, the rest of the agent included


def _whole_spot(bytes_per_number: int, text: str, game: HoldemGame) -> SpotSize:
    from aleator.solvers.holdem.tree import spot_size

    return spot_size(game, bytes_per_number)


def _searched_spot(text: str, game: HoldemGame) -> SpotSize:
    from aleator.agents.search_size import search_memory
    from aleator.trees.subgame import TO_THE_END

    size, config = _whole_spot(_SPOT_ENGINE, text, game), _search_config(text, game)
    return size if config.limit == TO_THE_END else size._replace(memory=search_memory(game, config))


class KnownAgent(NamedTuple):
    """A family of agents: how its names are written, what it is, and how one is made from the text after the colon.

    `size` says how big the tree of a hold'em spot is and how much memory the agent takes there; None if it takes no
    tree.
    """

    family: str
    usage: str
    summary: str
    make: Callable[[str, Game[Any], OnProgress | None], Agent]
    size: Callable[[str, HoldemGame], SpotSize] | None = partial(_whole_spot, _GENERAL_ENGINE)


_WHOLE_BOARD, _ITERATIONS_ON_RIVERS, _ITERATIONS_WITH_CARDS_TO_COME = 5, 500, 150
_BUDGET: dict[str, Reader] = {"iterations": whole, "seconds": positive}
_DEPTH: dict[str, Reader] = {"moves": whole, "rounds": whole}


def _words(parameter: str, names: Iterable[str]) -> dict[str, tuple[str, Any]]:
    return {name: (parameter, name) for name in names}


def _depth(options: dict[str, Any]) -> DepthLimit | None:
    """Takes moves and rounds out of what was read; None if there are none."""
    from aleator.trees.subgame import DepthLimit

    moves, rounds = options.pop("moves", None), options.pop("rounds", None)
    return None if moves is None and rounds is None else DepthLimit(moves=moves, rounds=rounds)


def _one_round(tree: PublicTree) -> DepthLimit:
    """Returns the depth limit at the end of the betting round, or after two moves where there are no rounds.

    In hold'em it is the end of the game: the solver of spots gets there sooner than anybody can choose among
    continuations.
    """
    from aleator.solvers.holdem.tree import is_spot
    from aleator.trees.subgame import TO_THE_END, DepthLimit

    if is_spot(tree):
        return TO_THE_END
    return DepthLimit(rounds=1) if (tree.actor == CHANCE).any() else DepthLimit(moves=2)


def _affordable(options: dict[str, Any], game: Game[Any]) -> dict[str, Any]:
    """Returns what was read, with fewer iterations in hold'em with cards to come, unless a budget was given."""
    from aleator.games.holdem.game import HoldemGame

    dear = isinstance(game, HoldemGame) and len(game.spot.board) < _WHOLE_BOARD
    return {"iterations": _ITERATIONS_WITH_CARDS_TO_COME} | options if dear and "seconds" not in options else options


def _blueprint(options: dict[str, Any], game: Game[Any], on_progress: OnProgress | None) -> Policy:
    """Returns the blueprint that was asked for: so many iterations of DCFR, or a file."""
    from aleator.solvers.solve import solve
    from aleator.trees.public_tree import build_tree

    asked, tree = options.pop("blueprint", "100"), build_tree(game)
    if asked.isdecimal():
        limits = Limits(iterations=whole(asked, "iterations of the blueprint"))
        return solve(tree, limits=limits, on_progress=on_progress).policy
    return _saved(asked, game).on(tree)


def _saved(file: str, game: Game[Any]) -> HistoryPolicy:
    """Returns the policy in a file by `aleator solve --out` or `aleator holdem solve --out`."""
    from aleator.solvers.solution import open_solution

    solution = open_solution(file, game)
    try:
        return solution.played(game)
    except SolutionError as error:
        raise AgentError(f"{file}: {error}") from None


def _equilibrium(text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.blueprint import BlueprintAgent

    limits = Limits(iterations=whole(text or "1000", "the number of iterations after equilibrium:"))
    agent = BlueprintAgent.solving(game, limits, on_progress=on_progress)
    agent.name = "equilibrium"
    return agent


def _search(text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.search import SearchAgent
    from aleator.agents.search_size import check_search_fits

    config = _search_config(text, game)
    check_search_fits(game, config)
    return SearchAgent(game, config)


def _search_config(text: str, game: Game[Any]) -> SearchConfig:
    from aleator.games.holdem.game import HoldemGame
    from aleator.search.random_iteration import SearchConfig
    from aleator.solvers.algorithms import parse_rule
    from aleator.solvers.search_rule import SEARCH_RULES, find_rule
    from aleator.trees.subgame import TO_THE_END, DepthLimit

    words = _words("rule", SEARCH_RULES) | {"unsafe": ("safe", False)}
    options = read_parameters(
        "search", text, words=words, values=_DEPTH | _BUDGET | {"weights": lambda text, what: parse_rule(text)}
    )
    weights, limit = options.pop("weights", None), _depth(options)
    if weights is not None:
        options["rule"] = replace(find_rule(options.get("rule", "cfr-d")), update=weights)
    if limit is None and isinstance(game, HoldemGame):
        # there the end of the game is nearer than exact values of leaves
        options = {"iterations": _ITERATIONS_ON_RIVERS} | _affordable(options, game)
        return SearchConfig(limit=TO_THE_END, **options)
    return SearchConfig(limit=limit or DepthLimit(moves=2), **options)


def _rebel(text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    try:
        from aleator.agents.rebel import RebelAgent
    except ModuleNotFoundError as error:
        raise AgentError(f"the rebel agent needs {error.name}: pip install 'aleator[neural]'") from error
    files = [part for part in text.split(",") if part and "=" not in part]
    rest = ",".join(part for part in text.split(",") if "=" in part)
    if len(files) > 1:
        raise AgentError(f"rebel:{text}: one network is enough, not {len(files)}")
    options = read_parameters("rebel", rest, values=_BUDGET)
    return RebelAgent(game, files[0] if files else None, **options)


def _sampled(kind: str, text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    try:
        from aleator.agents.sampled import SampledAgent
    except ModuleNotFoundError as error:
        raise AgentError(f"the {kind} agent needs {error.name}: pip install 'aleator[neural]'") from error
    if not text:
        raise AgentError(f"{kind} needs a file by `aleator train {kind}`, as in {kind}:network.safetensors")
    return SampledAgent(game, kind, text)


def _safe(text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.safe import SafeAgent
    from aleator.search.safe import METHODS

    options = read_parameters("safe", text, words=_words("method", METHODS), values=_BUDGET | {"blueprint": word})
    config = METHODS[options.pop("method", "resolve")]
    blueprint = _blueprint(options, game, on_progress)
    return SafeAgent(blueprint, replace(config, **options))


def _multi_valued(text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.searching import SearcherAgent
    from aleator.search.modicum import VALUES, MultiValuedSearch, MultiValuedSearcher
    from aleator.search.safe import GADGETS

    words = _words("values", VALUES) | _words("gadget", GADGETS) | {"both": ("both", True)}
    values = {"count": whole} | _DEPTH | _BUDGET | {"blueprint": word}
    options = read_parameters("multi-valued", text, words=words, values=values)
    limit, asked = _depth(options), options.pop("blueprint", "100")
    config = MultiValuedSearch(**_affordable(options, game))
    blueprint = _blueprint({"blueprint": asked}, game, on_progress)
    config = replace(config, limit=limit or _one_round(blueprint.tree))
    return SearcherAgent(
        blueprint.tree,
        lambda seat: MultiValuedSearcher(blueprint, seat, config),
        name="multi-valued",
        seconds=config.seconds,
    )


def _pluribus(text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.searching import SearcherAgent
    from aleator.search.multi_valued import bias_continuations
    from aleator.search.pluribus import PluribusSearch, PluribusSearcher

    options = read_parameters("pluribus", text, values=_DEPTH | _BUDGET | {"blueprint": word})
    limit, asked = _depth(options), options.pop("blueprint", "100")
    config = PluribusSearch(**_affordable(options, game))
    blueprint = _blueprint({"blueprint": asked}, game, on_progress)
    config = replace(config, limit=limit or _one_round(blueprint.tree))
    both = bias_continuations(blueprint, 0), bias_continuations(blueprint, 1)
    return SearcherAgent(
        blueprint.tree,
        lambda seat: PluribusSearcher(blueprint, seat, config, both),
        name="pluribus",
        seconds=config.seconds,
    )


def _nested(text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.searching import SearcherAgent
    from aleator.games.restricted import RestrictedGame, smallest_and_largest, without
    from aleator.search.nested import NestedSearch, NestedSearcher
    from aleator.search.safe import GADGETS
    from aleator.trees.public_tree import build_tree

    words = _words("gadget", GADGETS) | {"expensive": ("expensive", True), "reach": ("reach", True)}
    values = _BUDGET | {"off-tree": word, "blueprint": whole}
    options = read_parameters("nested", text, words=words, values=values)
    asked, off_tree = {"blueprint": str(options.pop("blueprint", 100))}, options.pop("off_tree", "")
    config, tree = NestedSearch(**options), build_tree(game)
    if off_tree:
        names, known = set(off_tree.split("+")), {tree.labels[node] for node in range(1, tree.num_nodes)}
        if not names <= known:
            shown = ", ".join(sorted(known)[:20])
            raise AgentError(f"nested:{text}: {game.name} has no moves {sorted(names - known)}; it has {shown}")
    small = RestrictedGame(game, without(names) if off_tree else smallest_and_largest)
    blueprint = _blueprint(asked, small, on_progress)
    return SearcherAgent(
        tree,
        lambda seat: NestedSearcher(tree, blueprint, seat, config),
        name="nested",
        seconds=config.seconds,
    )


def _continual(text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.continual import ContinualAgent
    from aleator.search.continual import BEST_RESPONSE, RANGES, SELF_PLAY, ContinualSearch

    words = _words("ranges", RANGES) | _words("carried", (SELF_PLAY, BEST_RESPONSE))
    options = read_parameters("continual", text, words=words, values=_BUDGET)
    return ContinualAgent(game, ContinualSearch(**_affordable(options, game)))


def _python(text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.games.own import make_own

    made: Agent = make_own(text, Agent, AgentError, game)
    return made


def _scripted(script: str, text: str, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    if text:
        raise AgentError(f"{script} takes no parameters, not {shown(text)}")
    return ScriptedAgent(game, script)


_SPENDING = "[,iterations=N][,seconds=N]"
_AGENTS = (
    KnownAgent(
        "equilibrium",
        "equilibrium[:ITERATIONS]",
        "solves the whole game first, by DCFR",
        _equilibrium,
        size=partial(_whole_spot, _SPOT_ENGINE),
    ),
    KnownAgent(
        "search",
        f"search[:RULE][,weights=RULE][,moves=N][,rounds=N]{_SPENDING}[,unsafe]",
        "searches at its turn with exact values at the leaves; acts by a random iteration",
        _search,
        size=_searched_spot,
    ),
    KnownAgent(
        "rebel",
        f"rebel[:NETWORK]{_SPENDING}",
        "ReBeL: searches with a trained value network at the leaves",
        _rebel,
    ),
    KnownAgent(
        "deep-cfr",
        "deep-cfr:NETWORK",
        "Deep CFR or SD-CFR: plays what its networks say, without search",
        partial(_sampled, "deep-cfr"),
    ),
    KnownAgent(
        "safe",
        f"safe[:METHOD][,blueprint=N]{_SPENDING}",
        "solves the whole game roughly, and with a gadget the subgames that play comes to",
        _safe,
    ),
    KnownAgent(
        "nested",
        f"nested[:GADGET][,expensive][,reach][,off-tree=MOVE+MOVE][,blueprint=N]{_SPENDING}",
        "solves the game without some of its moves, and a subgame whenever the opponent makes one of them (Libratus)",
        _nested,
    ),
    KnownAgent(
        "multi-valued",
        f"multi-valued[:VALUES][,count=N][,both][,GADGET][,moves=N][,rounds=N][,blueprint=N]{_SPENDING}",
        "searches round by round with a choice of continuations at the depth limit (Modicum)",
        _multi_valued,
    ),
    KnownAgent(
        "pluribus",
        f"pluribus[:moves=N][,rounds=N][,blueprint=N]{_SPENDING}",
        "searches from the start of the round at each turn, its own past actions held fixed; both choose continuations",
        _pluribus,
    ),
    KnownAgent(
        "continual",
        f"continual[:VALUES][,RANGES]{_SPENDING}",
        "re-solves at each decision to the end of the game (DeepStack)",
        _continual,
        size=partial(_whole_spot, _SPOT_ENGINE),
    ),
    *(
        KnownAgent(script, script, summary, partial(_scripted, script), size=None)
        for script, summary in zip(
            SCRIPTS, ("every legal action alike", "always the first legal action", "always the last one"), strict=True
        )
    ),
    KnownAgent("python", "python:FILE.py:CLASS", "an agent of your own, written in Python", _python, size=None),
)


def known_agents() -> tuple[KnownAgent, ...]:
    """Returns the families of agents in the order of the documentation."""
    return _AGENTS


def spot_to_solve(name: str, game: Game[Any]) -> SpotSize | None:
    """Returns how big a hold'em spot is whose whole tree the agent of that name takes; None if it takes none."""
    from aleator.games.holdem.game import HoldemGame

    family, _, text = name.partition(":")
    size = next((known.size for known in _AGENTS if known.family == family), None)
    return size(text, game) if size and isinstance(game, HoldemGame) else None


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
            return known.make(text, game, on_progress)
    if os.path.isfile(name):  # of what can be no path, too
        from aleator.agents.blueprint import BlueprintAgent

        return BlueprintAgent(_saved(name, game))
    families = [known.family for known in _AGENTS]
    hint = did_you_mean(family, families)
    raise AgentError(f"unknown agent {shown(name)}; {hint}allowed: {', '.join(families)}, or a file with a solution")
