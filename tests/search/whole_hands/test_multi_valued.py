"""Multi-valued leaves: the shape with choices, equal choices change nothing, and a real choice costs the searcher."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
import torch

from aleator.abstraction.blueprint.values import CONTINUATIONS, BlueprintValues
from aleator.games.holdem.betting_tree import BettingNode, NodeKind
from aleator.games.holdem.cards import blocked_hands
from aleator.games.holdem.level_menu import LevelMenu
from aleator.search.whole_hands.batches import round_shape
from aleator.search.whole_hands.multi_valued import (
    MultiValuedRound,
    equity_matrix,
    matching_leaves,
    solve_multi_valued,
    with_choices,
)
from aleator.search.whole_hands.rounds import RoundGame, RoundTask, SolvedRound, round_game
from aleator.solvers.engines.batched_holdem.shapes import DECISION, LEAF
from tests.abstraction.blueprint.small import whole_blueprint
from tests.search.whole_hands.hands import dealt, random_reach

MENU = LevelMenu.parse("100%", "100%", "100%; all-in", "100%")
SIZE = 1128  # hands on a turn
CARDS = 44  # that come after a turn and two hands


class MadeUp(NamedTuple):
    """Stands in for the values of a blueprint: some matrix over pairs of hands for each continuation, in pots of the
    leaf. A hand's number is its place after the first of the next cards, and after all others it is out."""

    real: BlueprintValues
    matrices: npt.NDArray[np.float32]

    @property
    def policy(self) -> object:
        """Only its stack is asked for."""
        return self.real.policy

    def of_node(self, number: int, chooser: int | None) -> npt.NDArray[np.float32]:
        """Returns the matrices times what each has put in, and times the cards that two hands leave."""
        chips = float(min(BettingNode(self.real.tree, number).chips))
        return CARDS * chips * (self.matrices[:1] if chooser is None else self.matrices)


class Spot(NamedTuple):
    """A turn, and what its leaves are valued by."""

    game: RoundGame
    leaves: MultiValuedRound
    equities: npt.NDArray[np.float32]

    def solve(self, matrices: npt.NDArray[np.float32], chooser: int | None, iterations: int = 40) -> SolvedRound:
        """Returns the turn with these matrices at its leaves, solved."""
        values = MadeUp(self.leaves.values, matrices)
        numbers = np.full_like(self.leaves.board.numbers, -1)
        numbers[0] = np.arange(SIZE)
        leaves = self.leaves._replace(
            values=values,  # type: ignore[arg-type]
            board=self.leaves.board._replace(numbers=numbers),
            chooser=chooser,
        )
        return solve_multi_valued(RoundTask(self.game), leaves, iterations)


@pytest.fixture(scope="module")
def spot(tmp_path_factory: pytest.TempPathFactory) -> Spot:
    agent = whole_blueprint(tmp_path_factory.mktemp("whole"), deals=20_000)
    values = BlueprintValues(agent.blueprint.policy, deals=100_000)
    state = dealt(2, 4_000)
    game = round_game(state, MENU, random_reach(3), to_the_end=False)
    tree = values.tree
    node = next(n for n in range(tree.num_nodes) if tree.street[n] == 2 and tree.kind[n] == NodeKind.DECISION)
    numbers = values.board_numbers(state.board)
    equities = equity_matrix(state.board, numbers.hands)
    return Spot(game, MultiValuedRound(values, BettingNode(tree, node), numbers, equities, 1), equities.numpy())


