"""Buckets and blueprints from the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from aleator.abstraction import build as building
from aleator.abstraction.blueprint.training import BlueprintTrainer
from aleator.abstraction.buckets import BucketConfig
from aleator.abstraction.ring.training import RingTrainer
from tests.abstraction.blueprint.small import small_buckets, whole_buckets
from tests.apps.calls import call

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def buckets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("buckets") / "small.bin"
    small_buckets().save(file)
    return file


def test_buckets_are_built_and_shown(capsys: Capture, tmp_path: Path) -> None:
    file = str(tmp_path / "flop.bin")
    options = ["--game", "flop-holdem", "--buckets", "5", "--features", "equity", "--boards", "20"]
    code, text, _ = call(capsys, "abstraction", "build", file, *options, "--json")
    made = json.loads(text)
    assert code == 0 and made["file"] == file and len(made["fingerprint"]) == 32
    code, text, _ = call(capsys, "abstraction", "show", file)
    assert code == 0 and "flop-holdem, imperfect recall" in text and made["fingerprint"] in text
    shown = ["abstraction", "show", file, "--board", "Ah 7c 2d", "--hand", "As Ac", "--json"]
    code, text, _ = call(capsys, *shown)
    assert code == 0 and json.loads(text)["bucket"] == 4 and {"AsAc", "AsAd"} <= set(json.loads(text)["same"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["build", "x.bin", "--buckets", "many"], "buckets must be a whole number"),
        (["build", "x.bin", "--buckets", "5/5"], "3 streets from the flop on, not 2 buckets"),
        (["build", "x.bin", "--features", "ehs"], "unknown feature 'ehs'"),
        (["build", "x.bin", "--recall", "some"], "allowed: imperfect, perfect"),
        (["build", "no/such/folder.bin", "--game", "flop-holdem", "--buckets", "5"], "does not exist"),
        (["show", "missing.bin"], "cannot read missing.bin"),
    ],
)
def test_mistakes_are_one_line(capsys: Capture, words: list[str], message: str) -> None:
    code, _, error = call(capsys, "abstraction", *words)
    assert code == 2 and message in error and len(error.strip().splitlines()) <= 2


def test_a_stopped_build_says_how_it_goes_on(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(building._Builder, "build", stop)
    code, _, error = call(
        capsys, "abstraction", "build", str(tmp_path / "x.bin"), "--game", "flop-holdem", "--buckets", "5"
    )
    assert code == 130 and "the same command goes on" in error


def test_a_blueprint_is_trained_and_trained_further(capsys: Capture, buckets: Path, tmp_path: Path) -> None:
    file = tmp_path / "flop.blueprint"
    words = ["train", "blueprint", "--game", "flop-holdem", "--abstraction", str(buckets), "--out", str(file)]
    code, text, _ = call(capsys, *words, "--deals", "2000", "--threads", "1", "--json")
    assert code == 0 and json.loads(text)["deals"] == 2000 and file.exists()
    code, text, error = call(capsys, *words, "--deals", "3000", "--threads", "1")
    assert code == 0 and "3,000 deals" in text and "2,000 deals done" in error
    code, _, error = call(capsys, *words, "--deals", "3000", "--seed", "5")
    assert code == 2 and "other settings" in error
    code, text, _ = call(
        capsys,
        "match",
        "flop-holdem",
        f"blueprint:{file}",
        "always-call",
        "--hands",
        "20",
        "--aivat",
        "raw",
        "--processes",
        "1",
        "--json",
    )
    assert code == 0 and json.loads(text)["hands"] == 20


def test_a_blueprint_is_evaluated_inside_its_abstraction(capsys: Capture, buckets: Path, tmp_path: Path) -> None:
    file, losses = tmp_path / "flop.blueprint", list[str]()
    words = ["train", "blueprint", "--game", "flop-holdem", "--abstraction", str(buckets), "--out", str(file)]
    for deals in ("2000", "100000"):
        assert call(capsys, *words, "--deals", deals, "--threads", "1", "--json")[0] == 0
        code, text, _ = call(capsys, "evaluate", str(file), *(["--json"] if deals == "2000" else []))
        assert code == 0
        losses.append(text)
    few, many = json.loads(losses[0]), re.search(r"([\d,.]+) mbb", losses[1])
    assert few["deals"] == 2000 and min(few["gains_mbb"]) >= 0.0
    assert "inside its abstraction" in losses[1] and many is not None
    assert float(many[1].replace(",", "")) < 0.5 * few["exploitability_mbb"]
    whole_buckets().save(tmp_path / "whole.bin")
    words = ["train", "blueprint", "--abstraction", str(tmp_path / "whole.bin"), "--out", str(tmp_path / "h.blueprint")]
    assert call(capsys, *words, "--deals", "10", "--threads", "1", "--json")[0] == 0
    code, _, error = call(capsys, "evaluate", str(tmp_path / "h.blueprint"))
    assert code == 2 and "too large to evaluate exactly" in error and "--against" in error


def test_buckets_that_nobody_names_are_made_first(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[BucketConfig] = []

    def build(config: BucketConfig, path: Path, **_: object) -> None:
        asked.append(config)
        small_buckets().save(path)

    monkeypatch.setattr(building, "build_buckets", build)
    monkeypatch.chdir(tmp_path)
    words = ["train", "blueprint", "--game", "flop-holdem", "--threads", "1", "--json", "--deals"]
    for deals in ("100", "200"):
        code, text, _ = call(capsys, *words, deals)
        assert code == 0 and json.loads(text)["deals"] == int(deals)
    assert asked == [BucketConfig(game="flop-holdem", buckets=(200,), features=("ochs",))]
    code, _, error = call(capsys, *words, "100", "--abstraction", "other.bin")
    assert code == 2 and "other.bin" in error


def test_one_command_trains_with_what_is_usual(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six players: buckets are made, 30 minutes are announced before they begin, and a file has the game's name."""
    limits: dict[str, object] = {}

    def build(config: BucketConfig, path: Path, **_: object) -> None:
        whole_buckets().save(path)

    monkeypatch.setattr(building, "build_buckets", build)
    monkeypatch.setattr(RingTrainer, "run", lambda self, **given: limits.update(given))
    monkeypatch.chdir(tmp_path)
    code, text, error = call(capsys, "train", "blueprint", "--game", "6max", "--threads", "3")
    assert code == 0 and "0 deals" in text and (tmp_path / "6max.blueprint").exists()
    assert (limits["seconds"], limits["deals"], limits["threads"]) == (1800.0, float("inf"), 3)
    told = " ".join(error.split())
    assert "buckets.bin does not exist and is made first: 202 MB of buckets" in told and "on 3 cores" in told
    assert "29,301 decisions" in told and "MB of tables in memory; 6max.blueprint; until 30.0 minutes from now" in told


