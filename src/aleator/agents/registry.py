"""Agents by name: `equilibrium`, `search:cfr-d,moves=2`, `game.solution`, `uniform` ..."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from aleator.agents.base import Agent
from aleator.agents.known import ITERATIONS, MAX_NUMBER, OWN_CLASS, SECONDS, KnownFamily, switch, words_of
from aleator.agents.scripted import SCRIPTS, ScriptedAgent
from aleator.errors import AgentError, SolutionError, did_you_mean, shown
from aleator.games.base import CHANCE, Game
from aleator.games.registry import load_game
from aleator.parsing import check_name, parse_whole
from aleator.settings import PLACED, Setting
from aleator.solvers.limits import Limits, OnProgress

if TYPE_CHECKING:
    from aleator.games.holdem.game import HoldemGame
    from aleator.search.random_iteration import SearchConfig
    from aleator.solvers.holdem.tree import SpotSize
    from aleator.solvers.regret_rule import RegretRule
    from aleator.trees.policy import HistoryPolicy, Policy
    from aleator.trees.public_tree import PublicTree
    from aleator.trees.subgame import DepthLimit


Values = dict[str, Any]  # of settings
_SPOT_ENGINE, _GENERAL_ENGINE = 40, 200  # bytes per number of a policy, measured, the rest of the agent included


def _whole_spot(bytes_per_number: int, values: Values, game: HoldemGame) -> SpotSize:
    from aleator.solvers.holdem.tree import spot_size

    return spot_size(game, bytes_per_number)


def _searched_spot(values: Values, game: HoldemGame) -> SpotSize:
    from aleator.agents.search_size import search_memory
    from aleator.trees.subgame import TO_THE_END

    size, config = _whole_spot(_SPOT_ENGINE, values, game), _search_config(values, game)
    return size if config.limit == TO_THE_END else size._replace(memory=search_memory(game, config))


_general_spot = partial(_whole_spot, _GENERAL_ENGINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAgent(KnownFamily):
    """A family of agents of games with a public tree.

    Attributes:
        make: makes one from the values of its settings, for a game.
        size: how big the tree of a hold'em spot is and how much memory the agent takes there; None if it takes no tree.
    """

    make: Callable[[Values, Game[Any], OnProgress | None], Agent]
    size: Callable[[Values, HoldemGame], SpotSize] | None = _general_spot


_WHOLE_BOARD, _ITERATIONS_ON_RIVERS, _ITERATIONS_WITH_CARDS_TO_COME = 5, 500, 150


def _depth(values: Values) -> DepthLimit | None:
    """Takes moves and rounds out of what was read; None if there are none."""
    from aleator.trees.subgame import DepthLimit

    moves, rounds = values.pop("moves", None), values.pop("rounds", None)
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


def _affordable(values: Values, game: Game[Any]) -> Values:
    """Returns what was read, with fewer iterations in hold'em with cards to come, unless a budget was given."""
    from aleator.games.holdem.game import HoldemGame

    dear = isinstance(game, HoldemGame) and len(game.spot.board) < _WHOLE_BOARD
    return {"iterations": _ITERATIONS_WITH_CARDS_TO_COME} | values if dear and "seconds" not in values else values


def _blueprint(asked: str, game: Game[Any], on_progress: OnProgress | None) -> Policy:
    """Returns the blueprint that was asked for: so many iterations of DCFR, or a file."""
    from aleator.solvers.solve import solve
    from aleator.trees.public_tree import build_tree

    tree = build_tree(game)
    if asked.isdecimal():
        iterations = parse_whole(asked, "iterations of the blueprint", most=MAX_NUMBER, error=AgentError)
        return solve(tree, iterations=iterations, on_progress=on_progress).policy
    return _saved(asked, game).on(tree)


def _saved(file: str, game: Game[Any]) -> HistoryPolicy:
    """Returns the policy in a file by `aleator solve --out` or `aleator holdem solve --out`."""
    from aleator.solvers.solution import open_solution

    solution = open_solution(file, game)
    try:
        return solution.played(game)
    except SolutionError as error:
        raise AgentError(f"{file}: {error}") from None


