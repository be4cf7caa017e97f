"""The kernels of betting rounds with leaves, against the plain engine: on a device, or with a C++ compiler as one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch

from aleator.errors import SolveError
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.batched_holdem import fused_rounds
from aleator.solvers.engines.batched_holdem.fused_rounds import FusedRounds, round_sizes
from aleator.solvers.engines.batched_holdem.payoffs import PairPayoffs
from aleator.solvers.engines.batched_holdem.plain import PlainEngine
from aleator.solvers.engines.batched_holdem.round_source import round_source
from aleator.solvers.engines.batched_holdem.shapes import BettingShape, PotMenu
from aleator.solvers.regret_rule import RegretRule
from tests.cuda_on_cpu import KernelOnCpu, compile_for_the_cpu, needs_compiler

CARDS = 7
MENU = PotMenu(to_showdown=False)


@pytest.fixture
def on_the_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kernels(
        shape: BettingShape, players: tuple[int, ...], power: float, averages: bool, num_hands: int, device: int
    ) -> tuple[KernelOnCpu, KernelOnCpu]:
        source = round_source(shape, players, power, averages)
        kernels = compile_for_the_cpu(source, round_sizes(shape, num_hands), tmp_path)
        return kernels["down"], kernels["up"]

    monkeypatch.setattr(fused_rounds, "_kernels", cache(kernels))


def quadratic_leaves(shape_leaves: int, generator: torch.Generator) -> Callable[[torch.Tensor], torch.Tensor]:
    """Returns leaf values that depend on both players' reach, so that a mistaken row or player shows."""
    hands = CARDS * (CARDS - 1) // 2
    matrix = torch.randn(shape_leaves, hands, hands, generator=generator)

    def price(reach: torch.Tensor) -> torch.Tensor:
        first = torch.einsum("lhk,blk->blh", matrix, reach[:, :, 1])
        second = -torch.einsum("lhk,blh->blk", matrix, reach[:, :, 0])
        return torch.stack([first, second], 2)

    return price


def both_engines(rule: RegretRule, stack: float, *, device: str, averages: bool) -> tuple[PlainEngine, FusedRounds]:
    generator = torch.Generator().manual_seed(3)
    betting = MENU.betting(stack)
    reach = torch.rand(3, 2, CARDS * (CARDS - 1) // 2, generator=generator).to(device)
    stakes = torch.from_numpy(betting.stakes([stack, stack * 0.99, stack * 0.98])).to(reach)
    price = quadratic_leaves(len(betting.shape.leaves), generator)
    leaves = price if device == "cpu" else lambda rows: price(rows.cpu()).to(device)
    payoffs = PairPayoffs(CARDS, reach.device)
    return (
        PlainEngine(betting.shape, stakes, reach, payoffs, rule, leaf_cfvs=leaves, averages=averages),
        FusedRounds(betting.shape, stakes, reach, payoffs, rule, leaf_cfvs=leaves, averages=averages),
    )


def compare(plain: PlainEngine, fused: FusedRounds) -> None:
    for engine in (plain, fused):
        engine.run(6)
        engine.run(3)
    torch.testing.assert_close(fused.values(), plain.values(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(fused.regrets, plain.regrets, rtol=1e-4, atol=1e-4)
    if plain.policy_sum is not None:
        torch.testing.assert_close(fused.average_policies(), plain.average_policies(), rtol=1e-3, atol=1e-4)


@needs_compiler
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize(("name", "stack"), [("lcfr", 0.8), ("sharp-dcfr+/simultaneous", 3.0)])
def test_kernels_equal_the_plain_engine(name: str, stack: float) -> None:
    compare(*both_engines(parse_rule(name), stack, device="cpu", averages=True))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("name", ["lcfr", "dcfr/simultaneous", "sharp-dcfr+/simultaneous"])
@pytest.mark.parametrize("stack", [0.8, 6.0])
def test_a_device_equals_the_plain_engine(name: str, stack: float) -> None:
    compare(*both_engines(parse_rule(name), stack, device="cuda", averages=True))


def test_showdowns_are_refused() -> None:
    with pytest.raises(SolveError, match="showdowns"):
        round_source(PotMenu().betting(2.0).shape, (0, 1), 1.0, False)
