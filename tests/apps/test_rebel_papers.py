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
        ("1x4f", 0.017), ("1x5f", 0.015), ("1x6f", 0.024), ("2x3f", 0.017), ("1x7f", None),
    ]  # fmt: skip
    assert 0 < rows[0]["ours"] < 0.2 and rows[1]["ours"] is None
    assert all(0 < row["recorded"] < 0.03 and 0 < row["linear"] < 0.03 for row in rows)
    assert all(claim.agrees and claim.measured.endswith("as recorded") for claim in report.claims)


def test_what_is_measured_with_the_papers_effort_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from aleator.apps.papers import rebel_liars_dice
    from aleator.learning.rebel.evaluation import Played

    found = {"liars-dice:1x4": 0.02, "liars-dice:1x5": 0.01}
    monkeypatch.setattr(
        rebel_liars_dice,
        "_measure",
        lambda name, *_: Played(
            exploitability=found.get(name, 0.001), error=0.001, playthroughs=1024, searches=1, policy=None
        ),
    )
    report = rebel_liars_dice.run(Settings(full=True), lambda *_: None)
    assert [claim.agrees for claim in report.claims] == [False, True, True, True]
    assert report.claims[0].measured == "0.0200 ± 0.0010 (standard error), measured now"


@pytest.mark.slow
def test_what_rebel_needs() -> None:
    report = find_experiment("rebel-ablation").run(Settings(quick=True), lambda *_: None)
    random, few, _ = report.claims
    assert random.agrees, random.measured
    assert few.agrees, few.measured
    started = [row for row in report.rows if "started with it" in str(row[0]) and "not" not in str(row[0])]
    assert [row[1] for row in started] == [2, 4, 8, 16, 32]


def test_perfect_information_takes_one_iteration() -> None:
    pytest.importorskip("pyspiel")
    report = find_experiment("rebel-perfect-information").run(Settings(quick=True), lambda *_: None)
    rows = [dict(zip(report.columns, row, strict=True)) for row in report.rows]
    assert [(row["game"], row["seat"]) for row in rows] == [("nim 1, 3, 5", "first"), ("nim 1, 3, 5", "second")]
    assert [(row["value"], row["untrained"], row["trained"]) for row in rows] == [(1.0, -1.0, 1.0), (-1.0, -1.0, -1.0)]
    assert all(claim.agrees for claim in report.claims), [claim.measured for claim in report.claims]
