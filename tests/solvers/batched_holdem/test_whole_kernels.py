"""Updates of whole spots by kernels against the same in torch: on a device, or with a C++ compiler as one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import torch

from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.cards import parse_cards
from aleator.games.holdem.spot import Spot
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.batched_holdem import whole_cards, whole_rivers, whole_streets
from aleator.solvers.engines.batched_holdem.shapes import BettingShape
from aleator.solvers.engines.batched_holdem.source import step_source
from aleator.solvers.engines.batched_holdem.street_roots import StreetRoots
from aleator.solvers.engines.batched_holdem.street_source import street_source
from aleator.solvers.engines.batched_holdem.whole import UPDATE, WholeEngine
from aleator.solvers.engines.batched_holdem.whole_rivers import RiverSizes
from aleator.solvers.engines.boards.plan import BoardPlan
from tests.cuda_on_cpu import KernelOnCpu, compile_for_the_cpu, needs_compiler

PLAN = BoardPlan(
    Spot(
        board=parse_cards("Ks 7h 2d 9s"), pot=100, stack=250, oop="AA,KQ,98s,55,A5s", ip="KK,AJ,T9s,66,Q8",
        menu=BetMenu.uniform(bets=["50%", "100%"], raises=["100%"]),
    )
)  # fmt: skip


@pytest.fixture
def on_the_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rivers(shape: BettingShape, player: int, sizes: RiverSizes, device: int) -> KernelOnCpu:
        return compile_for_the_cpu(step_source(shape, player), sizes.defines(shape), tmp_path)["step"]

    def streets(
        shape: BettingShape, player: int, power: float, defines: tuple[tuple[str, int], ...], device: int
    ) -> tuple[KernelOnCpu, KernelOnCpu]:
        kernels = compile_for_the_cpu(street_source(shape, player, power), dict(defines), tmp_path)
        return kernels["down"], kernels["up"]

    monkeypatch.setattr(whole_rivers, "_kernel", cache(rivers))
    monkeypatch.setattr(whole_streets, "_kernels", cache(streets))

    def cards(leaves: int, before: int, after: int, device: int) -> tuple[KernelOnCpu, KernelOnCpu]:
        kernels = compile_for_the_cpu(
            whole_cards.card_source(), whole_cards.card_defines(leaves, before, after), tmp_path
        )
        return kernels["deal"], kernels["gather"]

    monkeypatch.setattr(whole_cards, "_kernels", cache(cards))


def with_kernels(plan: BoardPlan, rule: str, *levels: int) -> WholeEngine:
    """Returns an engine whose streets are updated by kernels, wherever it runs."""
    engine, tree, roots = WholeEngine([plan], parse_rule(rule)), plan.betting.tree, [plan.betting.number]
    for level, street in enumerate(engine.streets):
        if level in levels:
            street.use_kernels(StreetRoots.of(tree, roots, plan.spot.pot, engine.device), engine.rule)
        roots = [tree.children(node)[0] for node in street.forest.leaf_nodes]
    return engine


def compare(torch_engine: WholeEngine, engine: WholeEngine) -> None:
    """Asserts that two updates of each player on a few boards are the same: later ones let the last bit decide."""
    boards, river = slice(2, 7), torch_engine.streets[1]
    generator = torch.Generator().manual_seed(1)
    reach = torch.rand(5, len(river.forest.roots), river.num_hands, generator=generator)
    for discounts in ([1.0, 1.0, 1.0, -torch.inf], [0.7, 0.5, 0.6, -3.0]):
        for player in (0, 1):
            values = []
            for one in (torch_engine, engine):
                one._discounts.copy_(torch.tensor(discounts))
                values.append(one._below(1, boards, reach.to(one.device), player, UPDATE).cpu())
            torch.testing.assert_close(values[1], values[0], rtol=1e-3, atol=0.05)
    for name in ("regrets", "sums"):
        found, expected = (getattr(one.streets[1], name)[boards].cpu() for one in (engine, torch_engine))
        assert float(expected.abs().max()) > 1.0
        assert float((found - expected).norm() / expected.norm()) < 1e-3
    assert not bool(engine.streets[1].regrets[7:].any()), "other boards"


@needs_compiler
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("rule", ["dcfr", "sharp-dcfr+"])
def test_kernels_of_rivers_equal_torch(rule: str) -> None:
    engine = with_kernels(PLAN, rule, 1)
    rivers = engine.streets[1].rivers
    assert rivers is not None
    shapes = [group.shape.num_rows for group in rivers._roots.groups]
    assert 0 in shapes and len(shapes) > 2, "some rivers without betting, and several shapes with"
    compare(WholeEngine([PLAN], parse_rule(rule)), engine)


@needs_compiler
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("rule", ["lcfr", "sharp-dcfr+"])
def test_kernels_of_streets_before_equal_torch(rule: str) -> None:
    """A turn with one root, and the turns of a flop with several, some of them without betting."""
    flop = BoardPlan(replace(PLAN.spot, board=parse_cards("Ks 7s 2s"), stack=120))
    for plan, level in ((PLAN, 0), (flop, 1)):
        engines = WholeEngine([plan], parse_rule(rule)), with_kernels(plan, rule, level)
        street = engines[0].streets[level]
        if level:
            shapes = [group.shape.num_rows for group in engines[1].streets[level].betting._roots.groups]  # type: ignore[union-attr]
            assert 0 in shapes and len(shapes) > 1
        generator = torch.Generator().manual_seed(1)
        reach = torch.rand(street.num_boards, len(street.forest.roots), street.num_hands, generator=generator)
        worth = torch.randn(street.num_boards, len(street.forest.leaves), street.num_hands, generator=generator)
        for one in engines:
            one._next = lambda level, boards, leaves, player, mode, worth=worth: leaves * worth  # type: ignore[method-assign, assignment, misc]
        for discounts in ([1.0, 1.0, 1.0, -torch.inf], [0.7, 0.5, 0.6, -3.0]):
            for player in (0, 1):
                for one in engines:
                    one._discounts.copy_(torch.tensor(discounts))
                values = [one._below(level, slice(0, street.num_boards), reach, player, UPDATE) for one in engines]
                torch.testing.assert_close(values[1], values[0], rtol=1e-3, atol=0.05)
        for name in ("regrets", "sums"):
            found, expected = (getattr(one.streets[level], name) for one in reversed(engines))
            assert float((found - expected).norm() / expected.norm()) < 1e-3


@needs_compiler
@pytest.mark.usefixtures("on_the_cpu")
def test_kernels_of_cards_equal_torch() -> None:
    """From some of the boards of a turn, and from all of them in two parts; suits of this flop are alike."""
    plan = BoardPlan(replace(PLAN.spot, board=parse_cards("Ks 7s 2s"), stack=120))
    plain, kernels = (WholeEngine([plan], parse_rule("dcfr")).streets[2].cards for _ in range(2))
    assert plain is not None and kernels is not None
    kernels.use_kernels()
    reach = torch.rand(len(plan.boards[1]), 5, plain._before, generator=torch.Generator().manual_seed(1))
    for parents in (slice(3, 6), slice(0, len(plan.boards[1]))):
        boards = plain.below(parents)
        middle = (boards.start + boards.stop) // 2
        totals = []
        for cards in (plain, kernels):
            totals.append(torch.zeros_like(reach[parents]))
            for part in (slice(boards.start, middle), slice(middle, boards.stop)):
                dealt = cards.deal(reach[parents], parents, part)
                torch.testing.assert_close(dealt, plain.deal(reach[parents], parents, part))
                cards.gather(dealt.square(), totals[-1], parents, part)
        torch.testing.assert_close(totals[1], totals[0])
        assert float(totals[0].abs().max()) > 0.1


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("rule", ["dcfr", "sharp-dcfr+"])
def test_a_device_equals_torch(rule: str) -> None:
    compare(WholeEngine([PLAN], parse_rule(rule)), WholeEngine([PLAN], parse_rule(rule), device="cuda"))
