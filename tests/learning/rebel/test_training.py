"""Training: it learns what can be computed exactly, repeats itself, and follows its schedules."""

from __future__ import annotations

import pytest
import torch

from aleator.errors import SolveError
from aleator.learning.rebel import estimate as estimate_module
from aleator.learning.rebel.estimate import estimate
from aleator.learning.rebel.learner import huber_loss
from aleator.learning.rebel.replay import Replay
from aleator.learning.rebel.training import Trainer
from tests.learning.runs import tiny


def test_loss_is_twice_the_mean_huber_loss_of_the_hands_that_exist() -> None:
    values, targets = torch.tensor([[0.5, 3.0], [9.0, 0.0]]), torch.tensor([[0.0, 1.0], [0.0, 1.0]])
    mask = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
    # 0.5^2 / 2 inside, 2 - 1/2 outside, and 1/2 at the bend
    assert float(huber_loss(values, targets, mask)) == pytest.approx(2 * (0.125 + 1.5 + 0.5) / 3)


def test_the_same_seed_gives_the_same_run() -> None:
    first, second, other = (Trainer(tiny(seed=seed)) for seed in (1, 1, 2))
    losses = [[metrics.loss for metrics in trainer.run()] for trainer in (first, second, other)]
    assert losses[0] == losses[1] != losses[2]
    for name, value in first.network.state_dict().items():
        assert torch.equal(value, second.network.state_dict()[name])


def test_counts_and_schedules() -> None:
    config = tiny(halvings=(0.5, 0.75), learning_rate=0.01, draws=2.0)
    trainer = Trainer(config)
    metrics = list(trainer.run())
    assert [line.epoch for line in metrics] == list(range(1, 13)) and trainer.done
    assert metrics[-1].searches == 96 and metrics[-1].examples == 192
    # 16 examples an epoch, each drawn twice, in batches of 16; those of the last epoch are not trained on any more
    assert metrics[-1].steps == 11 * 2
    assert [line.learning_rate for line in metrics] == [0.01] * 5 + [0.005] * 3 + [0.0025] * 4
    assert metrics[0].loss is None and all(line.loss is not None for line in metrics[1:])


def test_half_of_the_first_examples_are_dropped_once(monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[tuple[float, int]] = []
    monkeypatch.setattr(Replay, "drop", lambda replay, share: dropped.append((share, replay.added)))
    for warm_up, expected in ((0.25, [(0.5, 3 * 16)]), (0.0, [])):
        dropped.clear()
        list(Trainer(tiny(warm_up=warm_up)).run())
        assert dropped == expected


def test_searches_use_the_moving_average() -> None:
    trainer, plain = Trainer(tiny(averaging=0.5)), Trainer(tiny(averaging=0.0))
    assert plain.searcher is plain.network and trainer.searcher is trainer.averaged
    trainer.run_epoch()
    before = [value.clone() for value in trainer.averaged.parameters()]
    trainer.train_step(torch.arange(16)[None])
    for mean, old, new in zip(trainer.averaged.parameters(), before, trainer.network.parameters(), strict=True):
        torch.testing.assert_close(mean, (old + new) / 2)


def test_training_finds_the_values_of_a_game_without_leaves() -> None:
    # a subgame of depth 8 is all of 1x2: targets are exact, and only the root is searched
    trainer = Trainer(tiny(depth=8, updates=64, searches=1024, games=32, batch=64, replay=512, draws=16.0, width=32,
                           learning_rate=1e-2, halvings=(0.3, 0.5, 0.7, 0.9)))  # fmt: skip
    losses = [metrics.loss for metrics in trainer.run()]
    assert losses[1] is not None and losses[-1] is not None and losses[-1] < losses[1] / 50
    assert trainer.play(playthroughs=16).exploitability < 0.02


def test_a_run_can_begin_with_the_networks_of_another() -> None:
    known = Trainer(tiny(policy=True))
    for _ in known.run():
        pass
    run = Trainer(tiny(policy=True, seed=4, updates=16))
    assert known.policies is not None and run.policies is not None
    run.begin_with(known.searcher, known.policies.searcher)
    for network in (run.network, run.averaged):
        for name, value in known.searcher.state_dict().items():
            assert torch.equal(network.state_dict()[name], value)
    assert torch.equal(run.policies.network.output.bias, known.policies.searcher.output.bias)
    before = run.network.output.bias.clone()
    for _ in run.run():
        pass
    assert not torch.equal(run.network.output.bias, before)
    assert not torch.equal(known.searcher.output.bias, run.searcher.output.bias), "nothing is shared"
    with pytest.raises(SolveError, match="before its first epoch, not after 12"):
        run.begin_with(known.searcher)
    with pytest.raises(SolveError, match=r"hidden\.0\.weight is \[8, \d+\], and \[16, \d+\] in this run"):
        Trainer(tiny(width=16)).begin_with(known.searcher)


def test_an_estimate_leaves_the_run_as_it_is() -> None:
    trainer, untouched = Trainer(tiny()), Trainer(tiny())
    cost = estimate(trainer, games=4, updates=4)
    assert cost.seconds > 0 and cost.searches_per_second > 0
    replay = 64 * (trainer.subgames.encoding.size * 4 + 2 * 5)
    assert replay < cost.memory < replay + 1_000_000
    assert [metrics.loss for metrics in trainer.run()] == [metrics.loss for metrics in untouched.run()]


def test_an_estimate_shrinks_as_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(tiny(searches=800_000))
    monkeypatch.setattr(estimate_module, "_timed", lambda trainer, work: 1.0)  # whatever is measured takes a second
    early = estimate(trainer, games=4, updates=4).seconds
    trainer.epoch = trainer.config.epochs - 10
    assert estimate(trainer, games=4, updates=4).seconds == pytest.approx(early * 10 / trainer.config.epochs)
