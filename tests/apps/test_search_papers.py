"""The experiments with search at public belief states."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apps.test_paper import quick


def test_rock_paper_scissors(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick(capsys, "rebel-rps", tmp_path)
    assert len(document["claims"]) == 6 and all(claim["agrees"] for claim in document["claims"])
    rows = {row["who and how"]: row for row in document["rows"]}
    assert max(rows["player 2, unsafe, cfr-d"][move] for move in ("rock", "paper", "scissors")) > 0.95
    assert rows["player 2, random iteration, cfr-ave"]["scissors"] == pytest.approx(0.2, abs=0.05)


def test_theorem_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick(capsys, "rebel-theorem1", tmp_path)
    assert len(document["claims"]) == 6 and all(claim["agrees"] for claim in document["claims"])
    for row in document["rows"]:
        assert row["smooth"] > 0.5 and row["largest |V + g - v| where smooth"] < 1e-3, row
        assert row["outside the derivatives"] < 1e-3, row


def test_figure_5(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick(capsys, "rebel-fig5", tmp_path)
    rows = {(row["game"], row["method"]): row for row in document["rows"]}
    for game in ("liars-dice:1x4", "leduc"):
        for method in ("CFR-D", "CFR-AVE", "FP"):
            assert rows[game, method]["after all"] < 0.4 * rows[game, method]["after 8"], (game, method)
        assert rows[game, "CFR-AVE"]["after all"] < 0.03  # uniform: 0.66 and 2.37 in the whole games
        assert rows[game, "CFR-D"]["whole game, random iteration"] < 0.2
    assert rows["one-card:50", "modified CFR-AVE"]["after all"] < rows["one-card:50", "CFR-D"]["after all"]
    rough, almost = ("liars-dice:1x4, leaves by 16 iterations", "liars-dice:1x4, leaves by 256 iterations")
    assert rows[rough, "modified CFR-AVE"]["after all"] < 0.75 * rows[rough, "CFR-D"]["after all"]
    assert rows[almost, "modified CFR-AVE"]["after all"] > rows[almost, "CFR-D"]["after all"]
