"""Training on a real Ray cluster of two nodes: the run of one process bit by bit, also if workers and nodes die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aleator.abstraction.blueprint import merging
from aleator.abstraction.blueprint.merging import Chunk, DealMaker, Walked, train_by_workers
from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
from aleator.learning.rebel.blocks import Stint
from aleator.learning.rebel.checkpoint import RunDirectory
from aleator.learning.rebel.config import RebelConfig
from aleator.learning.rebel.crew_blocks import PlayedStint, StintPlayer
from aleator.learning.rebel.training import Trainer
from aleator.learning.run_files import CHECKPOINT
from aleator.learning.worker_game import WorkerGame
from aleator.storage import ArrayFile
from aleator.workers.base import Here
from aleator.workers.ray_cluster import RayWorkers
from tests.abstraction.blueprint.small import GAME, small_buckets
from tests.apps.processes import COMMAND
from tests.learning.rebel.test_crew_blocks import run_in, without_work, work_for
from tests.learning.runs import TINY, tiny
from tests.workers.conftest import SMALL

pytest.importorskip("ray", reason="pip install aleator[ray]")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]


class Mortal(StintPlayer):
    """Dies at some stints, each the first time that somebody plays it."""

    def __init__(self, folder: Path, deadly: frozenset[tuple[int, int]], config: RebelConfig, game: WorkerGame) -> None:
        super().__init__(config, game, "cpu")
        self._folder, self._deadly = folder, deadly

    def __call__(self, stint: Stint) -> PlayedStint:
        key = stint.block, stint.standing.stints
        mark = self._folder / "-".join(map(str, key))
        if key in self._deadly and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(stint)


def mortal(config: RebelConfig, folder: Path, deadly: frozenset[tuple[int, int]]) -> Any:
    """Returns what prepares workers that die at some stints of blocks."""
    folder.mkdir()
    game = WorkerGame(config.game, None, Trainer(config).subgames.fingerprint)
    return partial(Mortal, folder, deadly, config, game)


def test_in_step_the_run_is_that_of_one_process_although_workers_and_a_node_die(
    ray_workers: RayWorkers, cluster: Any, tmp_path: Path
) -> None:
    config = tiny(blocks=4)
    node = cluster.add_node(**SMALL)
    deadly = frozenset((7 * number % 4, 7 * number // 4 % 12) for number in range(20))  # over 4 blocks and 12 epochs
    assert len(deadly) == 20
    with ray_workers.hire(mortal(config, tmp_path / "marks", deadly)) as crew:
        trainer = Trainer(config)
        work_for(trainer, crew, in_step=True)
        trainer.run_epoch()
        cluster.remove_node(node, allow_graceful=False)
        there = run_in(tmp_path / "there", config, crew)
        assert crew.replaced >= 20
    assert without_work(there) == without_work(run_in(tmp_path / "here", config))


def test_out_of_step_every_example_comes_once_although_workers_die(ray_workers: RayWorkers, tmp_path: Path) -> None:
    """They die at first stints: how many others a block has depends on how soon somebody new plays it."""
    config = tiny(blocks=4)
    trainer = Trainer(config)
    with ray_workers.hire(mortal(config, tmp_path / "marks", frozenset({(0, 0), (1, 0), (2, 0)}))) as crew:
        work_for(trainer, crew, in_step=False)
        metrics = list(trainer.run())
    assert trainer.done and trainer.replay.added == 192
    assert metrics[-1].work["replaced"] >= 3
    assert sum(standing.stints for standing in trainer.source.standings()) == 48


ENOUGH = "enough"


class Registered(StintPlayer):
    """Leaves its process id in a folder after its first stint, and takes its time until nobody is killed any more."""

    def __init__(self, folder: Path, config: RebelConfig, game: WorkerGame) -> None:
        super().__init__(config, game, "cpu")
        self._mark = folder / str(os.getpid())
        self._is_new = True

    def __call__(self, stint: Stint) -> PlayedStint:
        if not (self._mark.parent / ENOUGH).exists():
            time.sleep(0.15)
        played = super().__call__(stint)
        if self._is_new:
            self._mark.touch()
            self._is_new = False
        return played


class Killer(threading.Thread):
    """Kills 20 workers and two whole nodes at random times."""

    def __init__(self, cluster: Any, folder: Path, seed: int) -> None:
        super().__init__(daemon=True)
        self.kills, self.nodes = 0, 0
        self._cluster, self._folder, self._rng = cluster, folder, np.random.default_rng(seed)
        self._nodes = [cluster.add_node(**SMALL) for _ in range(2)]

    def run(self) -> None:
        while self.kills < 20:
            time.sleep(self._rng.uniform(0.2, 1.5))
            if self.kills >= 6 * (self.nodes + 1) and self._nodes:
                self._cluster.remove_node(self._nodes.pop(), allow_graceful=False)
                self.nodes += 1
            elif ready := sorted(self._folder.iterdir()):
                chosen = ready[self._rng.integers(len(ready))]
                chosen.unlink()
                with suppress(ProcessLookupError):  # it went with its node
                    os.kill(int(chosen.name), signal.SIGKILL)
                    self.kills += 1
        (self._folder / ENOUGH).touch()


def test_killed_at_random_moments_a_run_loses_nothing(ray_workers: RayWorkers, cluster: Any, tmp_path: Path) -> None:
    """In step all arrays are those of one process."""
    config = tiny(blocks=4, searches=960)
    folder = tmp_path / "ready"
    folder.mkdir()
    game = WorkerGame(config.game, None, Trainer(config).subgames.fingerprint)
    killer = Killer(cluster, folder, seed=8)
    with ray_workers.hire(partial(Registered, folder, config, game)) as crew:
        killer.start()
        there = run_in(tmp_path / "there", config, crew)
        assert killer.kills == 20 and killer.nodes == 2 and crew.replaced >= 20
    assert without_work(there) == without_work(run_in(tmp_path / "here", config))


class MortalDeals(DealMaker):
    """Dies at some chunks, each the first time that somebody walks it."""

    def __init__(self, folder: Path, *about: Any) -> None:
        super().__init__(*about)
        self._folder = folder

    def __call__(self, chunk: Chunk) -> Walked:
        mark = self._folder / str(chunk.first)
        if chunk.first in (1000, 2500) and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(chunk)


def test_a_blueprint_is_that_of_one_process_although_workers_die(
    ray_workers: RayWorkers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    buckets, place = small_buckets(), tmp_path / "small.bin"
    buckets.save(place)
    here, there = (BlueprintTrainer(BlueprintConfig.of(GAME, period=2000), buckets, place) for _ in range(2))
    train_by_workers(here, Here(), deals=6000, chunk=600, chunks=2)
    monkeypatch.setattr(merging, "DealMaker", partial(MortalDeals, tmp_path))
    work = train_by_workers(there, ray_workers, deals=6000, chunk=600, chunks=2)
    assert work.replaced == 2
    np.testing.assert_array_equal(there.table, here.table)
    assert there.progress[:2] == here.progress[:2]


def test_a_head_that_was_killed_goes_on_from_its_checkpoint(cluster: Any, tmp_path: Path) -> None:
    """The run has more epochs than a machine plays before it is killed, and few enough for the rest."""
    folder = tmp_path / "run"
    settings = [f"{name}={value}" for name, value in TINY.items() if name != "game"]
    words = [
        *("train", "rebel", "--game", str(TINY["game"]), "--ray", cluster.address, "--device", "cpu"),
        *("--playthroughs", "0", "--checkpoint-every", "0", "--out", str(folder)),
        *[word for text in [*settings, "searches=480", "blocks=4"] for word in ("--set", text)],
    ]
    process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (folder / CHECKPOINT).exists():
        assert process.poll() is None, "it ended before its first checkpoint"
        time.sleep(0.01)
    process.kill()
    process.wait()
    again = [*COMMAND, "train", "rebel", "--resume", str(folder), "--ray", cluster.address, "--playthroughs", "0"]
    done = subprocess.run([*again, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["done"] and json.loads(done.stdout)["examples"] == 960
    assert [line["epoch"] for line in RunDirectory(folder).metrics()] == list(range(1, 61))
    stints = ArrayFile(folder / CHECKPOINT).read("play.stints")
    assert len(stints) == 4 and stints.sum() == 240
