"""`aleator paper deep-cfr-leduc` runs and reports every curve; whether numbers agree is for the whole run to say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apps.calls import quick_paper


def test_the_experiment_reports_both_averages_and_every_part(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, document = quick_paper(capsys, "deep-cfr-leduc", tmp_path)
    rows = {row["method"]: row for row in document["rows"]}
    assert len(rows) == 8 and len(document["claims"]) == 7
    for row in rows.values():
        assert 0 < row["lowest"] <= row["ours"] <= row["highest"] < 2374, "the uniform policy has 2,374"
        assert row["million nodes"] > 0.01
    assert rows["SD-CFR (mixture of networks)"]["published"] == 46
    assert set(document["panels"]) == {"Leduc", "what each part is worth"}
