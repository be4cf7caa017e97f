"""`aleator paper fhp-deep-cfr`: what its runs become; that it runs, with three ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from aleator.apps.papers.base import Settings
from aleator.apps.papers.fhp_deep_cfr import Run, report
from aleator.learning.sampled.deep_cfr_config import PRESETS, DeepCfrConfig
from tests.apps.calls import call, quick_paper


def test_runs_become_a_curve_with_a_band_and_two_claims() -> None:
    config = DeepCfrConfig(game="flop-holdem", **PRESETS["fhp"])
    runs = [
        Run([1, 20, 40], [1e6, 2e7, 4e7], [5.0, 100.0, 200.0], [900.0, 120.0, 30.0], 44.0),
        Run([1, 20, 40], [1e6, 2e7, 4e7], [5.0, 100.0, 300.0], [1100.0, 100.0, 40.0], 40.0),
    ]
    found = report(Settings(), config, runs)
    assert [row[:3] for row in found.rows] == [
        (1, None, 1000.0), (20, 118.0, 110.0), (40, None, 35.0), ("network of the average", None, 42.0)
    ]  # fmt: skip
    assert [claim.agrees for claim in found.claims] == [False, True]
    (bands,) = found.bands.values()
    assert list(bands.values()) == [[(1.0, 900.0, 1100.0), (20.0, 100.0, 120.0), (40.0, 30.0, 40.0)]]
    assert "250 seconds" in found.setting and "sharp-dcfr+" in found.setting


def test_the_whole_deck_takes_a_gpu(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    code, _, error = call(capsys, "paper", "fhp-deep-cfr")
    assert code == 2 and "takes a GPU" in error and "--quick" in error


@pytest.mark.slow
def test_three_ranks_end_below_the_first_iteration(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "fhp-deep-cfr", tmp_path)
    first, *_, last, network = (row["mixture"] for row in document["rows"])
    assert last < first and network < first
