"""DeepStack's network: buckets are clusters, a value for each, zero sum, files, slices and leaves as with knots."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from aleator.errors import SolveError
from aleator.games.holdem.cards import NUM_HANDS, blocked_hands, parse_cards
from aleator.games.holdem.hand_range import parse_hand_range
from aleator.learning.holdem.bucket_network import BucketNetwork
from aleator.learning.holdem.gates import round_of, round_policies, round_spot
from aleator.learning.holdem.model import HoldemModel, load_holdem_model
from aleator.learning.holdem.network import NetworkShape, Situation
from aleator.learning.holdem.networks import make_network, num_parameters
from aleator.learning.holdem.slices import Slices, bucketed, preset
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.rounds import round_boards

CARDS = 12
DECK = Deck(tuple(range(52 - CARDS - 4, 52)))  # of turns with so many live cards
SHAPE = NetworkShape(street="turn", width=16, layers=2, buckets=20)


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def trained() -> BucketNetwork:
    """Returns a network whose outputs are not zero."""
    network = BucketNetwork(SHAPE, CARDS, generator(0))
    torch.nn.init.normal_(network.values.weight, generator=generator(1))
    return network


def situation(batch: int = 3) -> Situation:
    boards = round_boards(DECK, DECK.random_boards(batch, 4, generator(2)))
    reach = torch.rand(batch, 2, boards.hands.shape[1], generator=generator(3))
    reach /= reach.sum(-1, keepdim=True)
    unseen = torch.full_like(reach, torch.nan)  # checking down is nothing that this network knows of
    return Situation(reach, unseen, unseen, boards.strength, boards.spread, torch.tensor([0.5, 2.0, 30.0])[:batch])


def test_values_are_zero_sum_and_the_same_for_all_hands_of_a_bucket() -> None:
    asked, network = situation(), trained()
    values = network(asked).detach()
    assert float((asked.reach * values).sum((1, 2)).abs().max()) < 1e-6
    buckets = network.buckets(asked.strength, asked.spread)
    for board, numbers in enumerate(buckets):
        for number in numbers.unique():
            alike = values[board][:, numbers == number]
            torch.testing.assert_close(alike, alike[:, :1].expand_as(alike), atol=0.0, rtol=0.0)
    assert len(buckets.unique()) > 10 and float(values.abs().max()) > 0.01


def test_only_masses_of_buckets_are_seen() -> None:
    """Ranges that differ within buckets alone get the same values."""
    asked, network = situation(), trained()
    buckets = network.buckets(asked.strength, asked.spread)
    level = torch.zeros_like(asked.reach)
    for board, numbers in enumerate(buckets):
        for number in numbers.unique():
            there = numbers == number
            level[board][:, there] = asked.reach[board][:, there].mean(-1, keepdim=True)
    assert float((level - asked.reach).abs().max()) > 1e-3
    torch.testing.assert_close(network(asked._replace(reach=level)), network(asked), atol=1e-6, rtol=1e-5)


def test_hands_are_in_the_bucket_whose_centre_is_near() -> None:
    """Cells of the grid are small beside clusters: no other centre is nearer by more than a cell."""
    asked, network = situation(), trained()
    points = torch.stack([asked.strength, asked.spread], -1).flatten(0, 1)
    away = torch.cdist(points, network.centres.view(-1, 2))
    chosen = away.gather(1, network.buckets(asked.strength, asked.spread).flatten()[:, None])[:, 0]
    assert float((chosen - away.amin(1)).max()) < 2 * 0.5 / 64
    assert float(chosen.mean()) < 0.5 * float(torch.cdist(points, points.mean(0, keepdim=True)).mean())


def test_files_keep_the_network_and_its_buckets(tmp_path: Path) -> None:
    network, path = trained(), tmp_path / "n.safetensors"
    HoldemModel(network, {"slice": 1}).save(path)
    loaded = load_holdem_model(path).network
    assert isinstance(loaded, BucketNetwork) and loaded.shape == SHAPE and loaded.num_cards == CARDS
    assert torch.equal(loaded.grid, network.grid)
    before, after = network(situation()).detach(), loaded(situation()).detach()
    assert 0.0 < float((after - before).abs().mean()) < 0.02 * float(before.abs().mean())  # 8 bits


def test_parameters_are_counted_without_making_a_network() -> None:
    shape = bucketed(NetworkShape(street="turn"), 1000)
    network = make_network(shape, 48)
    assert num_parameters(shape, 48) == sum(tensor.numel() for tensor in network.state_dict().values())
    assert (shape.width, shape.layers) == (500, 7)


def test_a_slice_trains_a_network_with_buckets(tmp_path: Path) -> None:
    """On rivers that it never saw, whose values are 0 to a network that has learned nothing."""
    small = preset("small", "river")
    config = replace(small, network=replace(small.network, buckets=60))
    line = Slices(tmp_path).run(config)
    for name, bound in (("ev", 0.03), ("squared", 0.012)):  # pots, squared pots
        assert line["errors"][name] < bound < line["before"][name] / 4
    again = Slices(tmp_path).run(replace(config, examples=16))
    assert again["before"]["squared"] == pytest.approx(line["errors"]["squared"], rel=0.05)


def test_a_directory_with_another_network_is_refused(tmp_path: Path) -> None:
    small = preset("small", "river")
    HoldemModel(make_network(small.network, small.live_cards, generator(0))).save(tmp_path / "network.safetensors")
    with pytest.raises(SolveError, match="has a network without buckets; asked for are 60: choose another directory"):
        Slices(tmp_path).run(replace(small, network=replace(small.network, buckets=60)))


def test_it_prices_leaves() -> None:
    board = parse_cards("Ks9h5d2c")
    reach = np.stack([parse_hand_range("AA,KQs,99,76s"), parse_hand_range("KK,QQ,AKs,T9s")])
    spot = round_spot(board, 2.0, np.where(blocked_hands(board), 0.0, reach))
    shape, _ = round_of(spot)
    network = BucketNetwork(NetworkShape(street="turn", width=16, layers=2, buckets=20), 48, generator(0))
    torch.nn.init.normal_(network.values.weight, generator=generator(1))
    policies = round_policies(spot, network, parse_rule("lcfr/simultaneous"), 10)
    assert policies.shape == (shape.num_rows, NUM_HANDS)
    assert policies[shape.rows(0)].sum(axis=0)[spot.weights()[0] > 0] == pytest.approx(1.0, abs=1e-5)


def test_bad_shapes_are_refused() -> None:
    for buckets in (0, 5_001):
        with pytest.raises(SolveError, match=f"buckets must be 1 to 5,000, not {buckets:,}"):
            bucketed(NetworkShape(), buckets)
    with pytest.raises(SolveError, match="buckets must be at least 0, not -1"):
        NetworkShape(buckets=-1)
    with pytest.raises(SolveError, match="before the flop"):
        NetworkShape(street="preflop", buckets=169)
