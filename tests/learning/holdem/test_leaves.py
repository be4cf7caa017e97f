"""Turn boards, equities and networks at leaves against enumerating the river."""

from __future__ import annotations

import torch

from aleator.learning.holdem.examples import Labelling, ranges_on, turn_examples, turn_values
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.leaves import NetworkLeaves, round_engine
from aleator.learning.holdem.network import NetworkShape
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.plain import leaf_pots
from aleator.solvers.engines.batched_holdem.rounds import RoundBoards, equity_matrices, round_boards
from aleator.solvers.engines.batched_holdem.shapes import PotMenu

DECK = Deck(range(38, 52))  # 10 live cards on the turn, 45 hands
SHAPE = NetworkShape(street="turn", width=16, layers=2, knots=8, levels=3, bands=3, band_knots=4)


def turns(count: int) -> tuple[RoundBoards, torch.Tensor, torch.Generator]:
    generator = torch.Generator().manual_seed(7)
    turn = round_boards(DECK, DECK.random_boards(count, 4, generator))
    return turn, ranges_on(turn, generator), generator


def equity(turn: RoundBoards, board: int, one: int, two: int) -> float:
    """Returns the mean over river cards free of both hands of a win (1), a loss (-1) or a tie."""
    wins = [
        torch.sign(river[one] - river[two]).item()
        for river in turn.runouts[board]
        if river[one] >= 0 and river[two] >= 0
    ]
    return sum(wins) / len(wins)


def test_equities_enumerate_the_river() -> None:
    turn, reach, generator = turns(2)
    matrices = equity_matrices(turn)
    pairs = torch.tril_indices(10, 10, -1).T.tolist()
    for one in range(0, 45, 4):
        for two in range(0, 45, 3):
            expected = 0.0 if set(pairs[one]) & set(pairs[two]) else equity(turn, 1, one, two)
            assert abs(float(matrices[1, one, two]) - expected) < 1e-6
    torch.testing.assert_close(matrices, -matrices.mT)
    once = Labelling(iterations=1, deep_iterations=1)
    _, checked = turn_values(DECK, turn, reach, torch.ones(2), once, generator)
    torch.testing.assert_close(checked, 0.5 * reach.flip(1) @ matrices.mT, atol=1e-6, rtol=1e-4)


def test_strength_and_spread_are_over_rivers() -> None:
    turn, _, _ = turns(1)
    hand = 17
    parts = []
    for river in turn.runouts[0]:
        if river[hand] >= 0:
            live = river[river >= 0]
            parts.append(float((live < river[hand]).float().mean() + (live <= river[hand]).float().mean()) / 2)
    sample = torch.tensor(parts)
    assert len(parts) == 8
    assert abs(float(turn.strength[0, hand] - sample.mean())) < 1e-6
    assert abs(float(turn.spread[0, hand] - sample.std(correction=0))) < 1e-6


def test_examples_of_solved_turns_are_zero_sum() -> None:
    examples = turn_examples(
        DECK, 3, Labelling(menu=PotMenu(most=0), iterations=30, deep_iterations=30), torch.Generator().manual_seed(1)
    )
    reach = examples.situation().reach
    gap = (reach * examples.values()).sum((1, 2)).abs()
    assert float(gap.max()) < 0.02 * float(examples.values().abs().max())  # averages of 30 iterations
    assert examples.spread.shape == (3, 45) and float(examples.spread.max()) <= 0.5


def test_all_in_leaves_are_exact_and_others_ask_the_network() -> None:
    turn, reach, _ = turns(2)
    network = KnotNetwork(SHAPE, 10, torch.Generator().manual_seed(0))
    torch.nn.init.constant_(network.curve.bias, 0.3)
    with torch.no_grad():
        network.curve.bias[: network.grid] = -0.2  # not the same for both players
    betting = PotMenu(most=1, to_showdown=False).betting(3.0)
    stakes = torch.tensor(betting.stakes([3.0, 2.0]), dtype=torch.float32)
    pots, stacks = leaf_pots(betting.shape, stakes, torch.tensor([3.0, 2.0]))
    matrices = equity_matrices(turn)
    rows = torch.stack([reach * (0.2 + 0.1 * leaf) for leaf in range(len(betting.shape.leaves))], 1)
    found = NetworkLeaves(network, turn, matrices, pots, stacks)(rows)
    for leaf in range(rows.shape[1]):
        down = 0.5 * pots[:, leaf, None, None] * (rows[:, leaf].flip(1) @ matrices.mT)
        same = torch.allclose(found[:, leaf], down, atol=1e-6)
        assert same == (float(stacks[0, leaf]) < 1e-6)
        balance = (reach * found[:, leaf]).sum((1, 2))
        assert float(balance.abs().max()) < 1e-5


def test_turns_are_solved_with_a_network_at_their_leaves() -> None:
    """An untrained network checks the river down: then nobody gains by a best response in the round alone."""
    turn, reach, _ = turns(2)
    network = KnotNetwork(SHAPE, 10, torch.Generator().manual_seed(0))
    betting = PotMenu(to_showdown=False).betting(3.0)
    engine = round_engine(
        network, turn, betting, torch.tensor([3.0, 2.0]), reach, parse_rule("sharp-dcfr+/simultaneous"), averages=True
    )
    before = engine.exploitability(engine.current_policies())
    engine.run(150)
    after = engine.exploitability(engine.average_policies())
    assert bool((after < before / 10).all())
    assert float((reach * engine.values()).sum((1, 2)).abs().max()) < 1e-5
