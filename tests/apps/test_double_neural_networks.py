"""`aleator paper double-neural` runs and reports every curve; whether numbers agree is for the whole run to say."""

from __future__ import annotations

from pathlib import Path

import pytest

from aleator.apps.papers.base import Settings
from aleator.apps.papers.double_neural_networks import tasks
from tests.apps.calls import quick_paper


def test_the_experiment_reports_every_kind(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "double-neural", tmp_path)
    rows = {(row["game"], row["method"]): row for row in document["rows"]}
    assert len(rows) == 9 and len(document["claims"]) == 5
    for row in rows.values():
        assert 0 < row["lowest"] <= row["ours"] <= row["highest"] < 3
    assert set(document["panels"]) == {
        "A: no-limit Leduc", "B: what each network does", "C: warm start", "one-card poker (Fig. 5 C)",
    }  # fmt: skip


def test_the_whole_run_has_three_seeds_and_what_the_paper_has() -> None:
    runs = tasks(Settings(full=True))
    assert len(runs) == 3 * 8 and {task.points[-1] for task in runs.values()} == {1000}
    warm = [task.config.warm for name, task in runs.items() if "warm" in name]  # type: ignore[union-attr]
    assert warm == [10, 10, 10]
