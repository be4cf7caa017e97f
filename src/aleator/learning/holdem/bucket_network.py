"""DeepStack's value network of hold'em: masses of both ranges in buckets of hands in, a value for each bucket out.

Algorithm:
    Hands that are alike on a board are in one bucket, and all hands of a bucket have the same value. The network sees
    the mass of each player's range in each bucket, and the stacks in pots; it says what a bucket is worth, in pots. An
    outer layer makes the game zero-sum: half of the sum of both players' values, by the beliefs, is taken off each.
    Buckets are clusters, by k-means, of a hand's strength and its spread over the cards to come, on random boards. A
    grid of both says which cluster a hand is in.

Reference: DeepStack's supplement, "Deep Counterfactual Value Networks": 1,000 buckets, seven layers of 500 units with
    parametric ReLUs, and the outer layer.

Deviations: DeepStack clusters whole distributions of strength by the earth mover's distance; here it is their mean and
    standard deviation. Stacks in pots are several numbers, not one.

Status: tests/learning/holdem/test_bucket_network.py, on small decks; not measured with the whole deck yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import numpy as np
import torch
from torch import nn

from aleator.abstraction.k_means import k_means
from aleator.games.holdem.cards import NUM_CARDS
from aleator.learning.holdem.network import (
    STACK_FEATURES,
    HoldemValueNetwork,
    NetworkShape,
    Situation,
    begin,
    stack_features,
)
from aleator.learning.holdem.streets import street_named
from aleator.solvers.engines.batched_holdem.deck import RIVER_CARDS, Deck
from aleator.solvers.engines.batched_holdem.order import order_of
from aleator.solvers.engines.batched_holdem.rounds import round_boards

Tensor = torch.Tensor
BUCKETS: Final = 1000
WIDTH: Final = 500
LAYERS: Final = 7
_GRID: Final = (1024, 64)  # cells of strength in [0, 1], and of spread in [0, 1/2]
_BOARDS: Final = 128  # that hands to be clustered are on
_ROUNDS: Final = 10
_AT_ONCE: Final = 4096  # cells


class BucketNetwork(HoldemValueNetwork):
    """A value network that sees hands in buckets.

    Attributes:
        centres: [2 K] strength and spread of each bucket's centre.
    """

    centres: Tensor
    grid: Tensor

    def __init__(self, shape: NetworkShape, num_cards: int, generator: torch.Generator | None = None) -> None:
        """Makes a network.

        Args:
            shape: its sizes.
            num_cards: C, live cards.
            generator: of the buckets and the initial parameters; None if they are loaded afterwards.
        """
        super().__init__(shape, num_cards)
        self.register_buffer("centres", torch.zeros(2 * shape.buckets))
        self.register_buffer("grid", torch.zeros(_GRID, dtype=torch.int64), persistent=False)
        widths = [2 * shape.buckets + STACK_FEATURES, *[shape.width] * shape.layers]
        self.trunk = nn.Sequential(*(nn.Sequential(nn.Linear(ins, outs), nn.PReLU()) for ins, outs in pairwise(widths)))
        self.values = nn.Linear(shape.width, 2 * shape.buckets)
        begin(self, generator, [self.values])
        if generator is not None:
            self.centres.copy_(_centres(street_named(shape.street).board, num_cards, shape.buckets, generator))
            self._number_cells()

    def forward(self, situation: Situation) -> Tensor:
        """Returns [B, 2, H]."""
        reach, count = situation.reach, self.shape.buckets
        buckets = self.buckets(situation.strength, situation.spread)[:, None].expand_as(reach)
        mass = reach.new_zeros(*reach.shape[:2], count).scatter_add(2, buckets, reach)
        hidden = self.trunk(torch.cat([count * mass.flatten(1), stack_features(situation.stack)], 1))
        values = self.values(hidden).float().view(len(reach), 2, count).gather(2, buckets)
        zero_sum: Tensor = values - 0.5 * (reach * values).sum((1, 2), keepdim=True)
        return zero_sum

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Takes parameters and centres over."""
        keys = super().load_state_dict(state_dict, strict=strict, assign=assign)
        self._number_cells()
        return keys

    def _number_cells(self) -> None:
        """Says which centre is nearest to the middle of each cell."""
        centres = self.centres.view(-1, 2)
        rows, columns = (
            (torch.arange(cells, device=centres.device) + 0.5) / cells * most
            for cells, most in zip(_GRID, (1.0, 0.5), strict=True)
        )
        parts = torch.split(torch.cartesian_prod(rows, columns), _AT_ONCE)
        self.grid = torch.cat([torch.cdist(part, centres).argmin(1) for part in parts]).view(_GRID)

    def buckets(self, strength: Tensor, spread: Tensor) -> Tensor:
        """Returns [B, H]: the bucket of each hand."""
        row, column = (
            (rows * (cells * most)).long().clamp(0, cells - 1)
            for rows, cells, most in ((strength, _GRID[0], 1), (spread, _GRID[1], 2))
        )
        return self.grid[row, column]


def bucket_parameters(shape: NetworkShape) -> int:
    """Returns how many parameters a network of these sizes has, centres included, without making it."""
    first = (2 * shape.buckets + STACK_FEATURES + 1) * shape.width
    others = (shape.layers - 1) * (shape.width + 1) * shape.width
    return 2 * shape.buckets + first + others + shape.layers + (shape.width + 1) * 2 * shape.buckets


def _centres(board: int, num_cards: int, count: int, generator: torch.Generator) -> Tensor:
    """Returns [2 K]: clusters of hands on random boards, as a file of float16 keeps them."""
    deck = Deck(tuple(range(NUM_CARDS - board - num_cards, NUM_CARDS)))
    rng = np.random.default_rng(int(torch.randint(1 << 62, (), generator=generator, device=generator.device)))
    seeded = torch.Generator().manual_seed(int(rng.integers(1 << 62)))
    strength, spread = _looked_at(deck, board, seeded)
    points = np.stack([strength.numpy().ravel(), spread.numpy().ravel()], axis=1).astype(np.float32)
    rows = k_means(points, count, rng, rounds=_ROUNDS).centres.rows
    rows = np.concatenate([rows, np.repeat(rows[:1], count - len(rows), axis=0)])  # few cards, few clusters
    return torch.from_numpy(rows).half().float().flatten()


def _looked_at(deck: Deck, board: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Returns strength and spread [boards, H] of hands on random boards."""
    boards = deck.random_boards(_BOARDS, board, generator)
    if board == RIVER_CARDS:
        strength = order_of(deck, boards).strength
        return strength, torch.zeros_like(strength)
    rounds = round_boards(deck, boards)
    return rounds.strength, rounds.spread
