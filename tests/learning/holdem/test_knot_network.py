"""The network: check-down values before training, zero sum, the same whatever suits and order cards have, files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from aleator.errors import SolveError
from aleator.learning.holdem.examples import pairs_compatible
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.model import HoldemModel, load_holdem_model
from aleator.learning.holdem.network import NetworkShape, Situation
from aleator.learning.holdem.networks import num_parameters
from aleator.learning.holdem.shipped import shipped_holdem_path
from aleator.learning.holdem.streets import STREETS
from aleator.storage import ArrayFile, StorageError, write_arrays

CARDS = 8
HANDS = CARDS * (CARDS - 1) // 2


def situation(levels: int, seed: int = 0) -> Situation:
    generator = torch.Generator().manual_seed(seed)
    reach = torch.rand(5, 2, HANDS, generator=generator)
    reach /= reach.sum(-1, keepdim=True)
    compatible = pairs_compatible(reach.flip(1), CARDS)
    checked = (torch.rand(5, 2, HANDS, generator=generator) - 0.5) * compatible
    checked -= compatible * ((reach * checked).sum((1, 2)) / (reach * compatible).sum((1, 2)))[:, None, None]
    spread = 0.5 * torch.rand(5, HANDS, generator=generator) if levels > 1 else torch.zeros(5, HANDS)
    strength = torch.rand(5, HANDS, generator=generator)
    return Situation(reach, checked, compatible, strength, spread, torch.tensor([0.0, 0.5, 2.0, 10.0, 99.0]))


def trained(levels: int) -> KnotNetwork:
    """Returns a network whose outputs are not zero."""
    shape = NetworkShape(
        street="turn" if levels > 1 else "river", width=16, layers=2, knots=9, levels=levels, bands=3, band_knots=4
    )
    network = KnotNetwork(shape, CARDS, torch.Generator().manual_seed(1))
    with torch.no_grad():
        for layer in (network.curve, network.band_curves):
            layer.weight.normal_(generator=torch.Generator().manual_seed(2))
    return network


@pytest.mark.parametrize("levels", [1, 3])
def test_values_are_zero_sum_and_exact_without_a_stack(levels: int) -> None:
    asked = situation(levels)
    values = trained(levels)(asked).detach()
    assert float((asked.reach * values).sum((1, 2)).abs().max()) < 1e-6
    torch.testing.assert_close(values[0], asked.checked[0], atol=1e-6, rtol=1e-5)
    assert float((values[1:] - asked.checked[1:]).abs().max()) > 0.01


def test_an_untrained_network_checks_down() -> None:
    network = KnotNetwork(NetworkShape(width=8, layers=2, knots=4), CARDS, torch.Generator().manual_seed(0))
    asked = situation(1)
    torch.testing.assert_close(network(asked), asked.checked, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("levels", [1, 3])
def test_cards_can_be_renamed(levels: int) -> None:
    """Suits, and any other names of cards, only permute the values."""
    asked, network = situation(levels), trained(levels)
    names = torch.randperm(CARDS, generator=torch.Generator().manual_seed(3))
    high, low = torch.tril_indices(CARDS, CARDS, -1)
    a, b = torch.maximum(names[high], names[low]), torch.minimum(names[high], names[low])
    renamed = a * (a - 1) // 2 + b  # hand -> its new number
    moved = Situation(*(torch.empty_like(x).index_copy(-1, renamed, x) for x in asked[:-1]), asked.stack)
    torch.testing.assert_close(network(moved)[..., renamed], network(asked), atol=1e-5, rtol=1e-4)


def test_blocked_mass_counts_a_hand_once() -> None:
    """With curves of 1 everywhere the bands add up to all blocked mass: 1 less what is compatible."""
    network = KnotNetwork(NetworkShape(width=8, layers=1, knots=4, bands=3, band_knots=4), CARDS)
    torch.nn.init.ones_(network.band_curves.bias)
    asked = situation(1)
    blocked = network._blocked(
        torch.zeros(5, 8), asked.reach, torch.rand(5, 2, HANDS, generator=torch.Generator().manual_seed(0))
    )
    torch.testing.assert_close(blocked, 1 - asked.compatible, atol=1e-6, rtol=1e-5)


def test_files_keep_the_network(tmp_path: Path) -> None:
    network, path = trained(3), tmp_path / "n.safetensors"
    HoldemModel(network, {"slice": 4}).save(path)
    loaded = load_holdem_model(path)
    assert loaded.report == {"slice": 4} and loaded.network.shape == network.shape and loaded.network.num_cards == CARDS
    before, after = network(situation(3)), loaded.network(situation(3))
    assert (after - before).abs().mean() < 0.01 * (before - situation(3).checked).abs().mean()  # 8 bits
    other = tmp_path / "other.safetensors"
    write_arrays(other, {}, {"format": "something else"})
    with pytest.raises(StorageError, match="not a hold'em value network"):
        load_holdem_model(other)
    with pytest.raises(StorageError, match="over the 16 MiB"):
        HoldemModel(KnotNetwork(NetworkShape(width=2800, layers=4), CARDS)).save(tmp_path / "large")


def test_matrices_of_8_bits_without_their_scales_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "n.safetensors"
    HoldemModel(trained(3)).save(path)
    file = ArrayFile(path)
    arrays = {name: file.read(name) for name in file.names}
    for wrong in (
        {name: array for name, array in arrays.items() if name != "curve.weight.scales"},
        arrays | {"curve.weight.scales": arrays["curve.weight.scales"][:-1]},
        arrays | {"curve.weight.scales": -arrays["curve.weight.scales"] - 1},
        arrays | {"curve.weight": arrays["curve.weight"].astype(np.float16)},
    ):
        write_arrays(path, wrong, dict(file.metadata))
        with pytest.raises(StorageError, match=r"'curve\.weight'.*(8|32) bits"):
            load_holdem_model(path)


def test_networks_of_16_bits_can_still_be_read(tmp_path: Path) -> None:
    network, path = trained(3), tmp_path / "n.safetensors"
    HoldemModel(network).save(path)
    metadata = dict(ArrayFile(path).metadata) | {"format": "aleator hold'em value network 2"}
    arrays = {name: value.numpy().astype(np.float16) for name, value in network.state_dict().items()}
    write_arrays(path, arrays, metadata)
    for name, value in load_holdem_model(path).network.state_dict().items():
        torch.testing.assert_close(value, network.state_dict()[name].half().float(), atol=0.0, rtol=0.0)


@pytest.mark.parametrize(
    ("shape", "cards"),
    [
        (NetworkShape(width=7, layers=3, knots=5, levels=2, bands=3, band_knots=4), CARDS),
        (NetworkShape(street="preflop", width=6, layers=1, knots=4, by_class=True), 52),
    ],
)
def test_parameters_are_counted_without_a_network(shape: NetworkShape, cards: int) -> None:
    made = sum(value.numel() for value in KnotNetwork(shape, cards).parameters())
    assert num_parameters(shape, cards) == made


_SIZES = {"street": "river", "width": 6, "layers": 1, "knots": 4, "levels": 1, "bands": 2, "band_knots": 2}


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"shape": json.dumps(_SIZES | {"width": 10**9, "knots": 10**9})}, "parameters, and a network of its sizes"),
        ({"shape": json.dumps(_SIZES | {"layers": 10**12})}, "parameters, and a network of its sizes"),
        ({"shape": json.dumps(_SIZES | {"width": "6"})}, "width is '6', not a whole number"),
        ({"shape": "[" * 100_000}, "nested too deeply|not JSON"),
        ({"shape": "null"}, "expected an object"),
        ({"cards": "9" * 5_000}, "is not a number of cards"),
        ({"cards": "1000000000"}, "is not a number of cards"),
        ({"report": "NaN"}, "NaN is not a number"),
        ({"report": "[]"}, "its report is"),
    ],
)
def test_no_memory_is_taken_for_what_a_small_file_says(metadata: dict[str, str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "n.safetensors"
    HoldemModel(KnotNetwork(NetworkShape(**_SIZES), CARDS)).save(path)  # type: ignore[arg-type]
    file = ArrayFile(path)
    arrays = {name: file.read(name) for name in file.names}
    write_arrays(path, arrays, dict(file.metadata) | metadata)
    with pytest.raises(StorageError, match=message):
        load_holdem_model(path)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(number: float, tmp_path: Path) -> None:
    network, path = KnotNetwork(NetworkShape(**_SIZES), CARDS), tmp_path / "n.safetensors"  # type: ignore[arg-type]
    HoldemModel(network).save(path)
    file = ArrayFile(path)
    arrays = {name: file.read(name).copy() for name in file.names}
    arrays["curve.bias"][0] = number
    write_arrays(path, arrays, file.metadata)
    with pytest.raises(StorageError, match=r"'curve\.bias' is not made of finite numbers"):
        load_holdem_model(path)
    torch.nn.init.constant_(network.curve.bias, number)
    before = path.read_bytes()
    with pytest.raises(StorageError, match=r"'curve\.bias' of the network is not finite"):
        HoldemModel(network).save(path)
    assert path.read_bytes() == before


def test_sizes_that_make_no_network_are_refused() -> None:
    for wrong, text in (
        ({"street": "street"}, "no networks for the street 'street'"),
        ({"knots": 1}, "knots must be at least 2, not 1"),
    ):
        with pytest.raises(SolveError, match=text):
            NetworkShape(**wrong)  # type: ignore[arg-type]


def test_all_streets_are_shipped_in_48_mib() -> None:
    assert sum(shipped_holdem_path(street).stat().st_size for street in STREETS) <= 48 << 20


@pytest.mark.parametrize(
    ("street", "weighted", "ev"),
    [
        ("river", 0.012, 0.0025),
        ("turn", 0.016, 0.0042),
        ("turn-start", 0.03, 0.008),
        ("flop", 0.02, 0.006),
        ("flop-start", 0.035, 0.0095),
        ("preflop", 0.0075, 0.002),
    ],
)
def test_shipped_networks_can_be_read(street: str, weighted: float, ev: float) -> None:
    path = shipped_holdem_path(street)
    model = load_holdem_model(path)
    assert path.stat().st_size <= 16 << 20
    assert (model.network.shape.street, model.network.num_cards) == (street, 52 - STREETS[street].board)
    assert model.report["errors"]["weighted"] < weighted and model.report["errors"]["ev"] < ev
    played = model.report["self_play"]  # better on what play meets than before it
    assert played["errors"]["weighted"] < 0.9 * played["errors_at_first"]["weighted"]


def test_a_street_without_a_network_is_refused() -> None:
    with pytest.raises(SolveError, match="'showdown' comes with Aleator; there are: river, turn, turn-start, flop"):
        shipped_holdem_path("showdown")
