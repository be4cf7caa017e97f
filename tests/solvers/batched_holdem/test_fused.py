"""The fused kernel against the plain engine: on a device, or with a C++ compiler as one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from aleator.errors import SolveError
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.batched_holdem import fused
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.fused import FusedRivers, solve_defines
from aleator.solvers.engines.batched_holdem.order import order_of
from aleator.solvers.engines.batched_holdem.payoffs import RiverPayoffs
from aleator.solvers.engines.batched_holdem.plain import PlainEngine
from aleator.solvers.engines.batched_holdem.river_layout import RiverLayout
from aleator.solvers.engines.batched_holdem.shapes import BettingShape, PotMenu
from aleator.solvers.engines.batched_holdem.source import river_source, scanned_rows
from tests.cuda_on_cpu import KernelOnCpu, compile_for_the_cpu, needs_compiler

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")

SHOWDOWN = PotMenu(bets=(0.5, 1.0))
ROYAL_FLUSH = [48, 44, 40, 36, 32]  # on the board: every hand ties


def random_game(deck: Deck, stack: float, count: int = 8, seed: int = 5) -> tuple[PlainEngine, FusedRivers]:
    return pair_of_engines(deck, stack, "dcfr", count=count, seed=seed)


def pair_of_engines(
    deck: Deck, stack: float, rule: str, *, count: int = 8, seed: int = 5, keep: bool = False
) -> tuple[PlainEngine, FusedRivers]:
    """Returns both engines on the same random rivers; the plain one in float64."""
    generator = torch.Generator(deck.device).manual_seed(seed)
    boards = deck.random_boards(count, 5, generator)
    if deck.num_cards == 52:
        boards[0] = torch.tensor(ROYAL_FLUSH)
    order = order_of(deck, boards, generator)
    reach = torch.rand(count, 2, order.num_hands, device=deck.device, generator=generator, dtype=torch.float64) ** 4
    reach /= reach.sum(-1, keepdim=True)
    betting = SHOWDOWN.betting(stack)
    stakes = torch.tensor(betting.stakes([stack * (1 - 0.01 * game) for game in range(count)]), device=deck.device)
    keep_at = torch.arange(1, count + 1, device=deck.device) if keep else None
    return (
        PlainEngine(betting.shape, stakes, reach, RiverPayoffs(order), parse_rule(rule), averages=True),
        FusedRivers(betting.shape, stakes, reach, order, parse_rule(rule), averages=True, keep_at=keep_at),
    )


def difference(found: torch.Tensor, expected: torch.Tensor) -> float:
    """Returns the error relative to the norm of what is expected."""
    return float((found.double() - expected).norm() / expected.norm())


@pytest.fixture
def on_the_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kernel(
        shape: BettingShape, layout: RiverLayout, sharp: bool, simultaneous: bool, averages: bool, device: torch.device
    ) -> KernelOnCpu:
        defines = solve_defines(shape, layout, sharp, simultaneous, averages)
        return compile_for_the_cpu(river_source(shape), defines, tmp_path)["solve"]

    monkeypatch.setattr(fused, "_kernel", kernel)


@needs_compiler
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize(("rule", "stack"), [("dcfr", 0.3), ("sharp-dcfr+", 3.0), ("lcfr/simultaneous", 3.0)])
def test_kernel_without_a_device_equals_the_plain_engine(rule: str, stack: float) -> None:
    plain, engine = pair_of_engines(Deck(range(36, 52)), stack, rule, count=3, keep=True)
    for one in (plain, engine):
        one.run(1)
    assert difference(engine.values(), plain.values()) < 2e-5
    assert difference(engine.current_policies(), plain.current_policies()) < 0.05  # ties are decided by rounding
    after_one = engine.current_policies()[1].clone()
    for one in (plain, engine):
        one.run(8)
        one.run(3)  # goes on where it stopped
    assert torch.equal(engine.kept_policies()[1], after_one), "the policies of iteration 2"
    found, expected = (plain.exploitability(one.average_policies().double()) for one in (engine, plain))
    assert float(found.max()) < 1.3 * float(expected.max()) + 2e-4 < 0.5


@needs_cuda
@pytest.mark.parametrize("stack", [0.3, 3.0, 50.0])
@pytest.mark.parametrize(
    "rule", ["dcfr", "lcfr", "dcfr+", "sharp-dcfr+", "dcfr/simultaneous", "sharp-dcfr+/simultaneous"]
)
def test_kernel_equals_the_plain_engine(stack: float, rule: str) -> None:
    plain, fused = pair_of_engines(Deck(device="cuda"), stack, rule)
    plain.run(1)
    fused.run(1)
    assert difference(fused.values(), plain.values()) < 2e-5
    for engine in (plain, fused):
        engine.run(39)
    gap = (plain.reach * (fused.values().double() - plain.values())).sum(2).abs()  # [B, 2] in pots
    assert float(gap.median()) < 2e-3  # iterates are chaotic, and rounding decides: not all games stay together
    assert float((fused.values()[0].double() - plain.values()[0]).abs().max()) < 2e-3  # a tie with every hand


@needs_cuda
@pytest.mark.parametrize("rule", ["dcfr", "sharp-dcfr+", "sharp-dcfr+/simultaneous"])
def test_average_policies_are_as_good(rule: str) -> None:
    plain, fused = pair_of_engines(Deck(device="cuda"), 3.0, rule)
    plain.run(200)
    fused.run(150)
    fused.run(50)  # goes on where it stopped
    found = plain.exploitability(fused.average_policies().double())
    expected = plain.exploitability(plain.average_policies())
    assert float(found.max()) < 1.3 * float(expected.max()) + 2e-4
    assert float(found[1:].max()) < 0.02


@needs_cuda
def test_the_chosen_iteration_is_kept() -> None:
    for rule in ("sharp-dcfr+", "sharp-dcfr+/simultaneous"):
        _, fused = pair_of_engines(Deck(device="cuda"), 3.0, rule, keep=True)
        _, again = pair_of_engines(Deck(device="cuda"), 3.0, rule)
        fused.run(8)
        for game in range(8):
            assert torch.equal(again.current_policies()[game], fused.kept_policies()[game])
            again.run(1)


@needs_cuda
def test_runs_are_equal_bit_by_bit_and_every_number_is_written() -> None:
    results = []
    for poison in (float("nan"), 7.0):
        _, fused = pair_of_engines(Deck(device="cuda"), 50.0, "sharp-dcfr+")
        fused._regrets.fill_(poison)
        fused._scratch.fill_(poison)
        fused._values.fill_(poison)
        fused.run(50)
        results.append(fused.values())
    assert torch.equal(*results)


@needs_cuda
def test_small_decks_have_kernels_too() -> None:
    plain, fused = pair_of_engines(Deck(range(28, 52), device="cuda"), 3.0, "dcfr")
    for engine in (plain, fused):
        engine.run(5)
    assert difference(fused.values(), plain.values()) < 1e-2


@needs_cuda
@pytest.mark.parametrize("rule", ["dcfr+", "sharp-dcfr+/simultaneous"])
def test_captured_iterations_are_the_same(rule: str) -> None:
    plain, _ = pair_of_engines(Deck(device="cuda"), 3.0, rule)
    again, _ = pair_of_engines(Deck(device="cuda"), 3.0, rule)
    plain.run(12)
    again.run(6, captured=True)
    again.run(6, captured=True)
    assert plain.iteration == again.iteration == 12
    assert torch.equal(plain.values(), again.values()) and torch.equal(plain.regrets, again.regrets)
    assert torch.equal(plain.average_policies(), again.average_policies())


def test_a_cpu_is_refused() -> None:
    with pytest.raises(SolveError, match="needs a CUDA device, not cpu"):
        random_game(Deck(), 3.0, count=1)


def test_source_has_every_scanned_row_once_and_no_marks() -> None:
    shape = SHOWDOWN.betting(50.0).shape
    text = river_source(shape)
    assert "//@PASS" not in text
    for player in (0, 1):
        rows = scanned_rows(shape, player)
        assert len(rows) == len(set(rows)) == 27
    assert text.count("add_up(shared, rows, list);") == 2 * 7  # four rows at a time


def test_source_needs_showdowns() -> None:
    with pytest.raises(SolveError, match="leaves need the plain engine"):
        river_source(PotMenu(to_showdown=False).betting(3.0).shape)


def test_places_are_those_of_the_order() -> None:
    deck = Deck()
    order = order_of(deck, deck.random_boards(2, 5, torch.Generator().manual_seed(1)))
    layout = RiverLayout.of(order)
    places, lists = layout.places_of(order)

    def position(slot: torch.Tensor) -> torch.Tensor:
        return slot - slot // 9

    assert torch.equal(position(places[:, :1081, 0] & 0xFFFF).long(), order.weaker)
    assert torch.equal(position(places[:, :1081, 0] >> 16).long(), order.not_stronger)
    for column in (0, 1):
        word = places[:, :1081, 1 + column].long()
        for shift, count in ((0, order.card_weaker), (12, order.card_not_stronger)):
            slot = (word >> shift & 0xFFF) - layout.stride * (word >> 24)
            assert torch.equal(position(slot), count[..., column])
        assert torch.equal(word >> 24, order.card[..., column])
    assert torch.equal(position(lists[..., :46].long()), order.card_list)
    assert bool((position(lists[..., 46:].long()) == 1081).all())
