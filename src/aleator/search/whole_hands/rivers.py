"""Rivers of whole hands in batches, to the end of the hand: what `exact` does for one of them, on a GPU.

Algorithm:
    CFR in torch, any number of rivers of one betting shape at once (`search.whole_hands.batches`); on a CUDA device
    showdowns are products with a matrix a board. Rivers without a constraint are solved there by the fused kernel, if
    there are enough of one shape to compile it; cfvs of the root and behind its actions are then those of the average
    policies.

Reference: as `search.whole_hands.exact`.
Deviations: the fused kernel keeps regrets in float16.
Status: equal to `exact` within rounding (tests/search/whole_hands/test_rivers.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch

from aleator.games.holdem.cards import NUM_HANDS
from aleator.search.whole_hands.batches import RoundBatch, solve_batch
from aleator.search.whole_hands.rounds import RoundTask, SolvedRound
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.order import StrengthOrder, order_of
from aleator.solvers.engines.batched_holdem.payoffs import MatrixPayoffs, RiverPayoffs
from aleator.solvers.engines.batched_holdem.plain import PlainEngine
from aleator.solvers.holdem.solver import HOLDEM_RULE

_WORTH_COMPILING: Final = 256  # rivers of one shape at once


def solve_rivers(tasks: Sequence[RoundTask], deck: Deck, iterations: int) -> list[SolvedRound]:
    """Returns rivers of one betting shape, solved; they are played by their average policies.

    Args:
        tasks: all with a constraint or all without.
        deck: the whole one, on the device to solve on.
        iterations: of CFR.
    """
    boards = torch.tensor([task.game.board for task in tasks], device=deck.device)
    order = order_of(deck, boards)
    hands = order.hand.cpu().numpy()
    places = np.full((len(tasks), NUM_HANDS), -1)
    np.put_along_axis(places, hands, np.arange(hands.shape[1])[None].repeat(len(tasks), 0), axis=1)
    batch = RoundBatch([task._replace(draw=None) for task in tasks], hands, places)
    if deck.device.type == "cuda" and tasks[0].constraint is None and len(tasks) >= _WORTH_COMPILING:
        return _by_kernel(batch, order, iterations)
    payoffs = (MatrixPayoffs if deck.device.type == "cuda" else RiverPayoffs)(order)
    return solve_batch(batch, payoffs, iterations, deck.device)


def _by_kernel(batch: RoundBatch, order: StrengthOrder, iterations: int) -> list[SolvedRound]:
    from aleator.solvers.engines.batched_holdem.fused import FusedEngine

    reach = batch.reach(order.hand.device)
    stakes = torch.from_numpy(batch.stakes).to(reach)
    unit = 2.0 * stakes.amin(1, keepdim=True)  # regrets are float16: beliefs sum to 1 and stakes count in pots
    mass = reach.sum(2, keepdim=True)
    engine = FusedEngine(batch.shape, stakes / unit, reach / mass, order, HOLDEM_RULE, averages=True)
    engine.run(iterations)
    averages = engine.average_policies()
    judge = PlainEngine(batch.shape, stakes, reach, RiverPayoffs(order), HOLDEM_RULE)
    first = 1 + len(batch.shape.children[0])
    return batch.solved(averages, None, torch.stack([judge.cfvs(averages, player)[:, :first] for player in (0, 1)]))
