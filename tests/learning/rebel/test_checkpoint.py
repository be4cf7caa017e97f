"""Checkpoints: a run that was stopped, or killed, ends as one that never was; files that are not whole are refused."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aleator.learning.rebel.checkpoint import RunDirectory
from aleator.learning.rebel.config import RebelConfig
from aleator.learning.rebel.model import load_model
from aleator.learning.rebel.run import Pace, train
from aleator.learning.rebel.training import Trainer
from aleator.learning.run_files import CHECKPOINT, METRICS, NETWORK
from aleator.storage import ArrayFile, StorageError, write_arrays
from tests.apps.processes import COMMAND, PATIENCE, kinds_of_end
from tests.learning.ladder import Ladder
from tests.learning.runs import contents, leftovers, tiny
from tests.learning.struck import COMMAND as STRUCK

NO_EVALUATION = Pace(playthroughs=0, checkpoint_seconds=0)


def finished(path: Path, config: RebelConfig, pace: Pace = NO_EVALUATION) -> RunDirectory:
    """Returns a run that was never stopped."""
    run = RunDirectory(path)
    run.create(config)
    train(Trainer(config), run, pace)
    return run


def stopped_after(run: RunDirectory, epochs: int, pace: Pace = NO_EVALUATION) -> Trainer:
    """Goes on with a run from its checkpoint for some epochs, and returns it."""
    trainer = Trainer(run.config())
    run.restore(trainer)
    last = trainer.epoch + epochs
    train(trainer, run, pace, stopped=lambda: trainer.epoch >= last)
    return trainer


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"averaging": 0.0, "search": "linear-fp"},
        {"random_beliefs": True},
        {"policy": True, "zero_sum": True},
        {"policy": True, "warm_start": 0, "averaging": 0.0},
    ],
)
def test_a_run_that_was_stopped_equals_one_that_was_not(tmp_path: Path, changes: dict[str, Any]) -> None:
    config = tiny(**changes)
    pace = Pace(playthroughs=16, evaluate_epochs=5, checkpoint_seconds=1000)
    straight = finished(tmp_path / "straight", config, pace)
    run = RunDirectory(tmp_path / "stopped")
    run.create(config)
    for epochs in (1, 4, 100):
        trainer = stopped_after(run, epochs, pace)
    assert trainer.done
    assert contents(run) == contents(straight)
    mine, other = (ArrayFile(each.path / NETWORK) for each in (run, straight))
    assert {name: mine.read(name).tobytes() for name in mine.names} == {
        name: other.read(name).tobytes() for name in other.names
    }
    assert [line["epoch"] for line in run.metrics() if "exploitability" in line] == [5, 10, 12]


def test_runs_on_games_that_cannot_be_listed_resume(tmp_path: Path) -> None:
    config, game = tiny(game="ladder:30"), Ladder(30)
    runs = []
    for name, stops in (("straight", [100]), ("stopped", [2, 3, 100])):
        run = RunDirectory(tmp_path / name)
        runs.append(run)
        run.create(config)
        for epochs in stops:
            trainer = Trainer(config, game)
            run.restore(trainer)
            last = trainer.epoch + epochs
            train(trainer, run, NO_EVALUATION, stopped=lambda trainer=trainer, last=last: trainer.epoch >= last)  # type: ignore[misc]
        assert trainer.done
    assert contents(runs[0]) == contents(runs[1])
    assert max(len(trainer.subgames.moves(root)) for root in trainer.source.blocks[0].root.tolist()) > 2


def test_games_stand_where_a_checkpoint_of_before_says(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.create(tiny())
    before = stopped_after(run, 3)
    file = ArrayFile(run.path / CHECKPOINT)
    arrays = {name: np.array(file.read(name)) for name in file.names if name != "play.moves"}
    listed = Trainer(tiny()).subgames.complete().states
    states = [before.subgames.states[root] for root in before.source.blocks[0].root.tolist()]
    arrays["play.root"] = np.array([listed.index(state) for state in states])
    write_arrays(run.path / CHECKPOINT, arrays, file.metadata)
    after = Trainer(tiny())
    run.restore(after)
    assert [after.subgames.states[root] for root in after.source.blocks[0].root.tolist()] == states
    assert len(set(states)) > 1


def test_the_network_beside_a_checkpoint_is_the_one_that_searches(tmp_path: Path) -> None:
    run = finished(tmp_path / "run", tiny())
    model, trainer = load_model(run.path / NETWORK), Trainer(tiny())
    run.restore(trainer)
    assert trainer.done and model.report["searches"] == 96 and model.report["loss"] == run.metrics()[-1]["loss"]
    for mine, saved in zip(trainer.averaged.parameters(), model.network.parameters(), strict=True):
        assert np.array_equal(mine.detach(), saved.detach())


def test_runs_from_before_a_setting_existed_go_on(tmp_path: Path) -> None:
    straight = finished(tmp_path / "straight", tiny())
    run = RunDirectory(tmp_path / "run")
    run.create(tiny())
    stopped_after(run, 3)
    file = ArrayFile(run.path / CHECKPOINT)
    arrays = {name: np.array(file.read(name)) for name in file.names}
    assert not any(name.startswith("policy.") for name in arrays)
    old = {"zero_sum", "policy", "warm_start"}
    config = {name: value for name, value in json.loads(file.metadata["config"]).items() if name not in old}
    write_arrays(run.path / CHECKPOINT, arrays, {**file.metadata, "config": json.dumps(config)})
    (run.path / "config.json").write_text(json.dumps({"kind": "rebel", **config}))
    stopped_after(run, 100)
    assert contents(run) == contents(straight)


def test_metrics_after_the_checkpoint_are_made_again(tmp_path: Path) -> None:
    straight = finished(tmp_path / "straight", tiny())
    run = RunDirectory(tmp_path / "run")
    run.create(tiny())
    trainer = stopped_after(run, 3)
    run.append({**trainer.run_epoch().to_dict(), "exploitability": 99.0})  # an epoch that no checkpoint knows of
    with (run.path / METRICS).open("ab") as file:
        file.write(b'{"epoch": 5, "caf\xc3')  # cut inside a letter
    (run.path / f".{CHECKPOINT}.01234567.tmp").write_bytes(b"half a checkpoint")
    stopped_after(run, 100)
    assert contents(run) == contents(straight)
    assert leftovers(run.path) == []


def test_two_processes_cannot_train_in_one_directory(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.create(tiny())
    with (
        run.locked(),
        pytest.raises(StorageError, match="another process is training"),
        RunDirectory(tmp_path).locked(),
    ):
        pass
    with RunDirectory(tmp_path).locked():
        pass


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    straight = finished(tmp_path / "straight", tiny())
    run = RunDirectory(tmp_path / "run")
    run.create(tiny())
    trainer = stopped_after(run, 3)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    trainer.run_epoch()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StorageError, match="No space left on device"):
            run.save(trainer)
    assert leftovers(run.path) == []
    stopped_after(run, 100)
    assert contents(run) == contents(straight)


def test_damaged_and_foreign_checkpoints_are_refused(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.create(tiny())
    stopped_after(run, 2)
    path = tmp_path / CHECKPOINT
    good, file = path.read_bytes(), ArrayFile(path)
    arrays = {name: np.array(file.read(name)) for name in file.names}

    def refused(message: str) -> None:
        with pytest.raises(StorageError, match=message) as found:
            run.restore(Trainer(tiny()))
        assert "\n" not in str(found.value)

    for length in (0, 7, 100, len(good) // 2, len(good) - 1):
        path.write_bytes(good[:length])
        refused("cannot read|damaged|cut short")
    changed = bytearray(good)
    changed[len(good) // 2] ^= 1
    path.write_bytes(changed)
    refused("the content of .* has changed")
    write_arrays(path, {name: array for name, array in arrays.items() if name != "generator"}, file.metadata)
    refused("damaged: 'generator'")
    write_arrays(path, {**arrays, "replay.inputs": arrays["replay.inputs"][1:]}, file.metadata)
    refused("replay.inputs has shape")
    write_arrays(path, {**arrays, "network.output.bias": np.zeros(3)}, file.metadata)
    refused("damaged")
    write_arrays(path, arrays, {**file.metadata, "facts": "{}"})
    refused("damaged")
    write_arrays(path, arrays, {"format": "a poem"})
    refused("not a checkpoint")
    path.write_bytes(good)
    with pytest.raises(StorageError, match="other settings"):
        run.restore(Trainer(tiny(seed=4)))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"kind": 1}', '{"kind": "rebel", "depth": 0}', "\xff"])
def test_damaged_settings_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_bytes(text.encode("latin1"))
    with pytest.raises(StorageError, match=r"config.json is damaged"):
        RunDirectory(tmp_path).config()


def test_a_run_of_another_method_is_not_called_damaged(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"kind": "nfsp"}')
    with pytest.raises(StorageError, match="holds a run of another kind, 'nfsp', not of ReBeL"):
        RunDirectory(tmp_path).config()


def test_a_run_is_not_begun_twice(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "a" / "b")
    with pytest.raises(StorageError, match="holds no training run"):
        run.config()
    run.create(tiny())
    assert run.config() == tiny() and run.metrics() == []
    with pytest.raises(StorageError, match="holds a training run already"):
        run.create(tiny())
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot make the directory"):
        RunDirectory(tmp_path / "file" / "run").create(tiny())


def killed_at_random(path: Path, config: RebelConfig, kills: int, seed: int) -> RunDirectory:
    """Returns a run whose process was killed at so many random moments, told to end at others, and then left to end."""
    rng, run = random.Random(seed), RunDirectory(path)
    run.create(config)
    command = ["train", "rebel", "--resume", str(path), "--device", "cpu", "--threads", "1", "--checkpoint-every", "0"]
    command += ["--playthroughs", "0", "--json"]
    for kind in kinds_of_end(kills, rng):
        # it comes some epochs further, then the blow falls at any moment of an epoch or of a checkpoint
        moment = [str(int(kind)), str(rng.randrange(2, 5)), str(2.0 * rng.random())]
        ended = subprocess.run(
            [*STRUCK, *moment, *command], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert ended.returncode == (-signal.SIGKILL if kind == signal.SIGKILL else 128 + kind), ended.stderr
        # whole, whatever the moment was
        file = ArrayFile(path / CHECKPOINT)
        assert [file.read(name).nbytes for name in file.names]
        assert load_model(path / NETWORK).config == config
        json.loads((path / "config.json").read_text())
    ended = subprocess.run([*COMMAND, *command], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert json.loads(ended.stdout)["done"] is True
    assert leftovers(path) == []
    return run


def check_kills(tmp_path: Path, kills: int) -> None:
    config = tiny(searches=8 * 20 * kills)
    straight = finished(tmp_path / "straight", config, Pace(playthroughs=0))
    assert contents(killed_at_random(tmp_path / "killed", config, kills, seed=kills)) == contents(straight)


def test_a_killed_run_resumes_from_its_last_checkpoint(tmp_path: Path) -> None:
    check_kills(tmp_path, 1)


@pytest.mark.slow
def test_twenty_kills_change_nothing(tmp_path: Path) -> None:
    check_kills(tmp_path, 20)
