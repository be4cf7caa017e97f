"""Packed linear layers answer as torch's own, whether torch can pack or not."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
import torch

from aleator.learning.holdem import packed_linear
from aleator.learning.holdem.packed_linear import PackedLinear, pack_linear_layers


@pytest.mark.parametrize("packs", [True, False])
@pytest.mark.parametrize("rows", [(1,), (17,), (2, 5)])
def test_packed_layers_equal_torchs(monkeypatch: pytest.MonkeyPatch, packs: bool, rows: tuple[int, ...]) -> None:
    if not packs:
        monkeypatch.setattr(packed_linear, "_is_there", lambda: False)
    generator = torch.Generator().manual_seed(1)
    weight, bias = torch.randn(33, 70, generator=generator), torch.randn(33, generator=generator)
    given = torch.randn(*rows, 70, generator=generator)
    for added in (bias, None):
        layer = PackedLinear(weight, added)
        torch.testing.assert_close(layer(given), torch.nn.functional.linear(given, weight, added), rtol=1e-5, atol=1e-4)


def test_all_linear_layers_of_a_network_are_packed() -> None:
    torch.manual_seed(2)
    network = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Sequential(torch.nn.GELU(), torch.nn.Linear(16, 3)))
    given = torch.randn(5, 8)
    with torch.no_grad():
        expected = network(given)
    pack_linear_layers(network)
    assert not any(isinstance(part, torch.nn.Linear) for part in network.modules())
    torch.testing.assert_close(network(given), expected, rtol=1e-5, atol=1e-5)
