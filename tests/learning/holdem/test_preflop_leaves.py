"""A network before the flop is worth the same by classes of hands as hand by hand."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
import torch

from aleator.errors import SolveError
from aleator.games.holdem.cards import HAND_CLASSES
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.leaves import NetworkLeaves
from aleator.learning.holdem.model import load_holdem_model
from aleator.learning.holdem.network import NetworkShape, Situation
from aleator.learning.holdem.preflop_leaves import ClassLeaves, class_matrices
from aleator.learning.holdem.shipped import shipped_holdem_path
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.rounds import equity_matrices, round_boards


@pytest.mark.parametrize("by_class", [False, True])
def test_classes_are_worth_what_their_hands_are(by_class: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    shape = NetworkShape(street="preflop", width=32, layers=2, knots=16, levels=3, by_class=by_class)
    network = KnotNetwork(shape, 52, generator)
    for layer in (network.curve, network.band_curves, network.class_values):  # they begin at zero
        if layer is not None:
            torch.nn.init.uniform_(layer.weight, -0.3, 0.3, generator=generator)
    pots, stacks = np.array([[200.0, 600.0, 40_000.0]]), np.array([[19_900.0, 19_700.0, 0.0]])
    by_class = np.random.default_rng(1).uniform(0.0, 1.0, (1, 3, 2, 169))
    leaves = ClassLeaves(network, torch.device("cpu"))
    classes = leaves.leaves(pots, stacks)(torch.from_numpy(by_class).float())
    boards = round_boards(Deck(), torch.zeros(1, 0, dtype=torch.int64))
    chips, behind = torch.from_numpy(pots).float(), torch.from_numpy(stacks / pots).float()
    hands = NetworkLeaves(network, boards, equity_matrices(boards), chips, behind)(
        torch.from_numpy(by_class[..., HAND_CLASSES]).float()
    )
    unit = pots[0, :, None, None] * by_class[0][..., HAND_CLASSES].sum(-1, keepdims=True)
    apart = np.abs((classes[0].numpy()[..., HAND_CLASSES] - hands[0].numpy()) / unit)
    assert apart.max() < 1e-4
    checked = ClassLeaves(KnotNetwork(shape, 52, generator), torch.device("cpu"))
    untrained = checked.leaves(pots, stacks)(torch.from_numpy(by_class).float())
    changed = np.abs((untrained - classes)[0].numpy()[..., HAND_CLASSES]) / unit
    assert changed[0].max() > 0.05 and changed[2].max() < 1e-6  # all-in nothing is left to bet


def test_values_by_class_are_the_same_for_hands_of_a_class_and_differ_between_classes_of_one_equity() -> None:
    """Without curves only a hand's class can tell it apart from others."""
    generator = torch.Generator().manual_seed(0)
    network = KnotNetwork(NetworkShape(street="preflop", width=32, layers=2, by_class=True), 52, generator)
    assert network.class_values is not None and network.num_classes == 169
    torch.nn.init.uniform_(network.class_values.weight, -0.3, 0.3, generator=generator)
    reach = torch.full((1, 2, 1326), 1 / 1326)
    met = torch.full_like(reach, 1225 / 1326)
    values = network(
        Situation(reach, torch.zeros_like(reach), met, *torch.zeros(2, 1, 1326), torch.tensor([10.0]))
    ).detach()
    by_class = [values[0, 0, number == HAND_CLASSES] for number in range(169)]
    assert all(float(rows.max() - rows.min()) < 1e-6 for rows in by_class)
    assert len({round(float(rows[0]), 5) for rows in by_class}) > 160
    with pytest.raises(SolveError, match="before the flop only, not on the start of the river"):
        NetworkShape(street="river", by_class=True)


def test_every_hand_meets_1225_others() -> None:
    sizes = np.bincount(HAND_CLASSES)
    np.testing.assert_allclose(class_matrices().counts.sum(axis=1), 1225.0)
    assert np.abs(sizes @ class_matrices().wins).sum() / 1326 > 0.0
    np.testing.assert_allclose((sizes[:, None] * class_matrices().wins).sum(), 0.0, atol=1.0)


def test_the_shipped_network_knows_position_good_hands_and_zero_sums() -> None:
    """All hands against all hands: who acts last wins, and good hands win more than checking down would give them."""
    pots, stacks = np.array([[600.0, 2_000.0]]), np.array([[19_700.0, 19_000.0]])
    reach, sizes = torch.ones(1, 2, 2, 169), np.bincount(HAND_CLASSES)
    networks = load_holdem_model(shipped_holdem_path("preflop")).network, None
    values, checked = (
        ClassLeaves(network, torch.device("cpu")).leaves(pots, stacks)(reach)[0].numpy() / pots[0, :, None, None] / 1225
        for network in networks
    )  # [L, 2, 169] pots
    means = (values * sizes).sum(axis=2) / 1326
    np.testing.assert_allclose(means.sum(axis=1), 0.0, atol=1e-3)
    assert (means[:, 1] > 0.01).all()
    equity = class_matrices().wins.sum(axis=1)
    gained = (values - checked).mean(axis=1)
    assert (gained[:, equity > np.quantile(equity, 0.9)].mean(axis=1) > 0.1).all()
    assert (gained[:, equity < np.quantile(equity, 0.3)].mean(axis=1) < 0.0).all()
