"""How agents of games with a public tree are made from the values of their settings; `registry` names them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aleator.agents.base import Agent
from aleator.agents.known import MAX_NUMBER
from aleator.agents.scripted import ScriptedAgent
from aleator.errors import AgentError, SolutionError
from aleator.games.base import CHANCE, Game
from aleator.parsing import parse_whole
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
SPOT_ENGINE, GENERAL_ENGINE = 40, 200  # bytes per number of a policy, measured, the rest of the agent included
ROUGHLY = "100"  # iterations of a blueprint
_WHOLE_BOARD, _ITERATIONS_ON_RIVERS, _ITERATIONS_WITH_CARDS_TO_COME = 5, 500, 150


def whole_spot(bytes_per_number: int, values: Values, game: HoldemGame) -> SpotSize:
    """Returns how big a spot is for an agent that solves all of it."""
    from aleator.solvers.holdem.tree import spot_size

    return spot_size(game, bytes_per_number)


def searched_spot(values: Values, game: HoldemGame) -> SpotSize:
    """Returns the same for the agent `search`, whose depth limit may save memory."""
    from aleator.agents.search_size import search_memory
    from aleator.trees.subgame import TO_THE_END

    size, config = whole_spot(SPOT_ENGINE, values, game), _search_config(values, game)
    return size if config.limit == TO_THE_END else size._replace(memory=search_memory(game, config))


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


def _blueprint(name: str, game: Game[Any], on_progress: OnProgress | None) -> Policy:
    """Returns the blueprint that was asked for: so many iterations of DCFR, or a file."""
    from aleator.solvers.solve import solve
    from aleator.trees.public_tree import build_tree

    tree = build_tree(game)
    if name.isdecimal():
        iterations = parse_whole(name, "iterations of the blueprint", most=MAX_NUMBER, error=AgentError)
        return solve(tree, iterations=iterations, on_progress=on_progress).policy
    return saved(name, game).on(tree)


def saved(file: str, game: Game[Any]) -> HistoryPolicy:
    """Returns the policy in a file by `aleator solve --out` or `aleator holdem solve --out`."""
    from aleator.solvers.solution import open_solution

    solution = open_solution(file, game)
    try:
        return solution.played(game)
    except SolutionError as error:
        raise AgentError(f"{file}: {error}") from None


def equilibrium(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    """Returns an agent that solves the whole game first."""
    from aleator.agents.blueprint import BlueprintAgent

    agent = BlueprintAgent.solving(game, Limits(**{"iterations": 1000} | values), on_progress=on_progress)
    agent.name = "equilibrium"
    return agent


def search(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    """Returns an agent that searches with exact values at leaves."""
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


def rebel(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    """Returns ReBeL's agent."""
    with _neural("rebel"):
        from aleator.agents.rebel import RebelAgent
    return RebelAgent(game, values.pop("network", None), **values)


def sampled(kind: str, values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    """Returns an agent that plays what networks of a sampling method say."""
    with _neural(kind):
        from aleator.agents.sampled import SampledAgent
    return SampledAgent(game, kind, values["network"])


@contextmanager
def _neural(family: str) -> Iterator[None]:
    """Says which extra an agent with networks lacks."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise AgentError(f"the {family} agent needs {error.name}: pip install 'aleator[neural]'") from error


def safe(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    """Returns an agent that re-solves the subgames of a blueprint."""
    from aleator.agents.safe import SafeAgent
    from aleator.search.safe import METHODS

    config = METHODS[values.pop("method", "resolve")]
    blueprint = _blueprint(values.pop("blueprint", ROUGHLY), game, on_progress)
    return SafeAgent(blueprint, replace(config, **values))


def multi_valued(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    """Returns Modicum's search."""
    from aleator.search.modicum import MultiValuedSearch, MultiValuedSearcher

    config, blueprint = _limited(MultiValuedSearch, values, game, on_progress)
    return _searcher("multi-valued", blueprint.tree, config, lambda seat: MultiValuedSearcher(blueprint, seat, config))


def pluribus(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    """Returns Pluribus' search."""
    from aleator.search.multi_valued import bias_continuations
    from aleator.search.pluribus.two_players import PluribusSearch, PluribusSearcher

    config, blueprint = _limited(PluribusSearch, values, game, on_progress)
    both = bias_continuations(blueprint, 0), bias_continuations(blueprint, 1)
    return _searcher("pluribus", blueprint.tree, config, lambda seat: PluribusSearcher(blueprint, seat, config, both))


def _limited(
    kind: Callable[..., Any], values: Values, game: Game[Any], on_progress: OnProgress | None
) -> tuple[Any, Policy]:
    """Returns the settings of a search to a depth limit, by default the end of the round, and its blueprint."""
    limit, asked = _depth(values), values.pop("blueprint", ROUGHLY)
    config = kind(**_affordable(values, game))
    blueprint = _blueprint(asked, game, on_progress)
    return replace(config, limit=limit or _one_round(blueprint.tree)), blueprint


def _searcher(name: str, tree: PublicTree, config: Any, searcher: Callable[[int], Any]) -> Agent:
    from aleator.agents.searcher import SearcherAgent

    return SearcherAgent(tree, searcher, name=name, seconds=config.seconds)


def nested(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    """Returns Libratus' search."""
    from aleator.games.restricted import RestrictedGame, smallest_and_largest, without
    from aleator.search.nested import NestedSearch, NestedSearcher
    from aleator.trees.public_tree import build_tree

    asked, off_tree = str(values.pop("blueprint", ROUGHLY)), values.pop("off_tree", "")
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
    return _searcher("nested", tree, config, lambda seat: NestedSearcher(tree, blueprint, seat, config))


def continual(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    """Returns DeepStack's search."""
    from aleator.agents.continual import ContinualAgent
    from aleator.search.continual_resolving import ContinualSearch

    return ContinualAgent(game, ContinualSearch(**_affordable(values, game)))


def python(values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    """Returns an agent of the user's own."""
    from aleator.games.own import make_own

    made: Agent = make_own(values["place"], Agent, AgentError, game)
    if not hasattr(made, "game"):
        raise AgentError(f"{made.name}: its __init__ must begin with super().__init__(game)")
    return made


def scripted(script: str, values: Values, game: Game[Any], on_progress: OnProgress | None) -> Agent:
    """Returns an agent that plays a rule of one line."""
    return ScriptedAgent(game, script)


def weights(text: str) -> RegretRule:
    """Returns the regret rule of a name."""
    from aleator.solvers.algorithms import parse_rule

    return parse_rule(text)