def test_two_blueprints_are_compared(capsys: Capture, buckets: Path, tmp_path: Path) -> None:
    files = [str(tmp_path / f"{deals}.blueprint") for deals in (1000, 2000)]
    words = ["train", "blueprint", "--game", "flop-holdem", "--abstraction", str(buckets), "--threads", "1", "--json"]
    for file in files:
        assert call(capsys, *words, "--out", file, "--deals", Path(file).stem)[0] == 0
    versus = ["evaluate", files[0], "--against", files[1], "--deals", "500"]
    code, text, _ = call(capsys, *versus, "--json")
    found = json.loads(text)
    assert code == 0 and found["game"] == "flop-holdem" and found["deals"] == 500 and found["ci95"] > 0.0
    code, text, _ = call(capsys, *versus)
    assert code == 0 and f"wins {found['mbb_per_hand']:+,.1f} ±" in text and "mbb/hand" in text
    code, _, error = call(capsys, *versus, "--agent", "always-call")
    assert code == 2 and "--against compares two blueprints" in error
    code, _, error = call(capsys, "evaluate", files[0], "--against", str(buckets))
    assert code == 2 and "is not a blueprint" in error


def test_a_stopped_training_is_kept(
    capsys: Capture, buckets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, run = tmp_path / "flop.blueprint", BlueprintTrainer.run

    def stopped(self: BlueprintTrainer, **options: object) -> None:
        run(self, deals=1500)
        raise KeyboardInterrupt

    monkeypatch.setattr(BlueprintTrainer, "run", stopped)
    words = ["--game", "flop-holdem", "--abstraction", str(buckets), "--out", str(file), "--deals", "9000", "--json"]
    code, text, _ = call(capsys, "train", "blueprint", *words)
    assert code == 130 and json.loads(text)["deals"] == 1500 and file.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--minutes", "0"], "minutes must be a positive number"),
        (["--deals", "10", "--pruning", "all"], "allowed: pluribus, libratus, none"),
        (["--deals", "10", "--game", "hunl"], "ends on another street|end on another street"),
        (["--deals", "10", "--menu", "50%/50%/50%/50%"], "no-limit games need a bet menu"),
    ],
)
def test_mistakes_in_training_are_one_line(
    capsys: Capture, buckets: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    start = ["train", "blueprint", "--game", "flop-holdem", "--abstraction", str(buckets), "--out", str(tmp_path / "x")]
    code, _, error = call(capsys, *start, *words)
    assert code == 2 and any(part in error for part in message.split("|")) and not (tmp_path / "x").exists()


def test_buckets_and_blueprints_are_packed(capsys: Capture, buckets: Path, tmp_path: Path) -> None:
    small, trained, packed = (str(tmp_path / name) for name in ("small.buckets", "flop.blueprint", "small.blueprint"))
    code, text, _ = call(capsys, "abstraction", "pack", str(buckets), "--out", small)
    assert code == 0 and "the same buckets" in text and Path(small).stat().st_size < buckets.stat().st_size / 3
    words = ["train", "blueprint", "--game", "flop-holdem", "--abstraction", str(buckets), "--threads", "1", "--json"]
    assert call(capsys, *words, "--deals", "1000", "--out", trained)[0] == 0
    code, text, _ = call(capsys, "abstraction", "pack", trained, "--out", packed, "--buckets", small, "--json")
    told = json.loads(text)
    assert code == 0 and 0.0 < told["largest"] < 1 / 31 and told["bytes"] == Path(packed).stat().st_size
    code, text, _ = call(capsys, "evaluate", packed, "--against", trained, "--deals", "500", "--json")
    assert code == 0 and json.loads(text)["deals"] == 500
    refused = {
        "is packed already": (packed, "--out", str(tmp_path / "twice")),
        "2 to 6 bits, not 7": (trained, "--out", str(tmp_path / "seven"), "--bits", "7"),
        "--bits and --buckets are for blueprints": (str(buckets), "--out", small, "--bits", "4"),
        "would be packed into itself": (trained, "--out", trained),
        "cannot read": (str(tmp_path / "none"), "--out", packed),
    }
    for message, typed in refused.items():
        code, _, error = call(capsys, "abstraction", "pack", *typed)
        assert code == 2 and message in error and "\n" not in error.strip()
