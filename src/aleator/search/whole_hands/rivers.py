"""Rivers of whole hands in batches, to the end of the hand: what `exact` does for one of them, on a GPU.

Algorithm:
    CFR, any number of rivers of one betting shape at once (`search.whole_hands.batches`): in torch on a CPU, by kernels
    on a CUDA device.

Reference: as `search.whole_hands.exact`.
Deviations: none.
Status: equal to `exact` within rounding (tests/search/whole_hands/test_rivers.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aleator.games.holdem.cards import NUM_HANDS, columns_of
from aleator.search.whole_hands.batches import RoundBatch, solve_batch
from aleator.search.whole_hands.rounds import RoundTask, SolvedRound
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.order import order_of
from aleator.solvers.engines.batched_holdem.payoffs import Payoffs, RiverPayoffs
from aleator.solvers.engines.batched_holdem.round_kernels import ALIGNED
from aleator.solvers.engines.batched_holdem.whole_cards import some_hands
from aleator.solvers.engines.batched_holdem.whole_kernels import KernelPayoffs

Tensor = torch.Tensor


def solve_rivers(
    tasks: Sequence[RoundTask], deck: Deck, iterations: int, *, kernels: bool | None = None
) -> list[SolvedRound]:
    """Returns rivers of one betting shape, solved; they are played by their average policies.

    Args:
        tasks: all with a constraint or all without.
        deck: the whole one, on the device to solve on.
        iterations: of CFR.
        kernels: whether kernels do the betting; None: on a CUDA device.
    """
    boards = torch.tensor([task.game.board for task in tasks], device=deck.device)
    by_kernels = deck.device.type == "cuda" if kernels is None else kernels
    hands, payoffs = (_for_kernels if by_kernels else _for_torch)(deck, boards)
    numbers = hands.cpu().numpy()
    places = columns_of(numbers)
    places[deck.blocked(boards).cpu().numpy()] = -1
    batch = RoundBatch([task._replace(draw=None) for task in tasks], numbers, places)
    return solve_batch(batch, payoffs, iterations, deck.device)


def _for_torch(deck: Deck, boards: Tensor) -> tuple[Tensor, Payoffs]:
    """Returns the hands [B, H] of boards in the order of strength, and their payoffs."""
    order = order_of(deck, boards)
    return order.hand, RiverPayoffs(order)


def _for_kernels(deck: Deck, boards: Tensor) -> tuple[Tensor, KernelPayoffs]:
    """Returns the hands [B, H] of boards, some of which may be blocked, and their payoffs."""
    live = ~deck.blocked(boards)
    hands = some_hands(live, live.new_ones(NUM_HANDS), ALIGNED)
    games = torch.arange(len(boards), device=deck.device)
    return hands, KernelPayoffs(deck.hand_cards[hands], games, deck.strengths(boards).gather(1, hands))
