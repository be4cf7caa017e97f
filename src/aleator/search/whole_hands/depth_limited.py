"""Rounds before the river, solved to the end of the street with values at their leaves, on a CPU or a GPU.

Algorithm:
    CFR by the batched engine in torch, one game. A constraint on the opponent is a `RangeGadget` above the root. The
    policy to play is that of one iteration, drawn with the weights of the average policy: what the leaves were priced
    for is then what is believed behind them (safe search), in expectation. Players are updated in turn; a player's
    policy of an iteration is the one against which the opponent is updated, which is also the one that is averaged.

Reference: DeepStack, Algorithm 1; ReBeL section 6 and App. C (leaves before the chance card).
Deviations:
    Sharp DCFR+ instead of CFR+ and linear CFR. Updates alternate, though leaves are then priced twice an iteration:
    on turns whose leaves are checked down (5 and 16 pots), 30 iterations are exploited for .7 and 3.3 % of the pot, 60
    with simultaneous updates, at the same cost, for 4.0 and 4.7 %.
Status: tests/search/whole_hands/test_depth_limited.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from aleator.games.base import FloatArray
from aleator.search.range_gadget import RangeGadget
from aleator.search.whole_hands.rounds import Constraint, RoundGame, SolvedRound, normalised
from aleator.solvers.engines.batched_holdem.payoffs import Payoffs
from aleator.solvers.engines.batched_holdem.plain import LeafCfvs, PlainEngine
from aleator.solvers.engines.batched_holdem.shapes import BettingShape, betting_of
from aleator.solvers.holdem.solver import HOLDEM_RULE

Tensor = torch.Tensor


class BoardValues(Protocol):
    """What hands are worth at the end of a street on one board.

    Attributes:
        hands: ``[H]`` the hands that the rows of tensors are over, or one for each class of hands that play alike.
        rows: ``[1326]`` which row each hand reads; -1 for hands that the board blocks.
        device: where tensors are.
    """

    hands: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    device: torch.device

    @property
    def payoffs(self) -> Payoffs:
        """Of folds."""

    def leaves(self, pots: FloatArray, stacks: FloatArray) -> LeafCfvs:
        """Returns what prices leaves with these pots and stacks behind, both [L] in chips; cfvs come in chips."""


class _Watching(PlainEngine):
    """An engine that keeps the mean of both players' cfvs at the root and behind its actions."""

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)  # type: ignore[arg-type]
        self.means = self.reach.new_zeros(2, 1 + len(self.shape.children[0]), self.reach.shape[2])
        self.last = torch.zeros_like(self.reach[0])

    def _update(self, player: int, cfvs: Tensor, policies: Tensor) -> None:
        rows = cfvs[0, : self.means.shape[1]]  # the root's children are the nodes that follow it
        self.means[player] += (rows - self.means[player]) / self._weight
        self.last[player] = rows[0]
        super()._update(player, cfvs, policies)


def solve_to_leaves(
    game: RoundGame,
    values: BoardValues,
    iterations: int,
    *,
    constraint: Constraint | None = None,
    draw: Callable[[FloatArray], int] | None = None,
) -> SolvedRound:
    """Returns a round, solved.

    Args:
        game: whose tree ends with its street.
        values: of the leaves.
        iterations: of CFR.
        constraint: what the opponent may take instead of entering; None if it is in with its reach.
        draw: from the weights of iterations ``[iterations]``, which sum to 1, to the number of the one that is
            played; None to play the average policy.
    """
    shape, numbers = round_shape(game)
    stakes = _stakes(game)
    hands = torch.from_numpy(values.hands)
    rows = game.reach[:, values.hands]
    gadget = None
    if constraint is not None:
        dealt = constraint.dealt[values.hands] * (rows[constraint.player] > 0.0)
        gadget = RangeGadget(constraint.cfvs[values.hands], dealt, np.zeros(len(hands)))
        rows[constraint.player] = gadget.reach
    reach = torch.from_numpy(rows).to(values.device, torch.float32)[None]
    matched = np.array([stakes[shape.stake[leaf]] for leaf in shape.leaves])
    behind = np.maximum(game.stack + game.pot / 2 - matched, 0.0)
    engine = _Watching(
        shape,
        torch.from_numpy(stakes).to(reach)[None],
        reach,
        values.payoffs,
        HOLDEM_RULE,
        leaf_cfvs=values.leaves(2.0 * matched, behind) if len(matched) else None,
        averages=True,
    )
    chosen = iterations if draw is None else draw(iteration_weights(iterations))
    played: Tensor | None = None
    with _one_thread():
        for iteration in range(iterations):
            before = engine.current_policies() if iteration == chosen else None
            engine.run(1)
            if before is not None:
                played = torch.where(_acts(shape, 0).to(before.device), engine.current_policies(), before)
            if gadget is not None and constraint is not None:
                cfvs = engine.last[constraint.player].double().cpu().numpy()
                engine.reach[0, constraint.player] = torch.from_numpy(gadget.update(cfvs)).to(engine.reach)
    averages = _by_decision(shape, numbers, engine.average_policies(), values)
    means = _spread(engine.means, values)
    other = 1 - game.player
    return SolvedRound(
        game,
        averages,
        averages if played is None else _by_decision(shape, numbers, played, values),
        means[:, 0],
        tuple(means[other, 1:]),
    )


def _acts(shape: BettingShape, player: int) -> Tensor:
    """Returns bool [R, 1]: whether the player takes the action of each row."""
    return torch.tensor([shape.player[parent] == player for parent in shape.parent[1:]])[:, None]


@contextmanager
def _one_thread() -> Iterator[None]:
    """Runs torch on one thread of a CPU: its operations are so small here that sharing them out takes longer."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def iteration_weights(iterations: int) -> FloatArray:
    """Returns how much each iteration counts in the average policy, ``[iterations]``, summing to 1."""
    decays = HOLDEM_RULE.schedule(1, iterations)[:, 2]
    weights = np.append(np.cumprod(decays[:0:-1])[::-1], 1.0)
    return np.asarray(weights / weights.sum())


def round_shape(game: RoundGame) -> tuple[BettingShape, list[int]]:
    """Returns the betting shape of a round and the number in its betting tree of each node of the shape."""
    shape, _ = betting_of(game.root, 1)
    numbers = [game.root.number] + [0] * (shape.num_nodes - 1)
    tree = game.root.tree
    for node in shape.decisions:
        for child, number in zip(shape.children[node], tree.children(numbers[node]), strict=True):
            numbers[child] = number
    return shape, numbers


def _stakes(game: RoundGame) -> FloatArray:
    """Returns [K]: what is lost at each stake of the shape, in chips."""
    payoffs: FloatArray = betting_of(game.root, 1)[1] - 0.5 + game.pot / 2
    return payoffs


def _by_decision(
    shape: BettingShape, numbers: list[int], policies: Tensor, values: BoardValues
) -> dict[int, FloatArray]:
    """Returns policies [1, R, H] by the number of a decision, ``[A, 1326]``; uniform for hands that are not there."""
    rows = _spread(policies[0], values)
    return {numbers[node]: normalised(rows[shape.rows(node)]) for node in shape.decisions}


def _spread(rows: Tensor, values: BoardValues) -> FloatArray:
    """Returns rows [..., H] for all hands, ``[..., 1326]``; 0 for those that are not there."""
    cfvs: FloatArray = np.where(values.rows >= 0, rows.double().cpu().numpy()[..., values.rows], 0.0)
    return cfvs
