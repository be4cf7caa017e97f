"""ReBeL in games of perfect information: one search iteration, exact evaluation position by position."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from aleator.agents.rebel import RebelAgent
from aleator.errors import SolveError
from aleator.games import load_game
from aleator.games.table import PublicHistory
from aleator.learning.rebel.config import RebelConfig, preset
from aleator.learning.rebel.model import Model
from aleator.learning.rebel.run import Pace, train
from aleator.learning.rebel.training import Trainer
from aleator.solvers.best_response import nash_conv
from aleator.solvers.minimax import position_values
from aleator.trees import build_tree
from aleator.trees.policy import uniform_policy
from tests.games import subtraction

GAME = f"python:{subtraction.__file__}:Subtraction"


def trainer(**changes: Any) -> Trainer:
    """Returns a short run on the subtraction game."""
    settings = {"game": GAME, "searches": 2048, "games": 64, "width": 32, "batch": 64, "replay": 1024, **changes}
    return Trainer(preset("perfect-information", **settings), load_game(settings["game"]))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_exploitability_is_that_in_the_tree_of_histories(depth: int) -> None:
    run = trainer(depth=depth)
    found, tree = run.searched_positions(), build_tree(run.game)
    policy = uniform_policy(tree)
    for node in np.flatnonzero(tree.actor >= 0):
        moment = tree.states[node], int(tree.depth[node]) % depth
        policy[int(node)][:, 0] = found.policy[moment]
    assert found.exploitability() == pytest.approx(nash_conv(policy) / 2, abs=1e-12)
    assert found.exploitability() == pytest.approx(run.play(playthroughs=16).exploitability)
    assert found.met() <= set(found.policy) and found.game.root() in found.met()


def test_training_learns_to_play_perfectly() -> None:
    run = trainer()
    untrained = run.searched_positions()
    assert untrained.worst(0) == -1.0  # the first player could win, and does not
    moment = train(run, None, Pace())
    assert moment is not None and moment.exploitability == pytest.approx(0.0, abs=1e-12) and moment.error == 0.0
    found, exact = run.searched_positions(), position_values(run.game)
    assert (found.worst(0), found.worst(1)) == (1.0, -1.0)
    wrong = [np.mean([abs(entry.values[at] - exact[at[0]]) for at in entry.met()]) for entry in (untrained, found)]
    assert wrong[1] < 0.1 * wrong[0]


def test_the_agent_plays_what_was_evaluated(tmp_path: Path) -> None:
    run = trainer(searches=256)
    list(run.run())
    Model(run.config, run.searcher).save(tmp_path / "network.safetensors")
    agent, found = RebelAgent(run.game, tmp_path / "network.safetensors", iterations=512), run.searched_positions()
    state, events = run.game.root(), []
    agent.begin(0, np.random.default_rng(0))
    for event in (1, 2, 0, 1):
        history = PublicHistory(run.game.actor(state), state, tuple(events))
        expected = found.policy[state, len(events) % 2]
        np.testing.assert_allclose(agent.policy_at(history)[:, 0], expected, atol=1e-6)
        events.append(event)
        state = run.game.child(state, event)


def test_hidden_information_and_more_updates_are_refused() -> None:
    with pytest.raises(SolveError, match="perfect information, in which each player has one hand; kuhn has 3"):
        trainer(game="kuhn")
    with pytest.raises(SolveError, match="minimax solves a subgame in 1 update, not 64"):
        RebelConfig(search="minimax", updates=64)


@pytest.mark.slow
def test_tic_tac_toe_is_never_lost() -> None:
    pytest.importorskip("pyspiel")
    run = Trainer(preset("perfect-information", game="openspiel:tic_tac_toe"))
    untrained = run.searched_positions()
    assert untrained.worst(0) == untrained.worst(1) == -1.0
    list(run.run())
    found = run.searched_positions()
    assert (found.worst(0), found.worst(1)) == (0.0, 0.0)
    assert found.exploitability() == pytest.approx(0.0, abs=1e-12)