def _equilibrium(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.blueprint import BlueprintAgent

    agent = BlueprintAgent.solving(game, Limits(**{"iterations": 1000} | values), on_progress=on_progress)
    agent.name = "equilibrium"
    return agent


def _search(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.search import SearchAgent
    from aleator.agents.search_size import check_search_fits

    config = _search_config(values, game)
    check_search_fits(game, config)
    return SearchAgent(game, config)


def _search_config(values: Values, game: Game[Any]) -> SearchConfig:
    from aleator.games.holdem.game import HoldemGame
    from aleator.search.random_iteration import SearchConfig
    from aleator.solvers.search_rule import find_rule
    from aleator.trees.subgame import TO_THE_END, DepthLimit

    values = dict(values)
    weights, limit = values.pop("weights", None), _depth(values)
    if weights is not None:
        values["rule"] = replace(find_rule(values.get("rule", "cfr-d")), update=weights)
    if limit is None and isinstance(game, HoldemGame):
        # there the end of the game is nearer than exact values of leaves
        values.setdefault("iterations", _affordable(values, game).get("iterations", _ITERATIONS_ON_RIVERS))
        return SearchConfig(limit=TO_THE_END, **values)
    return SearchConfig(limit=limit or DepthLimit(moves=2), **values)


def _rebel(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    try:
        from aleator.agents.rebel import RebelAgent
    except ModuleNotFoundError as error:
        raise AgentError(f"the rebel agent needs {error.name}: pip install 'aleator[neural]'") from error
    return RebelAgent(game, values.pop("network", None), **values)


def _sampled(kind: str, values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    try:
        from aleator.agents.sampled import SampledAgent
    except ModuleNotFoundError as error:
        raise AgentError(f"the {kind} agent needs {error.name}: pip install 'aleator[neural]'") from error
    return SampledAgent(game, kind, values["network"])


def _safe(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.safe import SafeAgent
    from aleator.search.safe import METHODS

    config = METHODS[values.pop("method", "resolve")]
    blueprint = _blueprint(values.pop("blueprint", _ROUGHLY), game, on_progress)
    return SafeAgent(blueprint, replace(config, **values))


def _multi_valued(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.searching import SearcherAgent
    from aleator.search.modicum import MultiValuedSearch, MultiValuedSearcher

    limit, asked = _depth(values), values.pop("blueprint", _ROUGHLY)
    config = MultiValuedSearch(**_affordable(values, game))
    blueprint = _blueprint(asked, game, on_progress)
    config = replace(config, limit=limit or _one_round(blueprint.tree))
    return SearcherAgent(
        blueprint.tree,
        lambda seat: MultiValuedSearcher(blueprint, seat, config),
        name="multi-valued",
        seconds=config.seconds,
    )


def _pluribus(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.searching import SearcherAgent
    from aleator.search.multi_valued import bias_continuations
    from aleator.search.pluribus import PluribusSearch, PluribusSearcher

    limit, asked = _depth(values), values.pop("blueprint", _ROUGHLY)
    config = PluribusSearch(**_affordable(values, game))
    blueprint = _blueprint(asked, game, on_progress)
    config = replace(config, limit=limit or _one_round(blueprint.tree))
    both = bias_continuations(blueprint, 0), bias_continuations(blueprint, 1)
    return SearcherAgent(
        blueprint.tree,
        lambda seat: PluribusSearcher(blueprint, seat, config, both),
        name="pluribus",
        seconds=config.seconds,
    )


def _nested(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.searching import SearcherAgent
    from aleator.games.restricted import RestrictedGame, smallest_and_largest, without
    from aleator.search.nested import NestedSearch, NestedSearcher
    from aleator.trees.public_tree import build_tree

    asked, off_tree = str(values.pop("blueprint", _ROUGHLY)), values.pop("off_tree", "")
    config, tree = NestedSearch(**values), build_tree(game)
    if off_tree:
        names, known = set(off_tree.split("+")), {tree.labels[node] for node in range(1, tree.num_nodes)}
        if not names <= known:
            shown = ", ".join(sorted(known)[:20])
            raise AgentError(
                f"nested:off-tree={off_tree}: {game.name} has no moves {sorted(names - known)}; it has {shown}"
            )
    small = RestrictedGame(game, without(names) if off_tree else smallest_and_largest)
    blueprint = _blueprint(asked, small, on_progress)
    return SearcherAgent(
        tree,
        lambda seat: NestedSearcher(tree, blueprint, seat, config),
        name="nested",
        seconds=config.seconds,
    )


def _continual(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.agents.continual import ContinualAgent
    from aleator.search.continual import ContinualSearch

    return ContinualAgent(game, ContinualSearch(**_affordable(values, game)))


def _python(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    from aleator.games.own import make_own

    made: Agent = make_own(values["place"], Agent, AgentError, game)
    return made


def _scripted(script: str, values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    return ScriptedAgent(game, script)


def _weights(text: str) -> RegretRule:
    from aleator.solvers.algorithms import parse_rule

    return parse_rule(text)


_ROUGHLY = "100"  # iterations of a blueprint
_SPENDING = (ITERATIONS, SECONDS)
_MOVES = Setting(name="moves", kind=int, most=MAX_NUMBER, help="how many moves a search looks ahead")
_ROUNDS = Setting(name="rounds", kind=int, most=MAX_NUMBER, help="how many rounds a search looks ahead")
_DEPTH = (_MOVES, _ROUNDS)
_BLUEPRINT = Setting(name="blueprint", metavar="N", default=_ROUGHLY, help="iterations of DCFR, or a solution")
_GADGET = words_of("gadget", "aleator.search.safe", "GADGETS", "what makes a search safe")
_AGENTS = (
    KnownAgent(
        family="equilibrium",
        summary="solves the whole game first, by DCFR",
        make=_equilibrium,
        settings=(replace(ITERATIONS, form=PLACED, default=1000, help="of the solve"),),
        size=partial(_whole_spot, _SPOT_ENGINE),
    ),
    KnownAgent(
        family="search",
        summary="searches at its turn with exact values at the leaves; acts by a random iteration",
        make=_search,
        settings=(
            words_of("rule", "aleator.solvers.search_rule", "SEARCH_RULES", "how a subgame is solved"),
            Setting(name="weights", metavar="RULE", read=_weights, help="another regret rule inside"),
            *_DEPTH, *_SPENDING,
            switch("unsafe", "acts by the average policy", key="safe", value=False),
        ),
        size=_searched_spot,
    ),
    KnownAgent(
        family="rebel",
        summary="ReBeL: searches with a trained value network at the leaves",
        make=_rebel,
        settings=(
            Setting(name="network", form=PLACED, help="a file, in place of the network of the package"),
            *_SPENDING,
        ),
    ),
    KnownAgent(
        family="deep-cfr",
        summary="Deep CFR or SD-CFR: plays what its networks say, without search",
        make=partial(_sampled, "deep-cfr"),
        settings=(
            Setting(
                name="network", form=PLACED, required=True, help="a file by `aleator train deep-cfr`"
            ),
        ),
    ),
    KnownAgent(
        family="nfsp",
        summary="NFSP: plays what its network of the average policy says, without search",
        make=partial(_sampled, "nfsp"),
        settings=(
            Setting(name="network", key="network", form=PLACED, required=True, help="a file by `aleator train nfsp`"),
        ),
    ),
    KnownAgent(
        family="double-neural",
        summary="Double Neural CFR: plays what its network of the average policy says, without search",
        make=partial(_sampled, "double-neural"),
        settings=(
            Setting(name="network", form=PLACED, required=True, help="a file by `aleator train double-neural`"),
        ),
    ),
    KnownAgent(
        family="safe",
        summary="solves the whole game roughly, and with a gadget the subgames that play comes to",
        make=_safe,
        settings=(words_of("method", "aleator.search.safe", "METHODS", "of safe search"), _BLUEPRINT, *_SPENDING),
    ),
    KnownAgent(
        family="nested",
        summary="solves the game without some of its moves, and a subgame whenever the opponent makes one of them "
        "(Libratus)",
        make=_nested,
        settings=(
            _GADGET,
            switch("expensive", "searches from where the move was made, not from behind it"),
            switch("reach", "adds what the opponent gave up on the way"),
            Setting(name="off-tree", metavar="MOVE+MOVE", help="the moves that the blueprint lacks"),
            replace(ITERATIONS, name="blueprint", key="blueprint", default=int(_ROUGHLY), help="iterations of DCFR"),
            *_SPENDING,
        ),
    ),
    KnownAgent(
        family="multi-valued",
        summary="searches round by round with a choice of continuations at the depth limit (Modicum)",
        make=_multi_valued,
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
        make=_pluribus,
        settings=(*_DEPTH, _BLUEPRINT, *_SPENDING),
    ),
    KnownAgent(
        family="continual",
        summary="re-solves at each decision to the end of the game (DeepStack)",
        make=_continual,
        settings=(
            words_of("carried", "aleator.search.continual", "CARRIED", "carried on from search to search", "VALUES"),
            words_of("ranges", "aleator.search.continual", "RANGES", "of the opponent at the root"),
            *_SPENDING,
        ),
        size=partial(_whole_spot, _SPOT_ENGINE),
    ),
    *(
        KnownAgent(family=script, summary=summary, make=partial(_scripted, script), size=None)
        for script, summary in zip(
            SCRIPTS, ("every legal action alike", "always the first legal action", "always the last one"), strict=True
        )
    ),
    KnownAgent(
        family="python", summary="an agent of your own, written in Python", make=_python, settings=(OWN_CLASS,),
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

        return BlueprintAgent(_saved(name, game))
    families = [known.family for known in _AGENTS]
    hint = did_you_mean(family, families)
    raise AgentError(f"unknown agent {shown(name)}; {hint}allowed: {', '.join(families)}, or a file with a solution")
