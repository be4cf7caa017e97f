"""`aleator train deep-cfr` and its kin: files, going on, agents by name, and one clear line for every mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aleator.apps.web.worker.runs import read_run
from aleator.learning.sampled.methods import METHODS, find_method
from aleator.learning.sampled.run import SampledRun
from tests.apps.calls import call

TINY = {
    "deep-cfr": ("iterations=4", "traversals=40", "steps=4", "policy_steps=4", "width=8", "memory=1000"),
    "nfsp": ("iterations=4", "games=40", "steps=4", "policy_steps=4", "width=8", "memory=1000", "window=100"),
    "double-neural": (
        "iterations=4", "traversals=40", "steps=2", "policy_steps=2", "width=8", "policy_width=8", "first_steps=3",
    ),
}  # fmt: skip
KINDS = list(TINY)


def options(kind: str) -> list[str]:
    """Returns options of a run of a second."""
    return [word for text in TINY[kind] for word in ("--set", text)]


def test_every_method_is_tested_here() -> None:
    assert list(METHODS) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_written_and_its_agent_plays(kind: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "one"
    code, text, error = call(
        capsys, "train", kind, "--game", "kuhn", *options(kind), "--out", str(folder), "--seed", "3", "--tensorboard"
    )
    assert code == 0, error
    assert "exploitability" in text and "exact" in text and f"{kind}:" in text
    assert {path.name for path in folder.iterdir() if not path.name.startswith(".")} == {
        "config.json", "metrics.jsonl", "checkpoint.run", "network.safetensors", "tensorboard",
    }  # fmt: skip
    shown = read_run("one", folder / "metrics.jsonl")
    assert shown.config["game"] == "kuhn" and shown.config["kind"] == kind and shown.config["seed"] == 3
    assert shown.last["epoch"] == 4 and {"exploitability", "loss", "nodes", "seconds"} <= set(shown.columns)
    agent = f"{kind}:{folder / 'network.safetensors'}"
    code, text, error = call(capsys, "evaluate", "kuhn", "--agent", agent, "--json")
    assert code == 0, error
    assert json.loads(text)["exploitability"] == pytest.approx(shown.last["exploitability"], abs=1e-6)
    code, text, error = call(capsys, "match", "kuhn", agent, "uniform", "--deals", "20", "--json")
    assert code == 0, error
    code, text, error = call(capsys, "train", kind, "--resume", str(folder), "--json")
    assert code == 0 and json.loads(text)["done"], error
    for changes, message in (
        ("iterations=3", "the run has 4 iterations: it can get more, not 3"),
        ("width=3", "all but its iterations: leave out --set width"),
    ):
        code, text, error = call(capsys, "train", kind, "--resume", str(folder), "--set", changes)
        assert code == 2 and message in error
    code, text, error = call(capsys, "train", kind, "--resume", str(folder), "--set", "iterations=6", "--json")
    assert code == 0 and json.loads(text)["done"] and json.loads(text)["epoch"] == 6, error
    assert [line["epoch"] for line in SampledRun(folder, find_method(kind)).metrics()] == [1, 2, 3, 4, 5, 6]


def test_sd_cfr_is_a_setting(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    settings = [*options("deep-cfr"), "--set", "average=mixture"]
    code, text, error = call(capsys, "train", "deep-cfr", "--game", "kuhn", *settings, "--out", str(folder), "--json")
    assert code == 0, error
    assert json.loads(text)["epoch"] == 4 and json.loads(text)["method"] == "deep-cfr"


SMALL_FLOP = """
from aleator.games.holdem.game import WholeHoldemGame
from aleator.games.holdem.whole_game import WholeGame, load_whole_game


class Small(WholeHoldemGame):
    def __init__(self):
        super().__init__(WholeGame(variant=load_whole_game("flop-holdem").variant, deck=tuple(range(44, 52))))
"""  # its two highest ranks


@pytest.mark.parametrize("walked", [pytest.param("cards=50", marks=pytest.mark.slow), "flops=2"])
def test_walks_of_flops_count_no_traversals(walked: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder, file = tmp_path / "run", tmp_path / "small.py"
    file.write_text(SMALL_FLOP)
    changes = [word for text in (walked, "batch=20", "samples=100", "iterations=1") for word in ("--set", text)]
    asked = ("--game", f"python:{file}:Small", *options("deep-cfr")[2:], *changes, "--out", str(folder))
    code, text, error = call(capsys, "train", "deep-cfr", *asked, "--tensorboard")
    assert code == 0 and "nodes" in text and "exploitability" in text, error
    shown = read_run("run", folder / "metrics.jsonl")
    assert {"exploitability", "loss", "nodes", "samples", "seconds"} <= set(shown.columns)
    assert "traversals" not in shown.columns and "traversals" not in shown.last


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--game is missing"),
        (["--game", "kuhn", "--set", "magic=1"], "unknown setting 'magic'; allowed: "),
        (["--game", "kuhn", "--set", "traversals=0"], "traversals must be at least 1, not 0"),
        (["--game", "kuhn", "--set", "game=leduc"], "the game is set by --game"),
        (["--game", "kuhn", "--preset", "huge"], "unknown preset 'huge'; allowed: small, paper, fhp, demo"),
        (["--game", "kuhn", "--device", "tpu"], "unknown device 'tpu'"),
        (["--resume", "nowhere"], "nowhere holds no training run"),
        (["--resume", "nowhere", "--seed", "1"], "leave out --seed"),
        (["--game", "kuhn", "--evaluate-every", "-1"], "epochs between evaluations must be at least 0"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = call(capsys, "train", "deep-cfr", *arguments)
    assert code == 2 and message in error and len(error.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("kind", "setting"),
    [
        ("deep-cfr", "memory=1000000000000000"),
        ("deep-cfr", "width=100000000"),
        ("nfsp", "games=100000000000000"),
        ("double-neural", "policy_width=100000000000"),
    ],
)
def test_what_does_not_fit_is_refused(
    kind: str, setting: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    code, _, error = call(capsys, "train", kind, "--game", "kuhn", "--set", setting, "--out", str(folder))
    assert code == 2 and "training on kuhn would take at least" in error and len(error.strip().splitlines()) == 1
    assert not folder.exists()


def test_workers_traverse_for_deep_cfr_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ("--game", "kuhn", *options("deep-cfr"), "--set", "blocks=2", "--json", "--out")
    found = []
    for name, more in (("workers", ("--processes", "2")), ("alone", ())):
        code, text, error = call(capsys, "train", "deep-cfr", *asked, str(tmp_path / name), *more)
        assert code == 0, error
        found.append(json.loads(text))
    assert found[0]["exploitability"] == found[1]["exploitability"] and found[0]["nodes"] == found[1]["nodes"]
    last = read_run("workers", tmp_path / "workers" / "metrics.jsonl").last
    assert last["workers"] == 2 and last["replaced"] == 0 and last["traversals"] == 2 * 4 * 40
    folder, asked = tmp_path / "none", ("--game", "flop-holdem", "--preset", "fhp", "--processes", "4")
    code, _, error = call(capsys, "train", "deep-cfr", *asked, "--out", str(folder))
    assert code == 2 and "cards=300,000 walks flops in one process; workers share traversals" in error
    assert len(error.strip().splitlines()) == 1 and not folder.exists()
    code, _, error = call(capsys, "train", "nfsp", "--game", "kuhn", "--processes", "2")
    assert code == 2 and "--ray and --processes are for deep-cfr; nfsp trains in one process" in error
