"""Search in the subgames of a blueprint, played to the end of the game: one configuration for the family of thesis 5.1.

Algorithm:
    Cut the subgame out, put a gadget above it (`gadgets`) whose alternative payoffs come from the blueprint
    (`alternative_payoffs`, with gifts from `reach`), solve that, and play the searcher's part of it instead of the
    blueprint. Doing so in every subgame that play may come to is the same as doing it in all of them independently.

Reference: thesis 5.1.2 to 5.1.6; the names in `METHODS` are the rows of Tables 5.1 to 5.3.
Deviations: none.
Status: tests/search/test_safe.py; `aleator paper safe-coin-toss`, `aleator paper safe-subgames`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from aleator.errors import SolveError, check_known
from aleator.games.base import CHANCE
from aleator.search.alternative_payoffs import AlternativePayoff, AlternativePayoffs, PayoffRule
from aleator.search.blueprint import Blueprint
from aleator.search.budget import check_budget, spend
from aleator.search.distributional import ENTRIES, EntryPolicy, run_distributional, stack_rows
from aleator.search.gadgets import Gadget, forest, maxmargin_gadget, resolve_gadget, unsafe_gadget
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import CFR_PLUS, RegretRule
from aleator.trees.policy import Policy, places
from aleator.trees.public_tree import Int64Array, PublicTree
from aleator.trees.subgame import Subgame, cut

GADGETS = ("unsafe", "resolve", "maxmargin")


@dataclass(frozen=True, slots=True, kw_only=True)
class SafeSearch:
    """How subgames are searched.

    Attributes:
        gadget: "unsafe", "resolve" or "maxmargin".
        payoffs: where the alternative payoffs come from.
        distributional: they are random variables (resolve only).
        entry: with distributional payoffs, how the opponent's choice to enter is found: "hedge" or "best-response".
        rule: the regret rule.
        iterations: of the solver, each for both players.
        seconds: for one search, if fewer iterations fit in; None for no limit.
    """

    gadget: str = "resolve"
    payoffs: PayoffRule = field(default_factory=PayoffRule)
    distributional: bool = False
    entry: str = "hedge"
    rule: RegretRule = CFR_PLUS
    iterations: int = 1000
    seconds: float | None = None

    def __post_init__(self) -> None:
        check_known(self.gadget, GADGETS, "gadget")
        if self.distributional and self.gadget != "resolve":
            raise SolveError(f"distributional alternative payoffs need the resolve gadget, not {self.gadget}")
        check_known(self.entry, ENTRIES, "entry")
        check_budget(self.iterations, self.seconds)


_ESTIMATE = PayoffRule(estimate=True)
METHODS = {
    "unsafe": SafeSearch(gadget="unsafe"),
    "resolve": SafeSearch(gadget="resolve"),
    "maxmargin": SafeSearch(gadget="maxmargin"),
    "reach-resolve": SafeSearch(gadget="resolve", payoffs=PayoffRule(gifts="split")),
    "reach-maxmargin": SafeSearch(gadget="maxmargin", payoffs=PayoffRule(gifts="split")),
    "reach-maxmargin (not split)": SafeSearch(gadget="maxmargin", payoffs=PayoffRule(gifts="unsplit")),
    "estimate": SafeSearch(payoffs=_ESTIMATE),
    "estimate + distributional": SafeSearch(payoffs=_ESTIMATE, distributional=True),
    "reach-estimate + distributional": SafeSearch(
        payoffs=PayoffRule(estimate=True, gifts="split"), distributional=True
    ),
    "reach-estimate + distributional (not split)": SafeSearch(
        payoffs=PayoffRule(estimate=True, gifts="unsplit"), distributional=True
    ),
}


def subgames_after_chance(tree: PublicTree) -> Int64Array:
    """Returns the nodes that follow the first public chance event on the way to them and where play goes on."""
    after = np.zeros(tree.num_nodes, dtype=np.bool_)
    for node in range(1, tree.num_nodes):
        parent = tree.parent[node]
        after[node] = after[parent] or tree.actor[parent] == CHANCE
    first = after & ~after[tree.parent]
    return np.flatnonzero(first & (tree.num_children > 0)).astype(np.int64)


def subgames_at_depth(tree: PublicTree, depth: int) -> Int64Array:
    """Returns the nodes that many moves below the root where play goes on."""
    return np.flatnonzero((tree.depth == depth) & (tree.num_children > 0)).astype(np.int64)


def build_gadget(
    blueprint: Blueprint, subgame: Subgame, searcher: int, config: SafeSearch, alternative: AlternativePayoff
) -> Gadget:
    """Returns the augmented subgame of a subgame of the blueprint's tree."""
    assert subgame.nodes is not None
    tree, node, opponent = subgame.tree, int(subgame.nodes[0]), 1 - searcher
    reach = blueprint.reach[0][node], blueprint.reach[1][node]
    if config.gadget == "unsafe":
        return unsafe_gadget(tree, opponent, reach)
    make = resolve_gadget if config.gadget == "resolve" else maxmargin_gadget
    return make(tree, opponent, reach[searcher], alternative.mean)


def search_subgames(
    blueprint: Blueprint, nodes: Sequence[int] | Int64Array, searcher: int, config: SafeSearch
) -> Policy:
    """Returns the blueprint with the searcher's part replaced below the given nodes, each searched on its own.

    Args:
        blueprint: what is played elsewhere.
        nodes: roots of disjoint subgames.
        searcher: whose policy is wanted; the other player's part is left as it was.
        config: how to search.
    """
    if not len(nodes):
        return blueprint.policy
    opponent = 1 - searcher
    payoffs = AlternativePayoffs(blueprint, opponent, config.payoffs)
    alternatives = [payoffs.at(int(node)) for node in nodes]
    subgames = [cut(blueprint.tree, int(node)) for node in nodes]
    tree, gadgets = forest(
        [
            build_gadget(blueprint, subgame, searcher, config, alternative)
            for subgame, alternative in zip(subgames, alternatives, strict=True)
        ]
    )
    solver = CFR(tree, config.rule)
    if config.distributional:
        entry = EntryPolicy(
            stack_rows([payoff.mean for payoff in alternatives]),
            stack_rows([payoff.deviation for payoff in alternatives]),
            config.entry,
        )
        roots = np.array([tree.parent[gadget.nodes[0]] for gadget in gadgets], dtype=np.int64)
        cf_reach = stack_rows([gadget.cf_reach for gadget in gadgets])

        def run(iterations: int) -> None:
            run_distributional(solver, roots, opponent, entry, cf_reach, iterations)

        spend(run, config.iterations, config.seconds)
    else:
        spend(solver.run, config.iterations, config.seconds)
    solved = solver.average_policy()
    result = blueprint.policy.probabilities[searcher].copy()
    for gadget, subgame in zip(gadgets, subgames, strict=True):
        assert subgame.nodes is not None
        result[places(blueprint.tree, subgame.nodes, searcher)] = solved.probabilities[searcher][
            places(tree, gadget.nodes, searcher)
        ]
    return blueprint.policy.with_player(searcher, result)


def search_everywhere(blueprint: Blueprint, nodes: Sequence[int] | Int64Array, config: SafeSearch) -> Policy:
    """Returns what both players play when each searches every one of the subgames on its own."""
    first, second = (search_subgames(blueprint, nodes, searcher, config) for searcher in (0, 1))
    return first.with_player(1, second.probabilities[1])
