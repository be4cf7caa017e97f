"""The demonstration: it trains, shows how, compares with the paper, and draws the curve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from aleator.apps.cli import demo
from aleator.learning.rebel import config
from tests.apps.calls import call


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the demonstration shorter."""
    torch.set_num_threads(1)
    small: dict[str, Any] = {"updates": 16, "searches": 640, "games": 64, "batch": 128, "width": 32}
    monkeypatch.setitem(config.PRESETS, "demo", {**config.PRESETS["demo"], **small})
    monkeypatch.setattr(demo, "PLAYTHROUGHS", 16)
    monkeypatch.setattr(demo, "FIRST_PLAYTHROUGHS", 16)
    monkeypatch.setattr(demo, "UPDATES", 16)


def test_demo_trains_and_shows_the_paper_beside_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "new" / "out"
    code, text, error = call(capsys, "demo", "--out", str(folder), "--threads", "1")
    assert code == 0, error
    assert [path.name for path in folder.iterdir()] == ["demo.png"]
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")
    for words in (
        "untrained network",
        "trained here",
        "shipped network",
        "tabular CFR",
        "0.017",
        "0.001",
        "NashConv / 2",
    ):
        assert words in text
    assert "640 searches" in error and "trained network: exploitability" in error


def test_demo_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, error = call(capsys, "demo", "--json", "--threads", "1")
    assert code == 0 and error == ""
    document = json.loads(text)
    rows = {row["what"]: row for row in document["rows"]}
    assert document["picture"] is None and len(rows) == 4
    assert rows["trained here"]["searches"] == 640 and rows["trained here"]["paper"] == 0.017
    # a network that knows the game beats one that knows nothing, even with little search
    assert rows["shipped network"]["exploitability"] < rows["untrained network"]["exploitability"] / 3
    tabular = rows["tabular CFR on the whole game"]["exploitability"]
    # the authors' release finds 0.000515; how ties fall makes it 0.0004 to 0.0019, uniform play has 0.66
    assert 0.0001 < tabular < 0.0026 < rows["untrained network"]["exploitability"] / 10
    assert [searches for searches, _ in document["curve"]] == sorted(searches for searches, _ in document["curve"])


def test_a_plot_that_cannot_be_written_ends_the_demo_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "demo.png").mkdir()
    code, text, error = call(capsys, "demo", "--out", str(tmp_path))
    assert (code, text) == (2, "") and "it is a directory" in error
