"""The experiments with search at public belief states."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apps.calls import quick_paper


def test_rock_paper_scissors(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "rebel-rps", tmp_path)
    assert len(document["claims"]) == 6 and all(claim["agrees"] for claim in document["claims"])
    rows = {row["who and how"]: row for row in document["rows"]}
    assert max(rows["player 2, unsafe, cfr-d"][move] for move in ("rock", "paper", "scissors")) > 0.95
    assert rows["player 2, random iteration, cfr-ave"]["scissors"] == pytest.approx(0.2, abs=0.05)


def test_theorem_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "rebel-theorem1", tmp_path)
    assert len(document["claims"]) == 6 and all(claim["agrees"] for claim in document["claims"])
    for row in document["rows"]:
        assert row["smooth"] > 0.5 and row["largest |V + g - v| where smooth"] < 1e-3, row
        assert row["outside the derivatives"] < 1e-3, row


@pytest.mark.slow
def test_figure_5(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "rebel-fig5", tmp_path)
    rows = {(row["game, bonus"], row["method"]): row for row in document["rows"]}
    for game, better, worse in (("leduc", "CFR-D", "CFR-AVE"), ("one-card:50", "CFR-AVE", "CFR-D")):
        whole = [
            rows[f"{game}, exact", f"{method}, equal weights"]["whole game, random iteration"]
            for method in (better, worse)
        ]
        assert whole[0] < whole[1], game
    for (game, method), row in rows.items():
        if "equal weights" in method:
            continue
        stalls = (game, method) == ("liars-dice:1x4, exact", "modified CFR-AVE")
        assert (row["after all"] > 0.4 * row["after 8"]) == stalls, (game, method)
    for game in ("liars-dice:1x4, 0.1", "leduc, 0.2", "one-card:50, 0.1"):
        final = {method: rows[game, method]["after all"] for method in ("CFR-D", "CFR-AVE", "modified CFR-AVE")}
        assert final["modified CFR-AVE"] < final["CFR-D"], (game, final)
        assert max(final.values()) < 0.05  # uniform: 0.66, 2.37 and 0.41 in the whole games
    assert rows["leduc, exact", "CFR-D"]["whole game, random iteration"] < 0.2


@pytest.mark.slow
def test_pluribus_search_among_three_players(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "pluribus-small", tmp_path)
    assert len(document["rows"]) == 9
    for row in document["rows"]:
        assert row["search"] <= row["best"] and row["searches"] > 50
        assert 0.0 < row["others held"] <= row["best"]  # search goes by others who search, too: that may lose
        assert 0.0 <= row["guarded"] <= row["best"]
    coarse = [row["search"] for row in document["rows"] if row["players, blueprint"].endswith("coarse cards")]
    assert len(coarse) == 3 and sum(coarse) > 0


def test_pluribus_at_a_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "pluribus-6max", tmp_path)
    assert [row["hands"] for row in document["rows"]] == [60, 60, 60, 90, 90]
    assert "30,000 deals" in document["setting"] and len(document["claims"]) == 5
    assert all(row["±"] > 0.0 for row in document["rows"])
    assert all(row["±"] < 0.2 * row["± by chips"] for row in document["rows"][3:4])  # AIVAT by the blueprint's values
