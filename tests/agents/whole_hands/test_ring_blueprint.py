"""The agent that plays a blueprint of several players: its own tree exactly, and sense off it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction.ring.training import RingConfig, RingTrainer
from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.agents.whole_hands.ring_blueprint import RingBlueprintAgent, ring_blueprint_agent
from aleator.errors import AgentError
from aleator.games.holdem.betting import CALL, FOLD, raise_to
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import load_hand_game
from tests.abstraction.blueprint.small import small_buckets
from tests.abstraction.ring.small import table_policy
from tests.abstraction.ring.test_walk import THREE


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[RingTrainer, RingBlueprintAgent]:
    folder = tmp_path_factory.mktemp("ring")
    buckets = small_buckets()
    buckets.save(folder / "flop.bin")
    trainer = RingTrainer(
        RingConfig(menu=None, period=1000, linear_periods=2), buckets, folder / "flop.bin", game=THREE
    )
    trainer.run(deals=4000)
    trainer.save(folder / "three.blueprint")
    return trainer, ring_blueprint_agent(folder / "three.blueprint", game=THREE)


def play(*moves: object) -> HandState:
    state = THREE.setup.start()
    for move in moves:
        state = state.deal(move) if isinstance(move, list) else state.act(move)  # type: ignore[arg-type]
    return state


def test_on_its_tree_it_plays_the_policy_of_the_table(trained: tuple[RingTrainer, RingBlueprintAgent]) -> None:
    trainer, agent = trained
    policy = agent.policy_at(play())
    assert policy.actions == (FOLD, raise_to(4))  # the button does not limp
    expected = table_policy(trainer, 0)[trainer.buckets.numbers([])].T
    np.testing.assert_allclose(policy.probabilities, expected, atol=1e-6)
    flop = play(raise_to(4), FOLD, CALL, [0, 17, 34])
    decision = agent.policy.decision_at(flop)
    assert decision is not None
    assert trainer.betting.arrays.street[decision] == 1
    expected = table_policy(trainer, decision)[trainer.buckets.numbers([0, 17, 34])].T
    np.testing.assert_allclose(agent.policy_at(flop).probabilities, expected, atol=1e-6)


def test_who_calls_where_nobody_does_is_taken_for_folded(trained: tuple[RingTrainer, RingBlueprintAgent]) -> None:
    _, agent = trained
    limped, folded = play(CALL), play(FOLD)
    assert agent.policy.decision_at(limped) == agent.policy.decision_at(folded) is not None
    third = play(raise_to(4), CALL, CALL, [0, 17, 34])  # the big blind is a third player: taken for folded
    assert (
        agent.policy.decision_at(third)
        == agent.policy.decision_at(play(raise_to(4), CALL, FOLD, [0, 17, 34]))
        is not None
    )
    before = agent.unknown
    raised = play(raise_to(4), CALL, CALL, [0, 17, 34], CALL, raise_to(2), FOLD)
    assert agent.policy.decision_at(raised) is None
    assert np.allclose(agent.policy_at(raised).probabilities.sum(axis=0), 1.0)
    assert agent.unknown == before + 1


def test_random_hands_get_legal_answers(trained: tuple[RingTrainer, RingBlueprintAgent]) -> None:
    _, agent = trained
    rng = np.random.default_rng(2)
    for _ in range(150):
        state, deck = THREE.setup.start(), rng.permutation(52).tolist()
        while not state.is_over:
            if state.cards_due:
                state = state.deal([deck.pop() for _ in range(state.cards_due)])
                continue
            answer, legal = agent.policy_at(state), state.legal_actions()
            assert all(legal.allows(action) for action in answer.actions)
            np.testing.assert_allclose(answer.probabilities.sum(axis=0), 1.0, atol=1e-6)
            options = [CALL, *([FOLD] if legal.can_fold else [])]
            options += [raise_to(legal.min_raise_to)] if legal.min_raise_to is not None else []
            state = state.act(options[rng.integers(len(options))])
    assert agent.known > 100


def test_other_games_and_files_are_refused(trained: tuple[RingTrainer, RingBlueprintAgent]) -> None:
    _, agent = trained
    with pytest.raises(AgentError, match="plays only"):
        agent.policy_at(load_hand_game("ring:6").setup.start())
    path = Path(agent.name.removeprefix("blueprint:"))
    with pytest.raises(AgentError, match="leave out translation="):
        load_hand_agent(f"blueprint:{path},translation=linear")
