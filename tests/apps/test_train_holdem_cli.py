"""`aleator train holdem`: slices from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from tests.apps.calls import call

QUICK = (
    "--preset",
    "small",
    "--examples",
    "8",
    "--held-out",
    "4",
    "--steps",
    "20",
    "--device",
    "cpu",
    "--threads",
    "1",
)


def test_slices_follow_each_other(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "river"
    for number in (1, 2):
        code, text, error = call(capsys, "train", "holdem", *QUICK, "--out", str(folder), "--json")
        assert code == 0, error
        line = json.loads(text)
        assert (line["slice"], line["street"], line["examples"], line["steps"]) == (number, "river", 8, 20)
        assert set(line["errors"]) == {"absolute", "huber", "weighted", "squared", "ev"}
    turn = ("--street", "turn", "--teacher", str(folder / "network.safetensors"), "--out", str(tmp_path / "turn"))
    code, text, error = call(capsys, "train", "holdem", *QUICK, *turn)
    assert code == 0, error
    assert "slice 1 of the turn network" in text and "range-weighted" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--street", "showdown"), "no networks for the street 'showdown'; allowed: river, turn, turn-start, flop"),
        (("--street", "preflop"), "of the flop-start with 49 live cards, not of the flop-start with 13"),
        (("--minutes", "0"), "minutes of a slice must be positive, not 0.0"),
        (("--threads", "2147483648"), "2147483648 is not in the range 1<=x<=1024"),
        (("--preset", "huge"), "no preset 'huge'; allowed: slice, small"),
        (("--cards", "9"), "a deck has 16 to 52 cards, not 9"),
        (("--seconds", "-1"), "seconds of a fit must be positive, not -1.0"),
        (("--teacher", "nowhere"), "rivers are solved to the end: --teacher is for the streets before"),
        (("--street", "turn", "--teacher", "nowhere"), "cannot read nowhere"),
    ],
)
def test_mistakes_are_one_line(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    given = arguments if "--preset" in arguments else (*QUICK, *arguments)
    code, text, error = call(capsys, "train", "holdem", *given)
    assert code == 2 and text == "" and message in error and error.count("\n") == 1
    assert not (tmp_path / "runs").exists()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_no_cuda_device_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = call(capsys, "train", "holdem", "--device", "cuda")
    assert code == 2 and "no CUDA device" in error
