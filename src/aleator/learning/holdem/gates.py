"""What a betting round that was solved with a network at its leaves is worth in the exact game of a turn or a flop.

Algorithm:
    One player's policies of the first round are fixed, the rest and the whole game of the opponent are solved exactly.
    That gives a whole strategy of the player: the round as the network made it, and the streets after it as they would
    be solved once they are there. What a best response wins against it, less the value of the game, is the player's
    loss; the mean of both players' best responses is the exploitability of the two strategies.

Reference: DeepStack and ReBeL judge networks by the play that they lead to; the exact solver is `solvers.holdem`.

Deviations: later streets are solved under the fixed round without a gadget, as both players' ranges are known here.

Status: tests/learning/holdem/test_gates.py: policies of an exact solve pass, uniform ones do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.bet_menu import BetMenu, PlayerSizes, parse_sizes
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, TreeConfig, build_tree
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.subgame import Subgame
from aleator.learning.holdem.leaves import network_leaves
from aleator.learning.holdem.network import HoldemValueNetwork
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.payoffs import PairPayoffs
from aleator.solvers.engines.batched_holdem.plain import PlainEngine, leaf_pots
from aleator.solvers.engines.batched_holdem.rounds import equity_matrices, round_boards
from aleator.solvers.engines.batched_holdem.shapes import BettingShape, betting_of
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.holdem.device import DeviceSolver
from aleator.solvers.holdem.solver import HOLDEM_RULE, HoldemSolver
from aleator.solvers.regret_rule import RegretRule

POT = 1_000  # chips


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What policies of a betting round are worth, in pots.

    Attributes:
        best: what a best response wins against each player's strategy, as a best response of the other.
        exploitability: their mean.
        tolerance: how far the exact solves may be off: their own exploitability, the larger of both.
    """

    best: tuple[float, float]
    exploitability: float
    tolerance: float


def round_spot(board: Sequence[int], stack: float, reach: FloatArray) -> Subgame:
    """Returns the exact game of a turn or a flop, with bets of the pot and all-in on all streets.

    Args:
        board: three or four cards.
        stack: behind, in pots.
        reach: both players' beliefs [2, 1326].
    """
    sizes = PlayerSizes(bets=parse_sizes(["100%", "all-in"], is_raise=False), raises=parse_sizes(["100%", "all-in"]))
    menu = BetMenu(flop=(sizes, sizes), turn=(sizes, sizes), river=(sizes, sizes))
    chips = round(stack * POT)
    root = build_tree(TreeConfig(pot=POT, stack=chips, street=len(board) - 2, menu=menu))
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


def judge(
    spot: Spot,
    shape: BettingShape,
    policies: FloatArray,
    *,
    iterations: int = 200,
    device: str | None = None,
) -> Gate:
    """Returns what both players' policies of the first round are worth.

    Args:
        spot: a turn or a flop.
        shape: the betting of its first round.
        policies: [R, 1326], by row of the shape.
        iterations: of the exact solves.
        device: cuda or cpu for the batched engine; None for the CPU's own solver.
    """
    if policies.shape != (shape.num_rows, NUM_HANDS):
        raise SolveError(f"policies must be [{shape.num_rows}, {NUM_HANDS}], not {list(policies.shape)}")
    best, off = [], []
    for player in (0, 1):
        solver: HoldemSolver | DeviceSolver
        if device is None:
            solver = HoldemSolver(spot)
            lock_round(solver, shape, policies, player)
        else:
            solver = DeviceSolver(BoardPlan(spot), HOLDEM_RULE, device=device)
            fix_round(solver, shape, policies, player)
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
        slot = int(solver.plan.slot[node.number])
        rows = solver.plan.rows(player, board)
        block = np.zeros(solver.engine.decision_rows(0, 0, slot)[1], np.float32)
        block[:, : len(rows)] = policies[shape.rows(number)][:, rows]
        solver.lock(0, 0, slot, block)


def fix_round(solver: DeviceSolver, shape: BettingShape, policies: FloatArray, player: int) -> None:
    """As `lock_round`, for a solver on a device."""
    street = solver.engine.streets[0]
    rows = np.zeros((street.forest.num_rows, NUM_HANDS), np.float32)
    for number, node in _decisions(solver.plan.betting, shape):
        rows[street.forest.rows_at(node.number).cpu().numpy()] = policies[shape.rows(number)]
    fixed = torch.from_numpy(rows).to(street.hands.device)[:, street.hands[0]]
    solver.engine.fix_first_street(player, fixed[None])


def _decisions(root: BettingNode, shape: BettingShape) -> list[tuple[int, BettingNode]]:
    """Returns the decisions of the first round, by number in the shape; both trees order their actions alike."""
    decisions, left = [], [(0, root)]
    while left:
        number, node = left.pop()
        if node.kind is NodeKind.DECISION and node.street == root.street:
            decisions.append((number, node))
            if len(node.children) != len(shape.children[number]):
                raise SolveError("the policies are those of another betting round")
            left += zip(shape.children[number], node.children, strict=True)
    return decisions


def round_of(spot: Spot) -> tuple[BettingShape, FloatArray]:
    """Returns the shape and the stakes [K] of a spot's first round."""
    config = spot.tree_config()
    return betting_of(build_tree(config, one_street=True), spot.pot)


def round_policies(spot: Spot, network: HoldemValueNetwork, rule: RegretRule, iterations: int) -> FloatArray:
    """Returns [R, 1326]: average policies of a spot's first round with a network at its leaves, on its device."""
    shape, amounts = round_of(spot)
    device = next(network.parameters()).device
    boards = round_boards(Deck(device=device), torch.tensor([spot.board], device=device))
    hands = boards.hands[0].cpu().numpy()
    reach = torch.from_numpy(spot.weights()[:, hands]).to(device, torch.float32)[None]
    reach = reach / reach.sum(-1, keepdim=True)
    stakes = torch.from_numpy(amounts).to(device, torch.float32)[None]
    stack = torch.tensor([spot.stack / spot.pot], device=device)
    pots, stacks = leaf_pots(shape, stakes, stack)
    leaves = network_leaves(network, boards, equity_matrices(boards), pots, stacks)
    payoffs = PairPayoffs(boards.num_cards, reach.device)
    engine = PlainEngine(shape, stakes, reach, payoffs, rule, leaf_cfvs=leaves, averages=True)
    engine.run(iterations)
    policies = np.zeros((shape.num_rows, NUM_HANDS))
    policies[:, hands] = engine.average_policies()[0].cpu().numpy()
    return policies
