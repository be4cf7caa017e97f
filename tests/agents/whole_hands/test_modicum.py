"""Modicum from a small, badly trained blueprint: who plays what, off-tree bets, and how much better search plays."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from aleator.agents.whole_hands.base import HandAgent
from aleator.agents.whole_hands.blueprint import BlueprintAgent
from aleator.agents.whole_hands.modicum import ModicumAgent
from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.agents.whole_hands.search_settings import NestedSettings
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import CALL, raise_to
from aleator.games.holdem.cards import blocked_hands, parse_cards
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import load_hand_game
from aleator.search.whole_hands.menus import NESTED
from aleator.search.whole_hands.rounds import SolvedRound, nearest_of, round_decisions
from tests.abstraction.blueprint.small import whole_blueprint
from tests.search.whole_hands.test_exact import judged

START = load_hand_game("hunl").setup.start()
FLOP = START.act(raise_to(300)).act(CALL).deal(parse_cards("Ah 7c 2d"))
TURN = FLOP.act(raise_to(600)).act(CALL).deal(parse_cards("Ks"))
RIVER = TURN.act(raise_to(1_800)).act(CALL).deal(parse_cards("3s"))
QUICK = NestedSettings(flop=4, turn=20, river=100)


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> BlueprintAgent:
    return whole_blueprint(tmp_path_factory.mktemp("whole"), deals=20_000)


@pytest.fixture(scope="module")
def modicum(blueprint: BlueprintAgent) -> ModicumAgent:
    return ModicumAgent(blueprint, QUICK)


def played_in(agent: HandAgent, state: HandState, solved: SolvedRound) -> Mapping[int, FloatArray]:
    """Returns what an agent does at all decisions of a river's tree, its bets taken for the nearest of the tree."""
    root, policies = solved.game.root, {}
    for number in round_decisions(root):
        line, node = [], number
        while node != root.number:
            parent = int(root.tree.parent[node])
            line.append((parent, root.tree.children(parent).index(node)))
            node = parent
        here = state
        for parent, index in reversed(line):
            here = here.act(type(root)(root.tree, parent).actions[index])
        actions = type(root)(root.tree, number).actions
        policy = np.zeros((len(actions), 1326))
        for action, row in zip(*agent.policy_at(here), strict=True):
            policy[nearest_of(actions, action)] += row
        policies[number] = policy
    return policies


def test_the_blueprint_plays_before_the_flop(blueprint: BlueprintAgent, modicum: ModicumAgent) -> None:
    for state in (START, START.act(raise_to(300)), START.act(raise_to(777))):
        theirs, ours = blueprint.policy_at(state), modicum.policy_at(state)
        assert theirs.actions == ours.actions
        np.testing.assert_array_equal(theirs.probabilities, ours.probabilities)


def test_off_tree_bets_are_in_the_search(modicum: ModicumAgent) -> None:
    facing = FLOP.act(raise_to(321))
    actions, probabilities = modicum.policy_at(facing)
    assert actions[:2] == (facing.legal_actions().can_fold and actions[0], CALL)
    alive = ~blocked_hands(facing.board)
    np.testing.assert_allclose(probabilities[:, alive].sum(axis=0), 1.0)
    beliefs = modicum.beliefs_at(facing, 1)
    assert beliefs.solved is not None and raise_to(321) in beliefs.solved.game.root.actions
    assert beliefs.like is not None and beliefs.like.street == 1  # the blueprint's bet that is most like it
    np.testing.assert_allclose(beliefs.reach.max(axis=1), 1.0)
    assert (beliefs.reach[0, alive] < 0.9).any()


def test_a_file_of_bet_sizes_says_what_each_search_considers(blueprint: BlueprintAgent, tmp_path: Path) -> None:
    file = tmp_path / "menu.toml"
    file.write_text('turn = "75% all-in"\nriver = "150%"\n')
    solver = ModicumAgent(blueprint, NestedSettings(menu=file)).solver
    assert solver.menu(FLOP).levels[1] == NESTED.levels[1], "as usual"
    assert [size.number for size in solver.menu(TURN).levels[2][0]][:1] == [Fraction(3, 4)]
    assert solver.menu(TURN).levels[3] == NESTED.levels[3], "rivers behind a turn are as usual"
    assert [size.number for size in solver.menu(RIVER).levels[3][0]] == [Fraction(3, 2)]


def test_search_plays_a_river_far_better_than_its_blueprint(blueprint: BlueprintAgent, modicum: ModicumAgent) -> None:
    modicum.policy_at(RIVER)
    solved = modicum.beliefs_at(RIVER.act(CALL), 0).solved
    assert solved is not None and set(solved.cfvs) == set(solved.policies)
    theirs = SolvedRound(solved.game, played_in(blueprint, RIVER, solved), {}, solved.root_cfvs, solved.after)
    mass = float(solved.game.reach[0].sum() * solved.game.reach[1].sum())
    lost = [float(solved.game.reach[1] @ judged(one).root_cfvs(best=True)[1]) / mass for one in (theirs, solved)]
    assert lost[1] < lost[0] - 0.2 * solved.game.pot  # to a best response


def test_an_off_tree_bet_on_the_river_is_searched_safely(modicum: ModicumAgent) -> None:
    """The opponent gets no more by a bet that the search lacked than it was promised before."""
    before = modicum.beliefs_at(RIVER.act(CALL), 0)
    assert before.solved is not None and before.node is not None
    promised = before.solved.cfvs[before.node.number]
    facing = RIVER.act(CALL).act(raise_to(1_111))
    after = modicum.beliefs_at(facing, 0)
    assert after.solved is not None and after.solved is not before.solved and after.promised is not None
    np.testing.assert_array_equal(after.promised, promised)
    entered = after.solved.root_cfvs[1] * before.scale  # in the unit of the search before
    dealt = after.solved.game.reach[1] > 0.01
    gained = (entered - promised)[dealt] / np.abs(promised).max()
    assert gained.max() < 0.1


def test_naive_leaves_play_differently(blueprint: BlueprintAgent, modicum: ModicumAgent) -> None:
    naive = ModicumAgent(blueprint, QUICK, naive=True)
    ours, theirs = modicum.policy_at(FLOP), naive.policy_at(FLOP)
    assert ours.actions == theirs.actions
    assert np.abs(ours.probabilities - theirs.probabilities).max() > 0.2


def test_it_refuses_other_games_and_settings(modicum: ModicumAgent) -> None:
    with pytest.raises(AgentError, match="heads-up no-limit hold'em to the river only"):
        modicum.policy_at(load_hand_game("hulh").setup.start())
    with pytest.raises(AgentError, match="unknown leaves 'many'; allowed: multi-valued, naive"):
        load_hand_agent("modicum:some.blueprint,leaves=many")
    with pytest.raises(AgentError, match="flop must be"):
        NestedSettings(flop=0)
