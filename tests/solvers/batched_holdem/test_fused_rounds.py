"""The kernels of betting rounds with leaves, against the plain engine: on a device, or with a C++ compiler as one."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from aleator.errors import SolveError
from aleator.learning.holdem.leaves import PairPayoffs
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.batched_holdem import fused_rounds
from aleator.solvers.engines.batched_holdem.fused_rounds import FusedRounds, round_sizes
from aleator.solvers.engines.batched_holdem.plain import PlainEngine
from aleator.solvers.engines.batched_holdem.round_source import round_source
from aleator.solvers.engines.batched_holdem.shapes import PotMenu
from aleator.solvers.regret_rule import RegretRule

COMPILER = shutil.which("g++") or shutil.which("clang++")
CARDS = 7
MENU = PotMenu(to_showdown=False)

SHIM = """
#include <math.h>
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(n)
struct Place { int x; };
static Place threadIdx, blockIdx;
"""
LOOP = "for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) for (threadIdx.x = 0; threadIdx.x < THREADS; "
LAUNCHERS = f"""
extern "C" void run_down(int blocks, float* a, float* b, float* c, float* d, float* e, float* f) {{
    {LOOP} threadIdx.x++) down(a, b, c, d, e, f);
}}
extern "C" void run_up(int blocks, float* a, float* b, float* c, float* d, float* e, float* f) {{
    {LOOP} threadIdx.x++) up(a, b, c, d, e, f);
}}
"""


class CompiledForTheCpu:
    """Stands in for a `Kernel`: the same source, compiled as C++, one thread after the other."""

    def __init__(self, library: ctypes.CDLL, name: str) -> None:
        self.function = getattr(library, f"run_{name}")

    def __call__(self, blocks: int, threads: int, *tensors: torch.Tensor | None) -> None:
        addresses = [ctypes.c_void_p(0 if tensor is None else tensor.data_ptr()) for tensor in tensors]
        self.function(ctypes.c_int(blocks), *addresses)


@pytest.fixture
def on_the_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kernels(shape, players, power, averages, num_hands, device):  # type: ignore[no-untyped-def]
        source = tmp_path / f"{abs(hash((shape, players)))}.cpp"
        defines = "\n".join(f"#define {name} {value}" for name, value in round_sizes(shape, num_hands).items())
        source.write_text(SHIM + defines + round_source(shape, players, power, averages) + LAUNCHERS)
        library = source.with_suffix(".so")
        assert COMPILER is not None
        subprocess.run([COMPILER, "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
        loaded = ctypes.CDLL(str(library))
        return CompiledForTheCpu(loaded, "down"), CompiledForTheCpu(loaded, "up")

    monkeypatch.setattr(fused_rounds, "_kernels", kernels)


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


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler (apt-get install g++)")
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
