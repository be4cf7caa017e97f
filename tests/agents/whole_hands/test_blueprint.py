from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
from aleator.agents.whole_hands.blueprint import BlueprintAgent, Position
from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.agents.whole_hands.tree_agent import TreeAgent
from aleator.arena.whole_hands.match import HandMatch, play_hand_match
from aleator.errors import AgentError
from aleator.games.holdem.betting import CALL, FOLD, raise_to
from aleator.games.holdem.cards import blocked_hands, parse_cards, parse_hand
from aleator.games.holdem.hand_batch import HandBatch, action_code
from aleator.games.holdem.variants import load_hand_game
from aleator.storage import StorageError
from tests.abstraction.blueprint.small import GAME, small_buckets


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("blueprint")
    buckets = small_buckets()
    buckets.save(folder / "small.bin")
    trainer = BlueprintTrainer(BlueprintConfig.of(GAME, period=20_000), buckets, folder / "small.bin")
    trainer.run(deals=300_000)
    trainer.save(folder / "small.blueprint")
    return folder / "small.blueprint"


def test_it_answers_for_all_hands_as_it_was_trained(path: Path) -> None:
    agent, start = load_hand_agent(f"blueprint:{path}"), load_hand_game(GAME).setup.start()
    actions, probabilities = agent.policy_at(start)
    assert actions[:2] == (FOLD, CALL) and probabilities.shape == (3, 1326)
    np.testing.assert_allclose(probabilities.sum(axis=0), 1.0, atol=1e-9)
    assert probabilities[0, parse_hand("AsAh")] < 0.01
    np.testing.assert_allclose(probabilities[:, parse_hand("AsAh")], probabilities[:, parse_hand("AcAd")])
    flop = start.act(CALL).act(CALL).deal(parse_cards("Ah 7c 2d"))
    _, probabilities = agent.policy_at(flop)
    alive = ~blocked_hands(flop.board)
    np.testing.assert_allclose(probabilities[:, alive].sum(axis=0), 1.0, atol=1e-9)
    np.testing.assert_allclose(probabilities[:, parse_hand("AsAc")], probabilities[:, parse_hand("AsAd")], atol=1e-9)


def test_purified_it_plays_the_likeliest_action(path: Path) -> None:
    start = load_hand_game(GAME).setup.start()
    mixed = load_hand_agent(f"blueprint:{path}").policy_at(start).probabilities
    pure = load_hand_agent(f"blueprint:{path},purified").policy_at(start).probabilities
    assert set(np.unique(pure).tolist()) == {0.0, 1.0}
    np.testing.assert_array_equal(pure.argmax(axis=0), mixed.argmax(axis=0))


@pytest.mark.parametrize("opponent", ["always-call", "always-fold"])
def test_it_beats_who_does_not_think(path: Path, opponent: str) -> None:
    match = HandMatch(game=GAME, agents=(f"blueprint:{path}", opponent), hands=240, seed=3, aivat="ranges")
    score = play_hand_match(match).score()
    assert score.mbb_per_hand > 3.0 * score.ci95 / 1.96  # z = 3


def test_many_hands_are_answered_as_one_by_one(path: Path) -> None:
    agent, setup = load_hand_agent(f"blueprint:{path}"), load_hand_game(GAME).setup
    assert isinstance(agent, BlueprintAgent)
    rng = np.random.default_rng(0)
    states = []
    while len(states) < 30:
        state = setup.start()
        while not state.is_over:
            if state.cards_due:
                state = state.deal(rng.choice(52, state.cards_due, replace=False).tolist())
                continue
            states.append(state)
            legal = state.legal_actions()
            raises = [raise_to(legal.min_raise_to)] if legal.min_raise_to is not None else []
            state = state.act([CALL, *raises][rng.integers(1 + len(raises))])
    rows = np.arange(len(states))
    codes, probabilities = agent.policies_at(HandBatch.of_states(states), rows)
    compared = 0
    for row, state in enumerate(states):
        actions, alone = agent.policy_at(state)
        assert codes[row, : len(actions)].tolist() == [action_code(action) for action in actions]
        np.testing.assert_array_equal(probabilities[row, : len(actions)], alone)
        slow = TreeAgent.policy_at(agent, state)
        if slow.actions != actions:  # another agent answers for some hands, by actions of its own
            continue
        known = ~blocked_hands(state.board)
        taken = [action_code(action) for action in state.actions]
        for count, code in enumerate(taken):  # hands that the player really brings here
            node = agent.blueprint.node_after(taken[:count])
            if node is not None and node.player == state.player:
                policy = agent.blueprint.policy_at(Position(node, state.board if node.street else ()))
                known &= policy[list(agent.blueprint.steps(node.number)).index(code)] > 0.0
        np.testing.assert_allclose(alone[:, known], slow.probabilities[:, known], atol=1e-12)
        compared += int(known.sum())
    assert compared > 20_000


def test_it_refuses_other_games(path: Path) -> None:
    agent = load_hand_agent(f"blueprint:{path}")
    assert agent.policy_at(load_hand_game("flop-holdem:stack=1000").setup.start()).actions[0] == FOLD  # caps are lower
    for game in ("hulh", "nolimit-flop", "turn-endgame"):
        with pytest.raises(AgentError, match="is a blueprint of heads-up limit flop hold'em"):
            agent.policy_at(load_hand_game(game).setup.start())


def test_buckets_that_are_missing_or_others_are_named(path: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved.blueprint"
    moved.write_bytes(path.read_bytes())
    with pytest.raises(StorageError, match=r"small\.bin"):
        load_hand_agent(f"blueprint:{moved}")
    assert load_hand_agent(f"blueprint:{moved},abstraction={path.with_name('small.bin')}").name == f"blueprint:{moved}"
    small_buckets(11).save(tmp_path / "other.bin")
    with pytest.raises(AgentError, match="other buckets"):
        load_hand_agent(f"blueprint:{path},abstraction={tmp_path / 'other.bin'}")