def test_choices_stand_where_leaves_stood(spot: Spot) -> None:
    shape = round_shape(spot.game.root).shape
    counts = {leaf: 1 + number % 3 for number, leaf in enumerate(shape.leaves)}
    made = with_choices(shape, 1, counts)
    assert sorted(made.leaves) == [(leaf, choice) for leaf in shape.leaves for choice in range(counts[leaf])]
    assert len(made.shape.leaves) == len(made.leaves) == sum(counts.values())
    for place, leaf in zip(made.shape.leaves, made.leaves, strict=True):
        parent = made.shape.parent[place]
        if counts[leaf[0]] > 1:
            assert (made.shape.kind[parent], made.shape.player[parent]) == (DECISION, 1)
            assert list(made.shape.children[parent]).index(place) == leaf[1]
            assert made.numbers[leaf[0]] == parent
        assert made.shape.stake[place] == shape.stake[leaf[0]]
    for node, kind in enumerate(shape.kind):
        if kind != LEAF:
            assert made.shape.kind[made.numbers[node]] == kind
            assert [made.numbers[child] for child in shape.children[node]] == list(
                made.shape.children[made.numbers[node]]
            )


def test_leaves_are_matched_with_streets_of_the_blueprint(spot: Spot) -> None:
    tree, most = spot.game.root.tree, spot.leaves.values.policy.betting.stack
    matched = matching_leaves(spot.game, spot.leaves.node, most)
    assert sorted(matched) == [n for n in range(tree.num_nodes) if tree.kind[n] == NodeKind.NEXT_STREET]
    for leaf, node in matched.items():
        if tree.chips[leaf].min() >= spot.game.stack:
            assert node is None
        else:
            assert node is not None and (node.kind, node.street) == (NodeKind.DECISION, 3)
    checked, bet = (node for node in list(matched.values())[:2] if node is not None)
    assert min(bet.chips) == 3 * min(checked.chips)  # a pot was bet and called, in the blueprint, too
    assert set(matching_leaves(spot.game, None, most).values()) == {None}


def test_equal_choices_are_no_choice_and_checking_down_is_the_equity(spot: Spot) -> None:
    same = np.repeat(spot.equities[None], len(CONTINUATIONS), axis=0)
    chosen, naive = spot.solve(same, 1), spot.solve(same, None)
    np.testing.assert_allclose(chosen.root_cfvs, naive.root_cfvs, rtol=0.02, atol=0.02 * np.abs(naive.root_cfvs).max())
    everywhere = matching_leaves(spot.game, None, 0)  # every leaf is checked down
    assert everywhere
    shut = solve_multi_valued(RoundTask(spot.game), spot.leaves._replace(node=None, chooser=None), 40)
    np.testing.assert_allclose(naive.root_cfvs, shut.root_cfvs, rtol=1e-3, atol=1e-3 * np.abs(shut.root_cfvs).max())


@pytest.mark.parametrize("chooser", [0, 1])
def test_who_may_choose_gains(spot: Spot, chooser: int) -> None:
    """Three other ways to go on that are better for some hands: worth more to who chooses, and played differently."""
    rng, alive = np.random.default_rng(5), ~spot.leaves.board.blocked
    better = np.zeros((len(CONTINUATIONS), SIZE, SIZE), np.float32)
    for option in (1, 2, 3):
        gains = rng.uniform(-1.0, 1.0, SIZE).astype(np.float32)  # to each hand of who chooses
        better[option] = gains[:, None] if chooser == 0 else -gains[None]
    matrices = (spot.equities[None] + better) * alive
    chosen, naive = spot.solve(matrices, chooser), spot.solve(matrices, None)
    mass = float(spot.game.reach[0] @ np.where(blocked_hands(spot.game.board), 0.0, 1.0))
    values = [float(solved.game.reach[chooser] @ solved.root_cfvs[chooser]) for solved in (chosen, naive)]
    assert values[0] > values[1] + 0.1 * mass * spot.game.pot
    root = spot.game.root.number
    assert np.abs(chosen.policies[root] - naive.policies[root]).max() > 0.1


def test_seconds_end_a_search(spot: Spot) -> None:
    once, ended = (
        solve_multi_valued(
            RoundTask(spot.game), spot.leaves._replace(chooser=None), 10**6 if seconds else 1, seconds=seconds
        )
        for seconds in (None, 1e-9)
    )
    torch.testing.assert_close(torch.from_numpy(once.root_cfvs), torch.from_numpy(ended.root_cfvs))
