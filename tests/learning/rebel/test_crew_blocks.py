"""Self-play by workers: in step the same run bit by bit; otherwise every stint once, and nobody runs away."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.learning.rebel import subgames as subgames_module
from aleator.learning.rebel.blocks import Standing, block_sizes
from aleator.learning.rebel.checkpoint import RunDirectory
from aleator.learning.rebel.config import RebelConfig
from aleator.learning.rebel.crew_blocks import CrewBlocks, StintPlayer
from aleator.learning.rebel.run import Pace, train
from aleator.learning.rebel.subgames import Subgames
from aleator.learning.rebel.training import Trainer
from aleator.learning.worker_game import WorkerGame
from aleator.workers.base import Arrays, Crew, Done, Here
from aleator.workers.processes import Processes
from tests.learning.rebel.test_subgames import Ladder
from tests.learning.runs import contents, tiny

NO_EVALUATION = Pace(playthroughs=0, checkpoint_seconds=0)


def rules_of(trainer: Trainer) -> WorkerGame:
    """Returns what workers of a run are told of its game."""
    return WorkerGame(trainer.config.game, None, trainer.subgames.fingerprint)


def player(trainer: Trainer) -> Any:
    """Returns what prepares a worker for a run."""
    return partial(StintPlayer, trainer.config, rules_of(trainer), "cpu")


def work_for(trainer: Trainer, crew: Crew, *, in_step: bool) -> None:
    """Has a crew play the games of a run from where they stand."""
    trainer.source = CrewBlocks(crew, trainer.source.standings(), in_step=in_step, device="cpu")


def run_in(path: Path, config: RebelConfig, crew: Crew | None = None) -> RunDirectory:
    """Returns a run to its end, played by a crew in step or by this process alone."""
    run, trainer = RunDirectory(path), Trainer(config)
    run.create(config)
    if crew:
        work_for(trainer, crew, in_step=True)
    train(trainer, run, NO_EVALUATION)
    return run


def without_work(run: RunDirectory) -> Any:
    """Returns what is left of a run, without what says who worked."""
    arrays, facts, lines = contents(run)
    names = {"workers", "replaced", "busy", "examples_per_second_and_worker", "staleness", "most_stale"}
    return arrays, facts, [{name: line[name] for name in line if name not in names} for line in lines]


@pytest.mark.parametrize("changes", [{}, {"policy": True, "averaging": 0.0}, {"random_beliefs": True}])
def test_a_crew_in_step_makes_the_run_of_one_process_bit_by_bit(tmp_path: Path, changes: dict[str, Any]) -> None:
    config = tiny(blocks=3, **changes)
    with Here().hire(player(Trainer(config))) as crew:
        there = run_in(tmp_path / "crew", config, crew)
    here = run_in(tmp_path / "alone", config)
    assert without_work(there) == without_work(here)
    assert all(line["workers"] == 1 and line["replaced"] == 0 for line in there.metrics())


def test_processes_in_step_make_it_too(tmp_path: Path) -> None:
    config = tiny(blocks=4, searches=48)
    with Processes(2).hire(player(Trainer(config))) as crew:
        there = run_in(tmp_path / "crew", config, crew)
    assert without_work(there) == without_work(run_in(tmp_path / "alone", config))


class Hasty:
    """A crew whose tasks end in an order of its own: always the one that was given last, two at a time."""

    replaced, count = 0, 2

    def __init__(self, trainer: Trainer) -> None:
        self._player = StintPlayer(trainer.config, rules_of(trainer), "cpu")
        self._given: list[tuple[int, Any, Arrays]] = []
        self.played: list[tuple[int, int]] = []  # block and number of every stint

    @property
    def given(self) -> int:
        return len(self._given)

    def publish(self, shared: Arrays) -> None:
        self._shared = shared

    def give(self, number: int, task: Any) -> None:
        self._given.append((number, task, self._shared))

    def take(self, *, wait: bool = True) -> list[Done]:
        ended = [self._given.pop() for _ in range(min(2, len(self._given)))]
        done = []
        for number, stint, shared in ended:
            self._player.receive(shared)
            self.played.append((stint.block, stint.standing.stints))
            done.append(Done(number, self._player(stint), "hasty", 1e6))
        return done


def test_out_of_step_every_stint_is_played_once_and_the_learner_is_waited_for() -> None:
    trainer = Trainer(tiny(blocks=4))
    crew = Hasty(trainer)
    work_for(trainer, crew, in_step=False)
    metrics = list(trainer.run())
    assert len(set(crew.played)) == len(crew.played), "no stint twice"
    assert trainer.replay.added == 192 == metrics[-1].examples
    # no more than an epoch ahead of what was collected: 12 epochs, and 4 stints that nobody waits for any more
    assert 12 * 4 <= len(crew.played) <= 13 * 4
    assert all(line.work["most_stale"] >= line.work["staleness"] >= 0 for line in metrics)
    assert any(line.work["staleness"] > 0 for line in metrics)
    # a stint counts no longer than the epoch in which it ends; 4 end in one of 2 workers
    assert all(0.0 <= line.work["busy"] <= 4 / 2 for line in metrics)


def test_out_of_step_a_run_resumes_from_what_was_collected(tmp_path: Path) -> None:
    config, run = tiny(blocks=4), RunDirectory(tmp_path)
    run.create(config)
    played: list[tuple[int, int]] = []
    for epochs in (3, 100):
        trainer = Trainer(config)
        run.restore(trainer)
        crew = Hasty(trainer)
        work_for(trainer, crew, in_step=False)
        last = trainer.epoch + epochs
        train(trainer, run, NO_EVALUATION, stopped=lambda trainer=trainer, last=last: trainer.epoch >= last)  # type: ignore[misc]
        stints = [standing.stints for standing in trainer.source.standings()]
        assert sum(stints) == 4 * trainer.epoch
        played += [(block, number) for block, number in crew.played if number < stints[block]]
    assert len(set(played)) == len(played) == 48 and trainer.replay.added == 192


def test_a_worker_with_other_rules_is_refused() -> None:
    other = rules_of(Trainer(tiny(game="liars-dice:1x3")))._replace(recorded="liars-dice:1x2")
    with pytest.raises(SolveError, match="a worker has other rules of liars-dice:1x2 than the process that trains"):
        StintPlayer(tiny(), other, "cpu")


def test_a_worker_that_forgets_subgames_finds_its_games_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subgames_module, "MAX_NODES", 0)  # it forgets before each stint
    num_hands = Subgames(Ladder(8)).shapes.num_hands
    rules = SimpleNamespace(load=lambda: Ladder(8), check=lambda fingerprint: None)
    worker = StintPlayer(tiny(), rules, "cpu")  # type: ignore[arg-type]
    below, beside = (0, 1, 0, 1), (1, 1)
    for rows in ([(0, 1)], [below, beside], [beside, below]):  # the second adds a subgame and forgets one
        moves = np.full((len(rows), 4), -1, np.int32)
        for number, row in enumerate(rows):
            moves[number, : len(row)] = row
        reach = np.ones((len(rows), num_hands), np.float32)
        worker._stand(Standing(0, moves, (reach, reach)))
        assert [worker.subgames.moves(number) for number in worker._play.root.tolist()] == rows


def test_blocks_share_the_games() -> None:
    assert block_sizes(8, 3) == [3, 3, 2] and block_sizes(64, 1) == [64]
    with pytest.raises(SolveError, match=r"blocks must be at least 1 and at most 8 \(games\), not 9"):
        tiny(blocks=9)
