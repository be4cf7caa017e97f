"""Rivers and turns of whole hands, solved to the end of the hand by the exact engine of boards.

Algorithm:
    CFR on every board (`solvers.holdem`). A constraint on the opponent is a `RangeGadget` above the root. Cfvs of the
    root and behind its actions are means over iterations, weighed as the average policy.

Reference: DeepStack, Algorithm 1 (re-solving), Table of its lookaheads (turn and river to the end of the game).
Deviations: sharp DCFR+ instead of CFR+; cfvs are averaged with its weights instead of leaving the first iterations out.
Status: tests/search/whole_hands/test_exact.py.
"""

from __future__ import annotations

import numpy as np

from aleator.games.base import FloatArray
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.subgame import Subgame
from aleator.search.range_gadget import RangeGadget
from aleator.search.whole_hands.rounds import (
    Constraint,
    RoundGame,
    SolvedRound,
    normalised,
    round_decisions,
    spread_rows,
)
from aleator.solvers.holdem.solver import HoldemSolver


def solve_exactly(
    game: RoundGame, iterations: int, *, constraint: Constraint | None = None, threads: int = 1
) -> SolvedRound:
    """Returns a river or a turn, solved.

    Args:
        game: whose tree goes to the end of the hand.
        iterations: of CFR.
        constraint: what the opponent may take instead of entering; None if it is in with its reach.
        threads: of the solver.
    """
    reach, gadget = game.reach, None
    if constraint is not None:
        exists = (reach[constraint.player] > 0.0).astype(np.float64)
        gadget = RangeGadget(constraint.cfvs, exists * constraint.dealt, np.zeros(NUM_HANDS))
        reach = reach.copy()
        reach[constraint.player] = exists
    solver = HoldemSolver(spot_of(game, reach), threads=threads)
    if constraint is not None and gadget is not None:
        solver.set_reach(constraint.player, gadget.reach)
    root, engine, plan = game.root, solver.engine, solver.plan
    board, other = plan.boards[0][0], 1 - game.player
    places = [int(plan.slot[child.number]) for child in root.children]
    cfvs, weight = np.zeros((2, NUM_HANDS)), 0.0
    after: FloatArray | float = 0.0
    for _ in range(iterations):
        decay = float(solver.discounts()[0, 2])
        weight = weight * decay + 1.0
        for player in (0, 1):
            update = solver.update(player)
            cfvs[player] += (update - cfvs[player]) / weight
            if player == other:
                after = after + (engine.street_values(player)[places].astype(np.float64) - after) / weight
            if constraint is not None and gadget is not None and player == constraint.player:
                solver.set_reach(player, gadget.update(update))
    policies = {}
    for number in round_decisions(root):
        player = int(root.tree.player[number])
        rows = plan.rows(player, board)
        sums = engine.read("policy_sum", 0, 0, int(plan.slot[number]))[:, : len(rows)]
        policies[number] = normalised(spread_rows(sums.astype(np.float64), rows))
    rows = plan.rows(other, board)
    behind = spread_rows(np.asarray(after, np.float64)[:, : len(rows)], rows)
    return SolvedRound(game, policies, policies, cfvs, tuple(behind))


def spot_of(game: RoundGame, reach: FloatArray | None = None) -> Subgame:
    """Returns a round that goes to the end of the hand as a spot of the exact solver."""
    return Subgame(
        board=game.board,
        pot=game.pot,
        stack=game.stack,
        oop="random",
        ip="random",
        min_bet=game.min_bet,
        root=game.root,
        reach=game.reach if reach is None else reach,
    )
