"""What a policy of any kind is worth in a game of boards, exactly: on all boards, against best responses.

Algorithm: the policy is asked at every decision on every board that differs by more than suits, and written to the
    engine's sums of policies; what both players win, and what best responses would win, is then one walk each.
Reference: Johanson et al. 2011 (best responses on the public tree).
Deviations: boards that a renaming of suits makes equal are asked about once, and preflop one hand of each class. So
    what is evaluated is the player that renames suits before it asks the policy, which is the policy itself if suits
    mean nothing to it.
Status: equals the general engine on small decks (tests/solvers/holdem/test_evaluation.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode
from aleator.games.holdem.board_game import BoardGame
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.suits import hand_classes
from aleator.solvers.engines.boards.plan import Board, BoardPlan
from aleator.solvers.holdem.solver import HoldemSolver, Quality

Cards = tuple[int, ...]
Answer = Callable[[BettingNode, Sequence[Cards]], FloatArray]
"""What a policy does at a decision on B boards of its street: [B, A, 1326]. Hands that a board blocks do not matter."""

_CLOSE = 1e-4  # how far probabilities may be from a sum of 1


class EvaluationStoppedError(Exception):
    """An evaluation was given up because it was asked to stop."""


def evaluate_policy(
    game: BoardGame | BoardPlan,
    answer: Answer,
    *,
    threads: int = 1,
    boards_at_once: int = 64,
    on_progress: Callable[[float], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Quality:
    """Returns what both players win by a policy, and what best responses to it would win, in chips.

    Args:
        game: a spot or a game from the blinds on; laid out already, if it is a plan.
        answer: the policy.
        threads: of the walks.
        boards_at_once: how many boards the policy is asked about at a time.
        on_progress: told the share done.
        stopped: asked after every answer whether to give it up.

    Raises:
        EvaluationStoppedError: `stopped` said so.
        SolveError: an answer has another shape, or its probabilities do not sum to 1.
    """
    solver = HoldemSolver(game, threads=threads)
    solver.free_regrets()
    plan = solver.plan
    total = sum(
        len(boards) * int((forest.kind <= 1).sum()) for forest, boards in zip(plan.forests, plan.boards, strict=True)
    )
    done = 0
    for level, boards in enumerate(plan.boards):
        for slot in np.flatnonzero(plan.forests[level].kind <= 1).tolist():
            node = BettingNode(plan.betting.tree, int(plan.nodes[level][slot]))
            for first in range(0, len(boards), boards_at_once):
                some = boards[first : first + boards_at_once]
                blocks = answer(node, [board.cards for board in some])
                _check(blocks, node, plan, some)
                for index, (board, block) in enumerate(zip(some, blocks, strict=True), first):
                    _write(solver, level, index, slot, block[:, _asked(plan, level, index)], board)
                done += len(some)
                if on_progress is not None:
                    on_progress(0.9 * done / total)
                if stopped():
                    raise EvaluationStoppedError
    return solver.quality()


def _asked(plan: BoardPlan, level: int, board: int) -> npt.NDArray[np.int64]:
    """Returns [1326]: the hand that is asked about in place of each; on the first board, one of each class of suits."""
    if level or len(plan.boards) == 1:
        return np.arange(NUM_HANDS)
    classes = hand_classes(plan.groups[0][board], plan.boards[0][board].cards)
    return np.where(classes.class_of >= 0, classes.representatives[classes.class_of], np.arange(NUM_HANDS))


def _write(solver: HoldemSolver, level: int, index: int, slot: int, block: FloatArray, board: Board) -> None:
    rows = solver.plan.rows(int(solver.plan.forests[level].kind[slot]), board)
    padded = np.zeros(solver.engine.decision_rows(level, index, slot)[1], np.float32)
    padded[:, : len(rows)] = block[:, rows]
    solver.engine.write("policy_sum", level, index, slot, padded)


def _check(blocks: FloatArray, node: BettingNode, plan: BoardPlan, boards: Sequence[Board]) -> None:
    shape = (len(boards), len(node.children), NUM_HANDS)
    if blocks.shape != shape:
        raise SolveError(f"a policy must answer {list(shape)} at {node!r}, not {list(blocks.shape)}")
    for block, board in zip(blocks, boards, strict=True):
        living = block[:, plan.rows(node.player, board)]
        total = living.sum(axis=0)
        if not ((np.abs(total - 1.0) <= _CLOSE).all() and (living >= 0.0).all()):
            raise SolveError(f"probabilities at {node!r} must be 0 or more and sum to 1 for every hand")
