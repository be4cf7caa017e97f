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
from aleator.search.budget import spend
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
    game: RoundGame,
    iterations: int,
    *,
    constraint: Constraint | None = None,
    seconds: float | None = None,
    watch: int | None = None,
) -> SolvedRound:
    """Returns a river or a turn, solved.

    Args:
        game: whose tree goes to the end of the hand.
        iterations: of CFR.
        constraint: what the opponent may take instead of entering; None if it is in with its reach.
        seconds: after which no further iterations are begun; None for no limit.
        watch: the player whose cfvs at all decisions of the street, and behind the next card, are kept, so that a
            search from there can promise them; None for nobody.
    """
    reach, gadget = game.reach, None
    if constraint is not None:
        exists = (reach[constraint.player] > 0.0).astype(np.float64)
        gadget = RangeGadget(constraint.cfvs, exists * constraint.dealt, np.zeros(NUM_HANDS))
        reach = reach.copy()
        reach[constraint.player] = exists
    solver = HoldemSolver(spot_of(game, reach), isomorphism=watch is None, watch=watch)
    if constraint is not None and gadget is not None:
        solver.set_reach(constraint.player, gadget.reach)
    root, engine, plan = game.root, solver.engine, solver.plan
    board, decisions = plan.boards[0][0], round_decisions(root)
    children = plan.slot[[child.number for child in root.children]]
    places = [np.append(plan.slot[decisions], children) if player == watch else children for player in (0, 1)]
    cfvs, weight = np.zeros((2, NUM_HANDS)), 0.0
    inner: list[FloatArray | float] = [0.0, 0.0]  # means of cfvs at these places

    def run(count: int) -> None:
        nonlocal weight
        for _ in range(count):
            decay = float(solver.discounts()[0, 2])
            weight = weight * decay + 1.0
            for player in (0, 1):
                update = solver.update(player)
                cfvs[player] += (update - cfvs[player]) / weight
                now = engine.street_values(player)[places[player]].astype(np.float64)
                inner[player] = inner[player] + (now - inner[player]) / weight
                if constraint is not None and gadget is not None and player == constraint.player:
                    solver.set_reach(player, gadget.update(update))

    spend(run, iterations, seconds)
    policies = {}
    for number in decisions:
        player = int(root.tree.player[number])
        rows = plan.rows(player, board)
        sums = engine.read("policy_sum", 0, 0, int(plan.slot[number]))[:, : len(rows)]
        policies[number] = normalised(spread_rows(sums.astype(np.float64), rows))
    spread = []
    for player in (0, 1):
        rows = plan.rows(player, board)
        spread.append(spread_rows(np.asarray(inner[player], np.float64)[:, : len(rows)], rows))
    behind = [tuple(means[-len(root.children) :]) for means in spread]
    after, own_after = behind[1 - game.player], behind[game.player]
    if watch is None:
        return SolvedRound(game, policies, policies, cfvs, after, own_after=own_after)
    inside = dict(zip(decisions, spread[watch], strict=False))
    next_cfvs = CardCfvs(solver, watch, weight) if len(plan.boards) > 1 else None
    return SolvedRound(game, policies, policies, cfvs, after, inside, next_cfvs, own_after)


class CardCfvs:
    """A player's cfvs right behind the next card, after each line of the street; means over iterations.

    Args:
        solver: that watched the player.
        player: which.
        weight: of all iterations together.
    """

    def __init__(self, solver: HoldemSolver, player: int, weight: float) -> None:
        plan, engine = solver.plan, solver.engine
        self._boards = {board.cards[-1]: number for number, board in enumerate(plan.boards[1])}
        self._hands = [plan.rows(player, board) for board in plan.boards[1]]
        self._lines = {int(node): line for line, node in enumerate(plan.nodes[0][plan.forests[0].next_nodes])}
        self._values = engine.board_values() / np.float32(engine.averaging[0] * weight * plan.chances[1])

    def __call__(self, node: int, card: int) -> FloatArray:
        """Returns the cfvs ``[1326]`` in chips, for the other player's reach there, as if the card had to come.

        Args:
            node: where the street ends, by its number in the betting tree.
            card: that comes.
        """
        board = self._boards[card]
        hands = self._hands[board]
        return spread_rows(self._values[board, self._lines[node], : len(hands)].astype(np.float64), hands)


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
