"""Libratus from a small, badly trained blueprint: where it searches, what it promises, and how much safer it plays."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.agents.whole_hands.blueprint import BlueprintAgent
from aleator.agents.whole_hands.libratus import MOST_VARIED, LibratusAgent, varied
from aleator.agents.whole_hands.search_settings import NestedSettings
from aleator.games.holdem.betting import CALL, raise_to
from aleator.games.holdem.cards import blocked_hands, parse_cards
from aleator.games.holdem.variants import load_hand_game
from aleator.search.whole_hands.exact import spot_of
from aleator.search.whole_hands.menus import NESTED
from aleator.search.whole_hands.rounds import SolvedRound
from aleator.solvers.holdem.solver import HoldemSolver
from tests.abstraction.blueprint.small import whole_blueprint
from tests.agents.whole_hands.test_modicum import played_in

START = load_hand_game("hunl").setup.start()
FLOP = START.act(raise_to(300)).act(CALL).deal(parse_cards("Ah 7c 2d"))
TURN = FLOP.act(raise_to(600)).act(CALL).deal(parse_cards("Ks"))
RIVER = TURN.act(raise_to(1_800)).act(CALL).deal(parse_cards("3s"))


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> BlueprintAgent:
    return whole_blueprint(tmp_path_factory.mktemp("whole"), deals=20_000)


@pytest.fixture(scope="module")
def libratus(blueprint: BlueprintAgent) -> LibratusAgent:
    return LibratusAgent(blueprint, NestedSettings(turn=30, river=100))


def test_the_blueprint_plays_before_the_turn(blueprint: BlueprintAgent, libratus: LibratusAgent) -> None:
    for state in (START, FLOP, FLOP.act(raise_to(555))):
        theirs, ours = blueprint.policy_at(state), libratus.policy_at(state)
        assert theirs.actions == ours.actions
        np.testing.assert_array_equal(theirs.probabilities, ours.probabilities)


def worst(solved: SolvedRound, player: int) -> float:
    """Returns what a best response to a player's turn wins, in chips per hand, if its rivers are solved exactly."""
    solver = HoldemSolver(spot_of(solved.game), isomorphism=False)
    for number, policy in solved.policies.items():
        if solved.game.root.tree.player[number] == player:
            slot = int(solver.plan.slot[number])
            rows = solver.plan.rows(player, solver.plan.boards[0][0])
            block = np.zeros(solver.engine.decision_rows(0, 0, slot)[1], np.float32)
            block[:, : len(rows)] = policy[:, rows]
            solver.lock(0, 0, slot, block)
    solver.run(25)
    reach = solved.game.reach
    cfvs = solver.root_cfvs(best=True)[1 - player]
    return float(reach[1 - player] @ cfvs) / float(reach[0].sum() * reach[1].sum())


def test_a_searched_turn_loses_less_to_a_best_response_than_the_blueprints(
    blueprint: BlueprintAgent, libratus: LibratusAgent
) -> None:
    beliefs = libratus.beliefs_at(TURN.act(CALL), 0)
    solved = beliefs.solved
    assert solved is not None and beliefs.promised is not None
    theirs = SolvedRound(solved.game, played_in(blueprint, TURN, solved), {}, solved.root_cfvs, solved.after)
    ours, before = worst(solved, 0), worst(theirs, 0)
    assert ours < before - 0.05 * solved.game.pot


def test_the_first_search_promises_what_the_blueprint_gives(libratus: LibratusAgent) -> None:
    beliefs = libratus.beliefs_at(TURN, 0)
    assert beliefs.like is not None and beliefs.like.street == 2 and sum(beliefs.like.chips) == TURN.betting.pot
    assert beliefs.promised is not None and not beliefs.promised[blocked_hands(TURN.board)].any()
    expected = libratus.values.cfvs(beliefs.like.number, TURN.board, beliefs.reach)[1]
    np.testing.assert_allclose(beliefs.promised, expected)
    assert np.abs(expected).max() > 1.0


def test_the_river_is_promised_what_the_turns_search_gave(libratus: LibratusAgent) -> None:
    """The opponent's hands get on the searched river about what they had there in the turn's search."""
    river = libratus.beliefs_at(RIVER.act(CALL), 0)
    start = libratus.beliefs_at(RIVER, 0)
    assert river.solved is not None and start.promised is not None and start.solved is None
    most = start.reach[0, ~blocked_hands(RIVER.board)].max()
    entered = river.solved.root_cfvs[1] * most * start.scale  # in the unit of the turn's search
    likely = river.solved.game.reach[1] > 0.05
    scale = np.abs(start.promised[likely]).max()
    assert scale > 0.0 and likely.sum() > 50
    assert np.mean(np.abs(entered - start.promised)[likely]) < 0.1 * scale
    assert ((entered - start.promised)[likely] / scale).max() < 0.2


def test_bet_sizes_vary_from_hand_to_hand_and_stay_within_one() -> None:
    sizes = [str(size) for size in varied(NESTED, MOST_VARIED).levels[2][0]]
    assert sizes == ["54%", "108%", "all-in"]
    assert varied(NESTED, 0) == NESTED


def test_all_searches_of_a_hand_have_its_sizes(libratus: LibratusAgent) -> None:
    other = FLOP.act(raise_to(600)).act(CALL).deal(parse_cards("Qd"))
    menus = [libratus.solver.menu(state) for state in (TURN, TURN.act(CALL), other)]
    assert menus[0] == menus[1] != menus[2]
    amounts = [action.amount for action in libratus.policy_at(TURN.act(CALL)).actions[1:-1]]
    half = menus[0].levels[2][0][0].number
    assert amounts[0] == round(half * TURN.betting.pot)
