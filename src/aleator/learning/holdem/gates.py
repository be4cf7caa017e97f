"""What a turn round that was solved with a network at its leaves is worth in the exact turn game.

Algorithm:
    One player's policies of the turn round are fixed, its river and the whole game of the opponent are solved exactly.
    That gives a whole strategy of the player: the round as the network made it, and a river as it would be solved once
    it is there. What a best response wins against it, less the value of the game, is the player's loss; the mean of
    both players' best responses is the exploitability of the two strategies.

Reference: DeepStack and ReBeL judge networks by the play that they lead to; the exact solver is `solvers.holdem`.

Deviations: the river is solved under the fixed turn without a gadget, as both players' ranges are known here.

Status: tests/learning/holdem/test_gates.py: policies of an exact solve pass, uniform ones do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.bet_menu import BetMenu, PlayerSizes, parse_sizes
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, TreeConfig, build_tree
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.subgame import Subgame
from aleator.solvers.engines.batched_holdem.shapes import BettingShape, betting_of
from aleator.solvers.holdem.solver import HoldemSolver

POT = 1_000  # chips


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What policies of a turn round are worth, in pots.

    Attributes:
        best: what a best response wins against each player's strategy, as a best response of the other.
        exploitability: their mean.
        tolerance: how far the exact solves may be off: their own exploitability, the larger of both.
    """

    best: tuple[float, float]
    exploitability: float
    tolerance: float


def turn_spot(board: Sequence[int], stack: float, reach: FloatArray) -> Subgame:
    """Returns the exact turn game of a pot-or-all-in menu on both streets.

    Args:
        board: four cards.
        stack: behind, in pots.
        reach: both players' beliefs [2, 1326].
    """
    sizes = PlayerSizes(bets=parse_sizes(["100%", "all-in"], is_raise=False), raises=parse_sizes(["100%", "all-in"]))
    menu = BetMenu(turn=(sizes, sizes), river=(sizes, sizes))
    chips = round(stack * POT)
    root = build_tree(TreeConfig(pot=POT, stack=chips, street=2, menu=menu))
    scaled = reach / reach.max(axis=1, keepdims=True)
    return Subgame(
        board=tuple(int(card) for card in board),
        pot=POT,
        stack=chips,
        oop="random",
        ip="random",
        menu=menu,
        root=root,
        reach=scaled,
    )


def judge(spot: Spot, shape: BettingShape, policies: FloatArray, *, iterations: int = 200, threads: int = 1) -> Gate:
    """Returns what both players' policies of the first round are worth.

    Args:
        spot: a turn.
        shape: the betting of its first round.
        policies: [R, 1326], by row of the shape.
        iterations: of the exact solves.
        threads: of the exact solves.
    """
    if policies.shape != (shape.num_rows, NUM_HANDS):
        raise SolveError(f"policies must be [{shape.num_rows}, {NUM_HANDS}], not {list(policies.shape)}")
    best, off = [], []
    for player in (0, 1):
        solver = HoldemSolver(spot, threads=threads)
        lock_round(solver, shape, policies, player)
        solver.run(iterations)
        quality = solver.quality()
        best.append(quality.best[1 - player] / spot.pot)
        off.append(quality.exploitability / spot.pot)
    return Gate(best=(best[0], best[1]), exploitability=(best[0] + best[1]) / 2, tolerance=max(off))


def lock_round(solver: HoldemSolver, shape: BettingShape, policies: FloatArray, player: int) -> None:
    """Fixes a player's policies [R, 1326] in the first round."""
    board = solver.plan.boards[0][0]
    for number, node in _decisions(solver.plan.betting, shape):
        if node.player != player:
            continue
        place = int(solver.plan.slot[node.number])
        rows = solver.plan.rows(player, board)
        block = np.zeros(solver.engine.decision_rows(0, 0, place)[1], np.float32)
        block[:, : len(rows)] = policies[shape.rows(number)][:, rows]
        solver.lock(0, 0, place, block)


def _decisions(root: BettingNode, shape: BettingShape) -> list[tuple[int, BettingNode]]:
    """Returns the decisions of the first round, by number in the shape; both trees order their actions alike."""
    found, left = [], [(0, root)]
    while left:
        number, node = left.pop()
        if node.kind is NodeKind.DECISION and node.street == root.street:
            found.append((number, node))
            if len(node.children) != len(shape.children[number]):
                raise SolveError("the policies are those of another betting round")
            left += zip(shape.children[number], node.children, strict=True)
    return found


def round_of(spot: Spot) -> tuple[BettingShape, FloatArray]:
    """Returns the shape and the stakes [K] of a spot's first round."""
    config = spot.tree_config()
    return betting_of(build_tree(config, one_street=True), spot.pot)
