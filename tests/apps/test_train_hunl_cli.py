"""`aleator train rebel --game hunl`: a slice of self-play from the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from aleator.learning.holdem import self_play_slices
from aleator.learning.holdem.examples import Labelling
from aleator.learning.holdem.fitting import FitConfig
from aleator.learning.holdem.streets import STREETS
from tests.apps.calls import call


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the small preset a matter of seconds."""
    small = self_play_slices.self_play_preset("small")
    play = replace(small.play, hands=64, preflop=4, ends=4, labelling=Labelling(iterations=4))
    few = dict.fromkeys(STREETS, 8)
    tiny = replace(small, play=play, epochs=1, random=few, held_out=4, fit=FitConfig(steps=2, batch=8, warm_up=1))
    monkeypatch.setattr(self_play_slices, "self_play_preset", lambda name: tiny)


@pytest.mark.usefixtures("quick")
def test_a_slice_is_played_and_trained(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    command = ("train", "rebel", "--game", "hunl", "--device", "cpu", "--threads", "1", "--out", str(tmp_path / "run"))
    code, text, error = call(capsys, *command)
    assert code == 0, error
    assert "slice 1" in text and "flop-start" in text and "range-weighted" in text
    line = json.loads((tmp_path / "run" / "metrics.jsonl").read_text())
    assert (line["slice"], line["hands"]) == (1, 64)
    assert {path.stem for path in (tmp_path / "run").glob("*.safetensors")} == set(STREETS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--game", "hunl", "--resume", "x"), "runs in slices, which go on by themselves: leave out --resume"),
        (("--game", "hunl", "--preset", "demo"), "no preset 'demo'; allowed: slice, small"),
        (("--game", "hunl", "--from", "nowhere"), "--from nowhere: with --game hunl this is a directory"),
        (("--game", "hunl", "--minutes", "0"), "minutes of a slice must be positive, not 0.0"),
        (("--game", "leduc", "--minutes", "1"), "--minutes is for slices of hunl"),
    ],
)
def test_mistakes_are_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, _, error = call(capsys, "train", "rebel", "--device", "cpu", "--out", str(tmp_path / "run"), *arguments)
    assert code == 2
    assert message in error and len(error.strip().splitlines()) == 1
