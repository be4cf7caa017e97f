"""Rounds that are solved together come out as they do alone."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
import torch

from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.level_menu import LevelMenu
from aleator.learning.holdem.street_values import street_values
from aleator.search.range_gadget import RangeGadget
from aleator.search.whole_hands.batches import RangeGadgets, round_shape
from aleator.search.whole_hands.depth_limited import solve_all_to_leaves
from aleator.search.whole_hands.rounds import Constraint, RoundTask, SolvedRound, round_game
from tests.search.whole_hands.hands import BOARD, dealt, random_reach

FEW_BETS = LevelMenu.parse("100% all-in", "", "100% all-in; all-in", "")
BOARDS = (BOARD[:4], (0, 17, 30, 51), (4, 9, 22, 23))


def on_board(state: HandState, board: tuple[int, ...]) -> HandState:
    """Returns a state with another board of as many cards."""
    from dataclasses import replace

    return replace(state, board=board)


def turns(*, constrained: bool) -> list[RoundTask]:
    """Returns turns with pots, boards and reach of their own, and one shape."""
    tasks = []
    for number, (opening, board) in enumerate(zip((2_000, 2_400, 1_700), BOARDS, strict=True)):
        game = round_game(on_board(dealt(2, opening), board), FEW_BETS, random_reach(number), to_the_end=False)
        rng = np.random.default_rng(number)
        promise = Constraint(1, rng.normal(0.0, 5e5, NUM_HANDS), rng.uniform(0.2, 1.0, NUM_HANDS))
        tasks.append(RoundTask(game, promise if constrained else None, lambda weights, t=number: t + 1))  # type: ignore[misc]
    assert len({round_shape(task.game.root).shape for task in tasks}) == 1
    return tasks


def assert_same(one: SolvedRound, other: SolvedRound) -> None:
    assert list(one.policies) == list(other.policies)
    live = one.game.reach[0] > 0.0
    for number in one.policies:
        np.testing.assert_allclose(one.policies[number][:, live], other.policies[number][:, live], atol=2e-3)
        np.testing.assert_allclose(one.played[number][:, live], other.played[number][:, live], atol=2e-3)
    unit = one.game.pot * one.game.reach.sum()
    close = 2e-4  # pots, of values up to .4: layers of a network round otherwise with another number of rows
    np.testing.assert_allclose(one.root_cfvs / unit, other.root_cfvs / unit, atol=close)
    np.testing.assert_allclose(np.stack(one.after) / unit, np.stack(other.after) / unit, atol=close)


@pytest.mark.parametrize("constrained", [False, True])
def test_turns_together_are_turns_alone(constrained: bool) -> None:
    values, tasks = street_values("turn"), turns(constrained=constrained)
    together = solve_all_to_leaves(tasks, values.on(BOARDS), 4)
    for task, board, solved in zip(tasks, BOARDS, together, strict=True):
        (alone,) = solve_all_to_leaves([task], values.on([board]), 4)
        assert_same(alone, solved)
        root = solved.game.root.number
        assert np.abs(solved.played[root] - solved.policies[root]).max() > 0.05  # an iteration was drawn
    assert np.abs(together[0].root_cfvs - together[1].root_cfvs).max() > 1.0


def test_gadgets_together_are_gadgets_alone() -> None:
    rng = np.random.default_rng(0)
    constraint, dealt_hands = rng.normal(size=(3, 9)), rng.uniform(size=(3, 9))
    batch = RangeGadgets(0, torch.from_numpy(constraint), torch.from_numpy(dealt_hands))
    alone = [RangeGadget(constraint[game], dealt_hands[game], np.zeros(9)) for game in range(3)]
    for _ in range(5):
        cfvs = rng.normal(size=(3, 9))
        reach = batch.update(torch.from_numpy(cfvs)).numpy()
        for game in range(3):
            np.testing.assert_allclose(reach[game], alone[game].update(cfvs[game]), atol=1e-12)
