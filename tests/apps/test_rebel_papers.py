"""The experiments with ReBeL's networks."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from aleator.apps.papers.base import Settings
from aleator.apps.papers.registry import find_experiment


def test_the_table_has_the_papers_numbers_beside_ours() -> None:
    report = find_experiment("rebel-liars-dice").run(Settings(quick=True), lambda *_: None)
    rows = [dict(zip(report.columns, row, strict=True)) for row in report.rows]
    assert [(row["game"], row["paper"]) for row in rows] == [
        ("1x4f", 0.017), ("1x5f", 0.015), ("1x6f", 0.024), ("2x3f", 0.017),
    ]  # fmt: skip
    assert 0 < rows[0]["ours"] < 0.2 and rows[1]["ours"] is None
    assert all(0 < row["recorded"] < 0.03 for row in rows)


@pytest.mark.slow
def test_what_rebel_needs() -> None:
    report = find_experiment("rebel-ablation").run(Settings(quick=True), lambda *_: None)
    random, few, _ = report.claims
    assert random.agrees, random.measured
    assert few.agrees, few.measured
    started = [row for row in report.rows if "started with it" in str(row[0]) and "not" not in str(row[0])]
    assert [row[1] for row in started] == [2, 4, 8, 16, 32]
