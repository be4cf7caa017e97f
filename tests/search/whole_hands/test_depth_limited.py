"""Rounds that end in leaves: against the exact engine where leaves are known, and the drawing of iterations."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
import torch

from aleator.games.holdem.betting import CALL
from aleator.games.holdem.cards import NUM_HANDS, without_common_cards
from aleator.games.holdem.level_menu import LevelMenu
from aleator.games.holdem.variants import HUNL
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.network import NetworkShape
from aleator.learning.holdem.preflop_leaves import ClassLeaves
from aleator.learning.holdem.street_values import BoardLeaves, board_rows
from aleator.search.whole_hands.batches import iteration_weights
from aleator.search.whole_hands.depth_limited import solve_to_leaves
from aleator.search.whole_hands.exact import solve_exactly
from aleator.search.whole_hands.menus import MENU
from aleator.search.whole_hands.rounds import Constraint, SolvedRound, round_decisions, round_game
from aleator.solvers.engines.batched_holdem.deck import Deck
from tests.search.whole_hands.hands import BOARD, dealt, random_reach
from tests.search.whole_hands.test_exact import judged

NO_RIVER_BETS = LevelMenu.parse("", "", "100% all-in; all-in", "")


@pytest.fixture(scope="module")
def checked_turn() -> BoardLeaves:
    """Leaves of an untrained network: checking down."""
    network = KnotNetwork(NetworkShape(street="turn", width=8, layers=1, knots=8, levels=2), 48)
    return BoardLeaves(network, board_rows(Deck(), [BOARD[:4]]))


def test_a_turn_with_check_down_leaves_equals_the_exact_turn_without_river_bets(checked_turn: BoardLeaves) -> None:
    state, reach = dealt(2), random_reach(0)
    whole = round_game(state, NO_RIVER_BETS, reach, to_the_end=True)
    exact = solve_exactly(whole, 100)
    game = round_game(state, NO_RIVER_BETS, reach, to_the_end=False)
    cut = solve_to_leaves(game, checked_turn, 60)
    deals = game.pot * float(game.reach[0] @ without_common_cards(game.reach[1]))
    for player in (0, 1):
        values = [float(game.reach[player] @ solved.root_cfvs[player]) / deals for solved in (exact, cut)]
        assert values[0] == pytest.approx(values[1], abs=0.002)
    np.testing.assert_allclose(sum(cut.after), cut.root_cfvs[1], atol=2.0)  # of millions
    numbers = dict(zip(round_decisions(game.root), round_decisions(whole.root), strict=True))
    policies = {numbers[number]: policy for number, policy in cut.policies.items()}
    assert judged(SolvedRound(whole, policies, policies, cut.root_cfvs, ())).exploitability() / game.pot < 0.005


def test_a_promise_that_nobody_takes_lets_all_hands_enter(checked_turn: BoardLeaves) -> None:
    """A constraint below every value: the solve is worth what one is with all hands of the opponent dealt alike."""
    state, reach = dealt(2), random_reach(1)
    game = round_game(state, NO_RIVER_BETS, reach, to_the_end=False)
    everybody = np.ones(NUM_HANDS)
    alike = round_game(state, NO_RIVER_BETS, np.stack([reach[0], everybody]), to_the_end=False)
    plain = solve_to_leaves(alike, checked_turn, 80).root_cfvs[1].sum()
    entered, stayed = (
        solve_to_leaves(game, checked_turn, 80, constraint=Constraint(1, np.full(NUM_HANDS, cfv), everybody))
        for cfv in (-1e9, 1e9)
    )
    unit = game.pot * game.reach[0].sum() * (alike.reach[1] > 0).sum()
    assert entered.root_cfvs[1].sum() / unit == pytest.approx(plain / unit, abs=0.004)
    assert abs(stayed.root_cfvs[1].sum() - plain) / unit > 0.02


def test_drawn_iterations_mean_the_average_policy(checked_turn: BoardLeaves) -> None:
    game, count = round_game(dealt(2), NO_RIVER_BETS, random_reach(2), to_the_end=False), 5
    weights = iteration_weights(count)
    assert weights.sum() == pytest.approx(1.0) and (np.diff(weights) > 0).all()
    drawn = [solve_to_leaves(game, checked_turn, count, draw=lambda given, t=t: t) for t in range(count)]  # type: ignore[misc]
    mean = sum(weight * solved.played[0] for weight, solved in zip(weights, drawn, strict=True))
    live = game.reach[0] > 0.0
    np.testing.assert_allclose(mean[:, live], drawn[0].policies[0][:, live], atol=1e-5)
    reply = game.root.children[1].number  # of the other player, whose reach is the same in all iterations here
    mean = sum(weight * solved.played[reply] for weight, solved in zip(weights, drawn, strict=True))
    np.testing.assert_allclose(mean[:, live], drawn[0].policies[reply][:, live], atol=1e-5)
    assert np.abs(drawn[0].played[0] - drawn[-1].played[0]).max() > 0.1


def test_classes_before_the_flop_equal_single_hands() -> None:
    """169 classes with reach alike within each, against 1,326 hands pair by pair."""
    from aleator.games.holdem.cards import HAND_CLASSES, HANDS
    from aleator.games.holdem.equity import preflop_equities

    leaves = ClassLeaves(None, torch.device("cpu"))
    reach = np.random.default_rng(0).uniform(0.0, 1.0, (2, 169))
    rows = torch.from_numpy(reach).float()[None, None]
    cfvs = leaves.leaves(np.array([[200.0]]), np.array([[0.0]]))(rows)[0, 0].numpy()
    apart = ~(HANDS[:, None, :, None] == HANDS[None, :, None, :]).any(axis=(2, 3))
    for player in (0, 1):
        opponent = reach[1 - player][HAND_CLASSES]
        single = ((preflop_equities() - 0.5) * apart) @ opponent * 200.0
        np.testing.assert_allclose(cfvs[player][HAND_CLASSES], single, rtol=1e-4, atol=0.05)
        met = leaves.payoffs.compatible(torch.from_numpy(reach[1 - player]).float()[None, None])[0, 0].numpy()
        np.testing.assert_allclose(met[HAND_CLASSES], apart @ opponent, rtol=1e-4)


def test_preflop_raises_good_hands_and_folds_bad_ones_to_an_all_in() -> None:
    state = HUNL.setup.start().act(CALL)
    game = round_game(state, MENU, np.ones((2, NUM_HANDS)), to_the_end=False)
    solved = solve_to_leaves(game, ClassLeaves(None, torch.device("cpu")), 40)
    shove = game.root.children[-1]
    folds = solved.policies[shove.number][0]
    assert folds[NUM_HANDS - 1] < 0.05  # AsAh
    assert folds[:300].mean() > 0.9  # small cards
