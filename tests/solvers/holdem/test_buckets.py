"""Buckets on the last street: they change what is shared, and nothing else."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from aleator.errors import SolveError
from aleator.games.holdem.cards import HANDS, NUM_HANDS
from aleator.games.holdem.game import HoldemState, WholeHoldemGame
from aleator.games.holdem.whole_game import WholeGame
from aleator.solvers.algorithms import NAMED_RULES
from aleator.solvers.best_response import best_response_value, expected_value
from aleator.solvers.bucketed_cfr import BucketedCFR
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.trees import build_tree
from tests.solvers.holdem.test_whole_game import FLOP, TURN

Cards = tuple[int, ...]
Numbers = npt.NDArray[np.int64]


class Identity:
    """Each hand of each board has a bucket of its own."""

    def __init__(self, game: WholeGame) -> None:
        self.boards = {board.cards: number for number, board in enumerate(BoardPlan(game).boards[-1])}

    def __call__(self, board: Cards) -> Numbers:
        return self.boards[board] * NUM_HANDS + np.arange(NUM_HANDS)


def by_pairs(board: Cards) -> Numbers:
    """Returns three buckets, the same whatever the suits: how many of a hand's cards, and pairs, meet the board."""
    ranks = HANDS // 4
    meets = np.isin(ranks, np.array(board) // 4).sum(axis=1) + (ranks[:, 0] == ranks[:, 1])
    return np.minimum(meets, 2).astype(np.int64)


@pytest.mark.parametrize(
    ("game", "rule"),
    [
        pytest.param(
            game, rule, id=f"{name}-{rule}", marks=[pytest.mark.slow] if name == "turn" and rule != "lcfr" else []
        )
        for name, game in (("flop", FLOP), ("turn", TURN))
        for rule in ("lcfr", "cfr+", "sharp-dcfr+")
    ],
)
def test_a_bucket_for_each_hand_of_each_board_is_the_exact_engine(game: WholeGame, rule: str) -> None:
    exact = HoldemSolver(game, NAMED_RULES[rule])
    bucketed = HoldemSolver(game, NAMED_RULES[rule], buckets=Identity(game))
    for solver in (exact, bucketed):
        solver.run(3)
    assert bucketed.values() == pytest.approx(exact.values(), abs=5e-3)
    assert bucketed.exploitability() == pytest.approx(exact.exploitability(), rel=2e-2)
    start = exact.exploitability()
    for solver in (exact, bucketed):
        solver.run(60)
        assert solver.exploitability() < start / 20  # ties are broken by rounding: iterates differ, the end does not


def test_what_a_bucketed_policy_is_worth_is_what_the_general_engine_says() -> None:
    """CFR+ with the same buckets on every board apart: the same game, hence the same value and similar regrets."""
    game = WholeHoldemGame(FLOP)

    def buckets(state: HoldemState, player: int) -> Numbers | None:
        return by_pairs(state.board)[game.hand_sets[player]] if state.board else None

    solver = HoldemSolver(FLOP, NAMED_RULES["cfr+"], buckets=by_pairs)
    solver.run(100)
    general = BucketedCFR(build_tree(game), buckets)
    general.run(100)
    policy = general.average_policy()
    # there infostates are told apart by boards: finer buckets, so a best response wins no more against them
    assert solver.exploitability() >= 0.9 * (best_response_value(policy, 0) + best_response_value(policy, 1)) / 2
    assert solver.values()[0] == pytest.approx(expected_value(policy), abs=0.3)


def test_one_bucket_plays_one_policy_on_all_boards_and_keeps_what_hands_do_before_them() -> None:
    solver = HoldemSolver(FLOP, NAMED_RULES["lcfr"], buckets=lambda board: np.zeros(NUM_HANDS, np.int64))
    solver.run(50)
    slot = int(np.flatnonzero(solver.plan.forests[1].kind <= 1)[0])
    player = int(solver.plan.forests[1].kind[slot])
    for board in (0, 7):
        living = len(solver.plan.rows(player, solver.plan.boards[1][board]))
        rows = solver.engine.read("policy_sum", 1, board, slot)[:, :living]
        np.testing.assert_array_equal(rows, np.broadcast_to(rows[:, :1], rows.shape))
    first = int(np.flatnonzero(solver.plan.forests[0].kind <= 1)[0])
    assert np.ptp(solver.engine.read("policy_sum", 0, 0, first)[0]) > 0
    exact = HoldemSolver(FLOP, NAMED_RULES["lcfr"])
    exact.run(50)
    assert solver.exploitability() > 2 * exact.exploitability()


def test_a_bucketed_policy_is_read_board_by_board() -> None:
    """What a solution is made of: evaluated hand by hand it is worth what the solver says."""
    solver = HoldemSolver(FLOP, NAMED_RULES["lcfr"], buckets=by_pairs)
    solver.run(20)
    exact = HoldemSolver(FLOP, NAMED_RULES["lcfr"])
    for level in (0, 1):
        for player in (0, 1):
            for board, policies in enumerate(solver.board_policies(level, player)):
                rows = exact.engine.policy_sums(level, player, board)
                decisions = np.flatnonzero(exact.plan.forests[level].kind == player)
                decisions = decisions[np.argsort(exact.plan.nodes[level][decisions])]  # as policies come: in preorder
                forest, living = exact.plan.forests[level], exact.plan.rows(player, exact.plan.boards[level][board])
                order = np.concatenate([forest.row[k] + np.arange(forest.num_children[k]) for k in decisions])
                rows[order, : len(living)] = policies[:, np.searchsorted(exact.plan.hands[player], living)]
    assert exact.values() == pytest.approx(solver.values(), abs=1e-4)
    assert exact.exploitability() == pytest.approx(solver.exploitability(), rel=1e-4)


def test_threads_and_resuming_change_nothing() -> None:
    one, two, resumed = (
        HoldemSolver(FLOP, NAMED_RULES["lcfr"], buckets=by_pairs, threads=threads) for threads in (1, 2, 1)
    )
    one.run(10)
    two.run(10)
    assert one.exploitability() == two.exploitability()
    resumed.restore(10, {name: vector.copy() for name, vector in one.state().items()})
    one.run(5)
    resumed.run(5)
    assert one.exploitability() == resumed.exploitability()


def test_what_buckets_cannot_do_is_refused() -> None:
    with pytest.raises(SolveError, match="does not predict"):
        HoldemSolver(FLOP, NAMED_RULES["pcfr+"], buckets=by_pairs)
    solver = HoldemSolver(FLOP, NAMED_RULES["lcfr"], buckets=by_pairs)
    slot = int(np.flatnonzero(solver.plan.forests[1].kind <= 1)[0])
    with pytest.raises(SolveError, match="have buckets"):
        solver.engine.write("regret", 1, 0, slot, np.zeros((2, 16)))
