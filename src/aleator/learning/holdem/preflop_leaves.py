"""A network of the end of the betting before the flop, asked about 169 classes of hands instead of 1,326 hands.

Algorithm:
    Before the flop suits are all alike: hands of a class have the same reach, equity, spread and value. So the
    network's sums over hands are sums over classes, each with the mass of all its hands, and its values are one for
    each class. What a hand blocks of a class is a matrix of counts.

Reference: DeepStack's auxiliary network sees hands in 169 classes as well.
Deviations: none; it equals the network over single hands, with an eighth of the work.
Status: tests/learning/holdem/test_preflop_leaves.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from aleator.caching import cache
from aleator.games.base import FloatArray
from aleator.games.holdem.cards import HAND_CLASSES, HANDS, NUM_CARDS, NUM_HAND_CLASSES, NUM_HANDS
from aleator.games.holdem.equity import preflop_equities, representatives
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.network import HoldemValueNetwork, Situation
from aleator.learning.holdem.packed_linear import pack_linear_layers
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.plain import LeafCfvs
from aleator.solvers.engines.batched_holdem.rounds import round_boards

Tensor = torch.Tensor


class ClassValueNetwork(KnotNetwork):
    """A network with classes in the place of hands; beliefs are masses of whole classes."""

    shared: Tensor

    def __init__(self, network: HoldemValueNetwork) -> None:
        super().__init__(network.shape, NUM_CARDS)
        self.load_state_dict(network.state_dict())
        sizes = np.bincount(HAND_CLASSES)
        part = (sizes - class_matrices().counts) / sizes  # of a class that shares a card with a hand of the row's
        self.register_buffer("shared", torch.from_numpy(part).float(), persistent=False)
        self.classes = self.classes[torch.from_numpy(representatives().astype(np.int64))]

    def _sharing(self, mass: Tensor) -> Tensor:
        rows = nn.functional.linear(mass.transpose(2, 3), self.shared.to(mass.dtype))  # one product for all bands
        return rows.transpose(2, 3)


class ClassPayoffs:
    """Folds before the flop over the 169 classes of hands; rows have the reach of one hand of each class."""

    def __init__(self, device: torch.device) -> None:
        self._counts = torch.from_numpy(class_matrices().counts).to(device, torch.float32)

    def compatible(self, rows: Tensor) -> Tensor:
        """Returns the reach of hands that share no card, [B, n, 169]."""
        return rows @ self._counts.T

    def showdown(self, rows: Tensor) -> Tensor:
        """Is never asked for: the round ends in leaves."""
        raise AssertionError("a round before the river ends in leaves, not in a showdown")


class ClassLeaves:
    """Leaves before the flop; see `search.whole_hands.depth_limited.BoardValues`.

    Args:
        network: of the end of the betting before the flop; None for checking down.
        device: where they are priced.
    """

    def __init__(self, network: HoldemValueNetwork | None, device: torch.device) -> None:
        self.device = device
        self.hands: npt.NDArray[np.int64] = representatives()[None]
        self.rows: npt.NDArray[np.int64] = HAND_CLASSES.astype(np.int64)[None]
        self.payoffs = ClassPayoffs(device)
        self._wins = torch.from_numpy(class_matrices().wins).to(device, torch.float32)
        self._sizes = torch.from_numpy(np.bincount(HAND_CLASSES)).to(device, torch.float32)
        self._network = None if network is None else ClassValueNetwork(network).to(device).eval()
        if self._network is not None and device.type == "cpu":
            pack_linear_layers(self._network)
        board = round_boards(Deck(), torch.zeros(1, 0, dtype=torch.int64))
        self._strength, self._spread = (
            field[0, representatives()].to(device, torch.float32) for field in (board.strength, board.spread)
        )

    def times(self, boards: Sequence[object]) -> ClassLeaves:
        """Returns the same leaves for as many games as there are boards, all of them empty."""
        several = copy(self)
        several.hands, several.rows = (rows[:1].repeat(len(boards), axis=0) for rows in (self.hands, self.rows))
        return several

    def leaves(self, pots: FloatArray, stacks: FloatArray) -> LeafCfvs:
        """Returns what prices leaves with these pots and stacks behind, both [B, L] in chips; cfvs come in chips."""
        chips = torch.from_numpy(pots).to(self.device, torch.float32)[..., None, None]
        behind = torch.from_numpy(stacks / pots).to(self.device, torch.float32)
        open_leaves = (behind > 1e-6).any(0).nonzero().flatten()  # leaves where somebody can still bet
        stack = behind[:, open_leaves].flatten()
        strength, spread = (field.expand(len(stack), -1) for field in (self._strength, self._spread))

        def price(reach: Tensor) -> Tensor:
            classes = reach.shape[-1]
            mass = (reach * self._sizes).sum(-1, keepdim=True)  # [B, L, 2, 1]
            beliefs = torch.where(mass > 0, reach / mass, 1.0 / self._sizes.sum())  # of one hand of each class
            others = beliefs.flip(2)
            values = 0.5 * (others @ self._wins.T)
            if self._network is not None and len(open_leaves):
                own, checked, met = (
                    rows[:, open_leaves].reshape(-1, 2, classes)
                    for rows in (beliefs * self._sizes, values, self.payoffs.compatible(others))
                )
                with torch.no_grad():
                    answer = self._network(Situation(own, checked, met, strength, spread, stack))
                values[:, open_leaves] = answer.view(len(reach), -1, 2, classes)
            return values * mass.flip(2) * chips

        return price


class _ClassMatrices(NamedTuple):
    """[169, 169]: how many hands of the column's class one of the row's meets, and its wins less losses there."""

    counts: FloatArray
    wins: FloatArray


@cache
def class_matrices() -> _ClassMatrices:
    """Returns what one hand of each class meets among the hands of each class."""
    hands, table = representatives(), preflop_equities()
    apart = ~(HANDS[hands][:, None, :, None] == HANDS[None, :, None, :]).any(axis=(2, 3))
    wins = (2.0 * table[hands] - 1.0) * apart
    member = np.zeros((NUM_HANDS, NUM_HAND_CLASSES))
    member[np.arange(NUM_HANDS), HAND_CLASSES] = 1.0
    return _ClassMatrices(apart @ member, wins @ member)
