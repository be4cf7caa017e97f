"""Search from depth limit to depth limit with multi-valued states."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.search.modicum import MultiValuedSearch, MultiValuedSearcher, make_continuations
from aleator.solvers.algorithms import NAMED_RULES
from aleator.solvers.best_response import exploitability
from aleator.solvers.cfr import CFR
from aleator.trees import DepthLimit, Policy, build_tree
from aleator.trees.policy import uniform_policy


def blueprint_of(name: str, iterations: int) -> Policy:
    solver = CFR(build_tree(load_game(name)), NAMED_RULES["cfr"])
    solver.run(iterations)
    return solver.average_policy()


def played(blueprint: Policy, config: MultiValuedSearch) -> Policy:
    first, second = (MultiValuedSearcher(blueprint, seat, config).policy() for seat in (0, 1))
    found = Policy(blueprint.tree, (first.probabilities[0], second.probabilities[1]))
    found.check()
    return found


@pytest.mark.parametrize("values", ["bias", "self-generated"])
def test_search_improves_a_blueprint(values: str) -> None:
    blueprint = blueprint_of("leduc", 100)
    found = played(blueprint, MultiValuedSearch(values=values, gadget="maxmargin", count=6, iterations=300))
    assert exploitability(found) < 0.8 * exploitability(blueprint)


def test_a_good_blueprint_stays_good_where_search_is_safe() -> None:
    solver = CFR(build_tree(load_game("leduc")), NAMED_RULES["dcfr"])
    solver.run(300)
    blueprint = solver.average_policy()
    safe = exploitability(played(blueprint, MultiValuedSearch(iterations=300)))
    unsafe = exploitability(played(blueprint, MultiValuedSearch(iterations=300, gadget="unsafe")))
    assert safe < 0.02 < 0.1 < unsafe  # the blueprint: 0.001


def test_without_a_limit_it_is_the_solution_of_the_game() -> None:
    blueprint = uniform_policy(build_tree(load_game("kuhn")))
    config = MultiValuedSearch(limit=DepthLimit(rounds=1), iterations=500)  # Kuhn poker is one round
    assert exploitability(played(blueprint, config)) < 0.005
    assert make_continuations(blueprint, 0, config) == ([blueprint], [blueprint])  # no leaves, no choice


def test_subgames_begin_behind_the_card_and_are_searched_once() -> None:
    blueprint = blueprint_of("leduc", 5)
    tree = blueprint.tree
    searcher = MultiValuedSearcher(blueprint, 1, MultiValuedSearch(iterations=10))
    node = tree.find(["check", "check", "K", "bet 4"])
    searcher.block(node)
    assert searcher.searches == 2
    assert searcher.block(tree.find(["check", "check", "K", "check"])).shape == (2, 3)
    assert searcher.searches == 2 and searcher.reach(node)[0].shape == (3,)
    searcher.block(tree.find(["check", "check", "Q", "bet 4"]))
    assert searcher.searches == 3


def test_leaves_between_moves_are_the_next_roots() -> None:
    blueprint = uniform_policy(build_tree(load_game("liars-dice:1x3")))
    tree = blueprint.tree
    searcher = MultiValuedSearcher(blueprint, 0, MultiValuedSearch(limit=DepthLimit(moves=2), iterations=10, both=True))
    searcher.block(tree.find(["1x1", "1x2"]))
    assert searcher.searches == 2
    assert not np.allclose(searcher.block(0), 1 / 6)


def test_what_is_refused() -> None:
    with pytest.raises(SolveError, match="unknown values 'x'; allowed: bias, self-generated"):
        MultiValuedSearch(values="x")
    with pytest.raises(SolveError, match="unknown gadget 'x'"):
        MultiValuedSearch(gadget="x")
    with pytest.raises(SolveError, match="at least 1 continuation"):
        MultiValuedSearch(count=0)
