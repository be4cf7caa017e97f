"""Subgames of hold'em spots by the engine of hold'em: the same numbers as by the general engine."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games.holdem.game import HoldemGame
from aleator.search.continual_resolving import find_bounds
from aleator.search.depth_limited import DepthLimitedSolver
from aleator.search.leaf_value import ZeroValue
from aleator.search.subgame_solver import make_subgame_solver
from aleator.solvers.holdem.tree import HoldemTreeSolver
from aleator.solvers.regret_rule import CFR_PLUS, HEDGE, RegretRule
from aleator.solvers.search_rule import SearchRule
from aleator.trees import DepthLimit, build_tree, cut
from aleator.trees.policy import uniform_policy
from aleator.trees.subgame import Watch
from tests.solvers.holdem.test_solver import RIVER, TURN

RULE = SearchRule(update=CFR_PLUS)


def both(spot, labels: list[str], searcher: int, seed: int = 0):  # type: ignore[no-untyped-def]
    """Returns a subgame below a line, and its solvers by both engines, with random reach at the root."""
    tree = build_tree(HoldemGame(spot))
    subgame = cut(tree, tree.find(labels))
    rng = np.random.default_rng(seed)
    reach = (rng.random(int(tree.num_hands[0, 0])), rng.random(int(tree.num_hands[1, 0])))
    watch = Watch(1 - searcher, find_bounds(subgame, searcher))
    quick = make_subgame_solver(subgame, ZeroValue(), RULE, root_reach=reach, watch=watch)
    assert isinstance(quick, HoldemTreeSolver)
    return subgame, quick, DepthLimitedSolver(subgame, ZeroValue(), RULE, root_reach=reach, watch=watch)


LINES = [
    (RIVER, [], 0),
    (RIVER, ["c"], 1),
    (RIVER, ["b50"], 1),
    (TURN, [], 0),
    (TURN, ["c"], 1),
    (TURN, ["c", "c", "2c"], 0),
]


on_every_line = pytest.mark.parametrize(
    ("spot", "labels", "searcher"), LINES, ids=lambda value: "-".join(value) if isinstance(value, list) else ""
)


@on_every_line
def test_one_iteration_is_the_same(spot, labels: list[str], searcher: int) -> None:  # type: ignore[no-untyped-def]
    """Before regrets of float32 and float64 part: root cfvs, watched cfvs, watched reach."""
    subgame, quick, general = both(spot, labels, searcher)
    for solver in (quick, general):
        solver.run(1)
    for player in (0, 1):
        np.testing.assert_allclose(quick.last_root_cfvs[player], general.last_root_cfvs[player], atol=1e-5)
    np.testing.assert_allclose(quick.watched_cfvs(), general.watched_cfvs(), atol=1e-5)
    assert np.abs(general.watched_cfvs()).max() > 1e-3
    root = np.random.default_rng(1).random(int(subgame.tree.num_hands[1 - searcher, 0]))
    assert quick.watched_reach(root).shape == general.watched_reach(root).shape


@on_every_line
def test_many_iterations_agree(spot, labels: list[str], searcher: int) -> None:  # type: ignore[no-untyped-def]
    _, quick, general = both(spot, labels, searcher)
    for solver in (quick, general):
        solver.run(400)
    for found, expected in (
        (quick.watched_cfvs(), general.watched_cfvs()),
        (quick.watched_response(), general.watched_response()),
    ):
        assert np.abs(found - expected).max() < 0.03 * np.abs(expected).max()
        assert np.abs(found - expected).mean() < 0.02 * np.abs(expected).mean()
    before = quick.watched_cfvs()
    quick.watched_response()
    np.testing.assert_array_equal(quick.watched_cfvs(), before)  # looking changes nothing
    np.testing.assert_array_equal(quick.average_policy()[0], quick.average_block(0))


def test_reach_at_the_root_can_change_between_iterations() -> None:
    _, quick, general = both(RIVER, ["c"], 1)
    for solver in (quick, general):
        solver.run(1)
        solver.set_root_reach(0, np.linspace(0.0, 1.0, len(solver.last_root_cfvs[0])))
        solver.run(1)
    np.testing.assert_allclose(quick.last_root_cfvs[1], general.last_root_cfvs[1], atol=1e-5)


def test_the_general_engine_where_it_is_needed() -> None:
    tree = build_tree(HoldemGame(RIVER))
    hedge = SearchRule(update=RegretRule(minimiser=HEDGE))
    for subgame, rule, keep in (
        (cut(tree, 0, DepthLimit(moves=1)), RULE, ()),
        (cut(tree), hedge, ()),
        (cut(tree), SearchRule(update=RegretRule(alternating=False)), ()),
        (cut(tree), RULE, range(3)),
        (cut(tree), "fp", ()),
    ):
        assert isinstance(make_subgame_solver(subgame, ZeroValue(), rule, keep=keep), DepthLimitedSolver)


def test_what_cannot_be_watched() -> None:
    tree = build_tree(HoldemGame(TURN))
    deep = tree.find(["c", "c", "2c", "c"])
    with pytest.raises(SolveError, match="right behind the first card"):
        make_subgame_solver(cut(tree), ZeroValue(), RULE, watch=Watch(0, np.array([deep])))
    solver = make_subgame_solver(cut(tree), ZeroValue(), RULE)
    with pytest.raises(SolveError, match="nothing is watched"):
        solver.watched_reach(np.ones(3))
    assert solver.average_policy()[0].shape == uniform_policy(tree)[0].shape
