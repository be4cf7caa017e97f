"""Examples of streets before the river: means over all cards, canonical flops, solves with a network at the leaves."""

from __future__ import annotations

from math import comb

import pytest
import torch

from aleator.errors import SolveError
from aleator.learning.holdem.examples import Labelling
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.network import NetworkShape
from aleator.learning.holdem.streets import STREETS, street_named
from aleator.learning.holdem.teaching import (
    ExampleMaker,
    FlopTables,
    check_down,
    class_ranges,
    mean_over_flops,
    mean_over_turns,
    price,
    solve_rounds,
)
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.rounds import equity_matrices, hand_classes, round_boards

DECK = Deck(range(40, 52))  # queens to aces: 9 live cards on the flop, 8 on the turn
QUICK = Labelling(iterations=40, deep_iterations=40)
FEW = Labelling(iterations=4, deep_iterations=4)  # so that rounding has not grown yet


def network(street: str, *, deck: Deck = DECK, curves: bool = True) -> KnotNetwork:
    shape = NetworkShape(street=street, width=16, layers=2, knots=8, levels=3, bands=3, band_knots=4)
    generator = torch.Generator().manual_seed(1)
    made = KnotNetwork(shape, deck.num_cards - STREETS[street].board, generator)
    if curves:
        torch.nn.init.normal_(made.curve.weight, generator=generator)
    return made


@pytest.mark.parametrize("name", ["turn-start", "flop", "flop-start", "preflop"])
def test_situations_of_every_street_are_zero_sum(name: str) -> None:
    teacher = STREETS[name].teacher
    assert teacher
    maker = ExampleMaker(street_named(name), DECK, QUICK, network(teacher), stacks=(0.5, 2.0), shared=2)
    examples = maker.make(5, torch.Generator().manual_seed(2))
    reach = examples.situation().reach
    assert len(examples) == 5
    gap = (reach * examples.values()).sum((1, 2)).abs()
    assert float(gap.max()) < 0.02 * float(examples.values().abs().max())
    changed = (examples.values() - examples.rows[:, 2:4].float()).abs().max()
    assert float(changed) > 0.01  # the teacher's curves, or bets, are in the values


def test_a_teacher_is_asked_about_every_turn_card() -> None:
    """Untrained it checks down: then the mean over turns is what checking down on the flop is worth."""
    generator = torch.Generator().manual_seed(4)
    maker = ExampleMaker(street_named("flop"), DECK, QUICK, network("turn-start"), stacks=(1.0, 1.0))
    examples = maker.make(3, generator)
    situation = examples.situation()
    flop = round_boards(DECK, DECK.random_boards(3, 3, generator))
    down = mean_over_turns(DECK, flop, situation.reach, situation.stack, network("turn-start", curves=False))
    expected = check_down(equity_matrices(flop), situation.reach)
    torch.testing.assert_close(down, expected, atol=1e-5, rtol=1e-4)


def test_canonical_flops_stand_for_all() -> None:
    """Every flop of 12 cards one by one, against the classes with their weights."""
    teacher, stack = network("flop-start"), torch.tensor([0.7, 2.0])
    preflop = round_boards(DECK, torch.zeros(1, 0, dtype=torch.int64))
    reach = class_ranges(DECK, preflop.strength[0], 2, torch.Generator().manual_seed(5))
    torch.testing.assert_close(reach.sum(2), torch.ones(2, 2))
    found = mean_over_flops(FlopTables(DECK), reach, stack, teacher)
    total = torch.zeros_like(reach)
    for board in torch.combinations(torch.arange(12), 3):
        flop = round_boards(DECK, board[None])
        rows = reach[:, :, flop.hands[0]]
        mass = rows.sum(2, keepdim=True)
        values = price(teacher, flop, equity_matrices(flop), rows / mass, stack)
        total[:, :, flop.hands[0]] += values * mass.flip(1)
    torch.testing.assert_close(found, total / comb(8, 3), atol=1e-5, rtol=1e-4)
    classes = hand_classes(DECK)
    for number in range(int(classes.max()) + 1):
        assert float(found[..., classes == number].std(-1).max()) < 1e-6


def test_games_that_share_a_board_are_solved_as_if_each_had_its_own() -> None:
    generator = torch.Generator().manual_seed(6)
    boards = round_boards(DECK, DECK.random_boards(2, 4, generator))
    reach = torch.rand(6, 2, boards.hands.shape[1], generator=generator)
    reach /= reach.sum(-1, keepdim=True)
    stack = torch.tensor([0.5, 0.5, 0.5, 3.0, 3.0, 3.0])
    teacher, equities = network("turn"), equity_matrices(boards)
    together = solve_rounds(boards, equities, reach, stack, teacher, FEW)
    for game in range(6):
        at = torch.tensor([game // 3])
        alone = solve_rounds(
            boards.take(at), equities[at], reach[game : game + 1], stack[game : game + 1], teacher, FEW
        )
        torch.testing.assert_close(together[game : game + 1], alone, atol=2e-5, rtol=1e-3)


def test_a_street_without_its_teacher_is_refused() -> None:
    for name in ("turn-start", "flop", "flop-start", "preflop"):
        with pytest.raises(SolveError, match=f"network of the street {STREETS[name].teacher}: name one"):
            ExampleMaker(street_named(name), DECK, QUICK)
    assert str(STREETS["turn-start"]) == "start of the turn" and str(STREETS["flop"]) == "end of the flop"
