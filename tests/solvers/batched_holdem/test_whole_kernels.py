"""Whole spots by kernels against the same in torch: on a device, or with a C++ compiler as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.cards import parse_cards
from aleator.games.holdem.spot import Spot
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.batched_holdem import whole, whole_kernels
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.whole import AVERAGE, BEST, UPDATE, WholeEngine
from aleator.solvers.engines.boards.plan import BoardPlan
from tests.cuda_on_cpu import KernelOnCpu, compile_for_the_cpu, needs_compiler

TURN = BoardPlan(
    Spot(
        board=parse_cards("Ks 7h 2d 9s"), pot=100, stack=250, oop="AA,KQ,98s,55,A5s", ip="KK,AJ,T9s,66,Q8",
        menu=BetMenu.uniform(bets=["50%", "100%"], raises=["100%"]),
    )
)  # fmt: skip
OTHER_TURN = BoardPlan(replace(TURN.spot, board=parse_cards("Ac Td 9d 8h")))
FLOP = BoardPlan(  # suits are alike
    Spot(
        board=parse_cards("Ks 7s 2s"), pot=100, stack=100, oop="AA,KQs", ip="KK,QJs",
        menu=BetMenu.uniform(bets=["100%"], raises=[]),
    )
)  # fmt: skip
UPDATES = [1.0, 1.0, 1.0, -torch.inf], [0.7, 0.5, 0.6, -3.0]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, KernelOnCpu]:
    folder: Path = tmp_path_factory.mktemp("kernels")
    return compile_for_the_cpu(whole_kernels.street_source(), {"THREADS": whole_kernels.THREADS}, folder)


@pytest.fixture(params=["matrices", "sums"])
def on_the_cpu(
    compiled: dict[str, KernelOnCpu], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Runs kernels on the CPU, with showdowns as products with matrices or as sums."""
    monkeypatch.setattr(whole, "uses_matrices", lambda *sizes: request.param == "matrices")
    monkeypatch.setattr(whole_kernels, "make_kernel", lambda name, shared_bytes, device: compiled[name])


def with_kernels(plans: Sequence[BoardPlan], rule: str) -> WholeEngine:
    engine = WholeEngine(plans, parse_rule(rule))
    engine.use_kernels(Deck())
    return engine


def compare(plain: WholeEngine, kernels: WholeEngine) -> None:
    """Asserts that both do the same to the same rows, in updates and evaluations, up to rounding at showdowns."""
    close = 1e-4 if kernels.streets[-1].kernels._signs is None else 1e-3  # type: ignore[union-attr]
    for discounts in UPDATES:
        for one in (plain, kernels):
            one._discounts.copy_(torch.tensor(discounts))
        for player in (0, 1):
            assert _distance(plain, kernels, player, UPDATE) < close
            for ours, expected in zip(kernels.streets, plain.streets, strict=True):
                for name in ("regrets", "sums"):
                    rows, others = (getattr(street, name).cpu() for street in (ours, expected))
                    off = (rows - others) * expected.cards.live[:, None]  # other hands are nobody's
                    assert float(off.norm()) <= close * float(others.norm())
                    getattr(ours, name).copy_(others)  # where actions are nearly alike, rounding would choose later on
    assert all(bool(street.regrets.any()) and bool(street.sums.any()) for street in plain.streets)
    for mode in (AVERAGE, BEST):
        for player in (0, 1):
            assert _distance(plain, kernels, player, mode) < close


def _distance(plain: WholeEngine, kernels: WholeEngine, player: int, mode: int) -> float:
    """Returns how far apart the player's values at the root are, relative to them."""
    there = plain.reach[player].cpu() > 0
    values, others = (one.traverse(player, mode).cpu()[there] for one in (kernels, plain))
    return float((values - others).norm() / others.norm())


@needs_compiler
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize(
    ("plans", "rule"),
    [([TURN], "sharp-dcfr+"), ([TURN], "dcfr"), ([TURN, OTHER_TURN], "lcfr"), ([FLOP], "sharp-dcfr+")],
    ids=["turn-sharp", "turn", "two-turns", "flop-sharp"],
)
def test_kernels_equal_torch(plans: Sequence[BoardPlan], rule: str) -> None:
    plain, kernels = WholeEngine(plans, parse_rule(rule)), with_kernels(plans, rule)
    river = plain.streets[-1].forest
    assert set(river.roots.tolist()) & set(river.others.tolist()), "some rivers have no betting"
    compare(plain, kernels)


@needs_compiler
@pytest.mark.usefixtures("on_the_cpu")
def test_chunks_of_boards_and_many_actions() -> None:
    """Boards that do not fit together are taken one after the other; more than four actions are read in two parts."""
    menu = BetMenu.uniform(bets=["20%", "40%", "60%", "80%", "100%"], raises=["100%"])
    plan = BoardPlan(replace(TURN.spot, stack=120, oop="AA,55,A5s", ip="KK,66", menu=menu))
    plain, kernels = WholeEngine([plan], parse_rule("sharp-dcfr+")), with_kernels([plan], "sharp-dcfr+")
    kernels._chunk_bytes = 4 * kernels.streets[1].forest.num_nodes * kernels.streets[1].num_hands * 7
    assert int(plain.streets[1].forest.decision_of_row.bincount().max()) > 4
    compare(plain, kernels)


@needs_compiler
@pytest.mark.usefixtures("on_the_cpu")
def test_fixed_policies_of_the_first_street_go_with_kernels_below() -> None:
    plain, kernels = WholeEngine([TURN], parse_rule("dcfr")), with_kernels([TURN], "dcfr")
    first = plain.streets[0]
    rows = torch.rand(1, first.forest.num_rows, first.num_hands, generator=torch.Generator().manual_seed(1))
    for engine in (plain, kernels):
        engine.fix_first_street(1, first.forest.match(rows, 1.0))
        engine.traverse(0, UPDATE)
    assert not bool(first.regrets[:, first.forest.rows_of[1]].any())
    torch.testing.assert_close(kernels.traverse(0, BEST), plain.traverse(0, BEST), rtol=2e-3, atol=0.05)


@needs_compiler
@pytest.mark.usefixtures("on_the_cpu")
def test_tiny_weights_are_no_infinite_policies() -> None:
    plain, kernels = WholeEngine([TURN], parse_rule("dcfr")), with_kernels([TURN], "dcfr")
    for engine in (plain, kernels):
        engine.streets[1].sums.fill_(1e-42)  # one over it is infinite; policies are uniform
    for mode in (AVERAGE, BEST):
        torch.testing.assert_close(kernels.traverse(0, mode), plain.traverse(0, mode), rtol=2e-3, atol=0.05)


def test_matrices_are_for_many_showdowns_that_fit() -> None:
    assert not whole_kernels.uses_matrices(5, 48, 1128, torch.device("cpu"))
    assert whole_kernels.uses_matrices(120, 1429, 288, torch.device("cpu")) == whole_kernels._adds_in_float32()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("rule", ["dcfr", "sharp-dcfr+"])
@pytest.mark.parametrize("plans", [[TURN], [TURN, OTHER_TURN], [FLOP]], ids=["turn", "two-turns", "flop"])
def test_a_device_equals_torch(plans: Sequence[BoardPlan], rule: str) -> None:
    compare(WholeEngine(plans, parse_rule(rule)), WholeEngine(plans, parse_rule(rule), device="cuda"))
