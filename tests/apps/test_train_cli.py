"""`aleator train`: progress, files, stopping and going on, and one clear line for every mistake."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from aleator.apps.cli import device, training
from aleator.learning.rebel.checkpoint import RunDirectory
from aleator.learning.rebel.model import load_model
from tests.apps.calls import call
from tests.apps.processes import PATIENCE
from tests.learning.runs import contents
from tests.learning.struck import COMMAND as STRUCK

TINY = ("--set", "updates=8", "--set", "games=8", "--set", "searches=64", "--set", "batch=16", "--set", "width=8",
        "--device", "cpu", "--threads", "1", "--playthroughs", "16")  # fmt: skip


def train(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Returns exit code, standard output and standard error of `aleator train rebel`."""
    return call(capsys, "train", "rebel", *arguments)


def test_a_run_writes_what_the_web_app_reads(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    code, text, error = train(capsys, "--game", "liars-dice:1x2", *TINY, "--out", str(folder), "--evaluate-every", "4")
    assert code == 0, error
    assert {path.name for path in folder.iterdir() if not path.name.startswith(".")} == {
        "config.json", "metrics.jsonl", "checkpoint.run", "network.safetensors",
    }  # fmt: skip
    assert json.loads((folder / "config.json").read_text())["game"] == "liars-dice:1x2"
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == list(range(1, 9))
    assert {"epoch", "seconds", "searches", "examples", "loss"} <= lines[0].keys()
    assert [line["epoch"] for line in lines if "exploitability" in line] == [4, 8]
    assert f"exploitability   {lines[-1]['exploitability']:.4f} ±" in text and "NashConv / 2, 16 playthroughs" in text
    assert "8 epochs of 8 searches" in error and "MB of memory" in error and "searches per second" in error
    assert "64 searches" in error and "loss" in error and "exploitability" in error, "progress without a terminal"


def test_json_seed_and_the_default_directory(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = []
    for _ in range(2):
        code, text, error = train(capsys, "--game", "kuhn", *TINY, "--seed", "5", "--json")
        assert code == 0 and error == ""
        found.append(json.loads(text))
    first, second = found
    assert (first["directory"], second["directory"]) == ("runs/kuhn-demo-1", "runs/kuhn-demo-2")
    assert first["done"] and first["searches"] == 64 and first["playthroughs"] == 16
    for name in ("loss", "exploitability", "error", "steps", "examples"):
        assert first[name] == second[name] is not None


def test_a_run_begins_with_a_given_network(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    first, network = tmp_path / "first", tmp_path / "first" / "network.safetensors"
    code, _, error = train(capsys, "--game", "liars-dice:1x2", *TINY, "--out", str(first))
    assert code == 0, error
    more = ("--game", "liars-dice:1x2", *TINY, "--from", str(network), "--set", "learning_rate=1e-9", "--out")
    code, _, error = train(capsys, *more, str(tmp_path / "second"))
    assert code == 0, error
    old, new = (load_model(tmp_path / name / "network.safetensors").network for name in ("first", "second"))
    assert torch.allclose(old.output.weight, new.output.weight, atol=1e-6), "hardly any training"
    for arguments, complaint in (
        (("--resume", str(first), "--from", str(network)), "leave out --from"),
        ((*more, str(tmp_path / "third"), "--set", "width=16"), "has another form"),
        (("--game", "liars-dice:1x2", "--from", str(tmp_path / "none")), "none"),
    ):
        code, _, error = train(capsys, *arguments)
        assert code == 2 and complaint in error and error.count("\n") == 1
    assert not (tmp_path / "third").exists(), "nothing is left of a run that could not begin"


def test_tensorboard_gets_the_curves(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, error = train(capsys, "--game", "liars-dice:1x2", *TINY, "--out", str(tmp_path / "run"), "--tensorboard")
    assert code == 0, error
    (events,) = (tmp_path / "run" / "tensorboard").iterdir()
    written = events.read_bytes()
    assert all(name in written for name in (b"loss", b"exploitability", b"searches_per_second"))


def test_a_signal_saves_and_says_how_to_go_on(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder, straight = tmp_path / "run", tmp_path / "straight"
    settings = ("--game", "liars-dice:1x2", *TINY, "--set", "searches=80", "--playthroughs", "0")
    arguments = ("train", "rebel", *settings, "--out", str(folder), "--checkpoint-every", "1000")
    process = subprocess.run(
        [*STRUCK, str(int(signal.SIGTERM)), "3", "0.5", *arguments],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    text = process.stdout
    assert process.returncode == 143, process.stderr
    assert "stopped after epoch" in text
    _, _, again = text.partition("go on with")
    assert again.split() == ["aleator", "train", "rebel", "--resume", str(folder), "--device", "cpu",
                             "--checkpoint-every", "1000.0", "--playthroughs", "0", "--threads", "1"]  # fmt: skip
    code, text, _ = train(capsys, *again.split()[3:], "--json")
    assert code == 0 and json.loads(text)["done"]
    train(capsys, *settings, "--out", str(straight), "--json")
    assert contents(RunDirectory(folder)) == contents(RunDirectory(straight))
    code, text, _ = train(capsys, "--resume", str(folder), "--device", "cpu")
    assert code == 0 and "is finished" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--game is missing"),
        (("--game", "chess"), "unknown game 'chess'"),
        (("--game", "goofspiel:4"), "hands keep their numbers"),
        (("--game", "kuhn", "--preset", "slow"), "unknown preset 'slow'; allowed: paper, fast, demo"),
        (("--game", "kuhn", "--device", "abacus"), "unknown device 'abacus'; allowed: auto, cpu, cuda"),
        (("--game", "kuhn", "--set", "games"), "a setting is NAME=VALUE, not 'games'"),
        (("--game", "kuhn", "--set", "games=0"), "games must be at least 1, not 0"),
        (("--game", "kuhn", "--set", "game=leduc"), "set by --game"),
        (("--game", "kuhn", "--set", "encoding=relative"), "the same for both players"),
        (("--game", "kuhn", "--playthroughs", "3"), "at least 16 playthroughs"),
        (("--game", "kuhn", "--evaluate-every", "-1"), "must be at least 0, not -1"),
        (("--game", "kuhn", "--checkpoint-every", "-1"), "must be at least 0, not -1"),
        (("--game", "kuhn", "--checkpoint-every", "nan"), "must be at least 0, not nan"),
        (("--game", "kuhn", "--set", "seed=-1"), "seed must be a whole number from 0"),
        (("--game", "kuhn", "--seed", str(2**64)), "is not in the range 0<=x<2^63"),
        (("--game", "kuhn", "--set", "search=cfr-ave"), "cfr-ave needs an oracle at the leaves, not a network"),
        (("--game", "kuhn", "--set", "games=1000000000000"), "training on kuhn would take at least"),
        (("--game", "kuhn", "--set", "width=10000000"), "training on kuhn would take at least"),
        (("--game", "kuhn", "--set", "replay=9000000000000", "--set", "searches=9000000000000"), "GiB are free"),
        (("--resume", "nothing"), "nothing holds no training run"),
        (("--resume", "nothing", "--seed", "3"), "a resumed run keeps its settings and directory: leave out --seed"),
    ],
)
def test_mistakes_are_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...],
    message: str
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    code, text, error = (
        train(capsys, *arguments, "--device", "cpu") if "--device" not in arguments else train(capsys, *arguments)
    )
    assert (code, text) == (2, "") and message in error and len(error.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


@pytest.mark.parametrize(("package", "extra"), [("torch", "neural"), ("tensorboard", "tensorboard")])
def test_a_missing_package_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, extra: str
) -> None:
    find = importlib.util.find_spec
    for module in (training, device):
        monkeypatch.setattr(module, "find_spec", lambda name: None if name == package else find(name))
    code, _, error = train(
        capsys, "--game", "liars-dice:1x2", *TINY, "--tensorboard", "--json", "--out", str(tmp_path / "run")
    )
    assert code == 2 and error.strip() == f"error: {package} is not installed: pip install 'aleator[{extra}]'"
    assert list(tmp_path.iterdir()) == [], "a run that cannot be as it was asked for does not begin"


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"], ["train", "rebel", "--help"]])
def test_help_does_not_load_torch(arguments: list[str]) -> None:
    script = (
        f"import sys; from aleator.apps.cli.main import main\ntry: main({arguments})\nexcept SystemExit: pass\n"
        "print('torch' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "train" in result.stdout and result.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1.2, "1 second"), (3, "3 seconds"), (90, "1.5 minutes"), (7200, "2.0 hours"), (200_000, "2.3 days")],
)
def test_durations(seconds: float, text: str) -> None:
    assert training.duration(seconds) == text


@pytest.mark.slow
def test_workers_in_step_make_the_run_of_one_process(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ("--game", "liars-dice:1x2", *TINY, "--set", "blocks=2", "--out")
    for name, more in (("workers", ("--processes", "2", "--in-step")), ("alone", ())):
        code, _, error = train(capsys, *asked, str(tmp_path / name), *more)
        assert code == 0, error
        assert ("2 workers, 2 blocks of games" in error) == ("2 workers" in error) == bool(more)
    there, here = (contents(RunDirectory(tmp_path / name)) for name in ("workers", "alone"))
    assert there[:2] == here[:2]
    assert [line["workers"] for line in there[2]] == [2] * 8
    code, _, error = train(capsys, *asked, str(tmp_path / "none"), "--in-step")
    assert code == 2 and "--in-step is for workers: name them by --ray or --processes" in error
