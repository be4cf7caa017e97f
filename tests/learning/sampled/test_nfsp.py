"""NFSP learns, and it resumes bit by bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.learning.run_files import RunPace
from aleator.learning.sampled.methods import METHODS
from aleator.learning.sampled.nfsp import NFSP, NfspConfig
from aleator.learning.sampled.run import SampledRun, train_sampled
from aleator.learning.sampled.self_play import Played
from aleator.solvers.best_response import best_response_value, exploitability
from aleator.trees import build_tree
from aleator.trees.policy import uniform_policy

KUHN = NfspConfig(game="kuhn", iterations=110, games=250, window=5000, recent=1.0, width=32, steps=10, policy_steps=6)
TINY = NfspConfig(
    game="leduc", iterations=4, games=50, window=300, recent=1.0, memory=60, width=8, steps=3, policy_steps=3
)


@pytest.mark.slow
def test_it_learns() -> None:
    """Kuhn, seed 0, 27,500 games: 4 times better than the uniform policy (0.458), and still far from Deep CFR."""
    trainer = NFSP(KUHN)
    while not trainer.done:
        trainer.run_epoch()
    uniform = exploitability(uniform_policy(build_tree(load_game("kuhn"))))
    assert exploitability(trainer.average_policy()) < uniform / 4


@pytest.mark.parametrize("batch", [0, 2000])
def test_q_becomes_the_value_of_a_best_response(batch: int) -> None:
    """Where everybody plays uniformly, the highest Q at the root is the value of a best response to that."""
    trainer = NFSP(replace(KUHN, games=4000, window=40_000, exploration=1.0, anticipatory=0.5, steps=60, batch=batch))
    with torch.no_grad():
        for parameter in trainer.average.output.parameters():
            parameter.zero_()  # logits of 0: the uniform policy
    for number in range(6):
        fresh = trainer._play().transitions
        trainer.epoch = 0  # exploration stays 1: everybody plays uniformly in either mode
        trainer.window.add(fresh, number)
        trainer._fit_values()
    with torch.no_grad():
        root = trainer._action_values(trainer.values, torch.arange(3)).max(dim=1).values * trainer.play.bound()
    uniform = uniform_policy(build_tree(trainer.game))
    assert float(root.mean()) == pytest.approx(best_response_value(uniform, 0), abs=0.08)


def test_a_resumed_run_is_equal_bit_by_bit(tmp_path: Path) -> None:
    contents = []
    for name, parts in (("straight", 1), ("parts", 4)):
        run = SampledRun(tmp_path / name, METHODS["nfsp"])
        run.create(NFSP(TINY))
        for _ in range(parts):
            trainer = NFSP(TINY)
            run.restore(trainer)
            train_sampled(trainer, run, RunPace(evaluate_epochs=2), stopped=lambda: parts > 1)  # noqa: B023
        lines = [{k: v for k, v in line.items() if "second" not in k} for line in run.metrics()]
        contents.append((lines, trainer.tensors()))
    assert contents[0][0] == contents[1][0] and len(contents[0][0]) == 4
    assert all(torch.equal(value, contents[1][1][name]) for name, value in contents[0][1].items())


def test_the_window_grows_with_the_run() -> None:
    """At least five epochs of transitions, then a share of all, at most as many as the window holds."""
    sizes = []
    trainer = NFSP(replace(TINY, iterations=40, games=20, window=900, recent=0.4, steps=1, policy_steps=1))
    while not trainer.done:
        before = trainer.window.added
        trainer.run_epoch()
        fresh, kept = trainer.window.added - before, trainer.window.count
        sizes.append(kept)
        assert kept <= min(900, max(int(0.4 * trainer.window.added), 5 * fresh))
    assert sizes[0] < sizes[20] < sizes[-1] and sizes[-1] > 900 - 2 * fresh, "whole epochs are forgotten"


@pytest.mark.parametrize("linear", [True, False])
def test_later_best_actions_count_more_if_asked_for(linear: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer, played = NFSP(replace(TINY, linear=linear, memory=10_000, anticipatory=0.5)), []
    play = trainer._play

    def keep() -> Played:
        played.append(play())
        return played[-1]

    monkeypatch.setattr(trainer, "_play", keep)
    while not trainer.done:
        trainer.run_epoch()
    wanted = [(epoch if linear else 1) * float(found.best.weights.sum()) for epoch, found in enumerate(played, 1)]
    assert float(trainer.reservoir.weights[: trainer.reservoir.count].sum()) == pytest.approx(sum(wanted))


def test_flop_holdem_needs_batches() -> None:
    with pytest.raises(SolveError, match="flop-holdem has too many infostates for batch=0"):
        NFSP(NfspConfig(game="flop-holdem", memory=10, window=10))


def test_impossible_settings_are_named() -> None:
    with pytest.raises(SolveError, match="anticipatory must be between 0 and 1, not 2"):
        METHODS["nfsp"].settings({"anticipatory": 2.0})
    with pytest.raises(SolveError, match="games must be at least 1, not 0"):
        METHODS["nfsp"].settings({"games": 0})
