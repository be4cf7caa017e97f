"""The memory of a training run: what is said before is what is allocated, and what cannot fit is refused before."""

from __future__ import annotations

import pytest

from aleator.errors import TooBigError
from aleator.learning.rebel import memory
from aleator.learning.rebel.memory import kept_memory
from aleator.learning.rebel.training import Trainer
from tests.learning.runs import tiny


@pytest.mark.parametrize("policy", [False, True])
def test_what_is_kept_is_what_is_allocated(policy: bool) -> None:
    trainer = Trainer(tiny(policy=policy, width=64, layers=3))
    replays = [learner.replay for learner in trainer.learners]
    buffers = sum(replay.inputs.nbytes + replay.targets.nbytes + replay.masks.nbytes for replay in replays)
    matrices = sum(
        parameter.nbytes for learner in trainer.learners
        for parameter in learner.network.parameters() if parameter.dim() > 1
    )  # fmt: skip
    said = kept_memory(trainer.config, trainer.subgames, trainer.decisions)
    assert said == buffers + 5 * matrices, "with gradients, two moments and an average; biases are left out"


def test_a_run_that_does_not_fit_is_refused_before_it_allocates(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(tiny())
    needed = kept_memory(trainer.config, trainer.subgames, None)
    monkeypatch.setattr(memory, "available_memory", lambda: needed - 1)
    with pytest.raises(
        TooBigError, match=r"training on liars-dice:1x2 would take at least 0\.0 GiB; 0\.0 GiB are free"
    ):
        Trainer(tiny())
    monkeypatch.setattr(memory, "available_memory", lambda: 2 * needed + 100_000)
    Trainer(tiny())
