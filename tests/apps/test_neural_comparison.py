"""`aleator paper neural-comparison` runs every method on both games; numbers are for the whole run to say."""

from __future__ import annotations

from pathlib import Path

import pytest

from aleator.apps.papers import neural_comparison
from aleator.apps.papers.neural_comparison import Task, run_task
from tests.apps.calls import quick_paper

METHODS = {"MCCFR (tables)", "SD-CFR", "Deep CFR", "NFSP", "Double Neural CFR", "ReBeL"}


@pytest.mark.slow
def test_every_method_has_a_curve_on_both_games(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "neural-comparison", tmp_path)
    assert set(document["panels"]) == {"leduc", "liars-dice:1x4"} and len(document["rows"]) == 12
    for curves in document["panels"].values():
        assert set(curves) == METHODS
        for points in curves.values():
            seconds = [point[0] for point in points]
            assert seconds == sorted(set(seconds)) and all(0 < point[1] < 5 for point in points)


def test_looks_end_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that goes on in steps of a second is looked at from 1/32 of its time on, eight times at most."""
    monkeypatch.setattr(
        neural_comparison, "_sampled", lambda _: ((float(t), lambda t=t: {"x": 1.0 / t}) for t in range(1, 1000))
    )
    points = run_task(Task("kuhn", "NFSP", 64.0, 0, quick=True))["x"]
    assert [seconds for seconds, _ in points] == [2, 4, 6, 9, 15, 24, 40, 64]
