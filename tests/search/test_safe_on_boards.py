"""Search on every flop by rows of hands finds what the same techniques find as trees."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from aleator.errors import SolveError
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.cards import parse_cards
from aleator.games.holdem.game import WholeHoldemGame
from aleator.games.holdem.variants import NO_LIMIT_FLOP, NO_LIMIT_TURN
from aleator.games.holdem.whole_game import WholeGame
from aleator.jit import kernel
from aleator.search.blueprint import Blueprint
from aleator.search.distributional import EntryPolicy
from aleator.search.gifts import gifts
from aleator.search.safe import METHODS, search_subgames, subgames_after_chance
from aleator.search.safe_on_boards import BoardSearch
from aleator.solvers.algorithms import NAMED_RULES
from aleator.solvers.best_response import best_response_value
from aleator.solvers.engines.boards.entry import DISTRIBUTED, Entry, begin_entry, decide_entry, new_entry
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.solution import open_solution
from aleator.solvers.solve import solve
from tests.solvers.holdem.test_buckets import by_pairs

GAME = WholeGame(
    variant=replace(
        NO_LIMIT_FLOP,
        rules=replace(NO_LIMIT_FLOP.rules, max_raises=(1, 1)),
        menu=BetMenu.uniform(bets=("100%",), raises=("300%",)),
    ),
    deck=tuple(sorted(parse_cards("As Ah Ks Kh 7s 7h 2s 2h"))),
)
SAFE = ("resolve", "maxmargin", "reach-maxmargin")


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> tuple[HoldemSolver, Blueprint]:
    """The same blueprint, of few iterations, for the engine of boards and as a tree."""
    file: Path = tmp_path_factory.mktemp("blueprint") / "few.solution"
    game = WholeHoldemGame(GAME)
    solve(game, "lcfr", iterations=6).save(file)
    solver = HoldemSolver(GAME, NAMED_RULES["lcfr"])
    solver.run(6)
    return solver, Blueprint(open_solution(file, game).policy)


@pytest.mark.parametrize("method", ["unsafe", "maxmargin", "reach-maxmargin (not split)"])
def test_what_is_found_is_as_exploitable_as_with_trees(blueprint: tuple[HoldemSolver, Blueprint], method: str) -> None:
    solver, as_tree = blueprint
    config = replace(METHODS[method], iterations=300)
    for searcher in (0, 1):
        found = search_subgames(as_tree, subgames_after_chance(as_tree.tree), searcher, config)
        trunk, wanted = (best_response_value(policy, 1 - searcher) for policy in (as_tree.policy, found))
        # several policies have the largest margin, and rounding decides between them
        assert BoardSearch(solver, searcher).search(config) == pytest.approx(wanted, abs=0.2 * abs(trunk - wanted))


def test_values_and_gifts_before_search_are_those_of_the_tree(blueprint: tuple[HoldemSolver, Blueprint]) -> None:
    solver, as_tree = blueprint
    tree, given = as_tree.tree, 0.0
    for searcher, opponent in ((0, 1), (1, 0)):
        search = BoardSearch(solver, searcher)
        assert search.best.mean == pytest.approx(best_response_value(as_tree.policy, opponent), abs=1e-3)
        wanted = gifts(as_tree, opponent, as_tree.response_cfvs[opponent])
        config = METHODS["reach-maxmargin"]
        found = search._gifts_before_flop(config)
        assert found is not None
        lines = search.plan.betting.tree, search.plan.nodes[0][search.plan.forests[0].next_nodes]
        hands = search.plan.hands[opponent]
        first = [node for node in range(tree.num_nodes) if tree.actor[node] == -1]
        assert len(first) == len(lines[1])
        for line, node in enumerate(first):
            np.testing.assert_allclose(found[line, hands], wanted[node], atol=1e-2)
            given = max(given, float(wanted[node].max()))
    assert given > 1.0, "nobody gave anything up: this shows nothing"


def test_safe_search_is_never_worse_than_a_bucketed_blueprint() -> None:
    solver = HoldemSolver(GAME, NAMED_RULES["cfr+"], buckets=by_pairs)
    solver.run(40)
    for searcher in (0, 1):
        search = BoardSearch(solver, searcher, threads=2)
        trunk = search.best.mean
        exact = solver.root_values(1 - searcher, best=True) @ np.ones(len(search.plan.hands[0])) / solver.deals
        assert trunk == pytest.approx(float(exact), rel=1e-4)
        assert search.estimated.mean < trunk
        for method in SAFE:
            found = search.search(replace(METHODS[method], iterations=200))
            assert found < trunk + 0.01 * abs(trunk)
        assert search.search(replace(METHODS["unsafe"], iterations=200)) != pytest.approx(trunk, rel=1e-3)


def test_some_flops_stand_for_all() -> None:
    solver = HoldemSolver(GAME, NAMED_RULES["lcfr"])
    solver.run(6)
    every, config = BoardSearch(solver, 0), replace(METHODS["unsafe"], iterations=100)
    parts = [BoardSearch(solver, 0, flops=flops) for flops in (every.flops[::2], every.flops[1::2])]
    assert sum(1 / part.times for part in parts) == pytest.approx(1.0)
    assert [part.best.mean for part in parts] == pytest.approx([every.best.mean] * 2)
    found, whole = [part.search(config) for part in parts], every.search(config)
    mean = sum(value / part.times for value, part in zip(found, parts, strict=True))
    assert whole <= mean + 1e-3, "a response that knows which half will come wins no less"
    assert mean < every.best.mean and abs(whole - mean) < 0.5 * (every.best.mean - whole)


@kernel()
def _decide(entry: Entry, hands: int, cfvs: npt.NDArray[np.float32]) -> None:
    decide_entry(entry, 0, hands, cfvs, 0)


def test_hands_enter_as_hedge_has_it() -> None:
    rng = np.random.default_rng(0)
    hands, updates = 16, 12
    mean, deviation, dealt = rng.normal(size=hands), rng.random(hands) + 0.1, rng.random(hands) + 0.5
    entry = new_entry(0, 1, hands)
    entry.kind[0] = DISTRIBUTED
    for row, numbers in ((entry.cf_reach, dealt), (entry.alternative, mean), (entry.deviation, deviation)):
        row[:] = numbers
    begin_entry(entry, hands)
    wanted = EntryPolicy(mean, deviation, num_outcomes=500)
    for _ in range(updates):
        value = rng.normal(size=hands)
        expected = wanted.update(value)
        _decide(entry, hands, (value * dealt).astype(np.float32))
        np.testing.assert_allclose(entry.reach, expected, atol=0.011)


def test_what_cannot_be_searched_is_refused() -> None:
    half = HoldemSolver(GAME, NAMED_RULES["lcfr"], bits=16)
    with pytest.raises(SolveError, match="in 32 bits"):
        BoardSearch(half, 0)
    with pytest.raises(SolveError, match="numbered from 0"):
        BoardSearch(HoldemSolver(GAME, NAMED_RULES["lcfr"]), 0, flops=[5000])
    search = BoardSearch(HoldemSolver(GAME, NAMED_RULES["lcfr"]), 0)
    with pytest.raises(SolveError, match="without predictions"):
        search.search(replace(METHODS["resolve"], rule=NAMED_RULES["pcfr+"]))


TURN = WholeGame(
    variant=replace(
        NO_LIMIT_TURN,
        rules=replace(NO_LIMIT_TURN.rules, max_raises=(1, 1, 1)),
        menu=BetMenu.uniform(bets=("100%",), raises=("300%",)),
    ),
    deck=tuple(sorted(parse_cards("As Ah Ks Kh 7s 7h 2s 2h"))),
)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["unsafe", "reach-maxmargin"])
def test_turns_are_searched_as_trees_are(method: str, tmp_path: Path) -> None:
    game = WholeHoldemGame(TURN)
    solve(game, "lcfr", iterations=6).save(tmp_path / "few.solution")
    solver = HoldemSolver(TURN, NAMED_RULES["lcfr"])
    solver.run(6)
    as_tree = Blueprint(open_solution(tmp_path / "few.solution", game).policy)
    tree = as_tree.tree
    cards = np.array([len(state.board) for state in tree.states])
    turns = np.flatnonzero((cards == 4) & (cards[tree.parent] == 3) & (tree.num_children > 0))
    config = replace(METHODS[method], iterations=100)
    for searcher in (0, 1):
        found = search_subgames(as_tree, turns, searcher, config)
        trunk, wanted = (best_response_value(policy, 1 - searcher) for policy in (as_tree.policy, found))
        search = BoardSearch(solver, searcher)
        assert search.best.mean == pytest.approx(trunk, rel=1e-3)
        assert search.search(config) == pytest.approx(wanted, abs=0.2 * abs(trunk - wanted))


def test_turns_are_searched_behind_flops_that_are_played_as_the_blueprint_has_it() -> None:
    solver = HoldemSolver(TURN, NAMED_RULES["cfr+"], buckets=by_pairs)
    solver.run(40)
    for searcher in (0, 1):
        search = BoardSearch(solver, searcher)
        trunk = search.best.mean
        exact = solver.root_values(1 - searcher, best=True) @ np.ones(len(search.plan.hands[0])) / solver.deals
        assert trunk == pytest.approx(float(exact), rel=1e-4)
        for method in SAFE:
            found = search.search(replace(METHODS[method], iterations=100))
            assert found < trunk + 0.01 * abs(trunk)
