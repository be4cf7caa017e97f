"""A network before the flop is worth the same by classes of hands as hand by hand."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
import torch

from aleator.games.holdem.cards import HAND_CLASSES
from aleator.learning.holdem.leaves import NetworkLeaves
from aleator.learning.holdem.network import HoldemValueNetwork, NetworkShape
from aleator.learning.holdem.preflop_leaves import ClassNetworkLeaves
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.rounds import equity_matrices, round_boards


def test_classes_are_worth_what_their_hands_are() -> None:
    generator = torch.Generator().manual_seed(0)
    shape = NetworkShape(street="preflop", width=32, layers=2, knots=16, levels=3)
    network = HoldemValueNetwork(shape, 52, generator)
    for layer in (network.curve, network.band_curves):  # they begin at zero
        torch.nn.init.uniform_(layer.weight, -0.3, 0.3, generator=generator)
    pots, stacks = np.array([[200.0, 600.0, 40_000.0]]), np.array([[19_900.0, 19_700.0, 0.0]])
    by_class = np.random.default_rng(1).uniform(0.0, 1.0, (1, 3, 2, 169))
    leaves = ClassNetworkLeaves(network, torch.device("cpu"))
    classes = leaves.leaves(pots, stacks)(torch.from_numpy(by_class).float())
    boards = round_boards(Deck(), torch.zeros(1, 0, dtype=torch.int64))
    chips, behind = torch.from_numpy(pots).float(), torch.from_numpy(stacks / pots).float()
    hands = NetworkLeaves(network, boards, equity_matrices(boards), chips, behind)(
        torch.from_numpy(by_class[..., HAND_CLASSES]).float()
    )
    unit = pots[0, :, None, None] * by_class[0][..., HAND_CLASSES].sum(-1, keepdims=True)
    apart = np.abs((classes[0].numpy()[..., HAND_CLASSES] - hands[0].numpy()) / unit)
    assert apart.max() < 1e-4
    checked = ClassNetworkLeaves(HoldemValueNetwork(shape, 52, generator), torch.device("cpu"))
    untrained = checked.leaves(pots, stacks)(torch.from_numpy(by_class).float())
    changed = np.abs((untrained - classes)[0].numpy()[..., HAND_CLASSES]) / unit
    assert changed[0].max() > 0.05 and changed[2].max() < 1e-6  # all-in nothing is left to bet
